# SPDX-License-Identifier: MIT
#: 121 ids EXPERIMENT     list the ids of an experiment's runs
"""`ids`: list the ids of an experiment's runs.

examples:
  ./p5lab ids smoke
"""

import argparse

from p5lab.cli import arguments
from p5lab.keep import selection
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the argument of `ids`."""
    arguments.add(parser, "EXPERIMENT  an experiment with results")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `ids`."""
    for same in selection.groups(lab, [args.experiment]):
        print(same[0].id)
    return 0
