# SPDX-License-Identifier: MIT
"""The counts of a run by dimension: one table for everything that a run counted.

A dimension says where a count belongs: ring, address space, machine mode, call, function and so on.
Each file of counts in a run directory is the table of one observer, which divides all counts by
several dimensions at once. `of_run` returns each of these tables in the same form. Two dimensions
that no observer has together exclude each other.

The sum of an event over all rows of a phase is the number that the markers of the phase count, for
each event that the observer has (not for intervals, which are not divided by phase).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from p5stats import (
    attribution,
    cpi,
    crossings,
    declared,
    intervals,
    known_calls,
    observers,
    phase_names,
    record,
    tidy,
)
from p5stats.lazy import pd
from p5stats.observed import MARKERS, TOTAL, Counted
from p5stats.problems import NotCounted, StatsError

# Dimensions that divide events: a busy cycle has a component of the CPI stack, a miss a cause, and
# a delivery a vector.
COMPONENT, CAUSE, VECTOR = "component", "cause", "vector"
SEED = "seed"  # divides the counts of several runs
BUSY, IDLE, CLOCKS, DELIVERIES = cpi.BUSY, cpi.IDLE, "clocks", "deliveries"
EVICTIONS = "evictions"
# The phases of what is not divided by phase: intervals, and evictions.
WHOLE_RUN, ALL_BRACKETS = "the whole run", "all brackets"
# The classes of misses (engine/measure/miss_classes.hh). A miss that bypasses the caches has none.
CAUSES = ("compulsory", "removed", "conflict", "capacity")
NO_CAUSE = "no cause"


@dataclass(frozen=True)
class Dimension:
    """`meaning`: what its values are. `options`: the options of `run` that count by it; empty if
    every run does."""

    meaning: str
    options: str = ""


EVICTING = "--attribute misses"
PLUGGED = observers.dimensions()
DIMENSIONS = {
    "phase": Dimension("name of the bracket"),
    "iteration": Dimension("number of the bracket in its phase"),
    SEED: Dimension("placement seed"),
    "ring": Dimension("privilege ring"),
    "space": Dimension("address space: its program, or the value of CR3"),
    COMPONENT: Dimension("component of the CPI stack, of busy cycles", "--cpi"),
    VECTOR: Dimension("interrupt or exception that was delivered"),
    "function": Dimension("function", "--attribute functions"),
    "module": Dimension("program, library or kernel of the function", "--attribute functions"),
    "crossing": Dimension("reason for entering the kernel", "--attribute functions"),
    "caller": Dimension("function that called the function", "--attribute stacks"),
    "line": Dimension("source line", "--attribute lines"),
    CAUSE: Dimension("why a cache or TLB missed", EVICTING),
    "cache": Dimension("cache or TLB that lost the line or page", EVICTING),
    "loser": Dimension("function that misses a line or page that was taken away", EVICTING),
    "lost": Dimension("use of it: code, data or page table", EVICTING),
    "winner": Dimension("function that evicted or removed it", EVICTING),
    "won": Dimension("use of what replaced it, or device or flush if it was removed", EVICTING),
    "colour": Dimension("page of the cache, or set of the TLB, of both", EVICTING),
    # A length that is no multiple of the time between two clock ticks (docs/concepts/cpi-stack.md).
    "interval": Dimension("number of the interval", "--interval 1000003"),
    "part": Dimension("part of the system that runs between crossings", "--trace crossings"),
    "step": Dimension("what ends the time of this part", "--trace crossings"),
}
for _observer, _own in PLUGGED.items():
    for _name, _meaning in _own.items():
        if _name in DIMENSIONS:
            raise StatsError(f"observer {_observer}: dimension {_name!r} exists already; rename it")
        DIMENSIONS[_name] = Dimension(_meaning, f"--{_observer}")
# The units of the events that only an observer has.
OWN_EVENTS = {
    CLOCKS: "cycles",
    DELIVERIES: "events",
    EVICTIONS: "events",
    "calls": "calls",
    "returned": "calls",
    "waited": "cycles",
}
# Ratios for each call that returned, with their units and with what is divided by `returned`: all
# events that have one of these names or begin with it.
PER_CALL = {
    "total/call": ("cycles", ("total.cycles",)),
    "waited/call": ("cycles", ("waited",)),
    "idle/call": ("cycles", ("total.cycles.idle", "total.idle")),
    "mode_changes/call": ("events", ("total.mode_changes",)),
    "crossings/call": ("events", ("total.crossings",)),
}


def per_call(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Of a ratio in PER_CALL, or of EVENT/call for any event of a processor: its unit, and what is
    divided. None for another name."""
    event = declared.events().get(name.removesuffix("/call"))
    if event and name.endswith("/call"):
        return event.unit, (TOTAL + event.name,)
    return PER_CALL.get(name)


@dataclass(frozen=True)
class Observer:
    """One file of counts. `name`: in the column `observer` of counts.parquet. `what`: a name for a
    message. `dimensions`: the columns of its table. `parts`: the dimensions that divide its events;
    a table has one of them."""

    name: str
    what: str
    file: str
    dimensions: tuple[str, ...]
    read: Callable[[Path], Counted]
    parts: tuple[str, ...] = ()

    def has(self, wanted: Iterable[str]) -> bool:
        """Whether the observer divides its counts by all these dimensions at once."""
        more = set(wanted) - {*self.dimensions, "phase", SEED}
        return more <= set(self.parts) and len(more) <= 1


def observers_of(wanted: Collection[str]) -> list[Observer]:
    """The observers that divide counts by all of these dimensions, the most detailed last. Raises
    StatsError if two of them exclude each other."""

    def able(names: Collection[str]) -> list[Observer]:
        return [observer for observer in OBSERVERS if observer.has(names)]

    if known := able(wanted):
        return known
    first, second = next((a, b) for a in wanted for b in wanted if not able((a, b)))
    raise StatsError(
        f"{first} and {second} exclude each other: no observer counts by both at once; expected one"
        " of the two"
    )


def of_run(directory: Path, observer: Observer, dimensions: Collection[str]) -> Counted:
    """The counts of a run directory by `dimensions` (of the observer), with the names of phases.
    With COMPONENT, the rows are the busy cycles of each component; with CAUSE, the misses of each
    cause; with VECTOR, the deliveries of each vector. The observer's file must exist.

    NotCounted if the observer of this run did not count by one of the dimensions (line, caller,
    component, cause). StatsError for a damaged file.
    """
    return divided(read(directory, observer), dimensions)


def read(directory: Path, observer: Observer) -> Counted:
    """All counts of an observer, with the names of phases and the seed of the run. The last few
    files are kept. StatsError for a damaged file."""
    files = (path.stat() for path in (directory / observer.file, directory / tidy.RECORD))
    with suppress(FileNotFoundError):
        stamps = tuple((stat.st_mtime_ns, stat.st_size) for stat in files)
        return _read(directory, observer, stamps)
    return _read.__wrapped__(directory, observer, ())


@lru_cache(maxsize=8)
def _read(directory: Path, observer: Observer, _: tuple[tuple[int, int], ...]) -> Counted:
    path = directory / tidy.RECORD
    facts = record.read(path) if path.exists() else {}
    is_stored = observer.name != MARKERS and (directory / tidy.COUNTS).exists()
    counted = tidy.read_observed(directory, observer.name) if is_stored else None
    counted = counted or _named(observer.read(directory), phase_names.of(facts))
    return Counted(counted.frame.assign(**{SEED: facts.get("seed", 0)}), counted.events)


def _named(counted: Counted, names: Mapping[int, str]) -> Counted:
    """The same counts with the names of phases."""
    phases = counted.frame["phase"].map(lambda number: names.get(number, str(number)))
    return Counted(counted.frame.assign(phase=phases), counted.events)


def observed(directory: Path, names: Mapping[int, str]) -> dict[str, Counted]:
    """What the observers of a run wrote into files of their own, by the names of the observers, for
    counts.parquet. `names`: those of the phases. StatsError for a damaged file."""
    counted: dict[str, Counted] = {}
    for observer in OBSERVERS:
        name, path = observer.name, directory / observer.file
        if name != MARKERS and name not in counted and path.is_file():
            with suppress(NotCounted):
                counted[name] = _named(observer.read(directory), names)
    return counted


def divided(counted: Counted, dimensions: Collection[str]) -> Counted:
    """The same counts, summed over all dimensions except these, as `of_run` returns them."""
    frame = counted.frame
    part = next((name for name in PARTS if name in dimensions and name not in frame), "")
    if part:
        counted = PARTS[part](counted)
    frame = counted.frame
    missing = [name for name in dimensions if name not in frame]
    if missing or not counted.events:
        raise NotCounted((missing or [part])[0])
    keys = list(dict.fromkeys(["phase", *dimensions, "event"]))
    sums = frame.groupby(keys, sort=False, as_index=False)["count"].sum()
    return Counted(sums, counted.events)


def _by_component(counted: Counted) -> Counted:
    frame = counted.frame
    plain = {event: cpi.plain(event) for event in frame["event"].unique()}
    names = {
        event: name.removeprefix(cpi.PREFIX)
        for event, name in plain.items()
        if name.startswith(cpi.PREFIX)
    }
    frame = frame[frame["event"].isin(names)]
    events = (BUSY,) if cpi.is_in(counted.events) else ()
    own = {COMPONENT: frame["event"].map(names), "event": BUSY}
    return Counted(frame.assign(**own), events)


def _by_cause(counted: Counted) -> Counted:
    """The misses of each event with causes. Misses without a cause are a cause of their own, so
    that the sum is the count of the event."""
    events = tuple(event for event in counted.events if f"{event}.{CAUSES[0]}" in counted.events)
    of, causes = {}, {}
    for event in events:
        for cause in CAUSES:
            of[f"{event}.{cause}"], causes[f"{event}.{cause}"] = event, cause
    frame = counted.frame
    classes = frame[frame["event"].isin(of)]
    names = classes["event"]
    classes = classes.assign(event=names.map(of), **{CAUSE: names.map(causes)})
    whole = frame[frame["event"].isin(events)].assign(**{CAUSE: NO_CAUSE})
    known = classes.assign(**{CAUSE: NO_CAUSE}, count=-classes["count"])
    return Counted(pd.concat([classes, whole, known], ignore_index=True), events)


def _by_vector(counted: Counted) -> Counted:
    names = {event: name for event in counted.events if (name := _vector(event))}
    frame = counted.frame[counted.frame["event"].isin(names)]
    frame = frame.assign(event=DELIVERIES, **{VECTOR: frame["event"].map(names)})
    return Counted(frame, (DELIVERIES,))


def _vector(event: str) -> str:
    """The name of the interrupt or exception whose deliveries an event counts, such as
    "exception 0Eh page fault"; empty for another event."""
    entry, _, vector = event.removeprefix(tidy.VECTOR).partition(".")
    if not event.startswith(tidy.VECTOR) or entry not in VECTOR_KINDS:
        return ""
    return known_calls.read().name(VECTOR_KINDS[entry], int(vector), None)


PARTS: dict[str, Callable[[Counted], Counted]] = {
    COMPONENT: _by_component,
    CAUSE: _by_cause,
    VECTOR: _by_vector,
}
VECTOR_KINDS = {
    "soft": known_calls.INT,
    "irq": known_calls.HARDWARE,
    "fault": known_calls.EXCEPTION,
}


# --- the observers --------------------------------------------------------------------------------


def _markers(directory: Path) -> Counted:
    frame, _ = tidy.read_run(directory)
    path = directory / tidy.RECORD
    if path.exists():  # the rows of shadows are counts of other machines
        geometry = record.read(path)["machine"]["geometry"]
        frame = frame[frame["geometry"] == geometry]
    frame = frame.rename(columns={"address_space": "space", "value": "count"})
    own = frame[["phase", "iteration", "ring", "space", "event", "count"]]
    return Counted(own, tuple(frame["event"].unique()))


def _plugged(name: str) -> Observer:
    """The observer of engine/observe with this name."""
    own = tuple(PLUGGED[name])
    file = f"{name}.jsonl"
    what = f"counts by {', '.join(own)}"
    return Observer(
        name, what, file, (*own, "ring", "space"), lambda at: observers.read(at / file, own), BOTH
    )


def _intervals(directory: Path) -> Counted:
    counted = intervals.read(directory / INTERVALS)
    return Counted(counted.frame().assign(phase=WHOLE_RUN), tuple(counted.events))


def _by_function(directory: Path) -> attribution.Attribution:
    """The counts by function. The last file is kept, because two observers read it."""
    path = directory / ATTRIBUTION
    return _functions(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=2)
def _functions(path: Path, _: int) -> attribution.Attribution:
    return attribution.read(path)


def _attribution(directory: Path) -> Counted:
    counted = _by_function(directory)
    return Counted(counted.frame(callers=counted.stacks), tuple(counted.events))


def _evictions(directory: Path) -> Counted:
    counted = _by_function(directory)
    if not any(event.endswith(CAUSES) for event in counted.events):
        raise NotCounted(EVICTIONS)
    frame = counted.eviction_frame()
    phases = frame["phase"].astype(object).where(frame["phase"].notna(), ALL_BRACKETS)
    return Counted(frame.assign(phase=phases, event=EVICTIONS), (EVICTIONS,))


def _crossings(directory: Path) -> Counted:
    rows: list[tuple[Any, ...]] = []
    events: dict[str, None] = {CLOCKS: None}
    for phase, brackets in crossings.read(directory / CROSSINGS).items():
        for iteration, bracket in enumerate(brackets):
            for step in bracket.steps:
                counts = {CLOCKS: step.clocks, **step.counts}
                if IDLE in counts:
                    counts[BUSY] = step.clocks - counts[IDLE]
                events |= dict.fromkeys(counts)
                where = phase, iteration, step.who, step.end
                rows += [(*where, event, count) for event, count in counts.items() if count]
    columns = ["phase", "iteration", "part", "step", "event", "count"]
    return Counted(pd.DataFrame(rows, columns=columns), tuple(events))


def _joint(directory: Path) -> Counted:
    return observers.read(directory / JOINT_COUNTS)


# The files are outputs of the engine (engine/session/outputs.toml).
INTERVALS, ATTRIBUTION = "intervals.jsonl", "attribution.jsonl"
CROSSINGS, JOINT_COUNTS = "crossings.jsonl", "joint.jsonl"
FUNCTIONS = ("function", "module", "line", "caller", "crossing", "ring", "space")
PAIRS = ("cache", "loser", "lost", "winner", "won", "colour")
BOTH = (COMPONENT, VECTOR)
BY_FUNCTION = Observer(
    "attribution", "counts by function", ATTRIBUTION, FUNCTIONS, _attribution, (COMPONENT, CAUSE)
)
# What joint counts can divide by, with or without functions.
OTHERS = ("interval", *(name for own in PLUGGED.values() for name in own))
JOINT = Observer("joint", "joint counts", JOINT_COUNTS, (*OTHERS, "ring", "space"), _joint, BOTH)
JOINT_BY_FUNCTION = Observer(
    "attribution",
    "joint counts by function",
    ATTRIBUTION,
    (*FUNCTIONS, *OTHERS),
    _attribution,
    (COMPONENT, CAUSE),
)
# In the order of preference. Counts by function know the programs of address spaces, so they come
# before the other files with address spaces.
OBSERVERS = (
    Observer(MARKERS, "counts", tidy.COUNTS, ("iteration", "ring"), _markers, BOTH),
    BY_FUNCTION,
    Observer(MARKERS, "counts", tidy.COUNTS, ("iteration", "ring", "space"), _markers, BOTH),
    *map(_plugged, PLUGGED),
    Observer(
        "intervals", "counts by interval", INTERVALS, ("interval", "ring"), _intervals, (COMPONENT,)
    ),
    Observer(
        "crossings",
        "trace of crossings",
        CROSSINGS,
        ("iteration", "part", "step"),
        _crossings,
        (COMPONENT,),
    ),
    Observer("evictions", "evictions", ATTRIBUTION, (*PAIRS, CAUSE), _evictions),
    JOINT,
    JOINT_BY_FUNCTION,
)
