# SPDX-License-Identifier: MIT
"""The index of the results contains the data of the runs for lists, plans and SQL queries.

The run directories contain the authoritative data. The index is the file
results/.index/runs.DIGEST.parquet. DuckDB answers the queries. A row is valid as long as the run's
record has the same inode, size and time of change. Records without a valid row are read again. The
index is written again if it is missing or damaged, has another schema version, or is out of date.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p5lab import packages
from p5lab.describe import observation
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.files import sha256_of
from p5lab.keep import key_table, named, sql_hints, store
from p5lab.keep.store import COUNTS, RECORD, Stored
from p5lab.lab import Lab
from p5stats.record import program_digest

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

SCHEMA_VERSION = 6
COUNTS_OF = "counts of the results"  # begins the message about a damaged table
DIRECTORY = ".index"
# The index is used only if there are at least WORTHWHILE runs, or IF_LOADED runs in a process that
# has loaded pyarrow, which takes 0.2 s. Reading a record takes 0.25 to 0.5 ms.
WORTHWHILE, IF_LOADED = 1000, 100
_METADATA = b"p5lab"
_KEPT = (
    "schema_version",
    "run",
    "experiment",
    "status",
    "reason",
    "label",
    "engine",
    "guest",
    "parameters",
    "seed",
    "feedback",
    "started",
    "wall_seconds",
    store.ASKED,
    named.KEY,
)
# The columns of the index in their order, and those with whole numbers.
_COLUMNS = (
    *("experiment", "run", "status", "reason", "label", "named", "note", "tags", "engine"),
    *("machine", "geometry", "guest", "workload", "parameters", "seed", "feedback", "shadows"),
    *("started", "wall_seconds", "inode", "size", "changed", "record"),
)
_WHOLE = ("seed", "shadows", "inode", "size", "changed")


@dataclass(frozen=True)
class _Row:
    """One run. `facts`: the inode, the size and the time of change (ns) that run.json had when
    p5lab read this record."""

    facts: tuple[int, int, int]
    stored: Stored


def runs(lab: Lab) -> list[Stored]:
    """Returns the same runs as `store.all_runs`. The records may contain only the fields for the
    identity and the status."""
    paths = sorted(lab.results.glob(f"*/*/{RECORD}"))
    if len(paths) < (min(IF_LOADED, WORTHWHILE) if "pyarrow" in sys.modules else WORTHWHILE):
        return [store.stored(path.parent) for path in paths]
    return [row.stored for row in _rows(lab, paths)]


def whole(stored: Stored) -> Stored:
    """Returns a run of `runs` with its whole record."""
    return stored if "versions" in stored.record else store.stored(stored.directory)


def connect(lab: Lab) -> "DuckDBPyConnection":
    """Returns a database in memory with four tables.

    `runs` contains one row for each run (docs/reference/formats.md). `keys` contains the machine
    keys and workload parameters of each run (p5lab.keep.key_table). `counts` contains the tidy
    tables of all ok runs, and `counts_by` their rows of observers (p5stats.tidy). Raises UserError
    if a table cannot be read; only `query` compares each table with its digest. Installs DuckDB if
    it is missing.
    """
    packages.ensure("query")
    import duckdb

    rows = _rows(lab, sorted(lab.results.glob(f"*/*/{RECORD}")))
    connection = duckdb.connect()
    connection.register("index_rows", _table(rows))
    connection.execute(
        "CREATE TABLE runs AS SELECT * EXCLUDE (record, inode, size, changed) FROM index_rows"
    )
    connection.unregister("index_rows")
    connection.register(key_table.NAME, key_table.of([row.stored.record for row in rows]))
    files = _files(lab, connection)
    try:
        counts, counts_by = _counts(connection, files)
    except duckdb.Error as error:
        _check(files)
        raise UserError(f"{COUNTS_OF}: {_first_line(error)}", status=STATUS_FAILED) from None
    counts.create_view("counts")
    counts_by.create_view("counts_by")
    return connection


def _files(lab: Lab, connection: "DuckDBPyConnection") -> list[str]:
    """The tables of all ok runs."""
    ok = connection.execute("SELECT experiment, run FROM runs WHERE status = 'ok' ORDER BY ALL")
    return [str(lab.results / experiment / run / COUNTS) for experiment, run in ok.fetchall()]


def _check(files: Iterable[str]) -> None:
    """Raises UserError for a table that is damaged."""
    from p5stats import StatsError, tidy

    for file in files:
        try:
            tidy.check_run(Path(file).parent)
        except StatsError as error:
            why = store.explained(error)
            raise UserError(f"{COUNTS_OF}: {why}", status=STATUS_FAILED) from None


def _counts(
    connection: "DuckDBPyConnection", files: Sequence[str]
) -> tuple["DuckDBPyRelation", "DuckDBPyRelation"]:
    """The rows of the markers in these tables, and those of observers."""
    from p5stats import observed, tidy
    from p5stats.lazy import pa

    columns = pa.schema(observed.fields({}, tidy.schema()))
    rows = connection.from_arrow(columns.empty_table())
    if files:
        tables = connection.read_parquet(files, union_by_name=True)  # noqa: F841, read below
        rows = connection.sql("FROM rows UNION ALL BY NAME FROM tables")
    # In version 1 of the table, `feedback` is `on` or `off`. Tables without observers have no
    # column for them.
    feedback = "CASE feedback WHEN 'on' THEN 'yes' WHEN 'off' THEN 'no' ELSE feedback END"
    names = ", ".join(tidy.COLUMNS).replace("feedback", f"{feedback} AS feedback")
    observer = f"coalesce(observer, '{observed.MARKERS}')"
    markers = rows.filter(f"{observer} = '{observed.MARKERS}'").project(names)
    return markers, rows.filter(f"{observer} <> '{observed.MARKERS}'")


def query(
    lab: Lab, sql: str, tables: Mapping[str, "pd.DataFrame"] | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Returns the column names and the rows of an SQL statement's result. `tables`: further tables
    by name. Raises UserError if the statement fails."""
    with connect(lab) as connection:
        import duckdb

        if "counts" in sql.casefold():  # DuckDB gives numbers of damaged pages, too
            _check(_files(lab, connection))
        for name, table in (tables or {}).items():
            connection.register(name, table)
        try:
            reads = {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}
            statements = connection.extract_statements(sql)
            if any(statement.type not in reads for statement in statements):
                raise UserError("query: expected a statement that reads, such as SELECT")
            if len(statements) > 1:
                raise UserError(f"query: expected one statement; found {len(statements)}")
            answer = connection.sql(sql)
            if answer is None:
                raise UserError("query: expected a statement with a result, such as SELECT")
            return answer.columns, answer.fetchall()
        except duckdb.Error as error:
            raise UserError(f"query: {sql_hints.explain(connection, str(error))}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


# --- rows ---------------------------------------------------------------------------------------


def _rows(lab: Lab, paths: Iterable[Path]) -> list[_Row]:
    known = _load(lab)
    rows = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            continue  # removed meanwhile
        facts = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        row = known.get(path.parent)
        if row is None or row.facts != facts or row.stored.status == "running":
            stored = store.stored(path.parent)
            row = _Row(facts, Stored(stored.directory, _abridged(stored)))
        rows.append(row)
    if rows != list(known.values()):
        with suppress(OSError):  # without an index, the next command reads all records again
            _save(lab, rows)
    return rows


def _abridged(stored: Stored) -> dict[str, Any]:
    record = stored.record
    return {
        **{key: record[key] for key in _KEPT if key in record},
        # `experiment` and `run` are parts of the path where the record was found, not texts of the
        # record. `_load` builds the path of the run directory from these two values.
        "experiment": stored.directory.parent.name,
        "run": stored.id,
        "machine": {
            key: record["machine"].get(key, {} if key in ("shadows", "values") else "")
            for key in ("name", "geometry", "shadows", "values")
        },
        "workload": {"name": record["workload"].get("name", "")},
        "identity": {
            "digests": {"program": program_digest(record)},
            "settings": {"engine.conf": observation.apart(record)},
        },
    }


def _load(lab: Lab) -> dict[Path, _Row]:
    """Returns the rows of the index by run directory. There are no rows if the index is missing or
    damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in sorted((lab.results / DIRECTORY).glob("runs.*.parquet")):
        try:
            if path.name != _name(path):
                continue
            with pq.ParquetFile(path) as file:
                version = (file.metadata.metadata or {}).get(_METADATA)
                if version != str(SCHEMA_VERSION).encode():
                    continue
                table = file.read(["inode", "size", "changed", "record"])
            rows = {}
            for row in table.to_pylist():
                record = json.loads(row["record"])
                directory = lab.results / record["experiment"] / record["run"]
                facts = (row["inode"], row["size"], row["changed"])
                rows[directory] = _Row(facts, Stored(directory, record))
            return rows
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException):
            continue
    return {}


def _save(lab: Lab, rows: Iterable[_Row]) -> None:
    import pyarrow.parquet as pq

    place = lab.results / DIRECTORY
    place.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=place)
    os.close(number)
    temporary = Path(name)
    try:
        pq.write_table(_table(rows), temporary)
        path = place / _name(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    for old in place.iterdir():
        if old != path:
            old.unlink(missing_ok=True)


def _name(path: Path) -> str:
    """Returns the name of an index file. The name contains the file's digest. If the file is
    damaged, its digest differs from its name."""
    return f"runs.{sha256_of(path)[:16]}.parquet"


def _table(rows: Iterable[_Row]) -> "pa.Table":
    import pyarrow as pa

    types = dict.fromkeys(_COLUMNS, pa.string()) | dict.fromkeys(_WHOLE, pa.int64())
    types["wall_seconds"] = pa.float64()
    schema = pa.schema(list(types.items()), metadata={_METADATA: str(SCHEMA_VERSION).encode()})
    return pa.Table.from_pylist([_columns(row) for row in rows], schema=schema)


def _columns(row: _Row) -> Mapping[str, object]:
    record = row.stored.record
    own = named.of(record)
    inode, size, changed = row.facts
    return {
        **{key: record.get(key) for key in _KEPT if key != named.KEY},
        "named": own.label,
        "note": own.note,
        "tags": " ".join(own.tags),
        "machine": record["machine"]["name"],
        "geometry": record["machine"]["geometry"],
        "shadows": len(record["machine"]["shadows"]),
        "guest": record["guest"].get("name", ""),
        "workload": record["workload"]["name"],
        "parameters": " ".join(f"{key}={value}" for key, value in record["parameters"].items()),
        "inode": inode,
        "size": size,
        "changed": changed,
        "record": json.dumps(record),
    }
