# SPDX-License-Identifier: MIT
"""The keys that a sweep changes, and the values of these keys in the record of a run.

A key is a machine key, or `parameters.NAME` for a parameter of a workload (p5lab.describe.sweep).

Two runs with the same inputs are one run. So a sweep that includes the machine's own value may
reuse a run that was made without the sweep. The overlay in the record of such a run is empty.
Therefore this module reads the values of all keys, and not only the overlay.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from p5lab.describe.keys import BY_NAME, overlay_of, readable
from p5lab.describe.sweep import PARAMETERS
from p5lab.keep.store import Stored

MOST = 2  # a guess from records finds at most this number of keys
Record = Mapping[str, Any]


def value(record: Record, key: str) -> str:
    """Returns the value of a key in its canonical form. Returns an empty text if the machine or the
    workload of the run does not have the key."""
    if key.startswith(PARAMETERS):
        return str(record["parameters"].get(key.removeprefix(PARAMETERS), ""))
    return str(record["machine"]["values"].get(key, ""))


def shown(record: Record, key: str) -> str:
    """Returns key and value for people, such as `l2.size=256K` or `loads=20`. Returns an empty text
    if the run does not have the key."""
    text = value(record, key)
    return readable(f"{key.removeprefix(PARAMETERS)}={text}") if text else ""


def number(text: str) -> float | None:
    """Returns a value as a number, or None if the value is not a number."""
    try:
        return float(text)
    except ValueError:
        return None


def is_size(key: str) -> bool:
    """Whether the values of a machine key are sizes in bytes."""
    return key in BY_NAME and BY_NAME[key].unit == "bytes"


def unit(key: str) -> str:
    """Returns the unit of a machine key. Returns an empty text for a parameter of a workload and
    for a key without a unit."""
    return BY_NAME[key].unit if key in BY_NAME else ""


def overlay(record: Record) -> dict[str, str]:
    """Returns the machine keys that the run changed, and their values in canonical form."""
    return overlay_of(str(record["machine"]["geometry"]))


def geometry(record: Record, keys: Iterable[str]) -> str:
    """Returns the overlay of a run in canonical form, with the values of all machine keys in
    `keys`."""
    values, changed = record["machine"]["values"], overlay(record)
    added = {key: str(values[key]) for key in keys if key in values and key not in changed}
    if not added:
        return str(record["machine"]["geometry"])
    changed |= added
    return " ".join(f"{key}={text}" for key, text in sorted(changed.items()))


def keys_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Returns the keys that appear to be swept in stored runs, at most MOST.

    A machine key counts if overlays set it and if its value differs on one machine. A parameter
    counts if the runs of a workload differ only in this parameter and all its values are numbers.
    Returns no keys if more than MOST keys differ, because the runs are then variants and not points
    of a sweep.
    """
    keys = [*_machine_keys(records), *_parameters(records)]
    return tuple(keys) if len(keys) <= MOST else ()


def _machine_keys(records: Sequence[Record]) -> list[str]:
    by_machine: dict[str, list[Record]] = {}
    for record in records:
        by_machine.setdefault(record["machine"]["name"], []).append(record)
    changed = dict.fromkeys(key for record in records for key in overlay(record))
    return [
        key
        for key in changed
        if any(len({value(run, key) for run in same}) > 1 for same in by_machine.values())
    ]


def _parameters(records: Sequence[Record]) -> list[str]:
    by_workload: dict[str, list[Record]] = {}
    for record in records:
        by_workload.setdefault(record["workload"]["name"], []).append(record)
    swept: dict[str, None] = {}
    for same in by_workload.values():
        names = dict.fromkeys(name for record in same for name in record["parameters"])
        differ = [
            name
            for name in names
            if len({str(record["parameters"].get(name)) for record in same}) > 1
        ]
        values = [str(record["parameters"].get(name)) for record in same for name in differ[:1]]
        if len(differ) == 1 and all(number(text) is not None for text in values):
            swept[PARAMETERS + differ[0]] = None
    return list(swept)


def in_order(runs: Sequence[Stored]) -> list[Stored]:
    """Returns the runs in the order of the values of their swept keys: numbers by their size, texts
    after numbers. Runs with the same values stay in their order."""
    keys = keys_of([stored.record for stored in runs])

    def place(stored: Stored) -> list[tuple[bool, float, str]]:
        texts = [value(stored.record, key) for key in keys]
        numbers = [number(text) for text in texts]
        return [
            (value is None, value or 0.0, text) for value, text in zip(numbers, texts, strict=True)
        ]

    return sorted(runs, key=place)
