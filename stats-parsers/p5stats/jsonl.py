# SPDX-License-Identifier: MIT
"""Files with one JSON value on each line."""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from p5stats.problems import StatsError

KINDS = {str: "a text", int: "a whole number", list: "a list [...]", dict: "an object {...}"}
LIMIT = 1 << 53  # counts must be smaller, so that their sums fit into a data frame


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


class Line:
    """One JSON object of a file. The getters check the type and the range of a value. Both raise
    StatsError."""

    def __init__(self, where: str, data: object) -> None:
        self.where = where
        if not isinstance(data, dict):
            raise self.fault("expected an object {...}")
        self.data = data

    def fault(self, what: str) -> StatsError:
        """The error for this line."""
        return StatsError(f"{self.where}: {what}")

    def get(self, key: str, kind: type) -> Any:  # noqa: ANN401
        """The value of a member, which is of this type."""
        value = self.data.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.fault(f"{key}: expected {KINDS[kind]}")
        return value

    def count(self, key: str, bits: int = 63) -> int:
        """A whole number of at most `bits` bits."""
        return self.whole(key, self.get(key, int), bits)

    def whole(self, key: str, value: object, bits: int = 63) -> int:
        """The value of a member or of a part of it, if it is a whole number of at most `bits`
        bits."""
        if type(value) is not int or not 0 <= value < 1 << bits:
            raise self.fault(f"{key}: expected a whole number from 0 to 2^{bits} - 1")
        return value

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        """One of these texts."""
        value = self.get(key, str)
        if value not in known:
            raise self.fault(f"{key}: expected one of {', '.join(known)}")
        return value


def lines(path: Path) -> Iterator[Line]:
    """Yields the lines of a file of objects. StatsError as `read`, and for another line."""
    return (Line(where, data) for where, data in read(path))


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
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("expected the names of events")
    if len(set(value)) != len(value):
        raise ValueError("expected each event once")
    return value


def counts(value: object, events: Collection[str], *, cut: bool = False) -> list[int]:
    """The value, if it is a list of whole numbers below LIMIT, one for each event. Files of an
    older p5lab can have negative ones. `cut`: zeros at the end may be missing, and are added.
    ValueError for anything else."""
    missing = len(events) - len(value) if isinstance(value, list) else -1
    if not isinstance(value, list) or missing < 0 or (missing and not cut):
        raise ValueError("expected a count for each event")
    if not all(type(count) is int and abs(count) < LIMIT for count in value):
        raise ValueError("expected whole numbers")
    return value + [0] * missing


def whole(value: object, limit: int = LIMIT) -> int:
    """The value, if it is a whole number from 0 to `limit` - 1. ValueError if it is not."""
    if type(value) is not int or not 0 <= value < limit:
        raise ValueError(f"expected a whole number from 0 to {limit - 1}, found {str(value)[:40]}")
    return value
