# SPDX-License-Identifier: MIT
"""`show --source`: the source of a program with counts beside it."""

import argparse

from p5lab.keep.store import Stored
from p5lab.present import by_source, counts

OPTION = """
--source FILE  for a run with --attribute lines: show the source of the program with the counts of
    --event beside it. Without FILE, the files of libraries are only listed
"""
GIVEN = {"nargs": "?", "const": ""}
TAKES_EVENT = True
ALSO = ("attribution",)  # the older form is --attribution --source


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints the source files."""
    by_source.show(counts.stdout(), run, args)
