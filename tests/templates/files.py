# SPDX-License-Identifier: MIT
"""`show --files`: the files of a run."""

import argparse

from p5lab.keep.store import Stored

OPTION = "--files  show the names of the run's files"


def show(run: Stored, args: argparse.Namespace) -> None:
    """Prints a line for each file."""
    del args
    for path in sorted(run.directory.iterdir()):
        print(path.name)
