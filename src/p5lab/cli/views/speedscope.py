# SPDX-License-Identifier: MIT
"""`show --speedscope`: the call stacks of a run in a file."""

import argparse

from p5lab.keep.store import Stored
from p5lab.present import exports

OPTION = """
--speedscope FILE  for a run with --attribute stacks: write the call stacks to a file for
    https://www.speedscope.app. The counts of --event are the weights of the stacks
"""
TAKES_EVENT = True


def show(run: Stored, args: argparse.Namespace) -> None:
    """Writes the file."""
    exports.write(args.speedscope, exports.speedscope(run, args.event))
