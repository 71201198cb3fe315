# SPDX-License-Identifier: MIT
"""The programs of p5lab for Linux 2.0 to 2.6: `run --programs linux`.

They are workloads of our own guests, compiled from the same files, with a part of musl that calls
nothing newer than Linux 2.0 (guest-images/parts/musl-old). All of them run in one boot, so each has
phases of its own: the numbers of the workload and a multiple of PHASES. The build makes the
programs; a shell script starts them.
"""

from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import tomlfile, workload
from p5lab.describe.supplied import LIST, TAR, Program, System
from p5lab.host import build
from p5lab.host.files import store_bytes
from p5lab.host.progress import Progress
from p5lab.lab import Lab

NAME = "linux"
PLACE, DONE = "workloads/linux2", "done"
MADE = "build/linux2"
START = "run"
PHASES = 1 << 24  # more than the largest phase of a workload
KEYS = ("arguments", "with")
HEAD = """\
#!/bin/sh
# Starts the programs of p5lab one after the other. The last line ends the run.
P5LAB_DATA=${P5LAB_DATA:-.}
export P5LAB_DATA
"""


@dataclass(frozen=True)
class _Entry:
    """An entry of the list: the words of the command line, and further programs that it needs."""

    arguments: str
    needs: tuple[str, ...]


def _entries(lab: Lab) -> dict[str, _Entry]:
    """The list by the names of the programs; empty if the laboratory has none."""
    if not (lab.root / PLACE / LIST).is_file():
        return {}
    table = tomlfile.load(lab.root / PLACE / LIST, schema_version=1)
    found = {}
    for name in table.data:
        one = table.table(name)
        one.only(KEYS)
        found[name] = _Entry(one.text("arguments", ""), tuple(one.texts("with", [])))
    return found


def load(lab: Lab) -> dict[str, Program]:
    """All programs by name, in the order in which they run. Raises UserError for a wrong
    description."""
    entries = _entries(lab)
    known = workload.load(lab) if entries else {}
    programs = {}
    for name in entries:
        one = known[name]
        numbers = {
            key: value.default
            for key, value in one.parameters.items()
            if isinstance(value.default, int)
        }
        programs[name] = Program(name, one.title, one.source, numbers)
    return programs


def sources(lab: Lab) -> dict[str, tuple[str, int]]:
    """What the build compiles: the C file in the checkout and the first phase, by program."""
    entries = _entries(lab)
    files = workload.programs(lab, ("micro",))
    first = {name: PHASES * number for number, name in enumerate(entries, 1)}
    needed = {more: 0 for one in entries.values() for more in one.needs}
    return {name: (lab.short(files[name]), phase) for name, phase in (first | needed).items()}


def phases(lab: Lab) -> dict[int, str]:
    """The names of all phases: the name of the workload, and the name of its phase if it has
    several."""
    known = workload.load(lab)
    found = {}
    for name, (_, first) in sources(lab).items():
        if first:
            own = {n: text for n, text in known[name].phases.items() if n < PHASES}
            for number, text in own.items():
                found[first + number] = f"{name} {text}" if len(own) > 1 else name
    return found


def made(lab: Lab) -> list[Path]:
    """The files for the floppy: the programs and the script that starts them. Builds what is out of
    date. Raises UserError if the build fails."""
    names = [*sources(lab), DONE]
    build.ensure(lab, Progress(), tuple(f"{MADE}/{name}" for name in names))
    lines = [
        f"./{name} {one.arguments}".rstrip() + f" || ./{DONE} {name} $?\n"
        for name, one in _entries(lab).items()
    ]
    script = "".join([HEAD, *lines, f"./{DONE}\n"])
    start = store_bytes(lab.root / MADE / START, script.encode())
    return [start, *(lab.root / MADE / name for name in names)]


SYSTEM = System(NAME, TAR, load, made, phases)
