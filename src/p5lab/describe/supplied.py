# SPDX-License-Identifier: MIT
"""The programs that p5lab supplies for systems with their own media (`run --programs`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.lab import Lab

# The forms of the floppy with the programs: a file system of DOS, and an archive for Unix systems.
FAT, TAR = "FAT", "tar"
# The directory of a distribution in which the programs are, with the name of their system.
GUEST_PLACE = "/root"
LIST = "programs.toml"


@dataclass(frozen=True)
class SuppliedProgram:
    """`parameters`: the numbers of the job (`run --args`) that the program reads, with their
    defaults."""

    name: str
    title: str
    source: str
    parameters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class SuppliedSystem:
    """The programs for one system.

    `name`: the value of --programs.
    `form`: the form of the floppy (FAT or TAR).
    `load`: the programs by name, in the order in which they run; none if the laboratory has none.
        Raises UserError for a wrong description.
    `made`: the files for the floppy. Makes what is out of date. Raises UserError if that fails.
    `phases`: the names of the phases that the programs do not name themselves.
    `largest`: the largest value of a parameter.
    `brought`: the files for a program of a distribution that starts the programs (`run --program
        guest:PATH`); they are in
        GUEST_PLACE/NAME. None if there is no such program.
    """

    name: str
    form: str
    load: Callable[[Lab], dict[str, SuppliedProgram]]
    made: Callable[[Lab], list[Path]]
    phases: Callable[[Lab], dict[int, str]] = lambda lab: {}
    largest: int = 0x7FFFFFFF
    brought: Callable[[Lab], list[Path]] | None = None


def read(place: Path) -> dict[str, SuppliedProgram]:
    """The programs that the list in a directory describes, by name; none if there is no list.
    Raises UserError for a wrong description."""
    if not (place / LIST).is_file():
        return {}
    described = tomlfile.load(place / LIST).inner()
    return {name: table.record(SuppliedProgram, name=name) for name, table in described.items()}
