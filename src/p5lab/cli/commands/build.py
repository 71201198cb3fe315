# SPDX-License-Identifier: MIT
#: 210 build [TARGET]      build the engine, the guests and the workloads
"""`build`: build engine, guests and workloads.

examples:
  ./p5lab build
  ./p5lab build build/engine/p5bochs
"""

import argparse

from p5lab.cli import arguments
from p5lab.errors import unknown
from p5lab.host import build
from p5lab.lab import Lab
from p5lab.progress import Progress


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of `build`."""
    what = f"{', '.join(build.PARTS)}, or a product such as build/engine/p5bochs"
    arguments.add(parser, f"[targets=TARGET...]  {what} (default: everything)")


def run(args: argparse.Namespace, lab: Lab) -> int:
    """Executes `build`."""
    for target in args.targets:
        if target not in build.PARTS and not target.startswith("build/"):
            raise unknown("target", target, (*build.PARTS, "build/PRODUCT"))
    build.ensure(lab, Progress(), tuple(args.targets))
    return 0
