# SPDX-License-Identifier: MIT
"""What the logs of a run say."""

import re
import signal
from pathlib import Path

from p5lab.host.files import last_lines
from p5lab.host.terminal import for_terminal

_PANIC = re.compile(r"Kernel panic - not syncing: .*|(?:BUG|Oops)\b.*|invalid opcode.*")


def printable(text: str) -> str:
    """A line of what a guest or a tool has printed, for the reason in a record."""
    return for_terminal(text.strip())[:300]


def last_line(path: Path) -> str:
    texts = [text for line in last_lines(path) if (text := printable(line))]
    return texts[-1] if texts else "it printed nothing"


def panic(path: Path) -> str:
    for line in last_lines(path):
        if match := _PANIC.search(line):
            return printable(match[0])
    return ""


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
