# SPDX-License-Identifier: MIT
#: 070 matrix              show which benchmarks of the papers each guest runs
"""`matrix`: show which guests run which benchmarks.

Shows a table of the papers' benchmarks and the guests. A cell shows the number of runs in the
papers' experiments, or the reason why the guest cannot run the benchmark.

examples:
  ./p5lab matrix
  ./p5lab matrix --format csv
"""

import argparse

from p5lab.cli import options
from p5lab.evidence import matrix
from p5lab.lab import Lab
from p5lab.present import counts


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `matrix`."""
    options.add(parser, "format")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `matrix`."""
    matrix.show(counts.stdout(), matrix.cells(lab), args.form)
    return 0
