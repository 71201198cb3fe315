# SPDX-License-Identifier: MIT
"""Prints the counts of each interval of a run, for `./p5lab show RUN --intervals`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from p5lab.describe.observation.intervals import INTERVALS
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present.tables import MISSING, Grid
from p5stats import cpi

if TYPE_CHECKING:
    from p5stats.intervals import Intervals

SCHEMA_VERSION = 1
ROWS = 32  # the table adds up neighbouring intervals if there are more
THOUSAND = 1000
# The columns of a run without a CPI stack, and the curves on a page: events per thousand
# instructions, with their titles.
MISSES = {
    "L1I\n/1000": ("code_misses", "L1I read misses"),
    "L1D\n/1000": ("data_read_misses", "L1D read misses"),
    "L2\n/1000": ("l2_read_misses", "L2 read misses"),
    "DTLB\n/1000": ("dtlb_misses", "data TLB misses"),
}
# The columns of a run with a CPI stack: groups of components (p5stats.cpi.GROUPS).
GROUPS = {
    "code\n%": "waits for code",
    "data\n%": "waits for data",
    "writes\n%": "writes and the bus",
    "branch\n%": "branches",
}
NOTE = "ms: the end of the interval, since power-up. CPI: busy cycles per instruction."
PER = " /1000: read misses per 1000 instructions."
SHARES = (
    " code, data, writes, branch: the groups of components of docs/concepts/cpi-stack.md, as shares"
    " of the busy cycles."
)
JOINED = " Each row contains {} intervals; --all-tables shows each interval."


@dataclass(frozen=True)
class Span:
    """The counts of neighbouring intervals. `begin`, `end`: in ms since power-up. `counts`: by ring
    and event."""

    begin: float
    end: float
    counts: Mapping[int, Mapping[str, int]]

    def of(self, *events: str) -> int:
        """The sum of the counts of events in all rings. An event that was not counted is 0."""
        return sum(ring.get(event, 0) for ring in self.counts.values() for event in events)

    @property
    def clocks(self) -> int:
        """The busy and the idle cycles."""
        return self.of(cpi.BUSY, cpi.IDLE)

    @property
    def kernel(self) -> int:
        """The busy cycles in ring 0."""
        return self.counts.get(0, {}).get(cpi.BUSY, 0)


def has(stored: Stored) -> bool:
    """Whether a run with status ok has counts by interval."""
    return stored.status == "ok" and (stored.directory / INTERVALS).is_file()


def parts(found: "Intervals", size: int) -> list[Span]:
    """The intervals of a run, `size` neighbours together."""
    result = []
    for start in range(0, len(found.intervals), size):
        joined = found.intervals[start : start + size]
        counts: dict[int, dict[str, int]] = {}
        for one in joined:
            for ring, own in one.rings.items():
                sums = counts.setdefault(ring, dict.fromkeys(found.events, 0))
                for event, count in zip(found.events, own, strict=True):
                    sums[event] += count
        begin, end = (THOUSAND * at / found.clock_hz for at in (joined[0].begin, joined[-1].end))
        result.append(Span(begin, end, counts))
    return result


def read(stored: Stored) -> "Intervals":
    """The counts of a run by interval. Raises UserError if the run has none."""
    from p5stats import intervals  # imported here, because loading pandas takes half a second

    path = stored.directory / INTERVALS
    if not path.is_file():
        raise selection.without(stored, "counts by interval", "--interval 1000000")
    return intervals.read(path)


def show(console: Console, stored: Stored, form: str, *, more: bool) -> None:
    """Prints a row for each interval as table or markdown. With `more`, the table has all
    intervals; without it, a row can contain several. csv and json contain all events of all
    intervals. Raises UserError if the run has no counts by interval."""
    found = read(stored)
    if form == "csv":
        console.file.write(found.frame().to_csv(index=False, lineterminator="\n"))
    elif form == "json":
        rows = json.loads(found.frame().to_json(orient="records"))
        document = {"schema_version": SCHEMA_VERSION, "run": stored.id, "rows": rows}
        console.file.write(json.dumps(document, indent=1) + "\n")
    else:
        size = 1 if more else -(-len(found.intervals) // ROWS)
        grid = _grid(found, size)
        if form == "markdown":
            console.file.write(grid.markdown() + "\n")
            return
        grid.print(console)
        note = NOTE + (SHARES if cpi.is_in(found.events) else PER)
        console.print(note + (JOINED.format(size) if size > 1 else ""), highlight=False)


def _grid(found: "Intervals", size: int) -> Grid:
    columns = GROUPS if cpi.is_in(found.events) else MISSES
    heads = ["ms", "idle\n%", "ring 0\n%", "instruc-\ntions", "CPI", *columns]
    grid = Grid(f"intervals of {found.length:,} clocks", heads)
    for part in parts(found, size):
        grid.add(f"{part.end:.2f}", *_cells(found.events, part))
    return grid


def _cells(events: Sequence[str], part: Span) -> list[str]:
    """The cells of a row, except the time."""
    busy, retired = part.of(cpi.BUSY), part.of(cpi.INSTRUCTIONS)
    cells = [
        _share(part.of(cpi.IDLE), part.clocks),
        _share(part.kernel, busy),
        f"{retired:,}",
        f"{busy / retired:.2f}" if retired else MISSING,
    ]
    if cpi.is_in(events):
        return [*cells, *(_share(part.of(*cpi.GROUPS[group]), busy) for group in GROUPS.values())]
    return [*cells, *(_rate(part.of(event), retired) for event, _ in MISSES.values())]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else MISSING


def _rate(misses: int, instructions: int) -> str:
    return f"{THOUSAND * misses / instructions:.2f}" if instructions else MISSING
