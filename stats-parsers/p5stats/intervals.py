# SPDX-License-Identifier: MIT
"""intervals.jsonl: the counts of each interval of a run.

A run with `--interval CLOCKS` writes the file (docs/reference/formats.md): all counts at the end of
the boot, and after each interval. With `--cpi`, the components of the CPI stack add up to the busy
cycles of each interval and ring. `read` verifies this.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from p5stats import cpi, jsonl
from p5stats.lazy import pd

SCHEMA_VERSION = 1
RINGS = 4
COLUMNS = ["interval", "begin", "end", "ring", "event", "count"]


@dataclass(frozen=True)
class Interval:
    """The counts of one interval. `begin`, `end`: the clock at its beginning and at its end, in
    core clocks since reset. `rings`: the counts of each ring, in the order of the file's events."""

    begin: int
    end: int
    rings: dict[int, list[int]]


@dataclass(frozen=True)
class Intervals:
    """The counts of a run by interval. `length`: the length of an interval in core clocks. An
    interval can be longer, for example if the processor is idle. The last one can be shorter."""

    events: list[str]
    length: int
    clock_hz: int
    intervals: list[Interval]

    def frame(self) -> pd.DataFrame:
        """A row for each count that is not zero.

        Columns: COLUMNS. All except `event` are integers. `interval` is a number from 0 in the
        order of time. `begin` and `end` are in core clocks since reset.
        """
        rows = [
            (number, interval.begin, interval.end, ring, event, count)
            for number, interval in enumerate(self.intervals)
            for ring, counts in interval.rings.items()
            for event, count in zip(self.events, counts, strict=True)
            if count
        ]
        frame = pd.DataFrame(rows, columns=COLUMNS)
        return frame.astype({name: "int64" for name in COLUMNS if name != "event"})


def read(path: Path) -> Intervals:
    """Reads the counts of a run by interval. StatsError if the file is malformed or incomplete, or
    if the components of a CPI stack do not add up to the busy cycles."""
    events: list[str] = []
    length = clock_hz = 0
    points: list[tuple[int, dict[int, list[int]]]] = []

    def header(record: dict[str, Any]) -> None:
        nonlocal length, clock_hz
        events.extend(jsonl.names(record["events"]))
        length, clock_hz = (jsonl.whole(record[name]) for name in ("length", "clock_hz"))
        if not length or not clock_hz:
            raise ValueError("length and clock_hz: expected at least 1")

    def line(record: dict[str, Any]) -> None:
        if record["type"] != "counts":
            raise ValueError(f"unknown type {record['type']!r}")
        tsc, rings = jsonl.whole(record["tsc"]), _rings(record["rings"], len(events))
        if points and (tsc < points[-1][0] or points[-1][1].keys() - rings.keys()):
            raise ValueError("expected a later clock and the rings of the line before")
        points.append((tsc, rings))

    jsonl.between(path, "intervals", SCHEMA_VERSION, header, line)
    intervals = []
    for (begin, before), (end, after) in pairwise(points):
        rings = {ring: _minus(counts, before.get(ring)) for ring, counts in after.items()}
        for ring, counts in rings.items():
            where = f"{path}: clocks {begin} to {end}, ring {ring}"
            cpi.check(where, dict(zip(events, counts, strict=True)))
        if end > begin:
            intervals.append(Interval(begin, end, rings))
    return Intervals(events, length, clock_hz, intervals)


def _rings(value: object, events: int) -> dict[int, list[int]]:
    if not isinstance(value, list):
        raise ValueError("expected the counts of each ring")
    rings: dict[int, list[int]] = {}
    for ring, counts in value:
        if jsonl.whole(ring, RINGS) in rings:
            raise ValueError(f"ring {ring} twice")
        if not isinstance(counts, list) or len(counts) != events:
            raise ValueError("expected a count for each event")
        rings[ring] = [jsonl.whole(count) for count in counts]
    return rings


def _minus(after: list[int], before: list[int] | None) -> list[int]:
    """The counts of an interval. In files of an older p5lab, one can be negative: a clock got its
    component in the next interval."""
    return after if before is None else [a - b for a, b in zip(after, before, strict=True)]
