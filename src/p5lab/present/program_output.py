# SPDX-License-Identifier: MIT
"""Shows what a program of the user printed in the guest, for `run --program` and `show RUN`. Also
shows the text that programs on media of the user gave to the engine by markers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from p5lab.describe import outputs
from p5lab.describe.experiment import PROGRAM
from p5lab.keep.store import Stored
from p5lab.terminal import for_terminal

OUTPUT = outputs.file("output")
LINES, BYTES = 100, 32 * 1024  # of one program, on a terminal


def is_program(record: dict[str, Any]) -> bool:
    """Whether a record describes a run of `run --program`, not a run of an experiment."""
    return bool(record["experiment"] == PROGRAM)


def name(record: dict[str, Any]) -> str:
    """The program of a run with its arguments, as the user named them. Empty for a run of an
    experiment."""
    if not is_program(record):
        return ""
    if program := record.get("program"):
        return " ".join((program["name"], *program["arguments"]))
    # A record of an older version has only the parameters, where commas separate the arguments.
    parameters = record["parameters"]
    return f"{parameters['file']} {parameters.get('arguments', '').replace(',', ' ')}".strip()


def text(stored: Stored, place: str) -> str:
    """The output of a run's program, safe for a terminal, with a newline at its end. After the
    first LINES lines, one line gives the number of the other lines and their file. `place`: the
    directory of the run, as messages show it. Empty if the program printed nothing."""
    path = stored.directory / OUTPUT
    lines = _lines(path)
    shown = _first(lines)
    if len(shown) < len(lines):
        shown.append(f"(and {len(lines) - len(shown):,} more lines: {place}/{OUTPUT})")
    return "".join(f"{line}\n" for line in shown)


def several(runs: Sequence[tuple[Stored, str]]) -> str:
    """The output of the programs of several runs, each with its directory as messages show it.
    Equal output of several runs appears once. A line above each output names the program. Empty if
    no run executed a program of the user. A run from media, and one that failed, appears only if it
    gave a text."""
    counts: dict[tuple[str, str], int] = {}
    for stored, place in runs:
        if not is_program(stored.record) and "media" not in stored.record:
            continue
        printed = text(stored, place)
        if printed or (is_program(stored.record) and stored.status == "ok"):
            key = name(stored.record) or stored.record["label"], printed
            counts[key] = counts.get(key, 0) + 1
    parts = []
    for (program, printed), count in counts.items():
        times = f" ({count} runs)" if count > 1 else ""
        head = "printed:" if printed else "printed nothing."
        parts.append(f"{for_terminal(program)}{times} {head}\n{printed}")
    return "".join(parts)


def _lines(path: Path) -> list[str]:
    try:
        content = path.read_bytes()
    except OSError:
        return []
    lines = content.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    # A program for a terminal of Windows ends its lines with CR LF.
    return [for_terminal(line.removesuffix("\r"), lines=True) for line in lines]


def _first(lines: list[str]) -> list[str]:
    """The lines at the beginning, at most LINES lines and at most BYTES characters in total. A
    longer line is cut."""
    shown: list[str] = []
    room = BYTES
    for line in lines[:LINES]:
        if room <= 0:
            break
        shown.append(line if len(line) <= room else f"{line[:room]} ...")
        room -= len(line) + 1
    return shown
