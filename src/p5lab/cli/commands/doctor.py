# SPDX-License-Identifier: MIT
#: 200 doctor              check what is missing on this host
"""`doctor`: check what is missing on this host and in the checkout.

examples:
  ./p5lab doctor
  ./p5lab doctor --json
"""

import argparse

from p5lab.cli import options
from p5lab.host import doctor
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `doctor`."""
    options.add(parser, "json")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `doctor`."""
    return doctor.show(lab, as_json=args.form == "json")
