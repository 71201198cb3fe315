# SPDX-License-Identifier: MIT
"""The first table of a page. Ratios come first, so that a narrow window shows them."""

from p5lab.present.comparison import CYCLES, TIME, Comparison
from p5lab.present.several_systems import COSTS, last_points, ratio_of, value_or_why
from p5lab.present.tables import Grid, number
from p5stats.metrics import View, shown_in


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
    first, is_timed = found.cost, found.cost == TIME
    what, unit = COSTS[first]
    heads = ["", *(f"{name}\nratio" for name in names[1:]), *(f"{name}\n{unit}" for name in names)]
    if is_timed:
        heads += [f"{name}\ncycles" for name in names]
    reference = names[0].replace("\n", ", ")
    grid = Grid(f"{what} of one operation, with ratios to {reference}", heads)
    for question in last_points(found):
        row = found.cells(question)
        ratios = [ratio_of(cell, row[0], first) for cell in row[1:]]
        values = [value_or_why(found, question, place, first) for place in range(len(row))]
        cycles = [value_or_why(found, question, place, CYCLES) for place in range(len(row))]
        grid.add(found.label(question), *ratios, *values, *(cycles if is_timed else ()))
    return grid


def _one(found: Comparison) -> Grid:
    questions = last_points(found)
    cells = [found.any_cell(question) for question in questions]
    heads = shown_in(View.SUMMARY)
    shown = [name for name in heads if any(cell.has(name) for cell in cells)]
    grid = Grid("Means of one operation", ["", *(heads[name] for name in shown)])
    for question, cell in zip(questions, cells, strict=True):
        grid.add(found.label(question), *(number(cell.mean(name)) for name in shown))
    return grid
