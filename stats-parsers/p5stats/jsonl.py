# SPDX-License-Identifier: MIT
"""Files with one JSON value on each line."""

import json
from collections.abc import Iterator
from pathlib import Path

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
