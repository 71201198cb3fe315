# SPDX-License-Identifier: MIT
"""Finds the differences between runs, in their inputs and in their counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from p5lab.errors import UserError
from p5lab.keep import named
from p5lab.keep.store import Stored
from p5lab.present.tables import plain, ratio
from p5stats import tidy
from p5stats.lazy import pd

INSTRUCTIONS = "instructions"
ALL_RINGS = "all"
DIGEST = 12  # characters of a digest that are shown


@dataclass(frozen=True)
class InputDifference:
    """An input that is not the same in all runs. The value of a run that does not have the input is
    None. `chosen`: whether the user chooses the input by a name or a value. The other inputs
    (files, settings, versions) follow from these choices."""

    what: str
    values: tuple[str | None, ...]
    chosen: bool = True


@dataclass(frozen=True)
class EventDifference:
    """An event of a phase. The counts of this event differ between the runs.

    `values`: the mean over the iterations of each run. `ratio`: the ratio of each value to the
    value of the first run. `per_1000`: the values per 1000 instructions of the same ring. A number
    is NaN if the event was not counted or if the divisor is zero.
    """

    phase: str
    ring: str
    event: str
    unit: str
    values: tuple[float, ...]
    ratio: tuple[float, ...]
    per_1000: tuple[float, ...]


@dataclass(frozen=True)
class Difference:
    """The inputs and the counts that differ between `runs`."""

    runs: tuple[Stored, ...]
    made: list[InputDifference]
    counted: list[EventDifference]


def between(runs: Sequence[Stored], *, rings: bool = False) -> Difference:
    """Compares runs. `rings`: compare each privilege ring separately.

    Raises UserError if the status of a run is not ok.
    """
    for stored in runs:
        if stored.status != "ok":
            raise UserError(
                f"run {stored.id} is {stored.status} and has no counts: {stored.record['reason']}"
            )
    made = [
        *_different([dict(_chosen(stored.record)) for stored in runs], chosen=True),
        *_different([dict(_following(stored.record)) for stored in runs], chosen=False),
    ]
    counted = [_counts(stored, rings) for stored in runs]
    return Difference(tuple(runs), made, list(_unequal(counted)))


def _chosen(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the value of each input that the user chooses."""
    yield "engine", record["engine"]
    yield "machine", record["machine"]["name"]
    yield from record["machine"]["values"].items()
    yield "guest", record["guest"]["name"]
    yield "workload", record["workload"]["name"]
    for name, value in record["parameters"].items():
        yield f"parameters.{name}", str(value)
    yield "seed", str(record["seed"])
    yield "feedback", record["feedback"]


def _following(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the name and the value of each input that follows from the choices: files, settings
    and versions."""
    for role, digest in record["identity"]["digests"].items():
        yield f"file {role}", digest[:DIGEST]
    # The engine's settings contain the machine keys, the job and its script again. These repeated
    # settings are left out.
    listed = {*record["machine"]["values"], "run.job"}
    for name, value in _flat(record["identity"]["settings"], ""):
        key = name.removeprefix("engine.conf.").removeprefix("job.")
        if key not in listed and not key.startswith("run.step."):
            yield name, value
    for name, value in record["versions"].items():
        yield f"version of {name}", str(value)


def _flat(value: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, str(value)


def _different(made: Sequence[Mapping[str, str]], *, chosen: bool) -> Iterator[InputDifference]:
    for what in dict.fromkeys(name for inputs in made for name in inputs):
        values = tuple(inputs.get(what) for inputs in made)
        if len(set(values)) > 1:
            yield InputDifference(what, values, chosen)


def _counts(stored: Stored, rings: bool) -> pd.Series:
    """Returns the mean counts over the iterations. The index of the series consists of phase, ring,
    event and unit."""
    frame, _ = tidy.read_run(stored.directory)
    own = frame[frame["geometry"] == stored.record["machine"]["geometry"]]
    iterations = own.groupby("phase")["iteration"].nunique()
    ring = own["ring"].astype(str) if rings else ALL_RINGS
    sums = own.assign(ring=ring).groupby(["phase", "ring", "event", "unit"], sort=False)["value"]
    totals = sums.sum()
    return totals / iterations.reindex(totals.index.get_level_values("phase")).to_numpy()


def _unequal(counted: Sequence[pd.Series]) -> Iterator[EventDifference]:
    wide = pd.concat(counted, axis="columns", sort=False)
    for (phase, ring, event, unit), row in wide.iterrows():
        values = tuple(float(value) for value in row)
        if len({None if math.isnan(value) else value for value in values}) == 1:
            continue
        key = (phase, ring, INSTRUCTIONS, "events")
        base = wide.loc[key] if key in wide.index else [math.nan] * len(values)
        yield EventDifference(
            phase,
            ring,
            event,
            unit,
            values,
            tuple(ratio(value, values[0]) for value in values),
            tuple(1000 * ratio(*pair) for pair in zip(values, base, strict=True)),
        )


def rows(difference: Difference) -> list[dict[str, object]]:
    """A row for each count of each run. A number that is missing is None."""
    return [
        {
            "phase": event.phase,
            "ring": event.ring,
            "event": event.event,
            "unit": event.unit,
            "run": stored.id,
            "value": plain(event.values[place]),
            "ratio": plain(event.ratio[place]),
            "per_1000": plain(event.per_1000[place]),
        }
        for event in difference.counted
        for place, stored in enumerate(difference.runs)
    ]


def document(difference: Difference) -> dict[str, Any]:
    """The difference as an object for JSON. A number that is missing is null."""
    return {
        "runs": [{"run": run.id, "label": named.shown(run.record)} for run in difference.runs],
        "made_of": [{"what": row.what, "values": row.values} for row in difference.made],
        "counted": [
            asdict(event)
            | {
                name: list(map(plain, getattr(event, name)))
                for name in ("values", "ratio", "per_1000")
            }
            for event in difference.counted
        ],
    }
