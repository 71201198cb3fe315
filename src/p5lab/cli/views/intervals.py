# SPDX-License-Identifier: MIT
"""`show --intervals`: the counts of a run over time."""

import argparse

from p5lab.keep.store import Stored
from p5lab.present import by_interval, counts

OPTION = """
--intervals  for a run with --interval: show cycles, instructions and misses of each interval, or
    with --cpi the largest parts of the CPI stack
"""


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints a row for each interval."""
    by_interval.show(counts.stdout(), run, args.form, more=args.all_tables)
