# SPDX-License-Identifier: MIT
"""Tables of one system, with benchmarks side by side or with the points of a curve."""

from collections.abc import Sequence

from p5lab.keep import selection
from p5lab.present.comparison import CYCLES, HIGHEST, LOWEST, NOMINAL, TIME, Cell, Comparison
from p5lab.present.tables import Grid, number
from p5stats import compare
from p5stats.metrics import View, shown_in

LABEL_WIDTH, COLUMN_WIDTH, POINT_WIDTH = 26, 13, 10
METRICS = [metric.name for metric in compare.metrics(0)]


def metrics(columns: Sequence[Cell], width: int) -> list[Grid]:
    """Returns tables with a row for each metric and a column for each benchmark. There are several
    tables if not all benchmarks fit into `width` characters."""
    room = max((width - LABEL_WIDTH) // COLUMN_WIDTH, 1)
    return [
        _metrics(columns[first : first + room], columns) for first in range(0, len(columns), room)
    ]


def _metrics(columns: Sequence[Cell], among: Sequence[Cell]) -> Grid:
    heads = [
        selection.head(cell.record).replace(" ", "\n") + _phase_label(cell, among)
        for cell in columns
    ]
    grid = Grid("Counts per operation", ["", *heads], metrics=True)
    grid.add("iterations", *(str(cell.iterations) for cell in columns))
    for label, name in rows(among):
        shown = (number(cell.mean(name)) for cell in columns)
        grid.add(label, *shown, dim=label.startswith(" "))
    return grid


def rows(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Returns the label and the metric of each row. Leaves out metrics that no cell contains.

    The rows of the lowest and highest iteration follow the row of the cycles. If there are no
    cycles, these two rows follow the row of the time. Without a cell of several iterations, the two
    rows would repeat the row above, so they are left out.
    """
    rows = []
    several = any(cell.iterations != 1 for cell in cells)
    spreads = [name for name in (CYCLES, NOMINAL) if any(cell.has(name) for cell in cells)]
    for name in METRICS:
        if any(cell.has(name) for cell in cells):
            rows.append((name, name))
            if name in (spreads or [TIME]) and several:
                rows += [("  lowest", name + LOWEST), ("  highest", name + HIGHEST)]
    return rows


def benchmarks(compared: Comparison, view: View, most: int | None = None) -> Grid:
    """Returns a table with a row for each benchmark and a column for each metric of a view, at most
    `most`. Leaves out metrics that no benchmark has."""
    points = compared.last_points
    cells = {compared.label(question): compared.any_cell(question) for question in points}
    heads = shown_in(view)
    shown = [name for name in heads if any(cell.has(name) for cell in cells.values())][:most]
    grid = Grid("Means of one operation", ["", *(heads[name] for name in shown)])
    for label, cell in cells.items():
        grid.add(label, *(number(cell.mean(name)) for name in shown))
    return grid


def curve(points: Sequence[Cell], width: int) -> Grid:
    """Returns a table with a row for each point of a curve. The table is at most `width` characters
    wide."""
    record = points[0].record
    heads_of = shown_in(View.CURVE)
    shown = [name for name in heads_of if any(cell.has(name) for cell in points)]
    shown = shown[: max((width - POINT_WIDTH) // POINT_WIDTH, 1)]
    title = f"{selection.head(record)}: counts per {record['workload']['operation']}"
    heads = [record["workload"]["curve"], *(heads_of[name] for name in shown)]
    grid = Grid(title, heads, points=True)
    for cell in points:
        grid.add(cell.seeds[0].phase, *(number(cell.mean(name)) for name in shown))
    return grid


def _phase_label(cell: Cell, among: Sequence[Cell]) -> str:
    what = selection.head(cell.record)
    same = sum(selection.head(other.record) == what for other in among)
    curved = bool(cell.record["workload"]["curve"])
    return f"\n{cell.seeds[0].phase}" if curved or same > 1 else ""
