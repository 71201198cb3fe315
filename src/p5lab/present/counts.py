# SPDX-License-Identifier: MIT
"""Prints the counts of an experiment, in formats for people and for programs."""

import os
from collections.abc import Sequence

from rich.console import Console

from p5lab.describe import papers
from p5lab.describe.experiment import PROGRAM
from p5lab.keep import selection
from p5lab.present import comparison, headline, one_system, several_systems, tables
from p5lab.present.comparison import Comparison
from p5lab.present.tables import LATEX, MISSING, Grid

FORMATS = ("table", "markdown", "csv", "json")
FORMS = (*FORMATS, LATEX)  # of the commands that print counts
PIPED_WIDTH = 80
NO_LIMIT = 1 << 20  # a width in characters at which no line wraps
MEANS = "Each number is the mean of {} over the iterations."
SINGLE = "Each number is for {} and comes from a single iteration."
SUBTRACTED = (
    "The cycles, instructions and accesses of the markers (the empty bracket) are subtracted."
)
PLACEMENT = (
    "All numbers rest on one placement of the pages (seed {}). Another one can give other numbers:"
    " --seeds 5 makes five and shows the range."
)
DASH = "A dash means that the number was not counted, or that the divisor is zero."


def stdout() -> Console:
    """Returns the console for results. Output to a file or pipe has the width PIPED_WIDTH, unless
    COLUMNS is set."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPED_WIDTH
    return console


def of(
    console: Console,
    found: Comparison,
    form: str = "table",
    *,
    all_tables: bool = False,
    failures: bool = True,
) -> None:
    """Prints the counts of a comparison.

    `form`: one of FORMATS. `all_tables`: also print the tables that do not fit on one screen, and
    rows of zeros in LaTeX; the other formats always contain everything. `failures`: as in `notes`.
    """
    said = notes(found, failures=failures)
    papers_named = footers(found, said)
    if form in ("csv", "json"):
        cannot = [vars(one) for one in found.cannot]
        failed = [
            {"run": one.id, "label": one.record["label"], "reason": one.record["reason"]}
            for one in found.failed
        ]
        rows = list(found.table())
        tables.show(console, form, [], [], rows, failed=failed, cannot=cannot)
        return
    shown = grids(found, console.width if form == "table" else NO_LIMIT)
    if form == "table" and not all_tables:
        # The dash stands for a note about the chosen tables.
        shown, more = headline.choose(found, shown, [*said, DASH, *papers_named], console.width)
        said += more
    elif form == LATEX and not all_tables:
        shown = [grid.without_zeros() for grid in shown]
    tables.show(console, form, shown, [*said, *about(shown, found), *papers_named])


def notes(found: Comparison, reference: str = "", *, failures: bool = True) -> list[str]:
    """Returns the notes below the tables. Each note has one or more sentences.

    `reference`: a note about the ratios of the tables, instead of the note about the first system.
    `failures`: whether to name failed runs that are in no table.
    """
    lines = [explanation(found)] if found.questions else []
    if reference:
        lines.append(reference)
    elif found.has_shadows:
        lines.append(
            "All geometries count the accesses of the same run. Only the first geometry has cycles."
        )
    elif len(found.systems) > 1 and found.questions:
        first = found.names()[found.systems[0]].replace("\n", ", ")
        lines.append(
            f"Ratios refer to {first}. Ratios compare times, unless a table names other values."
        )
    if len(found.seeds) > 1:
        seeds = ", ".join(map(str, found.seeds))
        beside = " The lowest and the highest value of these seeds are beside each mean."
        fewer = "" if found.is_complete else "; some have fewer of these seeds"
        means = f"Values are means over the seeds {seeds}{fewer}."
        lines.append(f"{means}{'' if reference else beside}")
    about = found.without_clocks, found.estimated, found.not_counted
    lines += [f"{line}." for own in (*about, found.deviations, found.not_timed) for line in own]
    lines += [
        f"{comparison.name(one.record)}: {one.status}. `./p5lab show {one.id[:8]}` shows why."
        for one in found.failed
        if failures and not found.phases(selection.subject(one.record))
    ]
    return lines + [f"Not run: {reason}." for reason in found.cannot]


def explanation(found: Comparison) -> str:
    """Returns what a number in the tables means. The text mentions the empty bracket only if a run
    has one."""
    means = SINGLE if found.is_single else MEANS
    means = means.format(_operation(found))
    return " ".join([means, *([SUBTRACTED] if found.has_empty_bracket else [])])


def _operation(found: Comparison) -> str:
    """Returns what one operation is. In runs of the user's own programs, it is the whole program, a
    function (--region) or a bracket of markers."""
    if found.experiments != [PROGRAM]:
        return "one operation"

    names = {"run": "one run of the program", "call": "one call of the function"}
    each = (
        comparison.operation_of(found.any_cell(question).record, question.phase)
        for question in found.questions
    )
    return " or ".join(sorted({names.get(one, f"one {one}") for one in each}, reverse=True))


def about(grids: Sequence[Grid], found: Comparison) -> list[str]:
    """Returns the notes about what these tables contain: a dash, and numbers that rest on one
    placement of the pages."""
    cells = {cell.strip() for grid in grids for row in grid.rows for cell in row[1:]}
    lines = [DASH] if MISSING in cells else []
    return lines + ([PLACEMENT.format(*found.seeds)] if found.has_one_placement else [])


def footers(found: Comparison, said: Sequence[str]) -> list[str]:
    """Returns a line for each paper that the notes `said` or the names of the experiments
    mention."""
    return [paper.footer for paper in papers.named([*said, *found.experiments])]


def grids(found: Comparison, width: int) -> list[Grid]:
    """Returns the tables of a comparison for a terminal of `width` characters.

    With one system and one seed, the benchmarks are side by side. With several systems or seeds,
    the systems are side by side. The first table is then a summary with one line for each
    benchmark, and a table for each benchmark follows.
    """
    if found.has_shadows:
        return [several_systems.misses(found, question) for question in found.last_points]
    if found.compares_versions and len(found.questions) == 1:
        return several_systems.side_by_side(found, found.questions[0], width)
    if len(found.systems) > 1 or len(found.seeds) > 1:
        whats = list(dict.fromkeys(question.what for question in found.questions))
        result = [*several_systems.summary(found, width), *several_systems.events(found, width)]
        for what in whats:
            phases = found.phases(what)
            if found.any_cell(phases[0]).record["workload"]["curve"]:
                result += several_systems.curves(found, what, width)
            else:
                for question in phases:
                    result += several_systems.side_by_side(found, question, width)
        return result
    columns = [(question, found.any_cell(question)) for question in found.last_points]
    curved = [
        [found.any_cell(question) for question in found.phases(question.what)]
        for question, cell in columns
        if cell.record["workload"]["curve"]
    ]
    return [*one_system.metrics([cell for _, cell in columns], width)] + [
        one_system.curve(points, width) for points in curved
    ]
