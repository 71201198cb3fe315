# SPDX-License-Identifier: MIT
"""`show --timeline`: the steps of a bracket."""

import argparse

from p5lab.keep.store import Stored
from p5lab.present import counts, timeline

OPTION = """
--timeline  for a run with --trace crossings: show each step of a typical bracket of each phase,
    with its misses
"""


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints a row for each step."""
    timeline.show(counts.stdout(), run, args.form)
