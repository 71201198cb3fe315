# SPDX-License-Identifier: MIT
"""Prints the answer of a query as a table that fits the terminal."""

from collections.abc import Sequence
from itertools import pairwise

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
    wanted: Sequence[str] = (),
) -> None:
    """Prints the first ROWS rows, or all rows with `all_rows`. If not all columns fit beside each
    other, the columns with one value in all rows are left out, and if this is not enough, those in
    the middle, but those of `wanted`, the most important first, only if they do not fit
    themselves. Lines below the table name what is left out.
    """
    whole = grid(columns, rows if all_rows else rows[:ROWS])
    every, remarks = len(columns), []
    if len(_fitting(whole, console.width)) < len(columns) and (same := _constant(rows)):
        kept = [place for place in range(len(columns)) if place not in same]
        values = (f"{columns[place]} = {_cell(rows[0][place])}" for place in same)
        remarks.append(f"Left out, because all rows have one value: {', '.join(values)}.")
        columns = [columns[place] for place in kept]
        rows = [[row[place] for place in kept] for row in rows]
    shown = rows if all_rows else rows[:ROWS]
    whole = grid(columns, shown)
    first = [columns.index(name) for name in wanted if name in columns]
    kept = _fitting(whole, console.width, first)
    (whole if len(kept) == len(columns) else _without_others(whole, kept)).print(console)
    if len(shown) < len(rows):
        remarks.append(f"{len(shown)} of {len(rows):,} rows; --all-rows prints all rows.")
    if len(kept) < len(columns):
        remarks.append(
            f"{len(kept)} of {every} columns; name the columns in the query"
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


def _without_others(whole: Grid, kept: Sequence[int]) -> Grid:
    """Returns a table with these columns, and a column of dots in each place of others."""
    places: list[int | None] = []
    for place in range(len(whole.heads)):
        if place in kept:
            places.append(place)
        elif not places or places[-1] is not None:
            places.append(None)
    heads = [MORE if place is None else whole.heads[place] for place in places]
    left = {new for new, old in enumerate(places) if old in whole.left}
    made = Grid("", heads, left=left)
    for row in whole.rows:
        made.add(*(MORE if place is None else row[place] for place in places))
    return made


def _fitting(whole: Grid, width: int, wanted: Sequence[int] = ()) -> list[int]:
    """Returns the numbers of the columns that fit into `width` characters beside the dots for the
    others: first those of `wanted`, then in turn one from the beginning and one from the end. The
    result has at least one column."""
    widths = [min(natural, LONG) for natural in whole.widths()]
    every = list(range(len(widths)))
    if total(widths) <= width:
        return every
    others = [place for place in every if place not in wanted]
    order = [
        *wanted,
        *(others[at // 2] if at % 2 == 0 else others[-1 - at // 2] for at in range(len(others))),
    ]
    kept: list[int] = []
    for place in order:
        if kept and not _fit(widths, sorted((*kept, place)), width):
            break
        kept.append(place)
    return sorted(kept)


def _fit(widths: Sequence[int], kept: Sequence[int], width: int) -> bool:
    gaps = sum(b - a > 1 for a, b in pairwise((-1, *kept, len(widths))))
    return total([*(widths[place] for place in kept), *[len(MORE)] * gaps]) <= width
