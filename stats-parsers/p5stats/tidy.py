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

A run that counted by dimensions has further rows and columns in its file. `p5stats.dimensions`
reads them; the tables that the functions here return do not contain them. The column `observer` is
`markers` in the rows above, else the name of the observer that divided the counts. Each dimension
of an observer has a column, and `ring` and `address_space` are dimensions, too. An observer that
sums over brackets has no iteration. The rows of each observer add up to those of the markers, so
choose one observer.

`load` reads several runs into one table. This table has further columns:

| Column | Meaning |
|---|---|
| clock_hz, operations, operation_bytes, clock_vector | the terms of the run (`p5stats.terms`) |
| a name that contains a point | the value of this machine key or workload parameter, such as \
`l2.size` or `parameters.size`. Sizes are in bytes |
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

from p5stats import cpi, observed, record
from p5stats import terms as run_terms
from p5stats.events import LIMIT, Bracket, Events
from p5stats.lazy import pa, pd, pq
from p5stats.observed import MARKERS, OBSERVER, Counted
from p5stats.problems import DamagedTable, StatsError
from p5stats.terms import Terms

SCHEMA_VERSION, OBSERVED_VERSION = 2, 3  # without and with the rows of observers
COUNTS, RECORD = "counts.parquet", "run.json"
YES, NO = "yes", "no"  # values of `feedback`
VECTOR = "vector."  # the beginning of the names of counts by interrupt vector
PARAMETERS = "parameters."  # the beginning of the names of columns with workload parameters
LABEL = "label"  # the column with the user's names of runs, if a run has one
Row = tuple[int, str, str, str, int]
_ROW = ("ring", "address_space", "event", "unit", "value")
_OBSERVERS = "observers"  # a key of the metadata: what each observer counts
_METADATA = b"p5lab"
_KEY = re.compile(r"[a-z0-9_]+\.[a-z0-9_.]+=")  # the beginning of a machine key's setting


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
COLUMNS = (
    *ORIGIN,
    "phase",
    "iteration",
    "ring",
    "address_space",
    "symbol",
    "event",
    "unit",
    "value",
)
_WHOLE = ("seed", "iteration", "ring", "value")  # the columns with whole numbers


@functools.cache
def schema() -> pa.Schema:
    """The names and types of COLUMNS."""
    return pa.schema([(name, pa.int64() if name in _WHOLE else pa.string()) for name in COLUMNS])


def table(events: Events, origin: Origin, phases: Mapping[int, str]) -> pd.DataFrame:
    """The tidy table of a run. Each value is the count at the end of a bracket minus the count at
    its begin.

    phases: the name of each phase, by number. A phase without a name keeps its number. StatsError
    if a count decreases, or if two phases with brackets have the same name.
    """
    _check_names(events, phases)
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

    stream, stacked = set(events.shadows.stream), cpi.is_in(events.units)
    for bracket in events.brackets:
        rows = list(_differences(bracket, events.units, stacked=stacked))
        add(origin.geometry, origin.feedback, bracket, rows)
        if not events.shadows.names:
            continue
        shared = [row for row in rows if row[2] in stream or row[2].startswith(VECTOR)]
        for number, name in enumerate(events.shadows.names):
            misses = _misses(bracket, events, number, {row[:2] for row in rows})
            add(name, NO, bracket, [*shared, *misses])
    return pd.DataFrame(columns)


def _check_names(events: Events, phases: Mapping[int, str]) -> None:
    """Raises StatsError if two phases with brackets have the same name: their counts would be added
    without a word."""
    numbers: dict[str, int] = {}
    for bracket in events.brackets:
        name = phases.get(bracket.phase, str(bracket.phase))
        if numbers.setdefault(name, bracket.phase) != bracket.phase:
            raise StatsError(
                f"two phases with the name {name!r} (numbers {numbers[name]} and"
                f" {bracket.phase}): expected a name of its own for each window of a script,"
                " region and phase of a program"
            )


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


def _differences(bracket: Bracket, units: Mapping[str, str], *, stacked: bool) -> Iterator[Row]:
    """The rows of a bracket. `stacked`: check the CPI stack of each ring and address space."""
    for (space, ring), after in bracket.end.banks.items():
        before = bracket.begin.banks.get((space, ring), [])
        if after == before:
            continue
        values = []
        for index, (event, unit) in enumerate(units.items()):
            value = (after[index] if index < len(after) else 0) - (
                before[index] if index < len(before) else 0
            )
            if value < 0:
                raise StatsError(
                    f"line {bracket.end.line}: {event} of ring {ring}, CR3 0x{space:x} went"
                    f" backwards by {-value}"
                )
            values.append(value)
            yield ring, f"0x{space:08x}", event, unit, value
        if stacked:
            counts = dict(zip(units, values, strict=True))
            cpi.check(f"line {bracket.end.line}: ring {ring}, CR3 0x{space:x}", counts)
    for (space, ring, kind, vector), count in bracket.end.vectors.items():
        difference = count - bracket.begin.vectors.get((space, ring, kind, vector), 0)
        if difference:
            yield ring, f"0x{space:08x}", f"vector.{kind}.{vector}", "events", difference


def write(
    path: Path,
    frame: pd.DataFrame,
    *,
    clock_hz: int,
    counted: Mapping[str, Counted] | None = None,
    units: Mapping[str, str] | None = None,
) -> None:
    """Writes a Parquet file, completely or not at all.

    The metadata of the file contains the schema version and the clock. `counted`: what observers
    counted, by the name of the observer; `units`: the units of the events that only they have.
    """
    about: dict[str, Any] = {"clock_hz": clock_hz}
    if not counted:
        _write(path, [_table(frame, about)])
        return
    about |= {_OBSERVERS: {name: counts.summary for name, counts in counted.items()}}
    into = pa.schema(observed.fields(counted, schema()), _described(about, OBSERVED_VERSION))
    markers = frame.reindex(columns=into.names).assign(**{OBSERVER: MARKERS})
    origin = {name: frame[name].iloc[0] for name in ORIGIN} | {"symbol": ""}
    known = {**dict(zip(frame["event"], frame["unit"], strict=True)), **(units or {})}
    rows = (observed.rows(name, counts, origin, known, into) for name, counts in counted.items())
    first = pa.Table.from_pandas(markers, schema=into, preserve_index=False)
    _write(path, chain([first.replace_schema_metadata(into.metadata)], *rows))


def save(path: str | Path, table: pd.DataFrame) -> None:
    """Writes a table of `load` to one Parquet file, completely or not at all. `load` reads the file
    again. The file contains several runs, so it is useful for a stored sample or for a colleague.

    StatsError if the table does not contain the terms of a run.
    """
    terms = run_terms.of_table(table)
    keys = [*settings(table), *([LABEL] if LABEL in table else [])]
    values = table.drop_duplicates(["run", "geometry"])[["run", "geometry", *keys]]
    about: dict[str, Any] = {
        "runs": {run: asdict(numbers) for run, numbers in terms.items()},
        "settings": json.loads(values.to_json(orient="split", index=False)),
    }
    clocks = {numbers.clock_hz for numbers in terms.values()}
    if len(clocks) == 1:
        about["clock_hz"] = min(clocks)
    # The file is written once and read often, so a slow and strong compression is useful.
    rows = _table(table[list(COLUMNS)], about)
    _write(Path(path), [rows], compression="zstd", compression_level=19)


def _described(about: Mapping[str, Any], version: int = SCHEMA_VERSION) -> dict[bytes, bytes]:
    """The metadata of a file."""
    return {_METADATA: json.dumps({"schema_version": version, **about}).encode()}


def _table(frame: pd.DataFrame, about: Mapping[str, Any]) -> pa.Table:
    """The rows of the markers."""
    described = schema().with_metadata(_described(about))
    return pa.Table.from_pandas(frame, schema=described, preserve_index=False)


def _write(path: Path, tables: Iterable[pa.Table], **options: Any) -> None:  # noqa: ANN401
    """Writes tables, one after the other, with the columns and the metadata of the first."""
    rest = iter(tables)
    first = next(rest)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with pq.ParquetWriter(temporary, first.schema, **options) as writer:
            for table in chain([first], rest):
                writer.write_table(table)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path, sha256: str | None = None) -> tuple[pd.DataFrame, int]:
    """Reads one file. Returns its table and the clock rate in Hz.

    sha256: the expected digest of the file. The function converts older schema versions (in version
    1 the values of `feedback` were `on` and `off`). Raises StatsError for a newer version or a
    damaged file.
    """
    frame, metadata = _read(path, sha256)
    clock_hz = metadata.get("clock_hz")
    if clock_hz is None:
        raise StatsError(f"{path}: its runs have several clocks: read it with p5stats.tidy.load")
    if type(clock_hz) is not int or not 1 <= clock_hz < LIMIT:
        raise StatsError(f"{path}: clock_hz: expected more than zero, and less than 2^63")
    return frame, clock_hz


def _read(path: Path, sha256: str | None = None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of the markers in a file, and the metadata that p5lab wrote."""
    stored, metadata = _stored(path, sha256, MARKERS)
    try:
        # Other programs may have added notes to the metadata. pandas needs only the schema, so the
        # metadata is removed.
        frame = stored.select(list(COLUMNS)).replace_schema_metadata(None).to_pandas()
    except (ValueError, pa.ArrowException):
        raise StatsError(f"{path}: damaged: its columns cannot be read") from None
    if metadata["schema_version"] == 1:
        frame["feedback"] = frame["feedback"].replace({"on": YES, "off": NO})
    return frame, metadata


def _content(path: Path, sha256: str | None) -> bytes:
    """The bytes of a file that has this digest."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DamagedTable(path, f"cannot read {path}: {error.strerror}") from None
    if sha256 is not None and hashlib.sha256(content).hexdigest() != sha256:
        differs = f"damaged: its SHA-256 differs from the digest in {RECORD}"
        raise DamagedTable(path, f"{path}: {differs}")
    return content


def _stored(path: Path, sha256: str | None, observer: str) -> tuple[pa.Table, dict[str, Any]]:
    """The rows of an observer in a file, and the metadata that p5lab wrote."""
    content = _content(path, sha256)
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        columns = file.schema_arrow
        if OBSERVER in columns.names:  # loads pyarrow.dataset, which takes a while
            chosen = [(OBSERVER, "=", observer)]
            rows = pq.read_table(pa.BufferReader(content), filters=chosen)
        else:
            rows = file.read()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise DamagedTable(path, f"cannot read {path}: {str(error).splitlines()[0]}") from None
    try:
        metadata = json.loads((columns.metadata or {})[_METADATA])
        version = metadata["schema_version"]
        if "runs" not in metadata:
            metadata["clock_hz"]
    except (KeyError, ValueError, TypeError):
        raise StatsError(f"{path}: not a table of p5lab (no schema_version)") from None
    if version not in (1, SCHEMA_VERSION, OBSERVED_VERSION):
        raise StatsError(f"{path}: schema_version: expected {OBSERVED_VERSION}, found {version}")
    plain = schema()
    own = pa.schema(list(columns)[: len(plain)])
    if not own.equals(plain) or (len(columns) > len(plain)) != (version == OBSERVED_VERSION):
        raise StatsError(f"{path}: columns differ from schema version {version}")
    return rows, metadata


def read_observed(directory: Path, observer: str) -> Counted | None:
    """The counts of an observer in the table of a run directory, with the names of phases. None if
    the table has no rows of the observer. StatsError as `read_run`."""
    rows, metadata = _stored(directory / COUNTS, _digest(directory), observer)
    summary = metadata.get(_OBSERVERS, {}).get(observer)
    return observed.of_table(rows, summary) if summary else None


def read_run(directory: Path) -> tuple[pd.DataFrame, int]:
    """Reads the table of a run directory, and the clock in Hz.

    StatsError if the digest of the table differs from the digest in the run's record.
    """
    return read(directory / COUNTS, _digest(directory))


def check_run(directory: Path) -> None:
    """Raises StatsError if the table of a run directory is missing or damaged."""
    _content(directory / COUNTS, _digest(directory))


def _digest(directory: Path) -> str | None:
    """The digest of the table in a run's record."""
    return record.counts_digest(_facts(directory / RECORD))


def load(
    place: str | Path, *, keys: Sequence[str] | None = None, all_runs: bool = False
) -> pd.DataFrame:
    """Returns the runs of a place as one table, with one row for each count.

    place: a directory with runs below it (results/, results/EXPERIMENT or one run), or a file that
    `save` wrote. keys: the machine keys and workload parameters (as `parameters.NAME`) that become
    columns. Without `keys`, each machine key that the geometry of a run names becomes a column.
    If the user has given a label to one of the runs, the column `label` has the labels.

    A directory can also contain the runs of older engines and guests. If several runs have the same
    values in all columns of Origin except `run`, the function reads only the run that started last.
    Programs of the user with one name and different bytes stay apart: their `parameters` are
    `file=NAME[1a2b]`, with the beginning of the digest.
    A run with a power cut is omitted, because the counts of such a run are incomplete. With
    `all_runs`, the function reads all runs. StatsError if there is no table.
    """
    place = Path(place)
    if place.is_file():
        return _saved(place, keys)
    newest: dict[tuple[object, ...], tuple[str, pd.DataFrame, dict[str, Any]]] = {}
    for path in sorted(place.glob(f"**/{COUNTS}")):
        facts = _facts(path.with_name(RECORD))
        if facts.get("request", {}).get("power_cut") and not all_runs:
            continue
        frame = _run(path.parent, facts)
        if frame.empty:
            continue
        asks = tuple(frame[name].iloc[0] for name in ORIGIN if name != "run" or all_runs)
        asks = (*asks, record.program_digest(facts), _label(facts))
        # Times are texts in ISO 8601 and UTC, so the order of the texts is the order of the times.
        started = str(facts.get("started", ""))
        if asks not in newest or started > newest[asks][0]:
            newest[asks] = (started, frame, facts)
    if not newest:
        raise StatsError(f"{place}: no {COUNTS} in it: run the experiment first")
    # The order of the directories says nothing, so the columns of the keys are sorted.
    return _joined([(frame, facts) for _, frame, facts in newest.values()], keys, ordered=False)


def of_runs(directories: Iterable[Path], *, keys: Sequence[str] | None = None) -> pd.DataFrame:
    """Returns exactly these runs as one table, in this order. `keys` and columns are as in `load`.
    StatsError for a run without a table."""
    runs = []
    for directory in directories:
        facts = _facts(directory / RECORD)
        runs.append((_run(directory, facts), facts))
    if not runs:
        raise StatsError("expected at least one run")
    return _joined(runs, keys)


def settings(table: pd.DataFrame) -> list[str]:
    """The columns of a table that contain values of machine keys or of workload parameters. The
    names of these columns contain a point."""
    return [str(name) for name in table if "." in str(name)]


def _run(directory: Path, facts: Mapping[str, Any]) -> pd.DataFrame:
    """The table of one run with its terms. `facts`: the run's record."""
    frame, clock_hz = read(directory / COUNTS, record.counts_digest(facts))
    terms = run_terms.of_record(facts, directory / RECORD, clock_hz)
    return run_terms.with_columns(frame, terms, clock_hz)


def _joined(
    runs: Sequence[tuple[pd.DataFrame, Mapping[str, Any]]],
    keys: Sequence[str] | None,
    *,
    ordered: bool = True,
) -> pd.DataFrame:
    """The tables of several runs as one table, with the columns of `keys`. The second part of a run
    is its record. `ordered`: whether the order of the runs decides the order of these columns."""
    _keep_apart(runs)
    geometries = [(frame, frame["geometry"].unique()) for frame, _ in runs]
    wanted = keys or ()
    if keys is None:
        named = (word for _, names in geometries for name in names for word in name.split())
        keys = list(dict.fromkeys(word.partition("=")[0] for word in named if _KEY.match(word)))
        keys = keys if ordered else sorted(keys)
    for (frame, facts), (_, names) in zip(runs, geometries, strict=True):
        for key in keys:
            values = {geometry: _setting(facts, key, geometry) for geometry in names}
            frame[key] = frame["geometry"].map(values)
    if any(_label(facts) for _, facts in runs):
        for frame, facts in runs:
            frame[LABEL] = _label(facts)
    table = pd.concat([frame for frame, _ in runs], ignore_index=True)
    for key in wanted:
        if table[key].isna().all():
            raise StatsError(f"{key}: no run has this machine key or parameter")
    return table


def _label(facts: Mapping[str, Any]) -> str:
    """What the user calls a run. Empty if the run has no label."""
    return str(record.inner(facts, "user").get("label") or "")


def _keep_apart(runs: Sequence[tuple[pd.DataFrame, Mapping[str, Any]]]) -> None:
    """Adds the beginning of the digest to the parameters of programs that have one name and
    different bytes."""
    digests: dict[object, set[str]] = {}
    for _, facts in runs:
        if program := record.program_digest(facts):
            digests.setdefault(record.inner(facts, "parameters").get("file"), set()).add(program)
    for frame, facts in runs:
        name = record.inner(facts, "parameters").get("file")
        if len(digests.get(name, ())) > 1 and (program := record.program_digest(facts)):
            apart = f"file={name}[{program[:4]}]"
            texts = frame["parameters"].str
            frame["parameters"] = texts.replace(f"file={name}", apart, n=1, regex=False)


def _setting(facts: Mapping[str, Any], key: str, geometry: str) -> int | float | bool | str | None:
    """The value of a machine key or of a parameter in the record of a run. `geometry`: the name of
    a shadow, or the machine's own overlay. None if the run does not have the key."""
    if key.startswith(PARAMETERS):
        return record.plain(record.inner(facts, "parameters").get(key.removeprefix(PARAMETERS)))
    machine = record.inner(facts, "machine")
    values = record.inner(machine, "values") | record.inner(machine, "shadows", geometry)
    return record.plain(values.get(key))


def _saved(path: Path, keys: Sequence[str] | None) -> pd.DataFrame:
    """The table of a file that `save` wrote, or of one counts.parquet."""
    frame, metadata = _read(path)
    if "runs" not in metadata:
        return of_runs([path.parent], keys=keys)
    try:
        terms = {run: Terms(**values) for run, values in metadata["runs"].items()}
        stored = pd.DataFrame(**metadata["settings"])
        parts = [
            run_terms.with_columns(rows, terms[str(run)], terms[str(run)].clock_hz)
            for run, rows in frame.groupby("run", sort=False)
        ]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise StatsError(f"{path}: damaged: its metadata cannot be read") from None
    table = pd.concat(parts).sort_index()
    wanted = [name for name in stored if name not in ("run", "geometry")]
    if lost := [key for key in keys or () if key not in wanted]:
        raise StatsError(f"{path}: the file was saved without {lost[0]}")
    if wanted:
        table = table.merge(stored, on=["run", "geometry"], how="left")
    return table


def _facts(path: Path) -> dict[str, Any]:
    """The record of a run. If there is no record, the result is empty."""
    return record.read(path) if path.exists() else {}
