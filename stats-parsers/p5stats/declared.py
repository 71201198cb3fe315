# SPDX-License-Identifier: MIT
"""The events that engine/p5/events.toml and the device.toml of each device declare.

engine/p5/events.toml explains the fields. This module reads the files of the checkout, so the
engine, the parsers and the reports share one list of events.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from p5stats.problems import StatsError

ENGINE = Path(__file__).resolve().parents[2] / "engine"
FILES = ("*/events.toml", "devices/*/device.toml")
SCHEMA_VERSION = 1
NOMINAL = "nominal."  # begins the names of the events that depend on nominal clocks (x86-64)
UNITS = ("events", "cycles")
DEPENDS = ("program", "caches", "clocks")


@dataclass(frozen=True)
class Event:
    """One event. `part`: the directory that declares the event ("p5" or the name of a device).
    `isa`: the instruction set of the only engine that counts the event, or empty if all engines
    count it; "pentium+cmov" is a level of the engine for a Pentium. `when`: the option that
    requests the event, or empty. `codes`: the chip's event codes. `report`: the name of the event's
    row in reports, or empty."""

    name: str
    enum: str
    part: str
    counts: str
    unit: str = "events"
    depends: str = "program"
    isa: str = ""
    when: str = ""
    codes: tuple[int, ...] = ()
    report: str = ""
    report_unit: str = ""
    shadow_after: str = ""

    @property
    def has_nominal(self) -> bool:
        """Whether the engine for x86-64 counts the event only with nominal clocks."""
        return self.depends == "clocks" and self.isa in ("", "x86-64")

    @property
    def nominal(self) -> "Event":
        """The event in nominal clocks. It has a name, a row in reports and a unit of its own, so
        that no table or ratio contains it together with the event of a Pentium."""
        clocks = self.unit == "cycles"
        return replace(
            self,
            name=NOMINAL + self.name,
            counts=f"{self.counts}, in nominal clocks" if clocks else f"{self.counts} ({NOMINAL}*)",
            report=self.report and f"nominal {self.report}",
            report_unit=self.report_unit and f"nominal {self.report_unit}",
        )


GIVEN = ("name", "part")  # by the place of the declaration
FIELDS = {field.name: str for field in fields(Event) if field.name not in GIVEN} | {"codes": list}
TYPES = {str: "a text", bool: "true or false", list: "a list", dict: "a table"}


@cache
def events(engine: Path = ENGINE) -> dict[str, Event]:
    """All events by name, in the order of events.jsonl: events of the chip, then of the devices.

    StatsError names the file and the event of the first mistake.
    """
    files = []
    for pattern in FILES:
        for path in sorted(engine.glob(pattern)):
            data = load(path)
            files.append((data.get("order", 50), path.parent.name, path, data.get("events", {})))
    events: dict[str, Event] = {}
    enums: set[str] = set()
    for _, part, path, declared in sorted(files, key=lambda file: file[:2]):
        for name, given in declared.items():
            event = _event(f"{path}: {name}", name, part, given)
            if name in events or event.enum in enums:
                raise StatsError(f"{path}: {name}: expected a name and an enum of its own")
            events[name] = event
            enums.add(event.enum)
    return events


@cache
def nominal(engine: Path = ENGINE) -> dict[str, Event]:
    """The events that only an x86-64 guest with nominal clocks counts, by name, in the order of
    `events`."""
    nominals = (event.nominal for event in events(engine).values() if event.has_nominal)
    return {event.name: event for event in nominals}


def load(path: Path) -> dict[str, Any]:
    """The tables of a file of declarations. Raises StatsError if it cannot be read or has another
    schema version."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise StatsError(f"{path}: cannot be read: {error}") from None
    if data.get("schema_version") != SCHEMA_VERSION:
        raise StatsError(
            f"{path}: schema_version: expected {SCHEMA_VERSION},"
            f" found {data.get('schema_version')!r}"
        )
    del data["schema_version"]
    return data


def checked(where: str, value: object, kinds: Mapping[str, type]) -> dict[str, Any]:
    """A table whose values have these types of TYPES. StatsError for another value or an unknown
    key; `where` begins the message."""
    if not isinstance(value, dict):
        raise StatsError(f"{where}: expected a table, found {value!r}")
    for key, member in value.items():
        if key not in kinds:
            raise StatsError(f"{where}: unknown key {key!r}; known: {', '.join(kinds)}")
        if type(member) is not kinds[key]:
            raise StatsError(f"{where}: {key}: expected {TYPES[kinds[key]]}, found {member!r}")
    return value


def _event(where: str, name: str, part: str, given: Any) -> Event:  # noqa: ANN401
    given = checked(where, given, FIELDS)
    for field in ("enum", "depends", "counts"):
        if field not in given:
            raise StatsError(f"{where}: {field} is missing")
    event = Event(name=name, part=part, **{**given, "codes": tuple(given.get("codes", ()))})
    for field, value, known in (
        ("unit", event.unit, UNITS),
        ("depends", event.depends, DEPENDS),
        ("isa", event.isa, ("", "pentium", "pentium+cmov", "x86-64")),
    ):
        if value not in known:
            raise StatsError(f"{where}: {field}: expected one of {', '.join(filter(None, known))}")
    if not event.enum.isidentifier() or not all(type(code) is int for code in event.codes):
        raise StatsError(f"{where}: expected a C++ name in enum and whole numbers in codes")
    return event


def of_geometries(engine: Path = ENGINE) -> list[Event]:
    """The events that each geometry of a run counts separately, in the order of events.jsonl."""
    of_caches = [event for event in events(engine).values() if event.depends == "caches"]
    for event in [event for event in of_caches if event.shadow_after]:
        of_caches.remove(event)
        names = [other.name for other in of_caches]
        if event.shadow_after not in names:
            raise StatsError(
                f"{event.name}: shadow_after: {event.shadow_after!r} is no event that depends on"
                " caches"
            )
        of_caches.insert(names.index(event.shadow_after) + 1, event)
    return of_caches
