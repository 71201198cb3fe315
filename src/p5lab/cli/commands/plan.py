# SPDX-License-Identifier: MIT
#: 030 plan EXPERIMENT     show the runs that `run` would execute, and their time
"""`plan`: show the runs of an experiment and how long they take.

Shows what `p5lab run` would do with the same options: every run, whether it is already stored, and
an estimate of the host time of the other runs. Makes no runs and builds nothing.

examples:
  ./p5lab plan chen95-core --sweep l2.size=128K,256K,512K
  ./p5lab plan micro --only dup
"""

import argparse

from p5lab.cli import media, options, plan_table, request
from p5lab.errors import UserError
from p5lab.execute import plan, runner
from p5lab.execute.build_and_run import examine
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.present import counts
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `plan`."""
    parser.add_argument("experiment", nargs="?", help="a name that `p5lab list experiments` shows")
    options.add_choice(parser)
    media.add_choice(parser)
    options.add(parser, "only jobs format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `plan`."""
    runs = prepare(lab, request.of(args, lab)).runs
    for remark in examine(lab, runs):
        Progress().say(remark)
    try:
        ahead = plan.make(lab, runs, runner.Runner(lab).known, args.jobs)
    except UserError as error:
        Progress().say(f"The plan cannot show which runs are stored: {error}")
        ahead = plan.make(lab, runs, None, args.jobs)
    plan_table.show(counts.stdout(), ahead, args.form)
    return 0
