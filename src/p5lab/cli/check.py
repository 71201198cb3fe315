# SPDX-License-Identifier: MIT
"""`validate`, `cross-check` and `matrix`: the model against what was measured and against gem5, and
which benchmarks run where."""

import argparse

from p5lab.cli import options
from p5lab.cli.execute import executor, tell_failures
from p5lab.describe import seeds
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import agreement, matrix, validate
from p5lab.lab import Lab
from p5lab.present import counts


def add(commands: options.Commands) -> None:
    """Adds `validate`, `matrix` and `cross-check`."""
    _add_validate(commands)
    _add_matrix(commands)
    _add_cross_check(commands)


def _add_validate(commands: options.Commands) -> None:
    proof = commands.add_parser(
        "validate",
        help="published numbers beside modelled ones",
        description="Runs what the claims of configs/claims.toml need, on"
        " the machine each was measured on, and prints the published and"
        " the modelled number. A claim that does not hold is a result, not"
        " a failure.",
    )
    proof.add_argument("--source", metavar="PAPER", help="the claims of one paper")
    proof.add_argument(
        "--all", action="store_true", help="also plain inputs, and what cannot be tested"
    )
    proof.add_argument(
        "--strict", action="store_true", help="exit status 1 when a claim does not hold"
    )
    options.add_jobs(proof)
    options.add_workers(proof)
    options.add_no_build(proof)
    options.add_format(proof)
    proof.set_defaults(command=_validate)


def _add_matrix(commands: options.Commands) -> None:
    where = commands.add_parser(
        "matrix",
        help="which guests run which benchmarks, and why not",
        description="The benchmarks of the papers and the guests: how many"
        " runs the papers' experiments ask of each, and what cannot run and"
        " why.",
    )
    options.add_format(where)
    where.set_defaults(command=_matrix)


def _add_cross_check(commands: options.Commands) -> None:
    both = commands.add_parser(
        "cross-check",
        help="the same programs on both engines, compared",
        description="Runs the same guest, programs and machine on the"
        " embedded engine and on your gem5 (P5LAB_GEM5), and compares each"
        " event of a bracket: architectural counts must agree within 1 %%,"
        " misses of L1 within 5 %%. Exit status 1: some do not, and no"
        " experiment explains it.",
    )
    both.add_argument(
        "experiment",
        nargs="?",
        default=agreement.EXPERIMENT,
        help="whose programs (default: %(default)s)",
    )
    both.add_argument("--guest", default=agreement.GUEST, help="default: %(default)s")
    both.add_argument("--machine", default=agreement.MACHINE, help="default: %(default)s")
    both.add_argument("--workload", action="append", default=[], help="only these")
    both.add_argument(
        "--seed",
        "--seeds",
        type=seeds.parse,
        default=(),
        dest="seeds",
        metavar="N,...",
        help="page placement",
    )
    both.add_argument(
        "--explain",
        nargs="*",
        metavar="NAME",
        help="also run the experiments that can remove what differs; of these only"
        f" NAME: {', '.join(one.name for one in agreement.EXPLANATIONS)}",
    )
    options.add_jobs(both)
    options.add_workers(both)
    options.add_no_build(both)
    options.add_format(both)
    both.set_defaults(command=_cross_check)


def _validate(args: argparse.Namespace, lab: Lab) -> int:
    asked = validate.select(lab, args.source)
    found = validate.run(lab, asked, executor(args, lab))
    validate.show(counts.stdout(), found.results, args.form, everything=args.all)
    if tell_failures(lab, found.failed):
        return STATUS_FAILED
    return STATUS_FAILED if args.strict and validate.misses(found.results) else 0


def _matrix(args: argparse.Namespace, lab: Lab) -> int:
    matrix.show(counts.stdout(), matrix.cells(lab), args.form)
    return 0


def _cross_check(args: argparse.Namespace, lab: Lab) -> int:
    run = executor(args, lab)
    explanations = agreement.choose(args.explain) if args.explain is not None else []
    ask = agreement.Ask(args.guest, args.machine, tuple(args.workload), args.seeds, args.experiment)
    found = agreement.check(lab, ask, run, None if args.explain == [] else explanations)
    agreement.show(counts.stdout(), found, args.form)
    failed = tell_failures(lab, found.failed)
    return STATUS_FAILED if failed or len(found.unexplained) else 0
