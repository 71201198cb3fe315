# SPDX-License-Identifier: MIT
#: 240 bench               measure the speed of the engine on this host
"""`bench`: measure the speed of the engine on this host.

examples:
  ./p5lab bench
  ./p5lab bench -n 1 --profile
"""

import argparse
import subprocess
import sys

from p5lab.lab import Lab

OWN_OPTIONS = True  # the words after the command's name go to `run` as they are


def add(parser: argparse.ArgumentParser) -> None:
    """Adds nothing: the other program has the options."""


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Starts bench/run.py with the words of the command line."""
    return subprocess.run([sys.executable, lab.root / "bench/run.py", *args.words[1:]]).returncode
