# SPDX-License-Identifier: MIT
"""Shows the screen at the end of a run from media, for `run` and `show RUN`."""

from collections.abc import Sequence

from p5lab.describe import outputs
from p5lab.host.terminal import for_terminal
from p5lab.keep.store import Stored

SCREEN = outputs.file("screen")
HEAD = "the screen at the end:"


def text(stored: Stored) -> str:
    """The screen that a run left, safe for a terminal: a line above it, and each row after two
    spaces. Empty rows at the end are left out. Empty if the run left no screen."""
    try:
        content = (stored.directory / SCREEN).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
    rows = content.rstrip("\n").split("\n")
    shown = "".join(f"  {for_terminal(row)}".rstrip() + "\n" for row in rows)
    return f"{HEAD}\n{shown}" if content.strip() else f"{HEAD} empty\n"


def several(runs: Sequence[Stored]) -> str:
    """The screens of several runs, each below the name of its run. Empty if no run left a
    screen."""
    return "".join(
        f"{for_terminal(one.record['label'])}: {shown}" for one in runs if (shown := text(one))
    )
