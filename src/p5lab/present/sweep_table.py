# SPDX-License-Identifier: MIT
"""The tables of a sweep: a row for each point, and the chosen metrics as columns."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from rich.console import Console

from p5lab.describe.experiment import Cannot
from p5lab.describe.keys import overlay_of, readable
from p5lab.describe.sweep import PARAMETERS
from p5lab.errors import UserError
from p5lab.keep import swept_keys
from p5lab.keep.store import Stored
from p5lab.present import column, counts, tables
from p5lab.present.column import Column
from p5lab.present.comparison import Cell, Comparison, Question, System
from p5lab.present.tables import (
    BORDER,
    EDGE,
    LATEX,
    MARKDOWN,
    MISSING,
    MOST_KEYS,
    SPREAD,
    Grid,
    number,
    ratio,
    spread,
    times,
)
from p5stats.metrics import View, shown_in

FORMS = ("table", MARKDOWN, LATEX)  # other formats contain all numbers and have no tables
LINES = 24  # of all tables; the notes and the next prompt then fit into 40 lines, too
LEADING = 2  # more swept keys share one leading column
RATIO = "ratio"
FIELDS = ("version", "guest", "machine", "feedback", "clocks", "engine")  # of a System
# The default columns are those of View.SWEEP. The columns that differ between the points come
# first, in the order of the view. The others follow, as far as the terminal has room.
ALWAYS = 2  # this number of columns keeps its place
REFERENCE = (
    "Each row is one point of the sweep. A ratio compares the values of the first column with the"
    " first row of the same system."
)
PLAIN = "Each row is one benchmark on one system."
CURVES = "These tables show only the last point of a curve."
MORE = "Option --metric chooses other columns, and --all-tables prints all other tables."


@dataclass(frozen=True)
class Display:
    """The choices of the user. `columns`: the columns; empty for the default columns. `all_tables`:
    whether the other tables of the runs follow. `failures`: whether the notes name failed runs."""

    columns: tuple[Column, ...] = ()
    all_tables: bool = False
    failures: bool = True

    def check(self, form: str) -> None:
        """Raises UserError if there are columns for a format without tables."""
        if self.columns and form not in FORMS:
            raise UserError(
                f"{column.OPTION}: expected with --format {', '.join(FORMS[:-1])} or {FORMS[-1]};"
                f" {form} contains all metrics"
            )


def applies(compared: Comparison, wanted: Display, form: str) -> bool:
    """Whether the runs get the tables of this module: the runs are a sweep, or the user has chosen
    columns. The shadows of a run have a table of their own."""
    chosen = bool(compared.keys) or bool(wanted.columns)
    return form in FORMS and chosen and bool(compared.questions) and not compared.has_shadows


def show(
    console: Console,
    runs: Sequence[Stored],
    cannot: Sequence[Cannot],
    keys: Sequence[str],
    wanted: Display,
    form: str,
) -> None:
    """Prints the counts of runs: the tables of the sweep, or the tables of `counts.of` if
    the runs are no sweep.

    `keys`: the swept keys. Raises UserError if the choices do not fit the format.
    """
    wanted.check(form)
    compared = Comparison(runs, cannot, keys)
    if not applies(compared, wanted, form):
        more, failures = wanted.all_tables, wanted.failures
        counts.of(console, compared, form, all_tables=more, failures=failures)
        return
    is_screen = form == "table"
    width = console.width if is_screen else counts.NO_LIMIT
    made = grids(compared, wanted.columns, width, broken=is_screen)
    if wanted.all_tables:
        made += counts.grids(compared, width)
    elif is_screen and sum(grid.height(width) for grid in made) > LINES:
        made = grids(compared, wanted.columns, width, together=True)
    tables.show(console, form, made, notes(compared, wanted) + counts.about(made, compared))


def notes(compared: Comparison, wanted: Display) -> list[str]:
    """Returns the notes below the tables."""
    lines = counts.notes(
        compared, reference=REFERENCE if compared.keys else PLAIN, failures=wanted.failures
    )
    if len(compared.last_points) < len(compared.questions):
        lines.append(CURVES)
    if not wanted.all_tables and not wanted.columns:
        lines.append(MORE)
    return lines + counts.footers(compared, lines)


def grids(
    compared: Comparison,
    chosen: Sequence[Column],
    width: int,
    *,
    broken: bool = True,
    together: bool = False,
) -> list[Grid]:
    """Returns a table for each benchmark, with a row for each point of the sweep.

    If the runs are no sweep, there is one table with a row for each benchmark. `chosen`: the
    columns; the default columns are those that fit into `width` characters. If the chosen columns
    do not fit, they continue in further tables. `broken`: whether the heads have line breaks.
    `together`: one table contains the rows of all benchmarks, and names the benchmarks.
    """
    columns = list(chosen) or _default(compared)
    subjects = _subjects(compared)
    if together:
        subjects = [[row for subject in subjects for row in subject]]
    result = []
    for subject in subjects:
        table = _Table(compared, subject, broken=broken, named=together or not compared.keys)
        for part in table.parts(columns, width, all_parts=bool(chosen)):
            result.append(table.grid(part))
    return result


def _default(compared: Comparison) -> list[Column]:
    """Returns the default columns that have values, the columns that differ between points
    first."""
    cells = [cell for question in compared.last_points for cell in compared.cells(question) if cell]
    having = [
        metric
        for metric in map(column.of_metric, shown_in(View.SWEEP))
        if any(not math.isnan(metric.of(cell)) for cell in cells)
    ]
    first, others = having[:ALWAYS], having[ALWAYS:]
    return [*first, *sorted(others, key=lambda metric: not _differs(compared, metric))]


def _differs(compared: Comparison, metric: Column) -> bool:
    for subject in _subjects(compared):
        cells = [cell for row in subject if (cell := compared.cell(*row))]
        if len({number(metric.of(cell)) for cell in cells}) > 1:
            return True
    return False


Subject = list[tuple[Question, System]]  # the rows of a table


def _subjects(compared: Comparison) -> list[Subject]:
    """Returns the rows of each table. The rows of one system are together, in the order of the
    points."""
    if not compared.keys:
        return [list(product(compared.last_points, compared.systems))]
    subjects: dict[tuple[str, str], list[Question]] = {}
    for question in compared.last_points:
        subjects.setdefault((_title(compared, question), question.phase), []).append(question)
    return [_rows(compared, questions) for questions in subjects.values()]


def _rows(compared: Comparison, questions: Sequence[Question]) -> Subject:
    groups: dict[tuple[str, ...], Subject] = {}
    for system in compared.systems:
        for question in questions:
            group = groups.setdefault(_system_names(system), [])
            # Not every point has a run: a swept parameter belongs to some benchmarks only, and not
            # all points of a sweep may be stored.
            if compared.cell(question, system) or compared.why_missing(question, system) != MISSING:
                group.append((question, system))
    return [row for group in groups.values() for row in group]


def _system_names(system: System) -> tuple[str, ...]:
    return tuple(getattr(system, field) for field in FIELDS)


def _title(compared: Comparison, question: Question) -> str:
    """Returns the name of a benchmark without the swept parameters."""
    record = compared.any_cell(question).record
    words = question.what.split(" ")
    for key in compared.keys:
        name = key.removeprefix(PARAMETERS)
        text = str(record["parameters"].get(name, ""))
        for word in (f"{name}={text}", text):
            if name != key and word in words[1:]:
                words.remove(word)
                break
    return " ".join(words) + compared.phase_of(question)


class _Table:
    """One table of a sweep, before the columns are divided."""

    def __init__(self, compared: Comparison, rows: Subject, *, broken: bool, named: bool) -> None:
        """`broken`: whether heads have line breaks. `named`: whether the rows name benchmarks."""
        self._compared, self._rows, self._broken, self._named = compared, rows, broken, named
        self._leading = self._leading_columns()

    def parts(
        self, columns: Sequence[Column], width: int, *, all_parts: bool
    ) -> list[list[Column]]:
        """Divides the columns into tables of at most `width` characters, of which the names of the
        rows get at most MOST_KEYS. Without `all_parts`, returns only the first table."""
        names = sum(_width(cells) + BORDER for cells in self._leading)
        room = width - EDGE - min(names, int(width * MOST_KEYS))
        parts: list[list[Column]] = [[]]
        used = 0
        for metric in columns:
            needed = _width(self._cells(metric)) + BORDER
            if parts[-1] and used + needed > room:
                if not all_parts:
                    continue  # a narrower column may still fit
                parts.append([])
                used = 0
            if not parts[-1]:
                needed += sum(_width(cells) + BORDER for cells in self._beside(metric))
            parts[-1].append(metric)
            used += needed
        return parts

    def grid(self, columns: Sequence[Column]) -> Grid:
        """Returns the table with these columns, and with the ranges and ratios of the first."""
        title = "Means of one operation"
        if not self._named:
            question = self._rows[0][0]
            operation = self._compared.operation(question)
            title = f"{_title(self._compared, question)}: counts of one {operation}"
        body = list(self._leading)
        for place, metric in enumerate(columns):
            body.append(self._cells(metric))
            if place == 0:
                body += self._beside(metric)
        keys = max(len(self._leading), 1)
        grid = Grid(title, [cells[0] for cells in body], keys=keys)
        for cells in zip(*(cells[1:] for cells in body), strict=True):
            grid.add(*cells)
        return grid

    def _beside(self, metric: Column) -> list[list[str]]:
        """Returns the columns beside the first: the ranges of several seeds, and in a sweep the
        ratios."""
        ranges = [self._ranges(metric)] if len(self._compared.seeds) > 1 else []
        is_sweep = self._compared.keys and len(self._rows) > 1
        return [*ranges, *([self._ratios(metric)] if is_sweep else [])]

    def _ranges(self, metric: Column) -> list[str]:
        cells = [self._compared.cell(*row) for row in self._rows]
        return [SPREAD, *(spread(*metric.spread(cell)) if cell else MISSING for cell in cells)]

    def _leading_columns(self) -> list[list[str]]:
        """Returns the columns that name a row. Each column begins with its head. A column with the
        same text in all rows is left out, except for the points of the sweep."""
        compared = self._compared
        names: dict[str, list[str]] = {}
        if self._named:
            titles = [_title(compared, question) for question, _ in self._rows]
            # With a sweep, only the first row of a benchmark has its name.
            names["benchmark"] = [
                "" if compared.keys and place and titles[place - 1] == title else title
                for place, title in enumerate(titles)
            ]
        for field in FIELDS:
            texts = [getattr(system, field) for _, system in self._rows]
            if len({getattr(system, field) for system in compared.systems}) > 1:
                names[field] = texts
        points = [[self._point(key, *row) for row in self._rows] for key in compared.keys]
        points = [texts for texts in points if any(texts)]
        if len(points) > LEADING:
            points = [[" ".join(filter(None, texts)) for texts in zip(*points, strict=True)]]
        columns = [[head, *texts] for head, texts in names.items()]
        return columns + [["", *(text or MISSING for text in texts)] for texts in points]

    def _point(self, key: str, question: Question, system: System) -> str:
        cell = self._compared.cell(question, system)
        if cell:
            return swept_keys.shown(cell.record, key)
        words = overlay_of(system.geometry)
        return readable(f"{key}={words[key]}") if key in words else ""

    def _cells(self, metric: Column) -> list[str]:
        head = metric.head if self._broken else metric.name
        texts = []
        for question, system in self._rows:
            cell = self._compared.cell(question, system)
            why = "" if cell else self._compared.why_missing(question, system)
            texts.append(number(metric.of(cell)) if cell else why)
        return [head, *texts]

    def _ratios(self, metric: Column) -> list[str]:
        firsts: dict[tuple[str, ...], Cell | None] = {}
        texts = []
        for question, system in self._rows:
            cell = self._compared.cell(question, system)
            benchmark = _title(self._compared, question), question.phase
            first = firsts.setdefault((*benchmark, *_system_names(system)), cell)
            values = (metric.of(cell), metric.of(first)) if cell and first else None
            texts.append(times(ratio(*values)) if values else MISSING)
        return [RATIO, *texts]


def _width(cells: Sequence[str]) -> int:
    """Returns the width of a column in characters. The first cell is the head."""
    return max(len(line) for cell in cells for line in cell.split("\n"))
