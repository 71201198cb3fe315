# SPDX-License-Identifier: MIT
"""Finds lines in the logs of a run: the reason for an error, or the panic of a kernel."""

import re
import signal
from pathlib import Path

from p5lab.files import last_lines
from p5lab.terminal import for_terminal

NOTHING = "it printed nothing"
_PANIC = re.compile(r"Kernel panic - not syncing: .*|(?:BUG|Oops)\b.*|invalid opcode.*")


def printable(text: str) -> str:
    """A line that a guest or a tool printed, cut to 300 characters and safe for a terminal."""
    return for_terminal(text.strip())[:300]


def last_line(path: Path) -> str:
    """Returns the last line of a log that contains text, or NOTHING. If a program's usage ends the
    log, the result is the line before it, which says what was wrong."""
    lines = [line for line in last_lines(path) if printable(line)]
    end = len(lines)
    while end and lines[end - 1].startswith("  "):
        end -= 1
    if end > 1 and lines[end - 1].startswith("usage: "):
        lines = lines[: end - 1]
    return printable(lines[-1]) if lines else NOTHING


def last_line_about(path: Path, *names: str) -> str:
    """Returns the last line of a log that begins with one of `names` and a colon. If there is no
    such line, returns `last_line`. A program's banner can follow its error message in the log."""
    begins = tuple(f"{name}:" for name in names)
    texts = [text for line in last_lines(path) if (text := printable(line)).startswith(begins)]
    return texts[-1] if texts else last_line(path)


def panic(path: Path) -> str:
    """Returns the first line about a kernel's panic or oops in a log, or an empty text if there is
    no such line."""
    for line in last_lines(path):
        if match := _PANIC.search(line):
            return printable(match[0])
    return ""


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
