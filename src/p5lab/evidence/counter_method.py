# SPDX-License-Identifier: MIT
"""The output of `./p5lab run chen95-method`: the method of chen95 and the engine's own counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace

from rich.console import Console

from p5lab.describe import experiment
from p5lab.engines.bochs.engine import OUTPUT
from p5lab.evidence.records import Record
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import tables
from p5lab.present.tables import Grid, number
from p5stats import method, tidy
from p5stats.lazy import pd
from p5stats.method import CounterRun, MethodRow

EXPERIMENT, WORKLOAD, NULL = "chen95-method", "counted", "null"
FORMS = ("table", "markdown")  # other formats show only the engine's counts
EXACT = "counters.miscounts=false"
# The text that the tables show for an event: its name and its code.
EVENTS = {
    "cycles": "cycles (RDTSC)",
    "data_reads": "data reads (00)",
    "data_writes": "data writes (01)",
    "dtlb_misses": "data TLB misses (02)",
    "data_read_misses": "read misses (03)",
    "data_write_misses": "write misses (04)",
    "itlb_misses": "code TLB misses (0D)",
    "code_misses": "code misses (0E)",
    "segment_loads": "segment loads (0F)",
    "instructions": "instructions (16)",
    "hw_interrupts": "interrupts (27)",
}
# The columns of a table: a value of method.Row, and its head.
COLUMNS = {
    "reading": "start\nstop",
    "null": "Null",
    "method": "method",
    "engine": "engine",
    "left": "left\nover",
    "first": "first",
    "interrupts": "inter-\nrupts",
    "access": "access",
    "miscounts": "mis-\ncounts",
    "undisturbed": "undis-\nturbed",
    "disturbance": "dis-\nturbed",
}
NOTES = (
    "Each number is the mean of one operation. The column 'method' is start-stop minus Null. This"
    " is the number that chen95 would print. The column 'engine' is the engine's count for the same"
    " executions, minus the engine's count for Null. The column 'left over' is method minus engine."
    " This difference is the sum of the next four columns: first iterations, interrupts during the"
    " access to the counters, the access itself, and miscounts.",
    "The column 'undisturbed' is the engine's count when the program does not use the counters. The"
    " column 'disturbed' is engine minus undisturbed.",
)


def applies(runs: Sequence[Stored]) -> bool:
    """Whether these runs can be shown in the tables of chen95's method.

    All runs must be ok and use the same machine, guest and seed. The runs must include Null.
    """
    asked = {_key(stored)[:2] for stored in runs if stored.record["workload"]["name"] == WORKLOAD}
    machines = {
        (
            stored.status,
            stored.record["workload"]["name"],
            stored.record["machine"]["name"],
            stored.record["guest"]["name"],
            stored.record["seed"],
        )
        for stored in runs
    }
    return (
        len(machines) == 1
        and runs[0].status == "ok"
        and {stored.record["machine"]["geometry"] for stored in runs} <= {"", EXACT}
        and asked > {(NULL, "used"), (NULL, "unused")}
    )


def rows(runs: Sequence[Stored]) -> dict[str, list[MethodRow]]:
    """The rows of each operation. An operation is omitted if one of its runs is missing."""
    by_key = {_key(stored): stored for stored in runs}

    def counted(operation: str, geometry: str = "") -> CounterRun | None:
        if not (stored := by_key.get((operation, "used", geometry))):
            return None
        output = (stored.directory / OUTPUT).read_text(encoding="utf-8", errors="replace")
        return method.measured(output, tidy.read_run(stored.directory)[0])

    def undisturbed(operation: str) -> pd.DataFrame | None:
        stored = by_key.get((operation, "unused", ""))
        return method.engine_counts(tidy.read_run(stored.directory)[0]) if stored else None

    base, exact, quiet = counted(NULL), counted(NULL, EXACT), undisturbed(NULL)
    if base is None or quiet is None:
        return {}
    result = {}
    for operation in dict.fromkeys(key[0] for key in by_key if key[0] != NULL):
        used, alone = counted(operation), undisturbed(operation)
        if used and alone is not None:
            right = counted(operation, EXACT)
            result[operation] = method.rows(used, base, alone, quiet, right, exact)
    return result


def _key(stored: Stored) -> tuple[str, str, str]:
    """The operation, the use of the counters, and the overlay."""
    given = stored.record["parameters"]
    return given["operation"], given["counters"], stored.record["machine"]["geometry"]


def grid(operation: str, rows: Sequence[MethodRow]) -> Grid:
    """The table of one operation, with a row for each event."""
    title = f"{operation}: by the method of chen95, and by the engine"
    result = Grid(title, ["", *COLUMNS.values()])
    for row in rows:
        values = (round(getattr(row, name), 6) for name in COLUMNS)
        result.add(EVENTS[row.event], *map(number, values))
    return result


def show(console: Console, runs: Sequence[Stored], form: str) -> None:
    """Prints the tables of all operations. `form`: "table" or "markdown"."""
    grids = [grid(operation, of_it) for operation, of_it in rows(runs).items()]
    tables.show(console, form, grids, NOTES if grids else ())


def measured(lab: Lab, execute: Execute) -> Record:
    """The record: the rows of each operation. Raises UserError if a run fails."""
    operations = rows(succeeded(execute(experiment.load(lab, EXPERIMENT))))
    return {
        operation: {row.event: [round(value, 6) for value in astuple(row)[1:]] for row in of_it}
        for operation, of_it in operations.items()
    }


def recorded(operation: str, known: Record) -> str:
    """The table of one operation in Markdown. `known`: the result of `measured`."""
    of_it = [MethodRow(event, *values) for event, values in known[operation].items()]
    return replace(grid(operation, of_it), title="").markdown() + "\n"
