# SPDX-License-Identifier: MIT
"""Terminal tables: the counts of an experiment, of one run, and what there is."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from p5lab import store
from p5lab.store import Stored
from p5lab.workload import EMPTY_NAME
from p5stats import compare, tidy

# The columns of a curve's table, the most telling first: a narrow terminal shows the first ones.
CURVE_HEADS = {
    "busy cycles": "cycles",
    "CPI (busy)": "CPI",
    "read misses/reference": "L1D/ref",
    "L2 misses": "L2",
    "DTLB misses": "DTLB",
    "I-cache misses": "L1I",
    "kernel share": "kernel",
    "interrupts, clock": "clock",
    "data reads": "reads",
    "microseconds": "us",
}
LABEL_WIDTH, COLUMN_WIDTH, POINT_WIDTH = 26, 13, 10
PIPED_WIDTH = 120


@dataclass(frozen=True)
class Measured:
    """One phase of one run: the metrics of one operation, and how far iterations spread."""

    stored: Stored
    phase: str
    iterations: int
    values: dict[str, float]
    cycles_min: float
    cycles_max: float


def measure(stored: Stored) -> list[Measured]:
    """All phases of an ok run, corrected for the empty bracket, per operation."""
    frame, clock_hz = tidy.read(stored.directory / store.COUNTS)
    workload = stored.record["workload"]
    operations = workload["operations"]
    counts = compare.without_empty(compare.counts(frame), EMPTY_NAME)
    result = []
    # The order of the rows is the order in which the phases began.
    for phase in _phases(frame):
        if phase not in counts.index.get_level_values("phase"):
            continue
        rows = counts.xs(phase, level="phase")
        busy = rows["cycles.busy"] / operations
        result.append(
            Measured(
                stored,
                phase,
                len(rows),
                compare.evaluate(rows.mean().to_dict(), operations, clock_hz,
                                 stored.record["guest"]["clock_vector"]),
                float(busy.min()),
                float(busy.max()),
            )
        )  # fmt: skip
    return result


def _phases(frame: pd.DataFrame) -> list[str]:
    return list(frame["phase"].unique())


def stdout() -> Console:
    """Where results go. A file or pipe has no width of its own; COLUMNS decides there too."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_WIDTH
    return console


def experiment(console: Console, runs: Sequence[Stored]) -> None:
    """The tables of an experiment's runs. A curve gets a table of its own, and its last point a
    column among the others."""
    columns: list[Measured] = []
    curves: list[list[Measured]] = []
    for stored in runs:
        measured = measure(stored)
        if stored.record["workload"]["curve"]:
            curves.append(measured)
            measured = measured[-1:]
        columns += measured
    if not columns:
        return
    metrics(console, columns)
    for points in curves:
        curve(console, points)
    console.print(
        "Mean of one operation over the iterations. Cycles, instructions and accesses of the"
        " markers' own set-up (empty bracket) are subtracted, as chen95 subtracts Null. A dash:"
        " nothing to divide by.",
        style="dim",
    )


def metrics(console: Console, columns: Sequence[Measured]) -> None:
    """Metrics down, benchmarks across: as many tables as the width asks for."""
    room = max((console.width - LABEL_WIDTH) // COLUMN_WIDTH, 1)
    for first in range(0, len(columns), room):
        console.print(_metrics(columns[first : first + room]))


def _metrics(columns: Sequence[Measured]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title="Counts per operation", title_justify="left")
    table.add_column("", no_wrap=True)
    for column in columns:
        record = column.stored.record
        head = _head(record).replace(" ", "\n") + _phase_label(column, columns)
        table.add_column(head, justify="right", no_wrap=True)
    table.add_row("iterations", *(str(column.iterations) for column in columns))
    for metric in compare.metrics(0):
        table.add_row(metric.name, *(number(c.values[metric.name]) for c in columns))
        if metric.name == "busy cycles":
            table.add_row("  lowest", *(number(c.cycles_min) for c in columns), style="dim")
            table.add_row("  highest", *(number(c.cycles_max) for c in columns), style="dim")
    return table


def curve(console: Console, points: Sequence[Measured]) -> None:
    """One row for each point."""
    record = points[0].stored.record
    title = f"{_head(record)}: counts per {record['workload']['operation']}"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    table.add_column(record["workload"]["curve"], justify="right", no_wrap=True)
    shown = list(CURVE_HEADS)[: max((console.width - POINT_WIDTH) // POINT_WIDTH, 1)]
    for name in shown:
        table.add_column(CURVE_HEADS[name], justify="right", no_wrap=True)
    for point in points:
        table.add_row(point.phase, *(number(point.values[name]) for name in shown))
    console.print(table)


def _head(record: dict[str, Any]) -> str:
    """The run's label without what is the same everywhere in a small experiment."""
    return str(record["label"]).split(", ")[0]


def _phase_label(column: Measured, columns: Sequence[Measured]) -> str:
    same = sum(other.stored.id == column.stored.id for other in columns)
    curved = bool(column.stored.record["workload"]["curve"])
    return f"\n{column.phase}" if curved or same > 1 else ""


def number(value: float) -> str:
    """Four significant digits, thousands separated, a dash for what does not exist."""
    if math.isnan(value):
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 5)}f}".rstrip("0").rstrip(".") or "0"


def run(console: Console, stored: Stored) -> None:
    """Everything about one run."""
    record = stored.record
    if not record["identity"]:
        console.print(f"{stored.id}: {record['status']}: {record['reason']}")
        return
    facts = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    machine = record["machine"]
    rows = [
        ("run", stored.id),
        ("status", " ".join(filter(None, (record["status"], record["reason"])))),
        ("experiment", record["experiment"]),
        ("machine", " ".join(filter(None, (machine["name"], machine["geometry"])))),
        ("guest", record["guest"]["name"]),
        ("job", record["identity"]["settings"]["engine.conf"]["run.job"]),
        ("bracket", record["workload"]["bracket"]),
        ("feedback", record["feedback"]),
        ("versions", ", ".join(f"{name} {text}" for name, text in record["versions"].items())),
        ("started", record.get("started", "-")),
        ("wall time", f"{record['wall_seconds']} s" if "wall_seconds" in record else "-"),
        ("engine notes", "; ".join(_note(note) for note in record.get("notes", [])) or "none"),
        ("directory", str(stored.directory)),
    ]
    for name, value in rows:
        facts.add_row(name, _plain(value), style="red" if value.startswith("failed") else "")
    console.print(facts)
    for role, sha256 in record["identity"]["digests"].items():
        console.print(f"sha256 {sha256}  {role}", style="dim", soft_wrap=True)
    if stored.status != "ok":
        for path in sorted((*stored.directory.glob("*.log"), *stored.directory.glob("*.out"))):
            console.print(f"log: {path} ({path.stat().st_size} bytes)", highlight=False)
        return
    measured = measure(stored)
    if record["workload"]["curve"]:
        curve(console, measured)
    metrics(console, measured)


def _note(note: dict[str, Any]) -> str:
    return " ".join(str(value) for value in note.values())


def runs(console: Console, stored: Sequence[Stored]) -> None:
    """One line a run."""
    table = Table(box=box.SIMPLE_HEAD)
    for head in ("run", "experiment", "status", "what", "wall s", "reason"):
        table.add_column(head, overflow="fold")
    for item in stored:
        record = item.record
        table.add_row(
            item.id[:10],
            record["experiment"],
            record["status"],
            record["label"],
            str(record.get("wall_seconds", "-")),
            _plain(record["reason"]),
        )
    console.print(table)


def _plain(text: str) -> str:
    """Texts that come from a guest are shown without markup and control characters."""
    from rich.markup import escape

    return escape("".join(char if char.isprintable() else "?" for char in text))
