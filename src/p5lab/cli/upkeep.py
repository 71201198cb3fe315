# SPDX-License-Identifier: MIT
"""`build`, `doctor`, `bench` and `test`."""

import argparse

from p5lab.cli import options
from p5lab.host import build, doctor, testing
from p5lab.host.progress import Progress
from p5lab.lab import Lab


def add(commands: options.Commands) -> None:
    """Adds the commands that keep a checkout in order."""
    make = commands.add_parser("build", help="build engine, guests and workloads")
    make.add_argument("targets", nargs="*", help="scons targets (default: everything)")
    make.set_defaults(command=_build)

    look = commands.add_parser("doctor", help="what is missing here")
    options.add_json(look)
    look.set_defaults(command=lambda args, lab: doctor.show(lab, as_json=args.form == "json"))

    commands.add_parser("bench", help="speed of the engine on this host")  # see cli.main

    test = commands.add_parser(
        "test",
        help="run all tests, or a part of them",
        description="Without a part: builds everything, checks style and types, runs all tests."
        " unit: the Python tests, which need no build. engine: the C++ tests; builds only these."
        " e2e: the tests that boot guests; builds everything. NAME selects the tests of a part"
        " that have it in their name or in that of their file. tests/README.md says more.",
    )
    test.usage = "%(prog)s [-h] [--full] [unit|engine|e2e [NAME]] [-- ARGUMENT ...]"
    test.add_argument(
        "--full", action="store_true", help="also large counts, whole documents and tests of speed"
    )
    test.add_argument(
        "words",
        nargs="*",
        metavar="PART NAME ARGUMENT",
        help="a part, part of a test's name, and after -- arguments for pytest (engine: doctest)",
    )
    test.set_defaults(command=_test)


def _build(args: argparse.Namespace, lab: Lab) -> int:
    build.ensure(lab, Progress(), tuple(args.targets))
    return 0


def _test(args: argparse.Namespace, lab: Lab) -> int:
    choice = testing.Choice.parse(args.words)
    if choice.targets is not None:
        build.ensure(lab, Progress(), choice.targets)
    return testing.run(lab, choice, full=args.full)
