# SPDX-License-Identifier: MIT
"""Prints counts by dimension (p5lab.present.breakdown)."""

from collections.abc import Sequence

from rich.console import Console

from p5lab.describe.workload import WHOLE_NAME
from p5lab.present import breakdown
from p5lab.present.breakdown import LINE, BreakdownRow, BreakdownTable
from p5lab.present.column import Column
from p5lab.present.tables import MISSING, Grid, number, percent, plain, ratio, signed, times
from p5lab.present.tables import show as show_tables
from p5stats.dimensions import EVICTIONS, WHOLE_RUN

# The columns of `rows` before and after those of the dimensions.
BEFORE, AFTER = ("benchmark", "phase", "system", "runs"), ("metric", "unit", "per", "value")
KINDS_OF_VALUE = ("absolute", "ratio", "difference")  # of a figure
ROWS = 20
NEW, GONE = "new", "gone"  # the ratio of a row that only a later or only the first system has
TOTAL = "total"
ADD_UP = "The rows add up to the counts {}."
EVICTED = (
    "A row counts the misses of lines and pages that were taken away, not first misses. Of several"
    " accesses that miss a line and load nothing, only the first counts."
)
NOTHING_IS = "The empty bracket is not subtracted."
RATIO = (
    "Rows with a ratio are in the order of its dividend (those with a CPI, of the cycles), and the"
    " last row has the ratio of the sums."
)
APART = (
    "The systems have no row in common. --map FILE gives things that belong together one name"
    " (docs/concepts/dimensions.md); `./p5lab annotate A.c B.c` compares the lines of two sources."
)


def show(console: Console, tables: Sequence[BreakdownTable], form: str, top: int) -> None:
    """Prints tables as table, markdown, csv or json, each with at most `top` rows and a row for the
    rest. csv and json have all rows."""
    every = [row for table in tables for row in rows(table)]
    keys = dict.fromkeys(key for row in every for key in row)  # tables can have other dimensions
    same = [{key: row.get(key, "") for key in keys} for row in every]
    grids = [grid for table in tables for grid in _grids(table, top)]
    notes = list(map(_note, tables))
    for table in tables:
        notes += breakdown.notes([system.stored[0] for system in table.systems], table.question)
    notes += [APART for table in tables if _is_apart(table)]
    show_tables(console, form, grids, list(dict.fromkeys(notes)), same)


def _note(table: BreakdownTable) -> str:
    several = len(table.systems) > 1
    is_ratio = any(column.is_ratio for column in table.columns[: None if several else 1])
    return " ".join(filter(None, (sums(table), RATIO if is_ratio else "", NOTHING_IS)))


def sums(table: BreakdownTable) -> str:
    """What the rows of a table add up to. Empty if they do not: the parts of a ratio, and counts of
    calls with the calls inside them."""
    if all(column.is_ratio or column.name.startswith("total.") for column in table.columns):
        return ""
    if 0 < len(table.whole) < len(table.rows):
        return f"The phase {WHOLE_NAME} contains the others, and is the sum."
    if [column.name for column in table.columns] == [EVICTIONS]:
        return EVICTED
    whole = f"of {WHOLE_RUN}" if table.phase == WHOLE_RUN else "between the markers"
    return ADD_UP.format("that --where chooses" if table.question.where else whole)


def _is_apart(table: BreakdownTable) -> bool:
    """Whether several systems have no row in common."""
    rows = [row for row in table.rows if f"(no {LINE})" not in row.key]
    several = len(table.systems) > 1 and bool(rows)
    return several and all(sum(counts is not None for counts in row.counts) == 1 for row in rows)


def rows(table: BreakdownTable, top: int | None = None) -> list[dict[str, object]]:
    """A row for each combination of values, system and metric, or for `top` combinations and the
    rest. The state of the last rows is TOTAL, and their dimensions are empty."""
    nothing = BreakdownRow(tuple("" for _ in table.question.by), table.total.counts)
    return [
        {
            "benchmark": table.benchmark,
            "phase": table.phase,
            "system": system.name.replace("\n", ", "),
            "runs": " ".join(stored.id for stored in system.stored),
            **dict(zip(table.question.by, row.key, strict=True)),
            "metric": wanted.name,
            "unit": wanted.unit,
            "per": table.per,
            "value": plain(values[place]),
            "difference": plain(values[place] - values[0]),
            "ratio": plain(ratio(values[place], values[0])),
            "state": TOTAL if row is nothing else state(row, place, values),
        }
        for row in (*(table.rows if top is None else table.top(top)), nothing)
        for wanted in table.columns
        if (values := table.values(row, wanted))
        for place, system in enumerate(table.systems)
    ]


def state(row: BreakdownRow, place: int, values: Sequence[float]) -> str:
    """NEW if only this system and not the first one has a row, GONE if only the first one has it,
    otherwise empty. `values`: of all systems; equal ones (both 0) are neither."""
    first, own = row.counts[0], row.counts[place]
    if (first is None) == (own is None) or values[0] == values[place]:
        return ""
    return NEW if first is None else GONE


def _grids(table: BreakdownTable, top: int) -> list[Grid]:
    if len(table.systems) == 1:
        return [_single(table, top)]
    return [_several(table.ordered((wanted,)), wanted, top) for wanted in table.columns]


def _single(table: BreakdownTable, top: int) -> Grid:
    first, *more = table.columns
    shares = [] if first.is_ratio else ["%"]
    grid = _empty(table, table.divided, [first.head, *shares, *(column.head for column in more)])
    total = table.value(table.total, 0, first)
    for row in (*table.top(top), table.total):
        value = table.value(row, 0, first)
        own = [number(value), *([percent(value, total)] if shares else [])]
        grid.add(*row.key, *own, *(number(table.value(row, 0, column)) for column in more))
    return grid


def _several(table: BreakdownTable, wanted: Column, top: int) -> Grid:
    """A table of one metric: the values of all systems, and the difference and the ratio of each to
    the first system."""
    names = [system.name for system in table.systems]
    others = names[1:] if len(names) > 2 else [""]
    more = [f"{name}\n{what}".strip() for name in others for what in ("difference", "ratio")]
    grid = _empty(table, f"{wanted.name} of {table.divided}", [*names, *more])
    for row in (*table.top(top), table.total):
        values = table.values(row, wanted)
        cells = [
            MISSING if counts is None else number(value)
            for counts, value in zip(row.counts, values, strict=True)
        ]
        for place in range(1, len(values)):
            own = state(row, place, values) or times(ratio(values[place], values[0]))
            cells += [signed(values[place] - values[0]), own]
        grid.add(*row.key, *cells)
    return grid


def _empty(table: BreakdownTable, title: str, heads: Sequence[str]) -> Grid:
    """A grid with the columns of the dimensions, and these heads after them."""
    by = table.question.by
    return Grid(title, [*by, *heads], left=set(range(1, len(by))), keys=len(by))
