# SPDX-License-Identifier: MIT
"""Tables that show several systems side by side: a summary of all benchmarks, and a table for each
benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from p5lab.describe.keys import readable
from p5lab.keep import selection
from p5lab.present.comparison import CYCLES, INSTRUCTIONS, NOMINAL, TIME, Cell, Comparison, Question
from p5lab.present.one_system import COLUMN_WIDTH, LABEL_WIDTH, POINT_WIDTH, rows
from p5lab.present.tables import MISSING, SPREAD, Grid, number, ratio, spread, times
from p5stats.metrics import View, shown_in

RATIO_WIDTH, SPREAD_WIDTH = 9, 21
VALUE, MEAN, RATIO = "value", "mean", "ratio"  # and SPREAD: kinds of SystemColumn
# The words for Comparison.cost in a title, and its unit.
COSTS = {
    TIME: ("Time", "us"),
    NOMINAL: ("Nominal cycles", "nominal cycles"),
    INSTRUCTIONS: ("Instructions", INSTRUCTIONS),
}


@dataclass(frozen=True)
class SystemColumn:
    """A column: a metric of the system with this number. `kind`: VALUE has the reason in the place
    of a missing value, and RATIO is the ratio to the first system."""

    metric: str
    kind: str
    system: int
    head: str = ""

    def text(self, compared: Comparison, question: Question) -> str:
        """Returns the cell in the row of a question."""
        cell = compared.cell(question, compared.systems[self.system])
        if cell is None and self.kind == VALUE:
            return compared.why_missing(question, compared.systems[self.system])
        if self.kind == RATIO:
            first = compared.cell(question, compared.systems[0])
            own = (cell.mean(self.metric), first.mean(self.metric)) if cell and first else None
            return times(ratio(*own)) if own else MISSING
        if cell is None or self.kind != SPREAD:
            return _mean(cell, self.metric)
        return spread(*cell.spread(self.metric))


def summary(compared: Comparison, width: int) -> list[Grid]:
    """Returns tables with a row for each benchmark. A table is at most `width` characters wide.

    For each system, a row contains the time, the busy cycles and a ratio. The ratio is the system's
    time divided by the first system's time. If no system has a time, the tables show
    Comparison.cost and its ratio. Returns no table if all runs have failed.
    """
    if not compared.questions:
        return []
    cost = 2 * COLUMN_WIDTH + (SPREAD_WIDTH if len(compared.seeds) > 1 else RATIO_WIDTH)
    result = []
    for chosen in _chunks(len(compared.systems), (width - LABEL_WIDTH) // cost):
        is_timed = compared.cost == TIME
        grid = _summary(compared, chosen, cycles=is_timed)
        if is_timed and grid.width > width:  # the ratios matter more than the cycles
            grid = _summary(compared, chosen, cycles=False)
        result.append(grid)
    return result


def _summary(compared: Comparison, chosen: Sequence[int], *, cycles: bool) -> Grid:
    """Returns the summary of the chosen systems."""
    cost, (title, unit) = compared.cost, COSTS[compared.cost]
    columns = [SystemColumn(cost, VALUE, i, unit) for i in chosen]
    columns += [SystemColumn(cost, SPREAD, i, SPREAD) for i in chosen if len(compared.seeds) > 1]
    columns += [SystemColumn(CYCLES, MEAN, i, "cycles") for i in chosen if cycles]
    columns += [SystemColumn(cost, RATIO, i, RATIO) for i in chosen[1:]]
    grid = by_benchmark(compared, f"{title} of one operation", columns)
    for what in dict.fromkeys(selection.subject(run.record) for run in compared.failed):
        if not compared.phases(what):
            grid.add(what, *["failed"] * len(chosen))
    return grid


def by_benchmark(compared: Comparison, title: str, columns: Sequence[SystemColumn]) -> Grid:
    """Returns a table with a row for each benchmark, the last point of a curve."""
    names = list(compared.names().values())
    heads = [f"{names[column.system]}\n{column.head}".strip() for column in columns]
    grid = Grid(title, ["", *heads])
    for question in compared.last_points:
        grid.add(compared.label(question), *(column.text(compared, question) for column in columns))
    return grid


def events(compared: Comparison, width: int) -> list[Grid]:
    """Returns a table for each metric of View.OWN_TABLE. A table has a row for each benchmark and a
    column for each system."""
    result = []
    for metric, title in shown_in(View.OWN_TABLE).items():
        room = (width - LABEL_WIDTH) // (COLUMN_WIDTH + RATIO_WIDTH)
        for chosen in _chunks(len(compared.systems), room):
            columns = [SystemColumn(metric, VALUE, i) for i in chosen]
            columns += [SystemColumn(metric, RATIO, i, RATIO) for i in chosen[1:]]
            grid = by_benchmark(compared, title, columns)
            if grid.rows:
                result.append(grid)
    return result


def side_by_side(compared: Comparison, question: Question, width: int) -> list[Grid]:
    """Returns tables of all metrics of one question. Each system has a column of values, and a
    column of ratios to the values of the first system."""
    workload = compared.any_cell(question).record["workload"]
    title = (
        f"{compared.label(question)}: {workload['bracket']} (of one {compared.operation(question)})"
    )
    names, cells = list(compared.names().values()), compared.cells(question)
    seeds = len(compared.seeds) > 1
    cost = COLUMN_WIDTH + RATIO_WIDTH + (SPREAD_WIDTH if seeds else 0)
    result = []
    for chosen in _chunks(len(cells), (width - LABEL_WIDTH) // cost):
        kinds = [(i, kind) for i in chosen for kind in (MEAN, SPREAD)[: 1 + seeds]]
        kinds += [(i, RATIO) for i in chosen[1:]]
        heads = [names[i] if kind == MEAN else f"{names[i]}\n{kind}" for i, kind in kinds]
        grid = Grid(title, ["", *heads], metrics=True)
        iterations = [str(cell.iterations) if cell else MISSING for cell in cells]
        grid.add("iterations", *(iterations[i] if kind == MEAN else "" for i, kind in kinds))
        for label, metric in rows([cell for cell in cells if cell]):
            row = (SystemColumn(metric, kind, i).text(compared, question) for i, kind in kinds)
            grid.add(label, *row, dim=label.startswith(" "))
        result.append(grid)
    return result


def curves(compared: Comparison, what: str, width: int) -> list[Grid]:
    """Returns a table with a row for each point of a curve.

    Each metric has a column for each system. For cycles, the table also contains the ratios to the
    first system.
    """
    questions = compared.phases(what)
    workload = compared.any_cell(questions[0]).record["workload"]
    names = [name.replace("\n", " ") for name in compared.names().values()]
    points = [cell for question in questions for cell in compared.cells(question) if cell]
    metrics = [
        metric
        for metric in shown_in(View.CURVES_COMPARED)
        if any(cell.has(metric) for cell in points)
    ]
    columns = _curve_columns(metrics, names, width, seeds=len(compared.seeds) > 1)
    heads = [workload["curve"], *(f"{names[column.system]}\n{column.head}" for column in columns)]
    grid = Grid(f"{what}: counts of one {compared.operation(questions[0])}", heads, points=True)
    for question in questions:
        grid.add(question.phase, *(column.text(compared, question) for column in columns))
    return [grid]


def _curve_columns(
    metrics: Sequence[str], names: Sequence[str], width: int, *, seeds: bool
) -> list[SystemColumn]:
    """Returns the columns of a curve's table that fit into `width` characters. The columns of the
    first metric are always there. `seeds`: whether the systems have several seeds, so that cycles
    have a spread."""
    columns: list[SystemColumn] = []
    heads = shown_in(View.CURVES_COMPARED) | shown_in(View.CURVE)
    used = POINT_WIDTH
    for metric in metrics:
        group = [SystemColumn(metric, MEAN, i, heads[metric]) for i in range(len(names))]
        if metric in (CYCLES, NOMINAL):
            group += [SystemColumn(metric, SPREAD, i, SPREAD) for i in range(len(names)) if seeds]
            group += [SystemColumn(metric, RATIO, i, RATIO) for i in range(1, len(names))]
        used += sum(
            max(
                POINT_WIDTH,
                len(names[column.system]) + 3,
                SPREAD_WIDTH if column.kind == SPREAD else 0,
            )
            for column in group
        )
        if columns and used > width:
            break
        columns += group
    return columns


def misses(compared: Comparison, question: Question) -> Grid:
    """Returns a table of misses with a row for each geometry."""
    grid = Grid(
        f"{compared.label(question)}: misses of one {compared.operation(question)}",
        ["", *shown_in(View.MISSES).values()],
    )
    several = [
        field
        for field in ("guest", "machine")
        if len({getattr(system, field) for system in compared.systems}) > 1
    ]
    for system in compared.systems:
        cell = compared.cell(question, system)
        parts = [getattr(system, field) for field in several]
        parts += [readable(system.geometry) or ("" if "machine" in several else system.machine)]
        grid.add(
            " ".join(filter(None, parts)),
            *(_mean(cell, metric) for metric in shown_in(View.MISSES)),
        )
    return grid


def _chunks(count: int, room: int) -> list[list[int]]:
    """Divides the systems into tables of at most `room` systems. Returns the positions of the
    systems in each table.

    Every table begins with the first system, because ratios refer to the first system.
    """
    others = list(range(1, count))
    step = max(room - 1, 1)
    return [[0, *others[i : i + step]] for i in range(0, len(others), step)] or [[0]]


def _mean(cell: Cell | None, metric: str) -> str:
    return number(cell.mean(metric)) if cell else MISSING
