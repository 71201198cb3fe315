# SPDX-License-Identifier: MIT
#: 260 help [COMMAND]      print this text, or more about one command
"""`help`: show this text, or the help of one command.

examples:
  ./p5lab help run
"""

import argparse

from p5lab.cli import parser as parsers
from p5lab.cli.main import main
from p5lab.lab import Lab


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the name of a command."""
    parser.add_argument("topic", nargs="?", choices=parsers.names(), metavar="COMMAND")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Prints a help text."""
    return main([args.topic, "--help"] if args.topic else ["--help"], lab)
