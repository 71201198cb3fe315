# SPDX-License-Identifier: MIT
"""The first table of a page. Ratios come first, so that a narrow window shows them."""

from p5lab.present.column import HEADS
from p5lab.present.comparison import CYCLES, TIME, Cell, Comparison, Question
from p5lab.present.several_systems import last_points
from p5lab.present.tables import MISSING, Grid, number, ratio, times

INSTRUCTIONS = "instructions"
# The columns for one system, the most important first.
ONE_SYSTEM = (TIME, CYCLES, INSTRUCTIONS, "CPI (busy)", "L2 misses", "ring crossings")


def of(found: Comparison) -> list[Grid]:
    """Returns the first table of a page, or [] if there are no results.

    With several systems, the ratios to the first system come first, then the values of all systems.
    With one system, each benchmark has its most important metrics.
    """
    if not found.questions or found.has_shadows:
        return []
    return [_several(found) if len(found.systems) > 1 else _one(found)]


def _several(found: Comparison) -> Grid:
    names = list(found.names().values())
    cells = [cell for one in found.questions for cell in found.cells(one) if cell]
    is_timed = any(cell.has(TIME) for cell in cells)
    first, unit = (TIME, "us") if is_timed else (INSTRUCTIONS, INSTRUCTIONS)
    heads = ["", *(f"{name}\nratio" for name in names[1:]), *(f"{name}\n{unit}" for name in names)]
    if is_timed:
        heads += [f"{name}\ncycles" for name in names]
    what = "Time" if is_timed else "Instructions"
    reference = names[0].replace("\n", ", ")
    grid = Grid(f"{what} of one operation, with ratios to {reference}", heads)
    for question in last_points(found):
        row = found.cells(question)
        ratios = [_ratio(cell, row[0], first) for cell in row[1:]]
        values = [_value(found, question, place, first) for place in range(len(row))]
        cycles = [_value(found, question, place, CYCLES) for place in range(len(row))]
        grid.add(_label(found, question), *ratios, *values, *(cycles if is_timed else ()))
    return grid


def _one(found: Comparison) -> Grid:
    questions = last_points(found)
    cells = [found.any_cell(question) for question in questions]
    shown = [name for name in ONE_SYSTEM if any(cell.has(name) for cell in cells)]
    grid = Grid("Means of one operation", ["", *(HEADS.get(name, name) for name in shown)])
    for question, cell in zip(questions, cells, strict=True):
        grid.add(_label(found, question), *(number(cell.mean(name)) for name in shown))
    return grid


def _label(found: Comparison, question: Question) -> str:
    several = len(found.phases(question.what)) > 1
    return f"{question.what}, {question.phase}" if several else question.what


def _value(found: Comparison, question: Question, place: int, metric: str) -> str:
    cell = found.cell(question, found.systems[place])
    return number(cell.mean(metric)) if cell else found.why_missing(question, found.systems[place])


def _ratio(cell: Cell | None, first: Cell | None, metric: str) -> str:
    return times(ratio(cell.mean(metric), first.mean(metric))) if cell and first else MISSING
