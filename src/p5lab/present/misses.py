# SPDX-License-Identifier: MIT
"""Prints the misses of a call, for `./p5lab show RUN --misses`. The run needs --trace misses."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from rich.console import Console

from p5lab.describe.observation.trace import MISSES, MOST_MISSES
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import tables
from p5lab.present.tables import MISSING, Grid
from p5stats import misses, phase_names

Row = dict[str, Any]
HEADS = [
    *("at", "misses", "function", "cause", "taken by"),
    *("loaded by", "clocks", "instruction", "line or page"),
]
BOOT = "(before the guest was ready)"
ROWS = 60  # of a table


def show(console: Console, stored: Stored, form: str, *, more: bool = False) -> None:
    """Prints the misses of a typical bracket of each phase as table, markdown, csv or json. A table
    has the first ROWS misses, with `more` all.

    Raises UserError if the run was executed without --trace misses, and StatsError if the trace is
    damaged.
    """
    path = stored.directory / MISSES
    if not path.is_file():
        raise selection.without(stored, "trace of misses", "--trace misses")
    names = phase_names.of(stored.record)
    read = misses.read(path)
    every = {names.get(phase, f"phase {phase}"): brackets for phase, brackets in read.items()}
    typical = {phase: misses.typical(brackets) for phase, brackets in every.items()}
    if form == "json":
        listed = [
            {
                "phase": name,
                "iteration": every[name].index(bracket),
                "clocks": bracket.end - bracket.begin,
                "beyond": bracket.beyond,
                "misses": list(misses.rows(bracket)),
            }
            for name, bracket in typical.items()
        ]
        console.file.write(tables.as_json(run=stored.id, phases=listed))
        return
    most = None if more else ROWS
    grids = [_grid(name, every[name], typical[name], most) for name in typical]
    plain = [{"phase": name, **row} for name in typical for row in misses.rows(typical[name])]
    longer = not more and any(len(bracket.misses) > ROWS for bracket in typical.values())
    tables.show(console, form, grids, list(_notes(every, longer=longer)), plain)


def _grid(
    phase: str,
    every: Sequence[misses.MissesBracket],
    bracket: misses.MissesBracket,
    most: int | None,
) -> Grid:
    clocks, traced = bracket.end - bracket.begin, len(bracket.misses)
    number = f"bracket {every.index(bracket) + 1} of {len(every)}"
    counted = f"{traced + bracket.beyond:,} misses in {clocks:,} clocks"
    first = f", the first {traced:,} of them" if bracket.beyond else ""
    title = f"{phase}: {number}, {counted}{first}"
    grid = Grid(title, HEADS, keys=2, left={1, 2, 3, 4, 5})
    rows = zip(bracket.misses, misses.rows(bracket), strict=True)
    for miss, row in islice(rows, most):
        grid.add(
            f"{row['at']:,}",
            miss.array,
            row["function"],
            row["cause"],
            _past(row, "lost_to", "lost_before", row["by"]),
            _past(row, "loaded_by", "loaded_before"),
            f"{row['clocks']:,}",
            f"{row['instruction']:x}",
            f"{row['address']:x}",
        )
    return grid


def _past(row: Row, function: str, before: str, use: str = "") -> str:
    if row[function] is None:
        return MISSING
    for_what = f" ({use})" if use and use != row["use"] else ""
    if row[before] is None:
        return f"{BOOT}{for_what}"
    return f"{row[function]}{for_what}, {row[before]:,} before"


def _notes(every: Mapping[str, Sequence[misses.MissesBracket]], *, longer: bool) -> Iterator[str]:
    """What the tables do not show."""
    if longer:
        yield (
            f"A table ends after {ROWS} misses; --all-tables, --format csv and json have all of the"
            " bracket."
        )
    for phase, brackets in every.items():
        if left := sum(bracket.beyond for bracket in brackets):
            yield (
                f"The trace has the first {MOST_MISSES:,} misses of each phase; {left:,} further"
                f" ones of {phase} are only counted (show RUN --evictions)."
            )
    traced = chain.from_iterable(every.values())
    if any(miss.lost is None for bracket in traced for miss in bracket.misses):
        yield (
            f"{MISSING}: the line or page was never there, or an access that loads nothing has"
            " missed it before."
        )
