# SPDX-License-Identifier: MIT
"""The files of the observers of engine/observe and of P5LAB_PATH: counts by ring, address space and
the dimensions that the observer.toml of each observer declares.

The sum over the values of a ring and an address space equals the counts at the markers, for each
event. The engine checks this.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from p5stats import declared, jsonl, known_calls
from p5stats.lazy import pd
from p5stats.observed import Counted
from p5stats.problems import NotCounted

SCHEMA_VERSION = 1
ENTRIES = ("soft", "irq", "fault")
RINGS, VECTORS = 4, 256
PLAIN = ("type", "phase", "cr3", "ring", "counts", "vectors")  # the members that are no dimension
START, END = ("phase", "ring", "space"), ("event", "count")  # columns
REST = "(rest)"  # the value of a combination beyond the limit of the engine
# The kind and the name of code outside of any call.
OUTSIDE, OUTSIDE_CALLS = "outside", "outside of any call"


def named(members: Mapping[str, Any]) -> dict[str, Any]:
    """The dimensions of joint counts with their values. `members`: those of a line. A call has two
    dimensions. Raises ValueError for a value of the wrong form."""
    dimensions = dict(members)
    if (call := dimensions.pop("call", None)) is not None:
        kind, *numbers = str(call).split(":")
        if kind not in (OUTSIDE, *known_calls.KINDS):
            raise ValueError(f"unknown kind {kind[:40]!r} of a call")
        vector, function = (int(number) if number else None for number in numbers or ("", ""))
        name = (
            OUTSIDE_CALLS if kind == OUTSIDE else known_calls.read().short(kind, vector, function)
        )
        dimensions |= {"call": name, "kind": kind}
    return dimensions


@cache
def dimensions(engine: Path = declared.ENGINE) -> Mapping[str, Mapping[str, str]]:
    """For each observer, its dimensions with their meanings."""
    files = sorted(engine.glob("observe/*/observer.toml"))
    for place in filter(None, os.environ.get("P5LAB_PATH", "").split(os.pathsep)):
        files += sorted(Path(place).glob("observers/*/observer.toml"))
    return {path.parent.name: declared.load(path).get("dimensions", {}) for path in files}


def read(path: Path, by: Collection[str] = ()) -> Counted:
    """Reads the file of an observer with these dimensions, or joint counts with those of the file.
    StatsError if the file is malformed or incomplete.

    The table has a row for each count that is not zero, with the columns `phase`, `ring`, `space`
    (the value of CR3 in hexadecimal), the dimensions, `event` and `count`. The deliveries of
    interrupts and exceptions are events such as `vector.irq.48`, as in counts.parquet: software
    interrupts (soft), hardware interrupts (irq) and exceptions (fault), at the place of the
    interrupted code.
    """
    events: list[str] = []
    rows: list[dict[str, Any]] = []
    seen: set[tuple[Any, ...]] = set()

    def header(record: dict[str, Any]) -> None:
        if "events" not in record and "call" in by:  # an older file, with four numbers for a call
            raise NotCounted("call")
        events.extend(jsonl.names(record["events"]))

    def line(record: dict[str, Any]) -> None:
        phase, space = (jsonl.whole(record[name]) for name in ("phase", "cr3"))
        own = {name: value for name, value in record.items() if name not in PLAIN}
        if not all(isinstance(value, str | int) for value in own.values()):
            raise ValueError(f"expected texts or numbers: {', '.join(own)}")
        where = {"phase": phase, "ring": jsonl.whole(record["ring"], RINGS), "space": space}
        place = (*where.values(), *own.items())
        if place in seen:
            raise ValueError("the same place twice")
        seen.add(place)
        where |= (values := named(own))
        if by and values.keys() != set(by):
            raise ValueError(f"expected {', '.join(by)}")
        counts = dict(zip(events, jsonl.counts(record["counts"], events), strict=True))
        counts |= _vectors(record.get("vectors", []))
        rows.extend({**where, "event": event, "count": n} for event, n in counts.items() if n)

    jsonl.between(path, "counts of an observer", SCHEMA_VERSION, header, line)
    own = dict.fromkeys(name for row in rows for name in row if name not in (*START, *END))
    frame = pd.DataFrame(rows, columns=[*START, *own, *END], dtype="object")
    frame = frame.where(frame.notna(), REST).astype(
        dict.fromkeys(("phase", "ring", "count"), "int64")
    )
    frame = frame.assign(space=frame["space"].map("{:#010x}".format))
    return Counted(frame, tuple(dict.fromkeys((*events, *frame["event"]))))


def _vectors(value: Any) -> dict[str, int]:  # noqa: ANN401
    counts: dict[str, int] = {}
    for entry, vector, count in value:
        name = f"vector.{entry}.{jsonl.whole(vector, VECTORS)}"
        if entry not in ENTRIES or not jsonl.whole(count):
            raise ValueError("expected vectors as [entry, vector, count]")
        if name in counts:
            raise ValueError(f"vector {vector} twice")
        counts[name] = count
    return counts
