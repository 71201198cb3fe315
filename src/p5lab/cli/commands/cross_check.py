# SPDX-License-Identifier: MIT
#: 080 cross-check         compare the same programs on both engines
"""`cross-check`: compare the embedded engine with gem5.

Runs the same guest, programs and machine on the embedded engine and on your gem5 (P5LAB_GEM5).
Compares the count of each event in a bracket. Architectural counts must agree within 1 %, and
misses of L1 within 5 %. The exit status is 1 if a count does not agree and no experiment explains
the difference.

examples:
  ./p5lab cross-check --explain
  ./p5lab cross-check micro --workload dup
  ./p5lab cross-check --chip
"""

import argparse

from p5lab.cli import arguments, failures, options
from p5lab.errors import STATUS_FAILED
from p5lab.evidence import agreement
from p5lab.lab import Lab
from p5lab.present import counts


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `cross-check`."""
    parser.add_argument(
        "experiment",
        nargs="?",
        default=agreement.EXPERIMENT,
        help="run the programs of this experiment (default: %(default)s)",
    )
    parser.add_argument("--guest", default=agreement.GUEST, help="default: %(default)s")
    parser.add_argument("--machine", default=agreement.MACHINE, help="default: %(default)s")
    options.add_workloads_and_seeds(parser, "seeds of the page placement")
    arguments.add(
        parser,
        f"""
        --chip  compare the functional simulators: the same chip on both, with nominal clocks (gem5
            with P5CPU); without this option, gem5 has its own processor and caches
        --explain NAME  also run experiments that can explain a difference: the experiments with
            these names, or all of them if no name is given. The names:
            {", ".join(explanation.name for explanation in agreement.EXPLANATIONS)}
        """,
        explain={"nargs": "*"},
    )
    options.add(parser, "jobs workers no-build format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `cross-check`."""
    run = options.executor(args, lab)
    explanations = agreement.choose(args.explain) if args.explain is not None else []
    ask = agreement.Ask(
        args.guest, args.machine, tuple(args.workload), args.seeds, args.experiment, args.chip
    )
    agreed = agreement.check(lab, ask, run, None if args.explain == [] else explanations)
    agreement.show(counts.stdout(), agreed, args.form)
    failed = failures.report(agreed.failed)
    return STATUS_FAILED if failed or len(agreed.unexplained) else 0
