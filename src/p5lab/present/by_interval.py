# SPDX-License-Identifier: MIT
"""Prints the counts of each interval of a run, for `./p5lab show RUN --intervals`."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from p5lab.describe.observation.intervals import INTERVALS
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present.tables import MISSING, Grid
from p5stats import cpi

if TYPE_CHECKING:
    from p5stats.intervals import Interval, Intervals

SCHEMA_VERSION = 1
ROWS = 32  # the table adds up neighbouring intervals if there are more
THOUSAND = 1000
# The columns of a run without a CPI stack: events per thousand instructions.
MISSES = {
    "L1I\n/1000": "code_misses",
    "L1D\n/1000": "data_read_misses",
    "L2\n/1000": "l2_read_misses",
    "DTLB\n/1000": "dtlb_misses",
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


def read(stored: Stored) -> "Intervals":
    """The counts of a run by interval. Raises UserError if the run has none."""
    from p5stats import intervals  # imported here, because loading pandas takes half a second

    path = stored.directory / INTERVALS
    if not path.is_file():
        raise UserError(f"run {stored.id} has no {INTERVALS}: expected a run with --interval")
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
    for start in range(0, len(found.intervals), size):
        part = found.intervals[start : start + size]
        milliseconds = THOUSAND * part[-1].end / found.clock_hz
        grid.add(f"{milliseconds:.2f}", *_cells(found.events, part))
    return grid


def _cells(events: Sequence[str], part: Sequence["Interval"]) -> list[str]:
    """The cells of a row, except the time."""
    place = {event: number for number, event in enumerate(events)}

    def of(*names: str, rings: Sequence[int] = range(4)) -> int:
        found = (one.rings.get(ring) for one in part for ring in rings)
        return sum(
            counts[place[name]] for counts in found if counts for name in names if name in place
        )

    busy, idle, retired = of(cpi.BUSY), of(cpi.IDLE), of(cpi.INSTRUCTIONS)
    cells = [
        _share(idle, busy + idle),
        _share(of(cpi.BUSY, rings=(0,)), busy),
        f"{retired:,}",
        f"{busy / retired:.2f}" if retired else MISSING,
    ]
    if cpi.is_in(events):
        return [*cells, *(_share(of(*cpi.GROUPS[group]), busy) for group in GROUPS.values())]
    return [*cells, *(_rate(of(event), retired) for event in MISSES.values())]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else MISSING


def _rate(misses: int, instructions: int) -> str:
    return f"{THOUSAND * misses / instructions:.2f}" if instructions else MISSING
