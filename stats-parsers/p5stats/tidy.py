# SPDX-License-Identifier: MIT
"""The tidy table: one row per run, phase, iteration, ring, address space and event.

| Column | Meaning |
|---|---|
| experiment, run, engine, machine, guest, workload | names; run is the run's id |
| geometry | machine overlay, `key=value` separated by spaces; empty for the machine as described |
| feedback | `on`: modelled clocks drive virtual time; `off`: no model, one clock an instruction |
| seed | placement seed |
| parameters | workload parameters, `key=value` separated by spaces |
| phase | name of the bracket |
| iteration | number of the bracket within its phase, from 0 |
| ring | privilege level 0 to 3 |
| address_space | CR3 in hexadecimal |
| symbol | guest function; empty while nothing is attributed to functions |
| event, unit | the engine's event name and unit; `vector.irq.48` and the like count by vector |
| value | count between the begin and the end of that bracket |

A ring and address space in which nothing happened during a bracket has no rows in it; one in which
anything happened has a row for each event, zeros included.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from p5stats.errors import StatsError
from p5stats.events import Bracket, Events

SCHEMA_VERSION = 1
_METADATA = b"p5lab"
_NAMES = ("experiment", "run", "engine", "machine", "geometry", "feedback", "guest", "seed",
          "workload", "parameters")  # fmt: skip
SCHEMA = pa.schema(
    [(name, pa.int64() if name == "seed" else pa.string()) for name in _NAMES]
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


@dataclass(frozen=True)
class Origin:
    """The columns that are the same for a whole run."""

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


def table(events: Events, origin: Origin, phases: Mapping[int, str]) -> pd.DataFrame:
    """Differences begin -> end of every bracket. A phase without a name keeps its number."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS if name not in _NAMES}
    for bracket in events.brackets:
        name = phases.get(bracket.phase, str(bracket.phase))
        for ring, space, event, unit, value in _differences(bracket, events.units):
            columns["phase"].append(name)
            columns["iteration"].append(bracket.iteration)
            columns["ring"].append(ring)
            columns["address_space"].append(f"0x{space:08x}")
            columns["symbol"].append("")
            columns["event"].append(event)
            columns["unit"].append(unit)
            columns["value"].append(value)
    rows = len(columns["value"])
    same = {name: [value] * rows for name, value in asdict(origin).items()}
    return pd.DataFrame({name: {**same, **columns}[name] for name in COLUMNS})


def _differences(
    bracket: Bracket, units: Mapping[str, str]
) -> Iterable[tuple[int, int, str, str, int]]:
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
            yield ring, space, event, unit, value
    for (space, ring, kind, vector), count in bracket.end.vectors.items():
        difference = count - bracket.begin.vectors.get((space, ring, kind, vector), 0)
        if difference:
            yield ring, space, f"vector.{kind}.{vector}", "events", difference


def write(path: Path, frame: pd.DataFrame, *, clock_hz: int) -> None:
    """Writes Parquet whole or not at all; the schema version and the clock are its metadata."""
    schema = SCHEMA.with_metadata(
        {_METADATA: json.dumps({"schema_version": SCHEMA_VERSION, "clock_hz": clock_hz}).encode()}
    )
    temporary = path.with_name(path.name + ".tmp")
    try:
        pq.write_table(pa.Table.from_pandas(frame, schema=schema, preserve_index=False), temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path) -> tuple[pd.DataFrame, int]:
    """Reads one file: the table and the clock in Hz.

    Rule for other schema versions: older files would be migrated here (there is none: 1 is the
    first); newer ones are refused.
    """
    try:
        file = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise StatsError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    try:
        metadata = json.loads((file.schema.metadata or {})[_METADATA])
        version, clock_hz = metadata["schema_version"], metadata["clock_hz"]
    except (KeyError, ValueError, TypeError):
        raise StatsError(f"{path}: not a table of p5lab (no schema_version)") from None
    if version != SCHEMA_VERSION:
        raise StatsError(f"{path}: schema_version: expected {SCHEMA_VERSION}, found {version}")
    if not file.schema.equals(SCHEMA):
        raise StatsError(f"{path}: columns differ from schema version {SCHEMA_VERSION}")
    return file.to_pandas(), clock_hz


def load(directory: Path, *, all_runs: bool = False) -> tuple[pd.DataFrame, dict[str, int]]:
    """The runs below a directory (results/ or results/EXPERIMENT) as one table, and the clock in Hz
    of each run.

    A directory keeps the runs of older engines and guests too. Of runs that ask the same (all
    columns of Origin but `run` agree) only the one that was started last is taken, unless
    `all_runs`.
    """
    found: dict[tuple[object, ...], tuple[str, pd.DataFrame, int]] = {}
    for path in sorted(directory.glob("**/counts.parquet")):
        frame, clock_hz = read(path)
        if frame.empty:
            continue
        asks = tuple(frame[name].iloc[0] for name in _NAMES if name != "run" or all_runs)
        started = _started(path.with_name("run.json"))
        if asks not in found or started > found[asks][0]:
            found[asks] = (started, frame, clock_hz)
    if not found:
        raise StatsError(f"{directory}: no counts.parquet in it: run the experiment first")
    clocks = {str(frame["run"].iloc[0]): clock for _, frame, clock in found.values()}
    return pd.concat([frame for _, frame, _ in found.values()], ignore_index=True), clocks


def _started(record: Path) -> str:
    """When a run was started (ISO 8601, UTC: texts in order are times in order)."""
    try:
        return str(json.loads(record.read_bytes())["started"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
