# SPDX-License-Identifier: MIT
"""modes.jsonl: counts by machine mode, ring and address space.

A run with `--modes` writes the file (docs/concepts/calls.md). The sum over the modes of a ring and
an address space equals the counts at the markers, for each event. The engine checks this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p5stats import jsonl

if TYPE_CHECKING:
    import pandas as pd
else:
    from p5stats.lazy import pd

SCHEMA_VERSION = 1
LIMIT = 1 << 53  # counts must be smaller, so that their sums fit into the data frame
MODES = ("real", "v86", "prot16", "prot32", "long64")
ENTRIES = ("soft", "irq", "fault")
RINGS = 4
VECTORS = 256
COLUMNS = ["phase", "mode", "ring", "space", "event", "count"]


@dataclass(frozen=True)
class Mode:
    """The counts of one mode in a ring of an address space (`cr3`), in one phase.

    counts: in the order of the file's events. vectors: the number of deliveries in this mode, by
    kind of entry (soft, irq, fault) and vector.
    """

    phase: int
    mode: str
    ring: int
    cr3: int
    counts: list[int]
    vectors: dict[tuple[str, int], int]


@dataclass
class Modes:
    """The counts of a run by mode."""

    events: list[str]
    modes: list[Mode] = field(default_factory=list)

    def frame(self) -> pd.DataFrame:
        """A row for each count that is not zero.

        Columns: COLUMNS. `phase`, `ring`, `space` (the value of CR3) and `count` are integers.
        `mode` is one of MODES. The deliveries of interrupts and exceptions in the mode and ring of
        the interrupted code are events such as `vector.irq.48`, as in counts.parquet: software
        interrupts (soft), hardware interrupts (irq) and exceptions (fault).
        """
        rows = [
            (one.phase, one.mode, one.ring, one.cr3, event, count)
            for one in self.modes
            for event, count in [
                *zip(self.events, one.counts, strict=True),
                *((f"vector.{entry}.{number}", n) for (entry, number), n in one.vectors.items()),
            ]
            if count
        ]
        numbers = dict.fromkeys(("phase", "ring", "space", "count"), "int64")
        return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def read(path: Path) -> Modes:
    """Reads the counts of a run by mode. StatsError if the file is malformed or incomplete."""
    found = Modes([])
    seen: set[tuple[int, str, int, int]] = set()

    def header(record: dict[str, Any]) -> None:
        found.events.extend(jsonl.names(record["events"]))

    def line(record: dict[str, Any]) -> None:
        if record["type"] != "mode":
            raise ValueError(f"unknown type {record['type']!r}")
        mode = _mode(record, len(found.events))
        key = (mode.phase, mode.mode, mode.ring, mode.cr3)
        if key in seen:
            raise ValueError("the same mode twice")
        seen.add(key)
        found.modes.append(mode)

    jsonl.between(path, "modes", SCHEMA_VERSION, header, line)
    return found


def _mode(record: dict[str, Any], events: int) -> Mode:
    if record["mode"] not in MODES:
        raise ValueError(f"unknown mode {str(record['mode'])[:40]!r}")
    counts = record["counts"]
    vectors: dict[tuple[str, int], int] = {}
    if not isinstance(counts, list) or len(counts) != events:
        raise ValueError("expected a count for each event")
    if not all(type(count) is int and abs(count) < LIMIT for count in counts):
        raise ValueError("expected whole numbers")
    for entry, vector, count in record["vectors"]:
        if entry not in ENTRIES or _number(vector, VECTORS) is None or not _number(count, LIMIT):
            raise ValueError("expected vectors as [entry, vector, count]")
        if (entry, vector) in vectors:
            raise ValueError(f"vector {vector} twice")
        vectors[entry, vector] = count
    ring, phase, cr3 = record["ring"], record["phase"], record["cr3"]
    if _number(ring, RINGS) is None or _number(phase, LIMIT) is None:
        raise ValueError("expected a ring and a phase")
    if _number(cr3, LIMIT) is None:
        raise ValueError("expected the value of CR3")
    return Mode(phase, record["mode"], ring, cr3, counts, vectors)


def _number(value: object, limit: int) -> int | None:
    """The value if it is a whole number from 0 to `limit` - 1, else None."""
    return value if type(value) is int and 0 <= value < limit else None
