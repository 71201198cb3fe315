# SPDX-License-Identifier: MIT
"""Files with one JSON value on each line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from p5stats.problems import StatsError


def read(path: Path) -> Iterator[tuple[str, object]]:
    """Yields the place (`file:number`) and the value of each line.

    StatsError if a line is incomplete or is not JSON, or if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                where = f"{path}:{number}"
                if not raw.endswith(b"\n"):
                    raise StatsError(f"{where}: incomplete line: the file was cut short")
                try:
                    yield where, json.loads(raw)
                except (ValueError, RecursionError):
                    raise StatsError(f"{where}: not valid JSON") from None
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None


Record = dict[str, Any]


def between(
    path: Path,
    what: str,
    schema_version: int,
    header: Callable[[Record], None],
    line: Callable[[Record], None],
) -> None:
    """Reads a file that has a header, records, and the record `end`. The `type` of a record says
    which one it is.

    `header` gets the header, and `line` gets each record between header and end. Both raise
    KeyError, TypeError or ValueError for a record that is wrong. `what`: a name for a line of this
    file. StatsError if a record is wrong, the header has another schema version, or the end is
    missing.
    """
    started = ended = False
    for where, record in read(path):
        try:
            if not isinstance(record, dict):
                raise ValueError("expected an object")
            if ended:
                raise ValueError("expected nothing after the end")
            if not started:
                _check_header(record, schema_version)
                header(record)
                started = True
            elif record["type"] == "end":
                ended = True
            else:
                line(record)
        except StatsError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise StatsError(f"{where}: not a line of {what}: {error}") from None
    if not ended:
        raise StatsError(f"{path}: incomplete: the file was cut short")


def _check_header(record: Record, schema_version: int) -> None:
    if record["type"] != "header":
        raise ValueError("expected the header")
    if record["schema_version"] != schema_version:
        raise ValueError(
            f"schema version {record['schema_version']}, this p5lab reads {schema_version}"
        )


def names(value: object) -> list[str]:
    """The names of the events in a header. ValueError if they are not different texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("expected the names of events")
    if len(set(value)) != len(value):
        raise ValueError("expected each event once")
    return value


def whole(value: object, limit: int) -> int:
    """The value, if it is a whole number from 0 to `limit` - 1. ValueError if it is not."""
    if type(value) is not int or not 0 <= value < limit:
        raise ValueError(f"expected a whole number from 0 to {limit - 1}, found {str(value)[:40]}")
    return value
