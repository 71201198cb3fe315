# SPDX-License-Identifier: MIT
"""The programs of p5lab for Linux 2.0 to 2.6: `run --programs linux`.

They are workloads of our own guests, compiled from the same files, with a part of musl that calls
nothing newer than Linux 2.0 (guest-images/parts/musl-old). The build makes the programs; a shell
script starts them.
"""

from functools import partial
from pathlib import Path

from p5lab.describe.supplied import TAR, SuppliedSystem
from p5lab.files import store_bytes
from p5lab.host import build, workload_programs
from p5lab.lab import Lab
from p5lab.progress import Progress

NAME = "linux"
PLACE, DONE = "workloads/linux2", "done"
MADE, LIBC = "build/linux2", "build/libc/musl-old/lib"
START = "run"
HEAD = """\
#!/bin/sh
# Starts the programs of p5lab one after the other. The last line ends the run.
P5LAB_DATA=${P5LAB_DATA:-.}
export P5LAB_DATA
"""


def sources(lab: Lab, place: str = PLACE) -> dict[str, tuple[str, int]]:
    """What the build compiles for the list in a directory: the C file in the checkout and the first
    phase, by program."""
    files = workload_programs.sources(lab, place)
    return {name: (lab.short(path), first) for name, (path, first) in files.items()}


def names(lab: Lab, place: str = PLACE) -> list[str]:
    """The names of all programs, also of those that another one starts."""
    return [*sources(lab, place), DONE]


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs and the script that starts them. Builds what is out of
    date. Raises UserError if the build fails."""
    build.ensure(lab, Progress(), tuple(f"{MADE}/{name}" for name in names(lab)))
    start = store_bytes(lab.root / MADE / START, script(lab).encode())
    return [start, *(lab.root / MADE / name for name in names(lab))]


def script(lab: Lab, place: str = PLACE) -> str:
    """The script that starts the programs."""
    lines = [
        f"./{name} {entry.arguments}".rstrip() + f" || ./{DONE} {name} $?\n"
        for name, entry in workload_programs.entries(lab, place).items()
    ]
    return "".join([HEAD, *lines, f"./{DONE}\n"])


load = partial(workload_programs.programs, place=PLACE)
phases = partial(workload_programs.phases, place=PLACE)
SYSTEM = SuppliedSystem(NAME, TAR, load, made, phases)
