# SPDX-License-Identifier: MIT
"""The list of programs for a system that runs workloads of our own guests, or C files of the same
form (workloads/linux2/program.c), one after the other in one boot.

Each program has phases of its own: the numbers of the workload and a multiple of PHASES.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.describe import workload as workloads
from p5lab.describe.supplied import LIST, SuppliedProgram
from p5lab.describe.tomlfile import TomlTable
from p5lab.lab import Lab

PHASES = 1 << 24  # more than the largest phase of a workload
KEYS = ("workload", "arguments", "with", "windowed")


@dataclass(frozen=True)
class ListedProgram:
    """A program of the list. `workload`: the workload that it is, empty for a program of this
    system only. `arguments`: the words of the command line. `needs`: further programs that it
    needs. `windowed`: whether the system also gets it as a windowed program. `first`: the number
    that is added to its phases. `phases`: their names, by the numbers of the workload."""

    program: SuppliedProgram
    workload: str
    arguments: str
    needs: tuple[str, ...]
    windowed: bool
    first: int
    phases: Mapping[int, str]


def entries(lab: Lab, place: str) -> dict[str, ListedProgram]:
    """The list in a directory of the laboratory, by the names of the programs; empty if there is
    none. Raises UserError for a wrong description."""
    if not (lab.root / place / LIST).is_file():
        return {}
    described = tomlfile.load(lab.root / place / LIST).inner()
    known = workloads.load(lab)
    return {
        name: _entry(name, table, known, PHASES * number)
        for number, (name, table) in enumerate(described.items(), 1)
    }


def _entry(
    name: str, table: TomlTable, known: Mapping[str, workloads.Workload], first: int
) -> ListedProgram:
    if "title" in table.data:  # a program of one system, which the list describes itself
        program = table.record(SuppliedProgram, (*KEYS, "phases"), name=name)
        source, phases = "", dict(enumerate(table.texts("phases")))
    else:
        table.only(KEYS)
        source = table.text("workload", name)
        program, phases = _of_workload(name, known[source])
    return ListedProgram(
        program,
        source,
        table.text("arguments", ""),
        tuple(table.texts("with", [])),
        table.flag("windowed", False),
        first,
        phases,
    )


def _of_workload(name: str, workload: workloads.Workload) -> tuple[SuppliedProgram, dict[int, str]]:
    parameters = {
        key: parameter.default
        for key, parameter in workload.parameters.items()
        if isinstance(parameter.default, int)
    }
    phases = {number: text for number, text in workload.phases.items() if number < PHASES}
    if len(phases) > 1:
        phases = {number: f"{workload.name} {text}" for number, text in phases.items()}
    else:
        phases = dict.fromkeys(phases, workload.name)
    return SuppliedProgram(name, workload.title, workload.source, parameters), phases


def programs(lab: Lab, place: str) -> dict[str, SuppliedProgram]:
    """The programs of the list by name, in the order in which they run. Raises UserError for a
    wrong description."""
    return {name: entry.program for name, entry in entries(lab, place).items()}


def phases(lab: Lab, place: str) -> dict[int, str]:
    """The names of all phases."""
    return {
        entry.first + number: text
        for entry in entries(lab, place).values()
        for number, text in entry.phases.items()
    }


def sources(lab: Lab, place: str) -> dict[str, tuple[Path, int]]:
    """What is compiled, by program: the C file, and the number that is added to its phases. A file
    NAME.c in the directory of the list replaces the workload's own file. The number is 0 for a
    program that another one starts."""
    files = workloads.programs(lab, ("micro",))

    def file(name: str, of: str) -> Path:
        here = lab.root / place / f"{name}.c"
        return here if here.is_file() else files[of]

    listed = entries(lab, place)
    compiled = {name: (file(name, entry.workload), entry.first) for name, entry in listed.items()}
    needed = sorted({name for entry in listed.values() for name in entry.needs})
    return compiled | {name: (file(name, name), 0) for name in needed}
