# SPDX-License-Identifier: MIT
"""The observers of `engine/observe`, as the `observer.toml` of each declares them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.lab import Lab

SCHEMA_VERSION = 1
FILES = "engine/observe/*/observer.toml"


@dataclass(frozen=True)
class Observer:
    """An observer that divides counts. `name`: its directory; --NAME requests it. `help`: explains
    this option. `label`: for the names of runs. `title`: of its counts. `doc`: the content of its
    file."""

    name: str
    help: str
    label: str
    title: str
    doc: str

    @property
    def file(self) -> str:
        """The name of its file in the run directories."""
        return f"{self.name}.jsonl"


@cache
def read(root: Path) -> tuple[Observer, ...]:
    """The observers of a checkout, by name. Raises UserError for a wrong declaration."""
    found = []
    for path in sorted(root.glob(FILES)):
        table = tomlfile.load(path, schema_version=SCHEMA_VERSION)
        table.only(("schema_version", "help", "label", "title", "doc", "dimensions"))
        table.table("dimensions")  # p5stats.observers reads them
        texts = {key: table.text(key) for key in ("help", "label", "title", "doc")}
        found.append(Observer(path.parent.name, **texts))
    return tuple(found)


def here() -> tuple[Observer, ...]:
    """The observers of this checkout."""
    return read(Lab.here().root)
