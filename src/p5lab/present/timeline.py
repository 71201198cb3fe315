# SPDX-License-Identifier: MIT
"""Prints the steps of a call, for `./p5lab show RUN --timeline`. The run needs --trace crossings. A
run with --cpi also has the CPI stack of each step."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console

from p5lab.describe.observation.trace import CROSSINGS
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import tables
from p5lab.present.tables import Grid
from p5stats import cpi, crossings, metrics, phase_names

Row = dict[str, Any]  # a step, with the columns of `rows`
# Columns of misses: for each array, the sum of its reads and writes.
MISSES = {
    array: tuple(event for name, event in metrics.MISSES.items() if name.split()[0] == array)
    for array in dict.fromkeys(name.split()[0] for name in metrics.MISSES)
}
IDLE = "idle"


def has(stored: Stored) -> bool:
    """Whether a run was executed with --trace crossings."""
    return (stored.directory / CROSSINGS).is_file()


def phases(stored: Stored) -> dict[int, list[Row]]:
    """Returns the steps of a typical bracket of each phase. Raises StatsError if the trace is
    damaged."""
    return {
        phase: list(rows(crossings.typical(brackets)))
        for phase, brackets in crossings.read(stored.directory / CROSSINGS).items()
    }


def rows(bracket: crossings.CrossingsBracket) -> Iterator[Row]:
    """Yields a row for each step of a bracket.

    `at`: clocks since the start of the bracket. `runs`: the part of the system that runs. `clocks`:
    the length of the step. `until`: the crossing that ends the step. The columns of MISSES contain
    counts, or None if the trace contains no misses. For a run with --cpi, the columns of cpi.SHORT
    and IDLE follow. Their sum is the length of the step.
    """
    at = 0
    for step in bracket.steps:
        misses = {
            name: sum(step.counts.get(event, 0) for event in events) if step.counts else None
            for name, events in MISSES.items()
        }
        until: Row = {"until": step.end, **_clocks(step.counts)}
        yield {"at": at, "runs": step.who, "clocks": step.clocks, **misses, **until}
        at += step.clocks


def has_stacks(steps: list[Row]) -> bool:
    """Whether the rows have the columns of cpi.SHORT: the run was made with --cpi."""
    return any(IDLE in step for step in steps)


def _clocks(counts: Mapping[str, int]) -> dict[str, int]:
    if not cpi.is_in(counts):
        return {}
    groups = {
        column: sum(counts.get(component, 0) for component in cpi.GROUPS[group])
        for column, group in cpi.SHORT.items()
    }
    return {**groups, IDLE: counts[cpi.IDLE]}


def check(stored: Stored) -> None:
    """Raises UserError if the run was executed without --trace crossings."""
    if not has(stored):
        raise selection.without(stored, "ring crossings", "--trace crossings")


def show(console: Console, stored: Stored, form: str) -> None:
    """Prints a typical bracket of each phase as table, markdown, csv or json.

    Raises UserError if the run was executed without --trace crossings.
    """
    check(stored)
    typical = phases(stored)
    if form == "json":
        listed = [{"phase": phase, "steps": steps} for phase, steps in typical.items()]
        console.file.write(tables.as_json(run=stored.id, phases=listed))
        return
    names = phase_names.of(stored.record)
    grids = [
        grid
        for phase, steps in typical.items()
        for grid in _grids(names.get(phase, f"phase {phase}"), steps)
    ]
    every = [{"phase": phase, **step} for phase, steps in typical.items() for step in steps]
    tables.show(console, form, grids, [], every)


def _grids(phase: str, steps: list[Row]) -> Iterator[Grid]:
    """The table of the misses; for a run with --cpi, also the table of the clocks."""
    yield _grid(
        f"{phase}: one bracket, clocks and misses of each step",
        ["runs", "at", "clocks", *MISSES, "until"],
        steps,
    )
    if has_stacks(steps):
        used = [name for name in (*cpi.SHORT, IDLE) if any(step[name] for step in steps)]
        title = f"{phase}: one bracket, what the clocks of each step are spent on"
        yield _grid(title, ["runs", "at", "clocks", *used], steps)


def _grid(title: str, columns: list[str], steps: list[Row]) -> Grid:
    grid = Grid(title, columns, keys=2)
    for step in steps:
        cells = ("-" if (cell := step[name]) is None else cell for name in columns)
        grid.add(*(cell if isinstance(cell, str) else f"{cell:,}" for cell in cells))
    return grid
