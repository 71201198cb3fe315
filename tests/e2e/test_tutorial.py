# SPDX-License-Identifier: MIT
"""docs/start/tutorial.md, executed in a copy of the work tree.

The info string of a fence gives the kind of the block. The test writes a block `file=PATH` to the
file PATH, and appends a block `append=PATH` to the file PATH. The program `patch` applies a block
`diff`. A shell runs a block `sh`. A `text` block quotes the output of the commands before it.
The quoted lines must occur in the output in the same order (except a line `...`). A line may quote
only the first columns. Whole numbers from 1 to 20 must be equal. Other numbers may differ by a
quarter, because the clocks of a rebuilt kernel depend on the addresses of its code.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from quoting import missing

from p5lab.lab import Lab

TUTORIAL = "docs/start/tutorial.md"
BLOCK = re.compile(r"^```(\w+)(?: (file|append)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy(root: Path, to: Path) -> None:
    """Copies the files of the work tree, including edited files, without build products. Shares
    .venv."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
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


def test_the_tutorial_does_what_it_says(tmp_path):
    place = tmp_path / "tutorial"
    copy(Lab.here().root, place)
    environment = {**os.environ, "COLUMNS": "120"}
    environment.pop("PYTHONPATH", None)  # use the modules of the copy, not of this checkout
    output, ran = "", 0
    for block in BLOCK.finditer((place / TUTORIAL).read_text()):
        kind, action, name, text = block.groups()
        if action == "file":
            assert not (place / name).exists(), f"{name} is there already"
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        elif action == "append":
            with (place / name).open("a") as file:
                file.write(text)
        elif kind == "diff":
            patch = ["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch"]
            subprocess.run(patch, cwd=place, input=text, text=True, check=True)
        elif kind == "sh":
            done = subprocess.run(
                ["sh", "-e", "-c", text], cwd=place, env=environment, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            output, ran = done.stdout, ran + 1
        elif kind == "text":
            assert missing(text, output) == [], output
        else:
            pytest.fail(f"a block of unknown kind: {block[0][:40]}")
    assert ran >= 4


QUOTED = "  busy cycles   470.6   10,233\n...\n  ring crossings   2   4\n"
PRINTED = "head\n  busy cycles  500  10,233  7\n  lowest 3\n  ring crossings  2  4  0\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("500", "700"), ("2  4", "2  5"), ("busy", "idle"), ("10,233  7", ""), ("cross", "x")],
)
def test_a_quote_that_no_longer_holds_is_found(old, new):
    assert missing(QUOTED, PRINTED) == []
    assert len(missing(QUOTED, PRINTED.replace(old, new))) == 1
