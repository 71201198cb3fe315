# SPDX-License-Identifier: MIT
"""Executes docs/start/tutorial.md in a copy of the work tree.

The info string of a fence gives the kind of the block. A block `file=PATH` is written to the file
PATH, and a block `append=PATH` is appended to the file PATH. The program `patch` applies a block
`diff`. A shell runs a block `sh`. A `text` block quotes the output of the command above it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import work_tree

from p5lab.errors import UserError

DOCUMENT = "docs/start/tutorial.md"
BLOCK = re.compile(r"^```(\w+)(?: (file|append)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Quoted:
    """A quotation of the tutorial, and what the command above it printed on standard output."""

    quote: str
    command: str
    output: str


def copy(root: Path, to: Path) -> None:
    """Copies the files of the work tree, including edited files, without build products. The copy
    shares .venv with the work tree."""
    for name in work_tree.files(root):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, to / name)
    # The launcher accepts this environment as its own. It therefore makes no new environment, and
    # does not change this environment.
    python = to / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    stamp = (root / ".venv/p5lab-stamp").read_text().split(" ")[0]
    (to / ".venv/p5lab-stamp").write_text(f"{stamp} {to.resolve()}\n")


def play(place: Path) -> Iterator[Quoted]:
    """Does in a copy (see `copy`) what the tutorial says. Yields each quotation of the tutorial.

    The results of the runs are in the copy. Raises UserError if a command fails or if a block has
    an unknown kind.
    """
    environment = {**os.environ, "COLUMNS": "120"}
    environment.pop("PYTHONPATH", None)  # use the modules of the copy, not of this checkout
    command = output = ""
    for block in BLOCK.finditer((place / DOCUMENT).read_text(encoding="utf-8")):
        kind, action, name, text = block.groups()
        if action:
            _write(place / name, text, new=action == "file")
        elif kind == "diff":
            patch = ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch"]
            subprocess.run(patch, cwd=place, input=text, text=True, check=True)
        elif kind == "sh":
            command, output = text, _shell(text, place, environment)
        elif kind == "text":
            yield Quoted(text, command, output)
        else:
            raise UserError(f"{DOCUMENT}: a block of unknown kind: {block[0][:40]!r}")


def _write(path: Path, text: str, *, new: bool) -> None:
    if new and path.exists():
        raise UserError(f"{DOCUMENT}: {path.name} exists already", status=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w" if new else "a", encoding="utf-8") as file:
        file.write(text)


def _shell(text: str, place: Path, environment: dict[str, str]) -> str:
    """Runs the commands of a block and returns their standard output."""
    done = subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise UserError(
            f"{DOCUMENT}: {text.strip()!r} ended with status {done.returncode}:\n"
            f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}",
            status=1,
        )
    return done.stdout
