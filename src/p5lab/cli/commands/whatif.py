# SPDX-License-Identifier: MIT
#: 055 whatif PROGRAM      show what would make a program faster, with the gains
"""`whatif`: show what would make a program faster: each ideal part and machine key with its gain.

Makes one run of the machine as it is, with the CPI stack and the misses of other geometries. Then
it makes a run for each change that can gain something: parts that take no time, larger caches, TLBs
and buffers, write allocation, faster DRAM. It prints the gains, the largest first.

examples:
  ./p5lab whatif matrix.c
  ./p5lab whatif smoke --workload exec-static
  ./p5lab whatif chen95-core --workload dup --guest linux --format csv
"""

import argparse

from p5lab.api import programs
from p5lab.cli import failures, options, request
from p5lab.cli import media as media_options
from p5lab.describe import experiment
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.lab import Lab
from p5lab.present import counts, what_if


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `whatif`."""
    parser.add_argument(
        "experiment", nargs="?", metavar="WHAT", help="a program, or the name of an experiment"
    )
    options.add_choice(parser)
    media_options.add_choice(parser)
    options.add(parser, "only jobs workers no-build format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `whatif`."""
    if args.experiment and not args.program and args.experiment not in experiment.names(lab):
        args.program, args.experiment = [args.experiment], None
    asked = request.of(args, lab)
    if asked.ideal:
        raise UserError("--ideal: expected without whatif, which tries all parts")
    gains, results = programs.gains(lab, asked, options.executor(args, lab))
    status = STATUS_FAILED if failures.report(results) else 0
    if gains:
        what_if.show(counts.stdout(), gains, args.form)
    return status
