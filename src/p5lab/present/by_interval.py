# SPDX-License-Identifier: MIT
"""Prints the counts of each interval of a run, for `./p5lab show RUN --intervals`."""

from __future__ import annotations

from rich.console import Console

from p5lab.describe.observation.intervals import INTERVALS
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import tables
from p5lab.present.tables import MISSING, Grid, percent
from p5stats import cpi, intervals
from p5stats.dimensions import DIMENSIONS
from p5stats.intervals import Intervals
from p5stats.lazy import pd

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
GROUPS = {f"{name}\n%": cpi.SHORT[name] for name in ("code", "data", "bus", "branches")}
NOTE = "ms: the end of the interval, since power-up. CPI: busy cycles per instruction."
PER = " /1000: read misses per 1000 instructions."
SHARES = (
    " code, data, bus, branches: the groups of components of docs/concepts/cpi-stack.md, as shares"
    " of the busy cycles."
)
JOINED = " Each row contains {} intervals; --all-tables shows each interval."


def has(stored: Stored) -> bool:
    """Whether a run with status ok has counts by interval."""
    return stored.status == "ok" and (stored.directory / INTERVALS).is_file()


def read(stored: Stored) -> Intervals:
    """The counts of a run by interval. Raises UserError if the run has none."""
    path = stored.directory / INTERVALS
    if not path.is_file():
        raise selection.without(stored, "counts by interval", DIMENSIONS["interval"].options)
    return intervals.read(path)


def spans(counts: Intervals, size: int) -> pd.DataFrame:
    """A row for each `size` neighbouring intervals. Columns: `begin` and `end` in ms since
    power-up, `clocks` (busy and idle), `kernel` (busy in ring 0), `retired`, `CPI` (NaN without
    instructions), and the sums of MISSES per 1000 instructions and of cpi.GROUPS in clocks, by
    their titles."""
    frame = counts.frame()
    frame["span"] = frame["interval"] // size
    sums = frame.pivot_table("count", "span", "event", "sum", fill_value=0)
    titled = {title: (event,) for event, title in MISSES.values()} | cpi.GROUPS
    wanted = [
        cpi.BUSY,
        cpi.IDLE,
        cpi.INSTRUCTIONS,
        *(event for own in titled.values() for event in own),
    ]
    sums = sums.reindex(columns=wanted, fill_value=0)
    kernel = frame[(frame["ring"] == 0) & (frame["event"] == cpi.BUSY)].groupby("span")["count"]
    times = frame.groupby("span").agg({"begin": "min", "end": "max"}) * THOUSAND / counts.clock_hz
    retired = sums[cpi.INSTRUCTIONS]
    result = times.assign(
        clocks=sums[cpi.BUSY] + sums[cpi.IDLE],
        idle=sums[cpi.IDLE],
        busy=sums[cpi.BUSY],
        kernel=kernel.sum().reindex(sums.index, fill_value=0),
        retired=retired,
        CPI=sums[cpi.BUSY] / retired.where(retired > 0),
        **{title: sums[list(own)].sum(axis="columns") for title, own in titled.items()},
    )
    for _, title in MISSES.values():
        result[title] *= THOUSAND / retired.where(retired > 0)
    return result


def show(console: Console, stored: Stored, form: str, *, more: bool) -> None:
    """Prints a row for each interval as table or markdown. With `more`, the table has all
    intervals; without it, a row can contain several. csv and json contain all events of all
    intervals. Raises UserError if the run has no counts by interval."""
    counts = read(stored)
    size = 1 if more else max(1, -(-len(counts.intervals) // ROWS))
    note = NOTE + (SHARES if cpi.is_in(counts.events) else PER)
    note += JOINED.format(size) if size > 1 else ""
    rows = counts.frame().to_dict("records")
    tables.show(console, form, [_grid(counts, size)], [note], rows, run=stored.id)


def _grid(counts: Intervals, size: int) -> Grid:
    has_stack = cpi.is_in(counts.events)
    columns = GROUPS if has_stack else {head: title for head, (_, title) in MISSES.items()}
    heads = ["ms", "idle\n%", "ring 0\n%", "instruc-\ntions", "CPI", *columns]
    grid = Grid(f"intervals of {counts.length:,} clocks", heads)
    for row in spans(counts, size).to_dict("records"):
        values = [row[title] for title in columns.values()]
        grid.add(
            f"{row['end']:.2f}",
            percent(row["idle"], row["clocks"]),
            percent(row["kernel"], row["busy"]),
            f"{row['retired']:,}",
            _number(row["CPI"]),
            *(percent(value, row["busy"]) if has_stack else _number(value) for value in values),
        )
    return grid


def _number(value: float) -> str:
    return f"{value:.2f}" if value == value else MISSING
