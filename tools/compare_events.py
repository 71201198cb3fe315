# SPDX-License-Identifier: MIT
"""Compare the events of runs in two checkouts byte by byte, to show whether the counts are equal.

    usage: python tools/compare_events.py BEFORE/results AFTER/results

Runs match if they have the same experiment, engine, machine, changed keys, guest, workload,
parameters, feedback and seed. Run ids are ignored, because they change with the engine's binary.
If several runs of one checkout match, the tool compares them as a set.

Exit status: 0 if every run has the same events on both sides, 1 if some runs differ, failed or are
missing on one side, 2 for bad input.
"""

import argparse
import csv
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

EVENTS, RECORD = "events.jsonl", "run.json"
SAME, DIFFERENT, ONLY_BEFORE, ONLY_AFTER, NOT_OK = (
    "same",
    "DIFFERENT",
    "only before",
    "only after",
    "NOT OK",
)
ORDER = (SAME, DIFFERENT, NOT_OK, ONLY_BEFORE, ONLY_AFTER)  # the order in the last line
HEADS = ("experiment", "machine", "guest", "workload", "parameters", "seed")
SHOWN = 16  # hexadecimal digits of a digest in the table


class BadInput(Exception):
    """The input cannot be compared. The text is one line for the user."""


@dataclass(frozen=True, order=True)
class Asked:
    """Two runs match if these properties are equal. All fields are texts, as in the table."""

    experiment: str
    machine: str
    guest: str
    workload: str
    parameters: str
    seed: str


@dataclass(frozen=True)
class Row:
    """One comparison of matching runs. `before` and `after` are the sorted SHA-256 digests of the
    events of each side, and `verdict` is the result.
    """

    asked: Asked
    before: tuple[str, ...]
    after: tuple[str, ...]
    verdict: str


def read(results: Path) -> dict[Asked, list[tuple[str, str]]]:
    """Every run below a directory of results: its status and the SHA-256 of its events.

    The digest is computed from the file, not taken from the record. A run without events has an
    empty digest. Raises BadInput if there is no run, or if a record is not JSON of the expected
    form.
    """
    runs: dict[Asked, list[tuple[str, str]]] = {}
    for path in sorted(results.glob(f"*/*/{RECORD}")):
        try:
            record = json.loads(path.read_bytes())
            key = _asked(record)
            status = str(record["status"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{path}: expected the record of a run ({error!r})") from None
        events = path.with_name(EVENTS)
        digest = hashlib.sha256(events.read_bytes()).hexdigest() if events.is_file() else ""
        runs.setdefault(key, []).append((status, digest))
    if not runs:
        raise BadInput(f"{results}: no run: expected EXPERIMENT/RUN/{RECORD} below it")
    return runs


def _asked(record: dict) -> Asked:
    machine, geometry = record["machine"]["name"], record["machine"]["geometry"]
    changed = [
        text
        for text in (
            geometry,
            "" if record["engine"] == "bochs" else f"engine {record['engine']}",
            "" if record.get("feedback", "on") == "on" else f"feedback {record['feedback']}",
        )
        if text
    ]
    parameters = sorted(record["parameters"].items())
    return Asked(
        record["experiment"],
        " ".join([machine, *changed]),
        record["guest"]["name"],
        record["workload"]["name"],
        " ".join(f"{name}={value}" for name, value in parameters),
        str(record["seed"]),
    )


def compare(
    before: dict[Asked, list[tuple[str, str]]], after: dict[Asked, list[tuple[str, str]]]
) -> list[Row]:
    """One row for each run that exists on at least one side, sorted by experiment, machine and
    guest.
    """
    rows = []
    for asked in sorted({*before, *after}):
        sides = [side.get(asked, []) for side in (before, after)]
        digests = [tuple(sorted({digest for _, digest in side})) for side in sides]
        if not sides[0] or not sides[1]:
            verdict = ONLY_BEFORE if sides[0] else ONLY_AFTER
        elif any(status != "ok" or not digest for side in sides for status, digest in side):
            verdict = NOT_OK
        else:
            verdict = SAME if digests[0] == digests[1] else DIFFERENT
        rows.append(Row(asked, *digests, verdict))
    return rows


def _cells(row: Row, digits: int) -> list[str]:
    asked = [getattr(row.asked, name) for name in HEADS]
    sides = [
        " ".join(digest[:digits] or "-" for digest in side) for side in (row.before, row.after)
    ]
    return [*asked, *sides, row.verdict]


def show(rows: Sequence[Row], form: str) -> None:
    """Print the rows. The form `csv` contains whole digests, and the form `text` contains their
    first digits.
    """
    heads = [*HEADS, "before", "after", "verdict"]
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([heads, *(_cells(row, 64) for row in rows)])
        return
    lines = [heads, *(_cells(row, SHOWN) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    for line in lines:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    counted = [(verdict, sum(row.verdict == verdict for row in rows)) for verdict in ORDER]
    print(f"{len(rows)} runs: " + ", ".join(f"{count} {name}" for name, count in counted if count))


def main(words: Sequence[str] | None = None) -> int:
    """Compares two directories of results. Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("before", type=Path, help="results/ of the checkout before a change")
    parser.add_argument("after", type=Path, help="results/ of the checkout after the change")
    parser.add_argument("--format", choices=("text", "csv"), default="text", help="output format")
    parser.add_argument(
        "--common", action="store_true", help="omit runs that are missing on one side"
    )
    given = parser.parse_args(words)
    try:
        rows = compare(read(given.before), read(given.after))
    except (BadInput, OSError) as error:
        print(f"compare_events: {error}", file=sys.stderr)
        return 2
    if given.common:
        rows = [row for row in rows if row.verdict not in (ONLY_BEFORE, ONLY_AFTER)]
        if not rows:
            print("compare_events: no run is on both sides", file=sys.stderr)
            return 2
    show(rows, given.format)
    return 0 if all(row.verdict == SAME for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
