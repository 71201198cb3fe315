# SPDX-License-Identifier: MIT
"""`show --misses`: the misses of a bracket, one by one."""

import argparse

from p5lab.keep.store import Stored
from p5lab.present import counts, misses

OPTION = """
--misses  for a run with --trace misses: show each miss of a typical bracket of each phase, who had
    loaded the line or page, and who took it away
"""


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints a row for each miss."""
    misses.show(counts.stdout(), run, args.form, more=args.all_tables)
