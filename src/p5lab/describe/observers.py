# SPDX-License-Identifier: MIT
"""The observers of `engine/observe` and of P5LAB_PATH, as the `observer.toml` of each declares
them."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.errors import UserError
from p5lab.lab import Lab


@dataclass(frozen=True)
class DeclaredObserver:
    """An observer that divides counts. `name`: its directory; --NAME requests it. `help`: explains
    this option. `cost`: what makes a run with it slower, or empty. `label`: for the names of runs.
    `title`: of its counts. `doc`: the content of its file. `symbols`: those of the guest's kernel
    that it needs. `excludes`: the options that cannot share a run with it. `sources`: the C++ files
    with its class."""

    name: str
    help: str
    label: str
    title: str
    doc: str
    sources: tuple[Path, ...]
    cost: str = ""
    symbols: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The name of its file in the run directories."""
        return f"{self.name}.jsonl"


@cache
def read(lab: Lab) -> tuple[DeclaredObserver, ...]:
    """The observers of a checkout and of its directories of P5LAB_PATH, by name. Raises UserError
    for a wrong declaration, and for a declaration without a class."""
    declared = []
    for name, path in lab.files("observer").items():
        table = tomlfile.load(path)
        table.table("dimensions")  # p5stats.observers reads them
        sources = tuple(sorted(path.parent.glob("**/*.cc")))
        registers = re.compile(rf'\bRegistered<[\w:]+>\s+\w+\("{re.escape(name)}"')
        if not any(registers.search(file.read_text(encoding="utf-8")) for file in sources):
            raise UserError(
                f"{path}: expected also a class, and in a .cc file of this directory the line"
                f' `const observe::Registered<CLASS> registered("{name}");`'
            )
        declared.append(table.record(DeclaredObserver, ["dimensions"], name=name, sources=sources))
    return tuple(declared)


def here() -> tuple[DeclaredObserver, ...]:
    """The observers of this checkout and of P5LAB_PATH."""
    return read(Lab.here())
