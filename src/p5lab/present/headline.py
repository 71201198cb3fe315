# SPDX-License-Identifier: MIT
"""Chooses the tables of a comparison that stay visible in a terminal.

All tables are printed if they fit into LINES lines. Otherwise only the headline is printed, which
has one line for each benchmark. The option --all-tables prints all tables in any case.
"""

from collections.abc import Sequence

from p5lab.present import one_system
from p5lab.present.comparison import Comparison
from p5lab.present.several_systems import summary
from p5lab.present.tables import Grid, lines_of
from p5stats.metrics import View

OPTION = "--all-tables"
LINES = 40  # of a terminal
RESERVED = 5  # lines after the notes: where the results are, the next commands, the prompt
FURTHER = f"{OPTION} prints all metrics"
ZEROS = f"Rows that contain only zeros are left out; {OPTION} prints them."


def choose(
    compared: Comparison, tables: Sequence[Grid], notes: Sequence[str], width: int
) -> tuple[list[Grid], list[str]]:
    """Returns the tables that a terminal of `width` characters shows, and the notes about what is
    left out.

    `tables`: all tables of the comparison. `notes`: the other notes below the tables. The tables of
    shadow geometries are always shown.
    """
    short = [table.without_zeros() for table in tables]
    left_out = any(len(a.rows) < len(b.rows) for a, b in zip(short, tables, strict=True))
    more = [ZEROS] if left_out else []
    if compared.has_shadows or not compared.questions:
        return short, more
    alone = compared.compares_versions and len(compared.questions) == 1
    if alone or _height(short, [*notes, *more], width) <= LINES:
        return short, more
    several = len(compared.systems) > 1 or len(compared.seeds) > 1
    more = [f"{FURTHER}{_points(compared)}."]
    if several:
        return summary(compared, width), more
    return [_one_system(compared, [*notes, *more], width)], more


def _one_system(compared: Comparison, notes: Sequence[str], width: int) -> Grid:
    """Returns a table of one system with a line for each benchmark, and a column for each
    metric of the view. If the columns need so many lines that the table does not fit on a screen,
    the table has only as many columns as fit beside each other."""
    grid = one_system.benchmarks(compared, View.HEADLINE)
    while _height([grid], notes, width) > LINES and grid.width > width and len(grid.heads) > 2:
        grid = one_system.benchmarks(compared, View.HEADLINE, len(grid.heads) - 2)
    return grid


def _points(compared: Comparison) -> str:
    """Returns a text about the curves, because the headline shows only their last points."""
    curves = [
        question.what
        for question in compared.last_points
        if compared.any_cell(question).record["workload"]["curve"]
    ]
    return f" and all points of {', '.join(curves)}" if curves else ""


def _height(tables: Sequence[Grid], notes: Sequence[str], width: int) -> int:
    lines = sum(table.height(width) for table in tables)
    return lines + sum(lines_of(note, width) for note in notes) + RESERVED
