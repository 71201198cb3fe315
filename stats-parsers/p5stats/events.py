# SPDX-License-Identifier: MIT
"""events.jsonl of one run: the counter snapshots that the engine wrote at markers.

The file contains a header, then markers, reads and notes in the order of virtual time, then one end
line. Snapshots are cumulative since reset. The counts of each privilege ring and address space
(CR3) are separate. The parser checks every line. The message of an error contains the number of the
malformed line.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import repeat, zip_longest
from pathlib import Path
from typing import Any

from p5stats import jsonl
from p5stats.jsonl import Line
from p5stats.problems import StatsError

POWER_CUT = "power cut"  # if a power cut ended a run, the run's reason begins with these words
SCHEMA_VERSION = 1
OPS = ("ready", "begin", "end", "abort", "exit")
STATUSES = ("ok", "failed", "timeout")
VECTOR_KINDS = ("irq", "fault", "soft")
LIMIT = 1 << 63  # numbers must be smaller, so that they fit into the tidy table

Bank = tuple[int, int]  # address space (CR3), ring
Vector = tuple[int, int, str, int]  # address space, ring, kind, vector
ByShadow = dict[Bank, list[list[int]]]  # for each shadow, the counts of its events


@dataclass(frozen=True)
class Marker:
    """One marker, with the counters at that instruction.

    Missing values of a bank are zero. shadows: the counts of each shadow since the previous marker.
    """

    op: str
    arg: int
    tsc: int
    banks: dict[Bank, list[int]]
    vectors: dict[Vector, int]
    line: int
    shadows: ByShadow = field(default_factory=dict)


@dataclass(frozen=True)
class Read:
    """A value that a guest read by RDTSC or RDMSR, or wrote by WRMSR.

    `banks` contains the counters at that instruction.
    """

    insn: str
    index: int
    value: int
    tsc: int
    banks: dict[Bank, list[int]]


@dataclass(frozen=True)
class Bracket:
    """A begin marker and its end marker. `iteration` is its number in the phase, from 0."""

    phase: int
    iteration: int
    begin: Marker
    end: Marker
    shadows: ByShadow = field(default_factory=dict)


@dataclass(frozen=True)
class Shadows:
    """Further geometries whose misses were counted in the same run.

    names: the names of the geometries. events: the events that each geometry counts. stream: the
    events whose counts are the same for all geometries.
    """

    names: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    stream: tuple[str, ...] = ()


@dataclass(frozen=True)
class Events:
    """One parsed file. `units` contains the unit of every event, in the order of the snapshots."""

    engine: str
    clock_hz: int
    units: dict[str, str]
    markers: list[Marker]
    reads: list[Read]
    notes: list[dict[str, Any]]
    status: str
    reason: str
    guest_status: int | None
    brackets: list[Bracket] = field(default_factory=list)
    shadows: Shadows = Shadows()
    # For each interval that was simulated in detail: its number, and its first and last snapshot.
    intervals: dict[int, tuple[Marker, Marker]] = field(default_factory=dict)

    @property
    def as_brackets(self) -> list[Bracket]:
        """Each interval as a bracket. The number of the interval becomes the phase of the
        bracket."""
        return [Bracket(number, 0, *pair) for number, pair in self.intervals.items()]

    @property
    def ready(self) -> Marker | None:
        """The ready marker. None if the guest did not reach this marker."""
        return next((marker for marker in self.markers if marker.op == "ready"), None)

    def between(self, begin: Marker, end: Marker, ring: int | None = None) -> dict[str, int]:
        """The counts of each event between two snapshots, as sums over all address spaces and over
        all rings, or of one ring."""

        def totals(marker: Marker) -> Iterator[int]:
            banks = (bank for (_, own), bank in marker.banks.items() if ring in (None, own))
            return map(sum, zip_longest(repeat(0, len(self.units)), *banks, fillvalue=0))

        each = zip(self.units, totals(begin), totals(end), strict=True)
        return {event: last - first for event, first, last in each}


def parse(path: Path) -> Events:
    """Parses and checks a file. StatsError names the line of the first error.

    Unbalanced markers are also an error, because a count between such markers has no meaning.
    """
    lines = jsonl.lines(path)
    try:
        header = next(lines)
    except StopIteration:
        raise StatsError(f"{path}: empty: expected a header line") from None
    units = _header(header)
    shadows = _shadows(header, units)
    markers: list[Marker] = []
    reads: list[Read] = []
    notes: list[dict[str, Any]] = []
    intervals: dict[int, list[Marker]] = {}
    end: Line | None = None
    for line in lines:
        if end:
            raise line.fault("expected nothing after the end line")
        kind = line.one_of("type", ("marker", "interval", "read", "note", "end"))
        if kind == "marker":
            markers.append(_marker(line, len(units), shadows))
        elif kind == "interval":
            _interval(line, _marker(line, len(units), shadows), intervals)
        elif kind == "read":
            reads.append(_read(line, len(units)))
        elif kind == "note":
            notes.append({key: value for key, value in line.data.items() if key != "type"})
        else:
            end = line
    if end is None:
        raise StatsError(f"{path}: no end line: the engine did not finish")
    guest_status = end.data.get("guest_status")
    result = Events(
        engine=header.get("engine", str),
        clock_hz=header.count("clock_hz"),
        units=units,
        markers=markers,
        reads=reads,
        notes=notes,
        status=end.one_of("status", STATUSES),
        reason=end.get("reason", str),
        guest_status=end.count("guest_status") if guest_status is not None else None,
        shadows=shadows,
    )
    if result.status == "ok":
        cut = result.reason.startswith(POWER_CUT)
        result.brackets.extend(_brackets(path, markers, cut=cut))
        for number, pair in intervals.items():
            if len(pair) != 2:
                raise StatsError(f"{path}: interval {number} has no end")
            result.intervals[number] = pair[0], pair[1]
    return result


def end_line(path: Path) -> tuple[str, str] | None:
    """The status and reason of the end line. None if the file has no valid end line.

    The content of all other lines is not checked.
    """
    last = None
    try:
        for line in jsonl.lines(path):
            last = line
    except StatsError:
        return None
    if last is None or last.data.get("type") != "end":
        return None
    try:
        return last.one_of("status", STATUSES), last.get("reason", str)
    except StatsError:
        return None


def _header(line: Line) -> dict[str, str]:
    """Checks the header and returns the unit of every event.

    Files with a newer schema version are refused, because their meaning is unknown. Version 1 is
    the first version. If a later version is introduced, this function must convert files of older
    versions.
    """
    line.one_of("type", ("header",))
    version = line.count("schema_version")
    if version != SCHEMA_VERSION:
        raise line.fault(f"schema_version: expected {SCHEMA_VERSION}, found {version}")
    events, units = line.get("events", list), line.get("units", list)
    if len(events) != len(units) or not all(isinstance(text, str) for text in events + units):
        raise line.fault("events, units: expected lists of texts, with one unit for each event")
    if len(set(events)) != len(events):
        raise line.fault("events: the same name twice")
    if line.count("clock_hz") == 0:
        raise line.fault("clock_hz: expected more than zero")
    return dict(zip(events, units, strict=True))


def _shadows(line: Line, units: dict[str, str]) -> Shadows:
    if "shadows" not in line.data:
        return Shadows()
    shadows = Shadows(
        *(tuple(line.get(key, list)) for key in ("shadows", "shadow_events", "stream_events"))
    )
    if not all(isinstance(name, str) and name for name in shadows.names) or len(
        set(shadows.names)
    ) != len(shadows.names):
        raise line.fault("shadows: expected different names")
    for name in (*shadows.events, *shadows.stream):
        if not isinstance(name, str) or name not in units:
            raise line.fault(f"shadow_events, stream_events: no event {name!r}")
    return shadows


def _read(line: Line, width: int) -> Read:
    return Read(
        line.one_of("insn", ("rdtsc", "rdmsr", "wrmsr")),
        line.count("index"),
        line.count("value"),
        line.count("tsc"),
        _banks(line, width),
    )


def _is_bank(bank: Any) -> bool:  # noqa: ANN401
    """Whether a value of a line is [cr3, ring, [...]]."""
    return (
        isinstance(bank, list)
        and len(bank) == 3
        and _counts(bank[:2])
        and bank[1] <= 3
        and isinstance(bank[2], list)
    )


def _banks(line: Line, width: int) -> dict[Bank, list[int]]:
    banks: dict[Bank, list[int]] = {}
    for bank in line.get("banks", list):
        if not (_is_bank(bank) and _counts(bank[2]) and len(bank[2]) <= width):
            raise line.fault("banks: expected [cr3, ring, [counts]]")
        banks[bank[0], bank[1]] = bank[2]
    return banks


def _by_shadow(line: Line, shadows: Shadows) -> ByShadow:
    counts: ByShadow = {}
    for bank in line.get("shadows", list) if shadows.names else ():
        if not (
            _is_bank(bank)
            and len(bank[2]) == len(shadows.names)
            and all(
                isinstance(row, list) and _counts(row) and len(row) == len(shadows.events)
                for row in bank[2]
            )
        ):
            raise line.fault("shadows: expected [cr3, ring, [[counts], ...]]")
        counts[bank[0], bank[1]] = bank[2]
    return counts


def _marker(line: Line, width: int, shadows: Shadows) -> Marker:
    vectors: dict[Vector, int] = {}
    for vector in line.get("vectors", list):
        if not (
            isinstance(vector, list)
            and len(vector) == 5
            and _counts(vector[:2] + vector[3:])
            and vector[1] <= 3
            and vector[3] <= 255
            and vector[2] in VECTOR_KINDS
        ):
            raise line.fault("vectors: expected [cr3, ring, kind, vector, count]")
        vectors[vector[0], vector[1], vector[2], vector[3]] = vector[4]
    number = int(line.where.rpartition(":")[2])
    return Marker(
        line.one_of("op", OPS),
        line.count("arg"),
        line.count("tsc"),
        _banks(line, width),
        vectors,
        number,
        _by_shadow(line, shadows),
    )


def _interval(line: Line, snapshot: Marker, intervals: dict[int, list[Marker]]) -> None:
    """Adds a snapshot to its interval. The begin marker must come before the end marker."""
    snapshots = intervals.setdefault(snapshot.arg, [])
    expected = ("begin", "end")[len(snapshots) : len(snapshots) + 1]
    if snapshot.op not in expected:
        raise line.fault(f"interval {snapshot.arg}: expected one begin, then one end")
    snapshots.append(snapshot)


def _counts(values: list[Any]) -> bool:
    return all(type(value) is int and 0 <= value < LIMIT for value in values)


def _brackets(path: Path, markers: list[Marker], *, cut: bool) -> Iterator[Bracket]:
    """Matches each begin marker with the end marker of the same phase. Different phases may nest or
    overlap.

    cut: whether a power cut ended the run. If so, brackets that have no end are omitted.
    """
    started: dict[int, Marker] = {}
    shadows: dict[int, ByShadow] = {}
    iterations: dict[int, int] = {}
    for marker in markers:
        where = f"{path}:{marker.line}"
        for counts in shadows.values():
            _add(counts, marker.shadows)
        if marker.op == "begin":
            if marker.arg in started:
                raise StatsError(
                    f"{where}: unbalanced markers: begin({marker.arg}) while the begin marker of"
                    f" line {started[marker.arg].line} is open"
                )
            started[marker.arg] = marker
            shadows[marker.arg] = {}
        elif marker.op == "end":
            begin = started.pop(marker.arg, None)
            if begin is None:
                raise StatsError(f"{where}: unbalanced markers: end({marker.arg}) without a begin")
            iteration = iterations.get(marker.arg, 0)
            iterations[marker.arg] = iteration + 1
            yield Bracket(marker.arg, iteration, begin, marker, shadows.pop(marker.arg))
    for phase, begin in started.items() if not cut else ():
        raise StatsError(f"{path}:{begin.line}: unbalanced markers: begin({phase}) without an end")


def _add(counts: ByShadow, more: ByShadow) -> None:
    for bank, rows in more.items():
        known = counts.get(bank)
        counts[bank] = (
            [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(known, rows, strict=True)]
            if known
            else rows
        )
