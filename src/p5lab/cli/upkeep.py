# SPDX-License-Identifier: MIT
"""`build`, `doctor`, `bench` and `test`."""

import argparse

from p5lab.cli import options
from p5lab.host import build, doctor, testing
from p5lab.host.progress import Progress
from p5lab.lab import Lab


def add(commands: options.Commands) -> None:
    make = commands.add_parser("build", help="build engine, guests and workloads")
    make.add_argument("targets", nargs="*", help="scons targets (default: everything)")
    make.set_defaults(command=_build)

    look = commands.add_parser("doctor", help="what is missing here")
    options.add_json(look)
    look.set_defaults(command=lambda args, lab: doctor.show(lab, as_json=args.form == "json"))

    commands.add_parser("bench", help="speed of the engine on this host")  # see cli.main

    test = commands.add_parser("test", help="build everything and run all tests")
    test.add_argument("--full", action="store_true", help="the counts named in the documentation")
    test.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    test.set_defaults(command=_test)


def _build(args: argparse.Namespace, lab: Lab) -> int:
    build.ensure(lab, Progress(), tuple(args.targets))
    return 0


def _test(args: argparse.Namespace, lab: Lab) -> int:
    build.ensure(lab, Progress())
    return testing.run(lab, full=args.full, arguments=args.pytest)
