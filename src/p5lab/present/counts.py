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
    compared: Comparison,
    form: str = "table",
    *,
    all_tables: bool = False,
    failures: bool = True,
) -> None:
    """Prints the counts of a comparison.

    `form`: one of FORMATS. `all_tables`: also print the tables that do not fit on one screen, and
    rows of zeros in LaTeX; the other formats always contain everything. `failures`: as in `notes`.
    """
    said = notes(compared, failures=failures)
    papers_named = footers(compared, said)
    if form in ("csv", "json"):
        cannot = [vars(reason) for reason in compared.cannot]
        failed = [
            {"run": run.id, "label": run.record["label"], "reason": run.record["reason"]}
            for run in compared.failed
        ]
        rows = list(compared.table())
        tables.show(console, form, [], [], rows, failed=failed, cannot=cannot)
        return
    shown = grids(compared, console.width if form == "table" else NO_LIMIT)
    if form == "table" and not all_tables:
        # The dash stands for a note about the chosen tables.
        shown, more = headline.choose(compared, shown, [*said, DASH, *papers_named], console.width)
        said += more
    elif form == LATEX and not all_tables:
        shown = [grid.without_zeros() for grid in shown]
    tables.show(console, form, shown, [*said, *about(shown, compared), *papers_named])


def notes(compared: Comparison, reference: str = "", *, failures: bool = True) -> list[str]:
    """Returns the notes below the tables. Each note has one or more sentences.

    `reference`: a note about the ratios of the tables, instead of the note about the first system.
    `failures`: whether to name failed runs that are in no table.
    """
    lines = [explanation(compared)] if compared.questions else []
    if reference:
        lines.append(reference)
    elif compared.has_shadows:
        lines.append(
            "All geometries count the accesses of the same run. Only the first geometry has cycles."
        )
    elif len(compared.systems) > 1 and compared.questions:
        first = compared.names()[compared.systems[0]].replace("\n", ", ")
        lines.append(
            f"Ratios refer to {first}. Ratios compare times, unless a table names other values."
        )
    if len(compared.seeds) > 1:
        seeds = ", ".join(map(str, compared.seeds))
        beside = " The lowest and the highest value of these seeds are beside each mean."
        fewer = "" if compared.is_complete else "; some have fewer of these seeds"
        means = f"Values are means over the seeds {seeds}{fewer}."
        lines.append(f"{means}{'' if reference else beside}")
    facts = [*compared.without_clocks, *compared.estimated, *compared.not_counted]
    lines += [f"{fact}." for fact in (*facts, *compared.deviations, *compared.not_timed)]
    lines += [
        f"{comparison.name(run.record)}: {run.status}. `./p5lab show {run.id[:8]}` shows why."
        for run in compared.failed
        if failures and not compared.phases(selection.subject(run.record))
    ]
    return lines + [f"Not run: {reason}." for reason in compared.cannot]


def explanation(compared: Comparison) -> str:
    """Returns what a number in the tables means. The text mentions the empty bracket only if a run
    has one."""
    means = SINGLE if compared.is_single else MEANS
    means = means.format(_operation(compared))
    return " ".join([means, *([SUBTRACTED] if compared.has_empty_bracket else [])])


def _operation(compared: Comparison) -> str:
    """Returns what one operation is. In runs of the user's own programs, it is the whole program, a
    function (--region) or a bracket of markers."""
    if compared.experiments != [PROGRAM]:
        return "one operation"

    names = {"run": "one run of the program", "call": "one call of the function"}
    each = (compared.operation(question) for question in compared.questions)
    ones = {names.get(operation, f"one {operation}") for operation in each}
    return " or ".join(sorted(ones, reverse=True))


def about(grids: Sequence[Grid], compared: Comparison) -> list[str]:
    """Returns the notes about what these tables contain: a dash, and numbers that rest on one
    placement of the pages."""
    cells = {cell.strip() for grid in grids for row in grid.rows for cell in row[1:]}
    lines = [DASH] if MISSING in cells else []
    return lines + ([PLACEMENT.format(*compared.seeds)] if compared.has_one_placement else [])


def footers(compared: Comparison, said: Sequence[str]) -> list[str]:
    """Returns a line for each paper that the notes `said` or the names of the experiments
    mention."""
    return [paper.footer for paper in papers.named([*said, *compared.experiments])]


def grids(compared: Comparison, width: int) -> list[Grid]:
    """Returns the tables of a comparison for a terminal of `width` characters.

    With one system and one seed, the benchmarks are side by side. With several systems or seeds,
    the systems are side by side. The first table is then a summary with one line for each
    benchmark, and a table for each benchmark follows.
    """
    if compared.has_shadows:
        return [several_systems.misses(compared, question) for question in compared.last_points]
    if compared.compares_versions and len(compared.questions) == 1:
        return several_systems.side_by_side(compared, compared.questions[0], width)
    if len(compared.systems) > 1 or len(compared.seeds) > 1:
        whats = list(dict.fromkeys(question.what for question in compared.questions))
        result = several_systems.summary(compared, width)
        result += several_systems.events(compared, width)
        for what in whats:
            phases = compared.phases(what)
            if compared.any_cell(phases[0]).record["workload"]["curve"]:
                result += several_systems.curves(compared, what, width)
            else:
                for question in phases:
                    result += several_systems.side_by_side(compared, question, width)
        return result
    columns = [(question, compared.any_cell(question)) for question in compared.last_points]
    curved = [
        [compared.any_cell(question) for question in compared.phases(question.what)]
        for question, cell in columns
        if cell.record["workload"]["curve"]
    ]
    return [*one_system.metrics([cell for _, cell in columns], width)] + [
        one_system.curve(points, width) for points in curved
    ]
