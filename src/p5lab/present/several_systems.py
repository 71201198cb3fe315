# SPDX-License-Identifier: MIT
"""Tables that show several systems side by side: a summary of all benchmarks, and a table for each
benchmark."""

from collections.abc import Sequence

from p5lab.describe.keys import readable
from p5lab.keep import selection
from p5lab.present.comparison import CYCLES, INSTRUCTIONS, NOMINAL, TIME, Cell, Comparison, Question
from p5lab.present.one_system import COLUMN_WIDTH, LABEL_WIDTH, POINT_WIDTH, rows
from p5lab.present.tables import MISSING, Grid, number, ratio, times
from p5stats.metrics import View, shown_in

RATIO_WIDTH, SPREAD_WIDTH = 9, 21
# The words for Comparison.cost in a title, and its unit.
COSTS = {
    TIME: ("Time", "us"),
    NOMINAL: ("Nominal cycles", "nominal cycles"),
    INSTRUCTIONS: ("Instructions", INSTRUCTIONS),
}


def last_points(found: Comparison) -> list[Question]:
    """Returns every question that is not a point of a curve, and the last point of each curve."""
    return [
        question
        for question in found.questions
        if not found.any_cell(question).record["workload"]["curve"]
        or question == found.phases(question.what)[-1]
    ]


def summary(found: Comparison, width: int) -> list[Grid]:
    """Returns tables with a row for each benchmark. A table is at most `width` characters wide.

    For each system, a row contains the time, the busy cycles and a ratio. The ratio is the system's
    time divided by the first system's time. If no system has a time, the tables show
    Comparison.cost and its ratio.
    """
    cost = 2 * COLUMN_WIDTH + (SPREAD_WIDTH if len(found.seeds) > 1 else RATIO_WIDTH)
    result = []
    for chosen in _chunks(len(found.systems), (width - LABEL_WIDTH) // cost):
        is_timed = found.cost == TIME
        grid = _summary(found, chosen, cycles=is_timed)
        if is_timed and grid.width > width:  # the ratios matter more than the cycles
            grid = _summary(found, chosen, cycles=False)
        result.append(grid)
    return result


def _summary(found: Comparison, chosen: Sequence[int], *, cycles: bool) -> Grid:
    """Returns the summary of the chosen systems."""
    names, first = list(found.names().values()), found.cost
    seeds = len(found.seeds) > 1
    title, unit = COSTS[first]
    heads = [""]
    heads += [f"{names[i]}\n{unit}" for i in chosen]
    heads += [f"{names[i]}\nmin-max" for i in chosen if seeds]
    heads += [f"{names[i]}\ncycles" for i in chosen if cycles]
    heads += [f"{names[i]}\nratio" for i in chosen[1:]]
    grid = Grid(f"{title} of one operation", heads)
    for question in last_points(found):
        cells = found.cells(question)
        row = [value_or_why(found, question, i, first) for i in chosen]
        row += [_spread(cells[i], first) for i in chosen if seeds]
        row += [_mean(cells[i], CYCLES) for i in chosen if cycles]
        row += [ratio_of(cells[i], cells[chosen[0]], first) for i in chosen[1:]]
        grid.add(found.label(question), *row)
    for what in dict.fromkeys(selection.subject(one.record) for one in found.failed):
        if not found.phases(what):
            grid.add(what, *["failed"] * len(chosen))
    return grid


def events(found: Comparison, width: int) -> list[Grid]:
    """Returns a table for each metric of View.OWN_TABLE. A table has a row for each benchmark and a
    column for each system."""
    result = []
    names = list(found.names().values())
    for metric, title in shown_in(View.OWN_TABLE).items():
        for chosen in _chunks(len(names), (width - LABEL_WIDTH) // (COLUMN_WIDTH + RATIO_WIDTH)):
            grid = Grid(title, _heads("", names, chosen, seeds=False))
            for question in last_points(found):
                cells = found.cells(question)
                row = [value_or_why(found, question, i, metric) for i in chosen]
                row += [ratio_of(cells[i], cells[chosen[0]], metric) for i in chosen[1:]]
                grid.add(found.label(question), *row)
            if grid.rows:
                result.append(grid)
    return result


def side_by_side(found: Comparison, question: Question, width: int) -> list[Grid]:
    """Returns tables of all metrics of one question. Each system has a column of values, and a
    column of ratios to the values of the first system."""
    workload = found.any_cell(question).record["workload"]
    names, cells = list(found.names().values()), found.cells(question)
    seeds = len(found.seeds) > 1
    cost = COLUMN_WIDTH + RATIO_WIDTH + (SPREAD_WIDTH if seeds else 0)
    result = []
    for chosen in _chunks(len(cells), (width - LABEL_WIDTH) // cost):
        title = f"{found.label(question)}: {workload['bracket']} (of one {workload['operation']})"
        grid = Grid(title, _heads("", names, chosen, seeds), metrics=True)
        iterations = [str(cell.iterations) if cell else MISSING for cell in cells]
        row = []
        for i in chosen:
            row += [iterations[i]] + [""] * seeds
        grid.add("iterations", *row, *[""] * len(chosen[1:]))
        for label, metric in rows([cell for cell in cells if cell]):
            _compared(grid, label, metric, cells, chosen, seeds)
        result.append(grid)
    return result


def _compared(
    grid: Grid,
    label: str,
    metric: str,
    cells: Sequence[Cell | None],
    chosen: Sequence[int],
    seeds: bool,
) -> None:
    row = []
    for i in chosen:
        row += [_mean(cells[i], metric)] + [_spread(cells[i], metric)] * seeds
    row += [ratio_of(cells[i], cells[chosen[0]], metric) for i in chosen[1:]]
    grid.add(label, *row, dim=label.startswith(" "))


def curves(found: Comparison, what: str, width: int) -> list[Grid]:
    """Returns a table with a row for each point of a curve.

    Each metric has a column for each system. For cycles, the table also contains the ratios to the
    first system.
    """
    questions = found.phases(what)
    workload = found.any_cell(questions[0]).record["workload"]
    names = [name.replace("\n", " ") for name in found.names().values()]
    grid_heads = [workload["curve"]]
    points = [cell for question in questions for cell in found.cells(question) if cell]
    metrics = [
        metric
        for metric in shown_in(View.CURVES_COMPARED)
        if any(cell.has(metric) for cell in points)
    ]
    columns = _curve_columns(metrics, names, width, seeds=len(found.seeds) > 1)
    for metric, kind, i in columns:
        unit = (
            shown_in(View.CURVE)[metric]
            if kind == "mean"
            else "min-max"
            if kind == "spread"
            else kind
        )
        grid_heads.append(f"{names[i]}\n{unit}")
    title = f"{what}: counts of one {workload['operation']}"
    grid = Grid(title, grid_heads, points=True)
    for question in questions:
        cells = found.cells(question)
        shown = {
            "mean": lambda metric, i, cells=cells: _mean(cells[i], metric),
            "spread": lambda metric, i, cells=cells: _spread(cells[i], metric),
            "ratio": lambda metric, i, cells=cells: ratio_of(cells[i], cells[0], metric),
        }
        grid.add(question.phase, *(shown[kind](metric, i) for metric, kind, i in columns))
    return [grid]


def _curve_columns(
    metrics: Sequence[str], names: Sequence[str], width: int, *, seeds: bool
) -> list[tuple[str, str, int]]:
    """Returns the columns of a curve's table that fit into `width` characters: metric, kind (mean,
    spread or ratio) and index into the systems' `names`. The columns of the first metric are always
    there. `seeds`: whether the systems have several seeds, so that cycles have a spread."""
    columns: list[tuple[str, str, int]] = []
    used = POINT_WIDTH
    for metric in metrics:
        group = [(metric, "mean", i) for i in range(len(names))]
        if metric in (CYCLES, NOMINAL):
            group += [(metric, "spread", i) for i in range(len(names)) if seeds]
            group += [(metric, "ratio", i) for i in range(1, len(names))]
        used += sum(
            max(POINT_WIDTH, len(names[i]) + 3, SPREAD_WIDTH if kind == "spread" else 0)
            for _, kind, i in group
        )
        if columns and used > width:
            break
        columns += group
    return columns


def misses(found: Comparison, question: Question) -> Grid:
    """Returns a table of misses with a row for each geometry."""
    workload = found.any_cell(question).record["workload"]
    grid = Grid(
        f"{found.label(question)}: misses of one {workload['operation']}",
        ["", *shown_in(View.MISSES).values()],
    )
    several = [
        field
        for field in ("guest", "machine")
        if len({getattr(system, field) for system in found.systems}) > 1
    ]
    for system in found.systems:
        cell = found.cell(question, system)
        parts = [getattr(system, field) for field in several]
        parts += [readable(system.geometry) or ("" if "machine" in several else system.machine)]
        grid.add(
            " ".join(filter(None, parts)),
            *(_mean(cell, metric) for metric in shown_in(View.MISSES)),
        )
    return grid


def _heads(first: str, names: Sequence[str], chosen: Sequence[int], seeds: bool) -> list[str]:
    heads = [first]
    for i in chosen:
        heads += [names[i]] + [f"{names[i]}\nmin-max"] * seeds
    return heads + [f"{names[i]}\nratio" for i in chosen[1:]]


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


def _spread(cell: Cell | None, metric: str) -> str:
    if cell is None:
        return MISSING
    low, high = map(number, cell.spread(metric))
    return low if low == high else f"{low}-{high}"


def ratio_of(cell: Cell | None, first: Cell | None, metric: str) -> str:
    """Returns the ratio of a metric to the first system, or MISSING if a cell is missing."""
    return times(ratio(cell.mean(metric), first.mean(metric))) if cell and first else MISSING


def value_or_why(found: Comparison, question: Question, i: int, metric: str) -> str:
    """Returns a metric of the system number `i`, or the reason why the cell is missing."""
    cell = found.cell(question, found.systems[i])
    return _mean(cell, metric) if cell else found.why_missing(question, found.systems[i])
