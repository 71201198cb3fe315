# SPDX-License-Identifier: MIT
"""Figures of counts by dimension: a bar for each row of a table, with a colour for each system."""

from collections.abc import Callable, Sequence
from typing import Any

from p5lab.errors import listed
from p5lab.keep.store import Stored
from p5lab.page.figure import Figure, mark, of_marks
from p5lab.present import breakdown
from p5lab.present.breakdown import ORDERED, BreakdownQuestion, BreakdownRow, BreakdownTable
from p5lab.present.breakdown_table import GONE, NEW, NOTHING_IS, sums
from p5lab.present.column import Column
from p5lab.present.tables import MISSING, number

MOST = 20  # rows, without the one for the rest
LARGE = 2  # the rest has no bar if it is this number of times the largest row
Name = Callable[[str, str], str]  # of a dimension and its value


def of(
    runs: Sequence[Stored],
    question: BreakdownQuestion,
    top: int | None = None,
    name: Name | None = None,
) -> list[Figure]:
    """Returns a figure for each phase of each benchmark; of a curve, only for the last point.
    `top`: the number of rows. `name`: makes the name of a value. Raises UserError as
    breakdown.of_runs."""
    tables = breakdown.of_runs(runs, question)
    last = {table.benchmark: table for table in tables}
    return [
        _figure(table, top, name)
        for table in tables
        if not table.is_of_curve or table is last[table.benchmark]
    ]


def _figure(table: BreakdownTable, top: int | None, name: Name | None = None) -> Figure:
    by = table.question.by
    over = by[0] if len(by) == 1 and by[0] in ORDERED else ""
    columns = table.columns if table.question.metrics else table.columns[:1]
    rows = table.rows if over and top is None else table.top(top or MOST)
    rest = _large_rest(table, rows, columns[0])
    rows = [row for row in rows if row is not rest]
    names = [_row(table, row, name or _value) for row in rows]
    marks = [
        bar
        for wanted in columns
        for row, shown in zip(rows, names, strict=True)
        for bar in _marks(table, row, wanted, "" if over else shown)
        if not over or row.key[0].isdecimal()  # the sum of further points is no point
    ]
    system = f" ({_name(table.systems[0].name)})" if len(table.systems) == 1 else ""
    only = "; ".join(f"{key}={','.join(v)}" for key, v in table.question.where.items())
    said = [f"The figure shows only counts with {only}." if only else sums(table), NOTHING_IS]
    if rest:
        said.append(f"The figure shows the first {len(rows)} rows. {_sum(table, rest, columns[0])}")
    elif len(table.rows) > len(rows):
        said.append(f"The figure shows the first {len(rows) - 1} rows and the sum of the others.")
    if not over:
        order = "difference" if len(table.systems) > 1 else "value"
        order += " of the ratio's dividend" if columns[0].is_ratio else ""
        said.append(f"The largest {order} comes first.")
    link = f"{table.divided}-{table.systems[0].stored[0].id[:8]}"
    form, caption = "curve" if over else "groups", " ".join(filter(None, said))
    return of_marks(link, table.divided + system, form, marks, caption, axis=over)


def _large_rest(
    table: BreakdownTable, rows: Sequence[BreakdownRow], wanted: Column
) -> BreakdownRow | None:
    """The sum of the rows that a figure does not show, if its bar would make all others small."""
    if not len(rows) < len(table.rows) or len(rows) < 2:
        return None
    *largest, rest = [
        max(abs(value) for value in (*table.values(row, wanted), 0.0) if value == value)
        for row in rows
    ]
    return rows[-1] if rest > LARGE * max(largest) else None


def _sum(table: BreakdownTable, row: BreakdownRow, wanted: Column) -> str:
    """A sentence about a row that has no bar."""
    values = zip(table.systems, table.values(row, wanted), strict=True)
    shown = [f"{number(value)} ({_name(system.name)})" for system, value in values]
    return f"The sum of the {row.key[0].strip('()')} is {listed(shown, 'and', str)} {wanted.unit}."


def _marks(
    table: BreakdownTable, row: BreakdownRow, wanted: Column, shown: str
) -> list[dict[str, Any]]:
    """The marks of a row: one for each system."""
    return [
        mark(
            benchmark=shown,
            phase=table.phase,
            point=float(row.key[0]) if not shown and row.key[0].isdecimal() else float("nan"),
            series=_name(system.name),
            metric=wanted.name,
            unit=wanted.unit,
            value=float("nan") if counts is None else table.value(row, place, wanted),
            why=MISSING if counts is None else "",
            runs=" ".join(stored.id for stored in system.stored),
        )
        for place, (system, counts) in enumerate(zip(table.systems, row.counts, strict=True))
    ]


def _name(system: str) -> str:
    return system.replace("\n", ", ")


def _row(table: BreakdownTable, row: BreakdownRow, name: Name) -> str:
    """The name of a row, which says whether only the first system has it, or not the first."""
    parts = zip(table.question.by, row.key, strict=True)
    shown = ", ".join(text for by, value in parts if (text := name(by, value)))
    first, *others = row.counts
    if others and first is None:
        return f"{shown} ({NEW})"
    return f"{shown} ({GONE})" if others and all(counts is None for counts in others) else shown


def _value(dimension: str, value: str) -> str:
    """A value of a dimension as a part of a name: a number alone says nothing."""
    return f"{dimension} {value}" if value.isdecimal() else value
