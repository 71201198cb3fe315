# SPDX-License-Identifier: MIT
"""Terms: the numbers that convert the counts of a run to numbers for one operation.

The engine counts events between two markers. The clock of the machine converts cycles to
microseconds. The number of operations between the markers converts counts to counts for one
operation. The loaded table (`p5stats.tidy.load`) contains the terms as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from p5stats.events import LIMIT
from p5stats.lazy import pd
from p5stats.problems import StatsError


@dataclass(frozen=True)
class Terms:
    """The numbers that convert the counts of a run.

    operations: the number of operations in a bracket. clock_hz: the clock of the machine in Hz.
    clock_vector: the interrupt vector of the guest's clock, or None if the guest has no clock.
    operation_bytes: the bytes that an operation moves.
    """

    operations: int
    clock_hz: int
    clock_vector: int | None = None
    operation_bytes: int = 0


COLUMNS = tuple(field.name for field in fields(Terms))


def of_record(record: Mapping[str, Any], where: Path, clock_hz: int) -> Terms | None:
    """The terms of a run. `record`: the content of run.json, which lies at `where`. None if the
    record does not describe a workload and a guest. StatsError for a wrong type, a negative number,
    or a number that does not fit into the table."""
    if "workload" not in record and "guest" not in record:
        return None
    try:
        workload, vector = record["workload"], record["guest"]["clock_vector"]
        operations, moved = workload["operations"], workload.get("bytes", 0)
    except (KeyError, TypeError, AttributeError):
        raise StatsError(f"{where}: not the record of a run") from None
    numbers = (operations, moved, 0 if vector is None else vector)
    if any(type(number) is not int or not 0 <= number < LIMIT for number in numbers):
        raise StatsError(
            f"{where}: operations, bytes, clock_vector: expected zero or more, and less than 2^63"
        )
    return Terms(operations, clock_hz, vector, moved)


def with_columns(frame: pd.DataFrame, terms: Terms | None, clock_hz: int) -> pd.DataFrame:
    """The rows of one run with the columns COLUMNS. Without terms, all these columns except
    `clock_hz` are missing values."""
    values = dict.fromkeys(COLUMNS, None) if terms is None else asdict(terms)
    values["clock_hz"] = clock_hz
    columns = {
        name: pd.array([value], dtype="Int64").repeat(len(frame)) for name, value in values.items()
    }
    return frame.assign(**columns)


def of_table(table: pd.DataFrame) -> dict[str, Terms]:
    """The terms of each run of a loaded table, by the id of the run. StatsError if the table does
    not contain the terms of a run."""
    missing = [name for name in ("run", *COLUMNS) if name not in table]
    if missing:
        raise StatsError(
            f"the table has no column {missing[0]}: expected a table of p5stats.tidy.load"
        )
    terms = {}
    for run, *values in table.drop_duplicates("run")[["run", *COLUMNS]].itertuples(index=False):
        operations, clock_hz, vector, moved = (
            None if pd.isna(value) else int(value) for value in values
        )
        if operations is None or clock_hz is None or moved is None:
            raise StatsError(f"run {run}: no run.json beside its table")
        terms[str(run)] = Terms(operations, clock_hz, vector, moved)
    return terms
