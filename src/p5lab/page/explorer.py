# SPDX-License-Identifier: MIT
"""A figure of stored runs with a choice of benchmark, dimension, event, system and kind of value:
a page for a browser or a notebook (`p5lab.explore`).

The page has the marks of all its figures, and a Python line for each of them. explore.js shows what
the reader chooses; the library Vega draws it. The page needs no other file and no network.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import vl_convert
from markupsafe import Markup

from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.page import offline, theme
from p5lab.present import breakdown, breakdown_table
from p5lab.present.breakdown import ORDERED, BreakdownQuestion, BreakdownTable
from p5lab.present.breakdown_table import KINDS_OF_VALUE, ROWS
from p5lab.terminal import for_terminal
from p5stats.dimensions import DIMENSIONS

ALL = "all, side by side"
NAMED = 4  # benchmarks in a title
ID = 10  # characters of a run's id that a line has


@dataclass(frozen=True)
class ExplorerFigure:
    """One figure. `marks`: row, system, value, difference, ratio and state of each mark. `line`:
    the Python expression that draws the values."""

    benchmark: str
    dimension: str
    metric: str
    system: str
    unit: str
    per: str
    ordered: bool
    marks: Sequence[Sequence[Any]]
    line: str

    def python(self, kind: str) -> str:
        """The Python line that draws this kind of value. explore.js makes the same."""
        return self.line if kind == KINDS_OF_VALUE[0] else f'{self.line[:-1]}, kind="{kind}")'


@dataclass(frozen=True, repr=False)
class Explorer(offline.Page):
    """The figures of stored runs."""

    title: str
    figures: Sequence[ExplorerFigure]

    def page(self) -> str:
        """The HTML of the page."""
        library = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # all of Vega
        data = {
            "figures": list(map(vars, self.figures)),
            "meanings": {name: dimension.meaning for name, dimension in DIMENSIONS.items()},
            "colors": theme.SERIES,
            "kinds": KINDS_OF_VALUE,
        }
        return offline.render(
            "explore.html",
            ["flame.css", "explore.css"],
            "explore.js",
            data,
            title=self.title,
            library=Markup(library),
            library_digest=offline.digest(library),
        )


def of(groups: Sequence[Sequence[Stored]], title: str) -> Explorer:
    """The figures of runs. `groups`: the runs of one kind, the newest first
    (p5lab.keep.selection.groups). Each dimension takes the newest runs that counted by it. Raises
    UserError if no run has counts."""
    benchmarks: dict[str, list[Sequence[Stored]]] = {}
    newest = selection.as_versions([same[0] for same in groups])
    for stored, same in zip(newest, groups, strict=True):
        benchmarks.setdefault(selection.subject(stored.record), []).append(same)
    figures: list[ExplorerFigure] = []
    # One benchmark after the other, because the files of its runs are then read once.
    for own in benchmarks.values():
        for dimension in sorted(filter("phase".__ne__, DIMENSIONS), key=ORDERED.__contains__):
            question = BreakdownQuestion((dimension,))
            counted = (
                next((run for run in same if breakdown.has(run, question)), None) for same in own
            )
            if runs := [stored for stored in counted if stored]:
                with suppress(UserError):  # a run without such counts
                    figures += _figures(runs, question)
    if not figures:
        raise UserError(f"{title}: no run has counts")
    return Explorer(title, figures)


def title_of(groups: Sequence[Sequence[Stored]]) -> str:
    """What the runs measure, and on which guests."""
    records = [same[0].record for same in groups]
    benchmarks = dict.fromkeys(selection.head(record) for record in records)
    guests = dict.fromkeys(str(record["guest"]["name"]) for record in records)
    what = ", ".join(benchmarks) if len(benchmarks) <= NAMED else f"{len(benchmarks)} benchmarks"
    return f"{what} on {', '.join(guests)}"


def _figures(runs: Sequence[Stored], question: BreakdownQuestion) -> Iterator[ExplorerFigure]:
    """The figures of a benchmark: of all systems side by side, and of each alone."""
    tables = breakdown.of_runs(runs, question)
    phases = {table.phase for table in tables}
    # Alone, a run is no version of a program, so it has other names.
    plain = {run.id: run for run in runs}
    for table in tables:
        yield from _of_table(table, ALL if len(table.systems) > 1 else "", phases)
        for system in table.systems if len(table.systems) > 1 else ():
            own = [plain[run.id] for run in system.stored]
            for alone in breakdown.of_runs(own, question):
                if alone.phase == table.phase:
                    named = replace(alone, benchmark=table.benchmark)
                    yield from _of_table(named, system.name, phases)


def _of_table(
    table: BreakdownTable, system: str, phases: Collection[str]
) -> Iterator[ExplorerFigure]:
    (dimension,) = table.question.by
    ordered = dimension in ORDERED
    if ordered and len(table.rows) == 1:
        return
    where = {"where": {"phase": table.phase}} if len(phases) > 1 else {}
    ids = [run.id[:ID] for of in table.systems for run in of.stored]
    for wanted in table.known:
        own = table.ordered((wanted,))
        rows = breakdown_table.rows(own, None if ordered else ROWS)
        asked = {**where, "metric": wanted.name, **({} if ordered else {"top": ROWS})}
        words = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        yield ExplorerFigure(
            for_terminal(table.title),
            dimension,
            wanted.name,
            _name(system or table.systems[0].name),
            wanted.unit,
            table.per,
            ordered,
            [
                [
                    row[dimension],
                    row["system"],
                    *(row[name] for name in ("value", "difference", "ratio", "state")),
                ]
                for row in rows
                if row["state"] != breakdown_table.TOTAL and row["value"] is not None
            ],
            f"p5lab.plot(p5lab.by({ids!r}, {dimension!r}, {words}))",
        )


def _name(system: str) -> str:
    return for_terminal(system.replace("\n", ", "))
