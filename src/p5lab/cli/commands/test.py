# SPDX-License-Identifier: MIT
#: 220 test [PART [NAME]]  run all tests, or one part: unit, engine or e2e
"""`test`: run all tests, or a part of them.

Without a part: builds everything, checks style and types, and runs all tests. unit: runs the Python
tests, which need no build. engine: builds and runs only the C++ tests. e2e: builds everything and
runs the tests that boot guests. NAME selects the tests with NAME in their own name or in the name
of their file. tests/README.md gives details.

examples:
  ./p5lab test
  ./p5lab test unit test_cli
  ./p5lab test engine "write once"
  ./p5lab test e2e smoke
  ./p5lab test --full
  ./p5lab test -- -k cache
"""

import argparse

from p5lab import packages
from p5lab.cli import arguments
from p5lab.host import build, testing
from p5lab.lab import Lab
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `test`."""
    parser.usage = "%(prog)s [-h] [--full] [unit|engine|e2e [NAME]] [-- ARGUMENT ...]"
    arguments.add(
        parser,
        """
        --full  also run the tests with large counts, the tests of whole documents and the tests of
            speed
        [words=PART NAME ARGUMENT...]  a part, then a piece of a test's name. After --: arguments
            for pytest; if the part is engine, arguments for doctest
        """,
    )


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `test`."""
    choice = testing.Choice.parse(args.words)
    for group in testing.PACKAGES:
        packages.ensure(group)
    if choice.targets is not None:
        build.ensure(lab, Progress(), choice.targets)
    return testing.run(lab, choice, full=args.full)
