# SPDX-License-Identifier: MIT
"""`validate`, `cross-check` and `matrix`.

`validate` compares the model with published numbers. `cross-check` compares the model with gem5.
`matrix` shows which benchmarks run on which guests.
"""

import argparse

from p5lab.cli import failures, options
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import agreement, matrix, validate
from p5lab.lab import Lab
from p5lab.present import counts


def add(commands: options.Commands) -> None:
    """Adds `validate`, `matrix` and `cross-check` to the command line."""
    _add_validate(commands)
    _add_matrix(commands)
    _add_cross_check(commands)


def _add_validate(commands: options.Commands) -> None:
    proof = commands.add_parser(
        "validate",
        help="compare published numbers with modelled numbers",
        description="Makes the runs that the claims of configs/claims.toml need. Each run uses the"
        " machine of its claim. Prints the published number and the modelled number of each claim."
        " A claim that does not hold is a result, not a failure.",
    )
    proof.add_argument("--source", metavar="PAPER", help="only the claims of this paper")
    proof.add_argument(
        "--all",
        action="store_true",
        help="also show inputs from machine files, and claims that cannot be tested",
    )
    proof.add_argument(
        "--strict", action="store_true", help="exit with status 1 if a claim does not hold"
    )
    options.add_jobs(proof)
    options.add_workers(proof)
    options.add_no_build(proof)
    options.add_format(proof)
    proof.set_defaults(command=_validate)


def _add_matrix(commands: options.Commands) -> None:
    where = commands.add_parser(
        "matrix",
        help="show which guests run which benchmarks",
        description="Shows a table of the papers' benchmarks and the guests. A cell shows the"
        " number of runs in the papers' experiments, or the reason why the guest cannot run the"
        " benchmark.",
    )
    options.add_format(where)
    where.set_defaults(command=_matrix)


def _add_cross_check(commands: options.Commands) -> None:
    both = commands.add_parser(
        "cross-check",
        help="compare the embedded engine with gem5",
        description="Runs the same guest, programs and machine on the embedded engine and on your"
        " gem5 (P5LAB_GEM5). Compares the count of each event in a bracket. Architectural counts"
        " must agree within 1 %, and misses of L1 within 5 %. The exit status is 1 if a count"
        " does not agree and no experiment explains the difference.",
    )
    both.add_argument(
        "experiment",
        nargs="?",
        default=agreement.EXPERIMENT,
        help="run the programs of this experiment (default: %(default)s)",
    )
    both.add_argument("--guest", default=agreement.GUEST, help="default: %(default)s")
    both.add_argument("--machine", default=agreement.MACHINE, help="default: %(default)s")
    options.add_workloads_and_seeds(both, "seeds of the page placement")
    both.add_argument(
        "--explain",
        nargs="*",
        metavar="NAME",
        help="also run experiments that can explain a difference: the experiments with these"
        " names, or all of them if no name is given."
        f" The names: {', '.join(one.name for one in agreement.EXPLANATIONS)}",
    )
    options.add_jobs(both)
    options.add_workers(both)
    options.add_no_build(both)
    options.add_format(both)
    both.set_defaults(command=_cross_check)


def _validate(args: argparse.Namespace, lab: Lab) -> int:
    asked = validate.select(lab, args.source)
    found = validate.run(lab, asked, options.executor(args, lab))
    validate.show(counts.stdout(), found.results, args.form, everything=args.all)
    if failures.report(lab, found.failed):
        return STATUS_FAILED
    return STATUS_FAILED if args.strict and validate.misses(found.results) else 0


def _matrix(args: argparse.Namespace, lab: Lab) -> int:
    matrix.show(counts.stdout(), matrix.cells(lab), args.form)
    return 0


def _cross_check(args: argparse.Namespace, lab: Lab) -> int:
    run = options.executor(args, lab)
    explanations = agreement.choose(args.explain) if args.explain is not None else []
    ask = agreement.Ask(args.guest, args.machine, tuple(args.workload), args.seeds, args.experiment)
    found = agreement.check(lab, ask, run, None if args.explain == [] else explanations)
    agreement.show(counts.stdout(), found, args.form)
    failed = failures.report(lab, found.failed)
    return STATUS_FAILED if failed or len(found.unexplained) else 0
