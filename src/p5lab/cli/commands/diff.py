# SPDX-License-Identifier: MIT
#: 130 diff RUN RUN        show the differences between runs
"""`diff`: show what differs between runs.

Prints the inputs and the counts that differ between the runs, the most important first. Each count
is a mean over the brackets. The table also shows the ratio of each count to the count of the first
run.

examples:
  ./p5lab diff 3f2a91 91bc04
  ./p5lab diff 3f2a91 91bc04 --rings --format markdown
"""

import argparse

from p5lab.cli import arguments, options
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.lab import Lab
from p5lab.present import counts, diff, diff_tables, headline


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `diff`."""
    arguments.add(
        parser,
        f"""
        runs=RUN...  the first 4 or more characters of a run's id
        --rings  count each privilege ring separately
        {diff_tables.OPTION}  print all inputs and all events that differ, also per 1000
            instructions; by default the tables fit on a screen of {headline.LINES} lines. Other
            formats always contain all
        """,
    )
    options.add(parser, "format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `diff`."""
    runs = {(stored := selection.find(lab, run)).directory: stored for run in args.runs}
    if len(runs) < 2:
        raise UserError("diff: expected at least two different runs")
    differences = diff.between(list(runs.values()), rings=args.rings)
    diff_tables.show(counts.stdout(), differences, args.form, all_rows=args.all_rows)
    return 0
