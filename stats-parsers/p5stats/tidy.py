# SPDX-License-Identifier: MIT
"""The tidy table: one row per run, phase, iteration, ring, address space and event.

| Column | Meaning |
|---|---|
| experiment, run, engine, machine, guest, workload | names; run is the run's id |
| geometry | machine overlay, `key=value` separated by spaces; empty for the machine as described; \
for a shadow, its name |
| feedback | `yes`: caches, TLBs and bus influence time; `no`: they only count |
| seed | placement seed |
| parameters | workload parameters, `key=value` separated by spaces |
| phase | name of the bracket |
| iteration | number of the bracket within its phase, from 0 |
| ring | privilege level 0 to 3 |
| address_space | CR3 in hexadecimal |
| symbol | always empty; reserved for the guest's function |
| event, unit | the engine's event name and unit; `vector.irq.48` and the like count by vector |
| value | count between the begin and the end of that bracket |

If no event happened in a ring of an address space during a bracket, the table contains no rows for
this ring and address space in this bracket. Otherwise the table contains a row for each event, even
if the count is zero.

A shadow is a further geometry that counted misses in the same run. The rows of a shadow contain the
shadow's own misses. These rows also contain the run's counts of the events that do not depend on a
geometry. The `feedback` of a shadow is `no`. A shadow has no rows for cycles, stalls and all other
events that depend on time.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from p5stats import record
from p5stats.events import Bracket, Events
from p5stats.problems import StatsError

SCHEMA_VERSION = 2
COUNTS, RECORD = "counts.parquet", "run.json"
YES, NO = "yes", "no"  # values of `feedback`
VECTOR = "vector."  # the beginning of the names of counts by interrupt vector
Row = tuple[int, str, str, str, int]
_ROW = ("ring", "address_space", "event", "unit", "value")
_METADATA = b"p5lab"


@dataclass(frozen=True)
class Origin:
    """The columns that describe the run. Rows of a shadow have their own geometry and feedback."""

    experiment: str
    run: str
    engine: str
    machine: str
    geometry: str
    feedback: str
    guest: str
    seed: int
    workload: str
    parameters: str


ORIGIN = tuple(field.name for field in fields(Origin))
SCHEMA = pa.schema(
    [(name, pa.int64() if name == "seed" else pa.string()) for name in ORIGIN]
    + [
        ("phase", pa.string()),
        ("iteration", pa.int64()),
        ("ring", pa.int64()),
        ("address_space", pa.string()),
        ("symbol", pa.string()),
        ("event", pa.string()),
        ("unit", pa.string()),
        ("value", pa.int64()),
    ]
)
COLUMNS = tuple(SCHEMA.names)


def table(events: Events, origin: Origin, phases: Mapping[int, str]) -> pd.DataFrame:
    """The tidy table of a run. Each value is the count at the end of a bracket minus the count at
    its begin.

    phases: the name of each phase, by number. A phase without a name keeps its number. StatsError
    if a count decreases.
    """
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}

    def add(geometry: str, feedback: str, bracket: Bracket, rows: list[Row]) -> None:
        same = {
            **asdict(origin),
            "geometry": geometry,
            "feedback": feedback,
            "phase": phases.get(bracket.phase, str(bracket.phase)),
            "iteration": bracket.iteration,
            "symbol": "",
        }
        for name, value in same.items():
            columns[name] += [value] * len(rows)
        for number, name in enumerate(_ROW):
            columns[name] += [row[number] for row in rows]

    stream = set(events.shadows.stream)
    for bracket in events.brackets:
        rows = list(_differences(bracket, events.units))
        add(origin.geometry, origin.feedback, bracket, rows)
        if not events.shadows.names:
            continue
        shared = [row for row in rows if row[2] in stream or row[2].startswith(VECTOR)]
        for number, name in enumerate(events.shadows.names):
            misses = _misses(bracket, events, number, {row[:2] for row in rows})
            add(name, NO, bracket, [*shared, *misses])
    return pd.DataFrame(columns)


def _misses(
    bracket: Bracket, events: Events, shadow: int, banks: set[tuple[int, str]]
) -> Iterator[Row]:
    """The rows of the events that each shadow counts separately."""
    nothing = [[0] * len(events.shadows.events)] * len(events.shadows.names)
    counts = {
        (ring, f"0x{space:08x}"): values[shadow]
        for (space, ring), values in bracket.shadows.items()
    }
    for ring, space in sorted(banks | counts.keys()):
        values = counts.get((ring, space), nothing[shadow])
        for event, value in zip(events.shadows.events, values, strict=True):
            yield ring, space, event, events.units[event], value


def _differences(bracket: Bracket, units: Mapping[str, str]) -> Iterator[Row]:
    for (space, ring), after in bracket.end.banks.items():
        before = bracket.begin.banks.get((space, ring), [])
        if after == before:
            continue
        for index, (event, unit) in enumerate(units.items()):
            value = (after[index] if index < len(after) else 0) - (
                before[index] if index < len(before) else 0
            )
            if value < 0:
                raise StatsError(
                    f"line {bracket.end.line}: {event} of ring {ring}, CR3 0x{space:x} went"
                    f" backwards by {-value}"
                )
            yield ring, f"0x{space:08x}", event, unit, value
    for (space, ring, kind, vector), count in bracket.end.vectors.items():
        difference = count - bracket.begin.vectors.get((space, ring, kind, vector), 0)
        if difference:
            yield ring, f"0x{space:08x}", f"vector.{kind}.{vector}", "events", difference


def write(path: Path, frame: pd.DataFrame, *, clock_hz: int) -> None:
    """Writes a Parquet file, completely or not at all.

    The metadata of the file contains the schema version and the clock.
    """
    schema = SCHEMA.with_metadata(
        {_METADATA: json.dumps({"schema_version": SCHEMA_VERSION, "clock_hz": clock_hz}).encode()}
    )
    temporary = path.with_name(path.name + ".tmp")
    try:
        pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path, sha256: str | None = None) -> tuple[pd.DataFrame, int]:
    """Reads one file. Returns its table and the clock rate in Hz.

    sha256: the expected digest of the file. The function converts older schema versions (in version
    1 the values of `feedback` were `on` and `off`). Raises StatsError for a newer version or a
    damaged file.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        raise StatsError(f"{path}: damaged: its SHA-256 differs from the digest in {RECORD}")
    try:
        file = pq.read_table(pa.BufferReader(content))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StatsError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    try:
        metadata = json.loads((file.schema.metadata or {})[_METADATA])
        version, clock_hz = metadata["schema_version"], metadata["clock_hz"]
    except (KeyError, ValueError, TypeError):
        raise StatsError(f"{path}: not a table of p5lab (no schema_version)") from None
    if version not in (1, SCHEMA_VERSION):
        raise StatsError(f"{path}: schema_version: expected {SCHEMA_VERSION}, found {version}")
    if type(clock_hz) is not int or clock_hz < 1:
        raise StatsError(f"{path}: clock_hz: expected more than zero")
    if not file.schema.equals(SCHEMA):
        raise StatsError(f"{path}: columns differ from schema version {SCHEMA_VERSION}")
    try:
        # Other programs may have added notes to the metadata. pandas needs only the schema, so the
        # metadata is removed.
        frame = file.replace_schema_metadata(None).to_pandas()
    except (ValueError, pa.ArrowException):
        raise StatsError(f"{path}: damaged: its columns cannot be read") from None
    if version == 1:
        frame["feedback"] = frame["feedback"].replace({"on": YES, "off": NO})
    return frame, clock_hz


def read_run(directory: Path) -> tuple[pd.DataFrame, int]:
    """Reads the table of a run directory, and the clock in Hz.

    StatsError if the digest of the table differs from the digest in the run's record.
    """
    path = directory / RECORD
    known = record.counts_digest(record.read(path)) if path.exists() else None
    return read(directory / COUNTS, known)


def load(directory: Path, *, all_runs: bool = False) -> tuple[pd.DataFrame, dict[str, int]]:
    """Returns the runs below a directory (results/ or results/EXPERIMENT) as one table, and the
    clock rate of each run in Hz.

    A directory can also contain the runs of older engines and guests. If several runs have the same
    values in all columns of Origin except `run`, the function reads only the run that started last.
    A run with a power cut is omitted, because the counts of such a run are incomplete. With
    `all_runs`, the function reads all runs. StatsError if there is no table.
    """
    found: dict[tuple[object, ...], tuple[str, pd.DataFrame, int]] = {}
    for path in sorted(directory.glob(f"**/{COUNTS}")):
        facts = _facts(path.with_name(RECORD))
        if facts.get("request", {}).get("power_cut") and not all_runs:
            continue
        frame, clock_hz = read_run(path.parent)
        if frame.empty:
            continue
        asks = tuple(frame[name].iloc[0] for name in ORIGIN if name != "run" or all_runs)
        # Times are texts in ISO 8601 and UTC, so the order of the texts is the order of the times.
        started = str(facts.get("started", ""))
        if asks not in found or started > found[asks][0]:
            found[asks] = (started, frame, clock_hz)
    if not found:
        raise StatsError(f"{directory}: no {COUNTS} in it: run the experiment first")
    clocks = {str(frame["run"].iloc[0]): clock for _, frame, clock in found.values()}
    return pd.concat([frame for _, frame, _ in found.values()], ignore_index=True), clocks


def _facts(path: Path) -> dict[str, Any]:
    """The record of a run. If there is no record, the result is empty."""
    return record.read(path) if path.exists() else {}
