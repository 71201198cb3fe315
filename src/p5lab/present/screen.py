# SPDX-License-Identifier: MIT
"""Shows the screens of a run from media: at the end for `run`, and also at each step of its script
for `show RUN`."""

from collections.abc import Sequence

from p5lab.describe import outputs
from p5lab.host.terminal import for_terminal
from p5lab.keep.store import Stored

SCREEN, STEPS = outputs.file("screen"), outputs.file("step_screens")
HEAD = "the screen at the end:"


def text(stored: Stored) -> str:
    """The screen that a run left, safe for a terminal: a line above it, and each row after two
    spaces. Empty rows at the end are left out. Empty if the run left no screen."""
    content = _content(stored, SCREEN)
    if content is None:
        return ""
    rows = content.rstrip("\n").split("\n")
    shown = "".join(f"  {for_terminal(row)}".rstrip() + "\n" for row in rows)
    return f"{HEAD}\n{shown}" if content.strip() else f"{HEAD} empty\n"


def steps(stored: Stored) -> str:
    """The screens at the steps of a run's script, safe for a terminal: a line about each step, and
    each row after two spaces. Empty if the run had no script."""
    lines = (_content(stored, STEPS) or "").splitlines()
    return "".join(f"{for_terminal(line)}\n" for line in lines)


def _content(stored: Stored, file: str) -> str | None:
    try:
        return (stored.directory / file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def several(runs: Sequence[Stored]) -> str:
    """The screens of several runs, each below the name of its run. Empty if no run left a
    screen."""
    return "".join(
        f"{for_terminal(one.record['label'])}: {shown}" for one in runs if (shown := text(one))
    )
