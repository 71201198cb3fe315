# SPDX-License-Identifier: MIT
"""`show --crossings`: the parts of the system that run in a bracket."""

import argparse

from p5lab.evidence import calls
from p5lab.keep.store import Stored
from p5lab.present import counts

OPTION = """
--crossings  for a run with --trace crossings: show the programs and kernel parts that ran in a
    typical bracket of each phase, and how each part passed control to the next part
"""


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints two tables for each phase."""
    del args  # the tables have one form
    for grid in calls.of_run(run):
        grid.print(counts.stdout())
