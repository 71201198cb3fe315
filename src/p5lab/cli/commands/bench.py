# SPDX-License-Identifier: MIT
#: 240 bench               measure the speed of the engine on this host
"""`bench`: the speed of the engine on this host. bench/run.py is a separate program with its own
options."""

import argparse
import subprocess
import sys

from p5lab.lab import Lab

HELP = "measure the speed of the engine on this host"
EXAMPLES = ("bench", "bench -n 1 --profile")  # bench/run.py prints its help
OWN_OPTIONS = True  # the words after the command's name go to `run` as they are


def add(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the other program has the options."""


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Starts bench/run.py with the words of the command line."""
    return subprocess.run([sys.executable, lab.root / "bench/run.py", *args.words[1:]]).returncode
