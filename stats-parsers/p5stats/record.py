# SPDX-License-Identifier: MIT
"""Reads run.json, the record of a run, and checks that the record is intact.

A record contains its own SHA-256 in the field `sha256`. The digest covers all other fields. A wrong
digest shows that a disk fault or a text editor has changed the record. Records of older versions
contain no digest.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from p5stats.problems import StatsError

SEAL = "sha256"


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its digest, ready to be written as JSON."""
    plain = json.loads(json.dumps({key: record[key] for key in record if key != SEAL}))
    return {**plain, SEAL: _digest(plain)}


def read(path: Path) -> dict[str, Any]:
    """The record of a run, without its digest.

    StatsError if the file is not a record, or if the record was changed.
    """
    try:
        record = json.loads(path.read_bytes())
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise StatsError(f"{path}: not valid JSON") from None
    if not isinstance(record, dict):
        raise StatsError(f"{path}: not the record of a run")
    if not isinstance(record.get("request", {}), dict):  # older records have none
        raise StatsError(f"{path}: request: expected a table")
    seal = record.pop(SEAL, None)
    if seal is not None and seal != _digest(record):
        raise StatsError(f"{path}: damaged: its digest does not match its content")
    return record


def _digest(record: dict[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: object) -> int | float | bool | str | None:
    """A value of a record. A text that is a number or a truth value becomes one."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"-?[0-9]{1,18}", text):  # fits into a table, else it remains a text
        return int(text)
    return float(text) if re.fullmatch(r"-?[0-9]+\.[0-9]+", text) else text


def inner(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """A table inside a record. Empty if the record does not contain the table."""
    table: Any = record
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def program_digest(record: Mapping[str, Any]) -> str:
    """Returns the digest of the user's program from a record. Empty for a workload, for a program
    of the guest, and if the record has no digest."""
    if inner(record, "workload").get("name") != "program":
        return ""
    return str(inner(record, "identity", "digests").get("program", ""))


def counts_digest(record: Mapping[str, Any]) -> str | None:
    """Returns the SHA-256 of counts.parquet from a record, or None if the record does not contain
    it."""
    digest = inner(record, "digests").get("counts.parquet")
    return digest if isinstance(digest, str) else None
