# SPDX-License-Identifier: MIT
"""Prints the answer of a query as a table that fits the terminal."""

from collections.abc import Sequence

from rich.console import Console

from p5lab.present.tables import LONG, MISSING, Grid, total
from p5lab.terminal import markup

ROWS = 30  # so that the table and the command before it fit into 40 lines
MORE = "..."


def show(
    console: Console,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    all_rows: bool = False,
) -> None:
    """Prints the first ROWS rows, or all rows with `all_rows`. If not all columns fit beside each
    other, the columns with one value in all rows are left out, and if this is not enough, those in
    the middle. Lines below the table name what is left out.
    """
    whole = grid(columns, rows if all_rows else rows[:ROWS])
    every, remarks = len(columns), []
    fits = sum(_fitting(whole, console.width)) == len(columns)
    if not fits and (same := _constant(rows)):
        kept = [place for place in range(len(columns)) if place not in same]
        values = (f"{columns[place]} = {_cell(rows[0][place])}" for place in same)
        remarks.append(f"Left out, because all rows have one value: {', '.join(values)}.")
        columns = [columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    shown = rows if all_rows else rows[:ROWS]
    whole = grid(columns, shown)
    first, last = _fitting(whole, console.width)
    if first + last == len(columns):
        whole.print(console)
    else:
        _without_middle(whole, first, last).print(console)
    if len(shown) < len(rows):
        remarks.append(f"{len(shown)} of {len(rows):,} rows; --all-rows prints all rows.")
    if first + last < len(columns):
        remarks.append(
            f"{first + last} of {every} columns; name the columns in the query"
            " (SELECT ...), or use --format csv."
        )
    for remark in remarks:
        console.print(markup(remark), style="dim", highlight=False)


def grid(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Grid:
    """Returns the table of all these rows and columns."""
    texts = {n for n in range(len(columns)) if any(isinstance(row[n], str) for row in rows)}
    made = Grid("", columns, left=texts)
    for row in rows:
        made.add(*map(_cell, row))
    return made


def _cell(value: object) -> str:
    return MISSING if value is None else str(value)


def _constant(rows: Sequence[Sequence[object]]) -> list[int]:
    """The numbers of the columns with one value in all rows. There are none if all columns have one
    value, such as those of one row."""
    first = [_cell(value) for value in rows[0]] if rows else []
    same = [
        place
        for place, value in enumerate(first)
        if all(_cell(row[place]) == value for row in rows)
    ]
    return same if len(same) < len(first) else []


def _without_middle(whole: Grid, first: int, last: int) -> Grid:
    """Returns a table with the first and the last columns, and a column of dots between them."""
    count = len(whole.heads)
    kept = [*range(first), *range(count - last, count)]
    heads: list[str] = [whole.heads[place] for place in kept]
    heads.insert(first, MORE)
    left = {new + (new >= first) for new, old in enumerate(kept) if old in whole.left}
    made = Grid("", heads, left=left)
    for row in whole.rows:
        cells = [row[place] for place in kept]
        cells.insert(first, MORE)
        made.add(*cells)
    return made


def _fitting(whole: Grid, width: int) -> tuple[int, int]:
    """Returns how many columns at the beginning and at the end fit into `width` characters. The
    result is at least one column at the beginning."""
    widths = [min(one, LONG) for one in whole.widths()]
    count = len(widths)
    if total(widths) <= width:
        return count, 0
    first, last = 1, 0
    while first + last < count:
        if last < first and _fit(widths, first, last + 1, width):
            last += 1
        elif _fit(widths, first + 1, last, width):
            first += 1
        else:
            break
    return first, last


def _fit(widths: Sequence[int], first: int, last: int, width: int) -> bool:
    return total([*widths[:first], len(MORE), *widths[len(widths) - last :]]) <= width
