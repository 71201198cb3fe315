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

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p5stats import (
    attribution,
    calls,
    cpi,
    crossings,
    intervals,
    known_calls,
    modes,
    phase_names,
    record,
    tidy,
)
from p5stats.problems import StatsError

if TYPE_CHECKING:
    import pandas as pd
else:
    from p5stats.lazy import pd

COMPONENT = "component"  # each busy cycle has a component of the CPI stack
BUSY, IDLE, CLOCKS = cpi.BUSY, cpi.IDLE, "clocks"
WHOLE_RUN = "the whole run"  # the phase of intervals


@dataclass(frozen=True)
class Dimension:
    """`meaning`: what its values are. `options`: the options of `run` that count by it; empty if
    every run does."""

    meaning: str
    options: str = ""


DIMENSIONS = {
    "phase": Dimension("name of the bracket"),
    "iteration": Dimension("number of the bracket in its phase"),
    "ring": Dimension("privilege ring"),
    "space": Dimension("address space: its program, or the value of CR3"),
    COMPONENT: Dimension("component of the CPI stack, of busy cycles", "--cpi"),
    "mode": Dimension("machine mode", "--modes"),
    "call": Dimension("system call, interrupt or exception", "--calls"),
    "kind": Dimension("kind of call", "--calls"),
    "function": Dimension("function", "--attribute functions"),
    "module": Dimension("program, library or kernel of the function", "--attribute functions"),
    "crossing": Dimension("reason for entering the kernel", "--attribute functions"),
    "caller": Dimension("function that called the function", "--attribute stacks"),
    "line": Dimension("source line", "--attribute lines"),
    "interval": Dimension("number of the interval", "--interval"),
    "part": Dimension("part of the system that runs between crossings", "--trace crossings"),
    "step": Dimension("what ends the time of this part", "--trace crossings"),
}
# The units of the events that only an observer has. `mode_changes` and `crossings` are the sums of
# the events with these names.
OWN_EVENTS = {
    CLOCKS: "cycles",
    "mode_changes": "events",
    "crossings": "events",
    "calls": "calls",
    "returned": "calls",
    "total.cycles": "cycles",
    "waited": "cycles",
}


class NotCounted(StatsError):
    """The run did not count by a dimension."""

    def __init__(self, dimension: str) -> None:
        super().__init__(f"no counts by {dimension}")
        self.dimension = dimension


@dataclass(frozen=True)
class Counted:
    """The counts of one observer. `frame`: the columns `phase`, the observer's dimensions, `event`
    and `count`. The phase is a number, as in the file, or a name. `events`: all events that the
    observer counts, also those that did not happen."""

    frame: pd.DataFrame
    events: tuple[str, ...]


@dataclass(frozen=True)
class Observer:
    """One file of counts. `what`: a name for a message. `dimensions`: the columns of its table."""

    what: str
    file: str
    dimensions: tuple[str, ...]
    read: Callable[[Path], Counted]

    def has(self, wanted: Iterable[str]) -> bool:
        """Whether the observer divides its counts by all these dimensions at once."""
        return set(wanted) <= {*self.dimensions, "phase", *self._components}

    @property
    def _components(self) -> tuple[str, ...]:
        return () if self.file == CALLS else (COMPONENT,)


def observers_of(wanted: Collection[str]) -> list[Observer]:
    """The observers that divide counts by all of these dimensions, the most detailed last. Raises
    StatsError if two of them exclude each other."""
    if found := [one for one in OBSERVERS if one.has(wanted)]:
        return found
    first, second = next(
        (a, b) for a in wanted for b in wanted if not any(one.has((a, b)) for one in OBSERVERS)
    )
    raise StatsError(
        f"{first} and {second} exclude each other: no observer counts by both at once; expected one"
        " of the two"
    )


def of_run(directory: Path, observer: Observer, dimensions: Collection[str]) -> Counted:
    """The counts of a run directory by `dimensions` (of the observer), with the names of phases.
    With COMPONENT, the rows are the busy cycles of each component. The observer's file must exist.

    NotCounted if the observer of this run did not count by one of the dimensions (line, caller,
    component). StatsError for a damaged file.
    """
    return divided(read(directory, observer), dimensions)


def read(directory: Path, observer: Observer) -> Counted:
    """All counts of an observer, with the names of phases. StatsError for a damaged file."""
    found = observer.read(directory)
    path = directory / tidy.RECORD
    names = phase_names.of(record.read(path)) if path.exists() else {}
    phases = found.frame["phase"].map(lambda one: names.get(one, str(one)))
    return Counted(found.frame.assign(phase=phases), found.events)


def divided(found: Counted, dimensions: Collection[str]) -> Counted:
    """The same counts, summed over all dimensions except these, as `of_run` returns them."""
    frame, events = found.frame, found.events
    if COMPONENT in dimensions:
        frame = frame[frame["event"].map(cpi.plain).str.startswith(cpi.PREFIX)]
        names = frame["event"].map(cpi.plain).str.removeprefix(cpi.PREFIX)
        events = (BUSY,) if cpi.is_in(events) else ()
        frame = frame.assign(**{COMPONENT: names, "event": BUSY})
    missing = [name for name in dimensions if name not in frame] or ([] if events else [COMPONENT])
    if missing:
        raise NotCounted(missing[0])
    keys = list(dict.fromkeys(["phase", *dimensions, "event"]))
    sums = frame.groupby(keys, sort=False, as_index=False)["count"].sum()
    return Counted(sums, events)


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


def _modes(directory: Path) -> Counted:
    found = modes.read(directory / MODES)
    vectors = found.vector_frame()
    events = tidy.VECTOR + vectors["entry"] + "." + vectors["vector"].astype(str)
    frame = pd.concat([found.frame(), vectors.assign(event=events)], ignore_index=True)
    frame = frame.assign(space=frame["space"].map("{:#010x}".format))
    return Counted(frame, (*found.events, *events.unique()))


def _intervals(directory: Path) -> Counted:
    found = intervals.read(directory / INTERVALS)
    return Counted(found.frame().assign(phase=WHOLE_RUN), tuple(found.events))


def _attribution(directory: Path) -> Counted:
    found = attribution.read(directory / ATTRIBUTION)
    return Counted(found.frame(callers=found.stacks), tuple(found.events))


def _calls(directory: Path) -> Counted:
    """Exclusive counts. `returned`, `waited` and the events that begin with `total` are of the
    calls that returned; `total` includes nested calls, so its sum means nothing."""
    phases = calls.read(directory / CALLS)
    frame, known = calls.frame(phases), known_calls.read()
    names = [
        calls.OUTSIDE_NAME if kind == calls.OUTSIDE else known.short(kind, *_present(*numbers))
        for kind, *numbers in frame[["kind", "vector", "function"]].itertuples(index=False)
    ]
    columns = {
        BUSY: frame["exclusive"] - frame["exclusive_idle"],
        IDLE: frame["exclusive_idle"],
        "mode_changes": frame["exclusive_mode_changes"],
        "crossings": frame["exclusive_crossings"],
        "calls": frame["calls"],
        "returned": frame["returned"],
        "total.cycles": frame["inclusive"],
        "waited": frame["waited"],
    }
    parts = [
        frame[["phase", "kind"]].assign(call=names, event=event, count=counts)
        for event, counts in columns.items()
    ]
    return Counted(pd.concat(parts, ignore_index=True), tuple(columns))


def _present(*numbers: object) -> list[int | None]:
    """The numbers of a row, with None for a missing number."""
    return [None if pd.isna(number) else int(str(number)) for number in numbers]


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


# The files are outputs of the engine (engine/session/outputs.toml).
MODES, INTERVALS, ATTRIBUTION = "modes.jsonl", "intervals.jsonl", "attribution.jsonl"
CALLS, CROSSINGS = "calls.jsonl", "crossings.jsonl"
FUNCTIONS = ("function", "module", "line", "caller", "crossing", "ring", "space")
# In the order of preference. Counts by function know the programs of address spaces, so they come
# before the other files with address spaces.
OBSERVERS = (
    Observer("counts", tidy.COUNTS, ("iteration", "ring"), _markers),
    Observer("counts by function", ATTRIBUTION, FUNCTIONS, _attribution),
    Observer("counts by mode", MODES, ("mode", "ring", "space"), _modes),
    Observer("counts", tidy.COUNTS, ("iteration", "ring", "space"), _markers),
    Observer("counts by call", CALLS, ("call", "kind"), _calls),
    Observer("counts by interval", INTERVALS, ("interval", "ring"), _intervals),
    Observer("trace of crossings", CROSSINGS, ("iteration", "part", "step"), _crossings),
)
