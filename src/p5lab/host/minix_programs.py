# SPDX-License-Identifier: MIT
"""The programs of p5lab for MINIX 2: `run --programs minix`.

The floppy has their source, and the compiler of the system makes the programs. Nothing is made on
this host.
"""

from pathlib import Path

from p5lab.describe import supplied
from p5lab.describe.supplied import LIST, TAR, SuppliedProgram, SuppliedSystem
from p5lab.lab import Lab

NAME, PLACE = "minix", "workloads/minix"
# An int of the compiler has 16 bits (workloads/minix/p5.h), and pipes.c adds 2 to a parameter.
LARGEST = 0x7FFF - 2


def load(lab: Lab) -> dict[str, SuppliedProgram]:
    """All benchmarks by name, in the order in which they run. Raises UserError for a wrong
    description."""
    return supplied.read(lab.root / PLACE)


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the source, and the script that compiles and starts it."""
    return [file for file in sorted((lab.root / PLACE).iterdir()) if file.name != LIST]


SYSTEM = SuppliedSystem(NAME, TAR, load, made, largest=LARGEST)
