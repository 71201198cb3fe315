# SPDX-License-Identifier: MIT
"""calls.jsonl: counts by interrupt vector and function number, from the entry to the return.

A run with `--calls` writes the file (docs/concepts/calls.md). In each phase the exclusive cycles of
all calls and the cycles outside of any call add up exactly to the cycles of the phase's brackets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from p5stats import jsonl, known_calls
from p5stats.problems import StatsError

SCHEMA_VERSION = 1
LIMIT = 1 << 53  # counts must be smaller, so that their sums fit into the data frame
NUMBERS = 4  # cycles, idle, mode_changes, crossings


@dataclass(frozen=True)
class Sum:
    """Cycles, the idle cycles among them, changes of the machine mode, and ring crossings. A number
    of cycles can be negative: the model can add clocks in one call and subtract them after it."""

    cycles: int
    idle: int
    mode_changes: int
    crossings: int

    @classmethod
    def read(cls, value: object) -> Self:
        """The four numbers of a list. Raises ValueError for anything else."""
        if not isinstance(value, list) or len(value) != NUMBERS:
            raise ValueError("expected four numbers")
        if not all(type(one) is int and abs(one) < LIMIT for one in value):
            raise ValueError("expected whole numbers")
        if min(value[1:]) < 0:
            raise ValueError("expected no negative count")
        return cls(*value)


@dataclass(frozen=True)
class Call:
    """The counts of one call in one phase.

    kind: one of known_calls.KINDS. vector: None for a gate. function: None if the interrupt has no
    function number. calls: the number of entries. returned: the number of these calls that returned
    in the same bracket. exclusive: without nested calls. inclusive: with nested calls, only of
    the calls that returned. waited: cycles between the entry and the return of these calls in which
    the system executed something else.
    """

    kind: str
    vector: int | None
    function: int | None
    calls: int
    returned: int
    exclusive: Sum
    inclusive: Sum
    waited: int


@dataclass
class Phase:
    """The calls of a phase. `cycles`: of its brackets. `outside`: outside of any call."""

    cycles: int
    outside: Sum
    calls: list[Call] = field(default_factory=list)


def read(path: Path) -> dict[int, Phase]:
    """Reads the calls of each phase. StatsError if the file is malformed or incomplete, or if the
    cycles of a phase do not add up."""
    phases: dict[int, Phase] = {}
    seen: set[tuple[object, ...]] = set()

    def line(record: dict[str, Any]) -> None:
        match record["type"]:
            case "phase":
                _add_phase(phases, record)
            case "call":
                _add_call(phases, seen, record)
            case other:
                raise ValueError(f"unknown type {other!r}")

    jsonl.between(path, "calls", SCHEMA_VERSION, lambda header: None, line)
    for number, phase in phases.items():
        added = phase.outside.cycles + sum(call.exclusive.cycles for call in phase.calls)
        if added != phase.cycles:
            raise StatsError(
                f"{path}: phase {number}: the exclusive cycles add up to {added}, expected"
                f" {phase.cycles}"
            )
    return phases


def _add_phase(phases: dict[int, Phase], record: dict[str, Any]) -> None:
    number = _count(record, "phase")
    if number in phases:
        raise ValueError(f"a second phase {number}")
    phases[number] = Phase(_count(record, "cycles"), Sum.read(record["outside"]))


def _add_call(
    phases: dict[int, Phase], seen: set[tuple[object, ...]], record: dict[str, Any]
) -> None:
    number, kind, vector = _count(record, "phase"), record["kind"], record["vector"]
    function = None if record["function"] is None else _count(record, "function")
    if kind not in known_calls.KINDS:
        raise ValueError(f"unknown kind {str(kind)[:40]!r}")
    if (vector is None) != (kind == known_calls.GATE) or (
        vector is not None and _count(record, "vector") >= known_calls.VECTORS
    ):
        raise ValueError("expected a vector for each kind except gate")
    if function is not None and kind not in (known_calls.INT, known_calls.GATE):
        raise ValueError(f"expected no function of a call of the kind {kind}")
    if (key := (number, kind, vector, function)) in seen:
        raise ValueError("the same call twice")
    seen.add(key)
    calls, returned = _count(record, "calls"), _count(record, "returned")
    if returned > calls:
        raise ValueError("more returns than calls")
    waited = record["waited"]
    if type(waited) is not int or abs(waited) >= LIMIT:
        raise ValueError("waited: expected a whole number")
    own, inside = Sum.read(record["exclusive"]), Sum.read(record["inclusive"])
    phases[number].calls.append(Call(kind, vector, function, calls, returned, own, inside, waited))


def _count(record: dict[str, Any], name: str) -> int:
    value = record[name]
    if type(value) is not int or not 0 <= value < LIMIT:
        raise ValueError(f"{name}: expected a whole number, found {str(value)[:40]!r}")
    return value
