# SPDX-License-Identifier: MIT
"""The files that a run writes, as `engine/session/outputs.toml` declares them."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from p5lab.describe import observers, tomlfile
from p5lab.lab import Lab

FILE = "engine/session/outputs.toml"
FORMATS = "docs/reference/formats.md"


@dataclass(frozen=True)
class Output:
    """A file of a run's directory. `when`: the option that makes a run write the file; empty if
    every run writes it. `format`: the document that describes the file; empty for plain text."""

    name: str
    file: str
    doc: str
    when: str = ""
    format: str = ""


@cache
def read(path: Path) -> dict[str, Output]:
    """The files in a declaration, by name. Raises UserError for a wrong declaration."""
    tables = tomlfile.load(path, ["outputs"]).table("outputs").inner()
    return {name: table.record(Output, name=name) for name, table in tables.items()}


def here() -> dict[str, Output]:
    """The files that this checkout declares, by name: `here()["events"].file` is "events.jsonl".
    The file of an observer has the observer's name."""
    return read(Lab.here().root / FILE) | {
        observer.name: Output(
            observer.name, observer.file, observer.doc, f"--{observer.name}", FORMATS
        )
        for observer in observers.here()
    }


def file(name: str) -> str:
    """The name of a file in the run directories: `file("events")` is "events.jsonl". Raises
    KeyError for a name that is not declared."""
    return here()[name].file


def reference() -> str:
    """A table of the files in Markdown, for docs/reference/formats.md."""
    lines = ["| File | Written | Content |", "|---|---|---|"]
    lines += [
        f"| `{output.file}` | {f'with `{output.when}`' if output.when else 'by every run'} |"
        f" {output.doc} |"
        for output in here().values()
    ]
    return "\n".join(lines) + "\n"
