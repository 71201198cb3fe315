# SPDX-License-Identifier: MIT
"""The runs that a page shows: of each that the experiment asks for the last one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe.experiment import Run
from p5lab.keep.store import Stored

ENDED = ("ok", "failed", "timeout")
Asks = tuple[object, ...]


@dataclass(frozen=True)
class Found:
    """What is stored of a run that was asked for, never empty: what worked before what failed, the
    newest first."""

    run: Run
    stored: list[Stored]

    @property
    def shown(self) -> Stored:
        return self.stored[0]

    @property
    def changed(self) -> list[str]:
        """Machine keys whose values are others by now."""
        now = self.run.machine.canonical("engine", "bochsrc")
        values = self.shown.record["machine"]["values"]
        return [key for key, value in values.items() if now.get(key) != value]


@dataclass(frozen=True)
class Results:
    """In the experiment's order; `missing` has no run that has ended."""

    found: list[Found]
    missing: list[Run]

    @property
    def shown(self) -> list[Stored]:
        return [one.shown for one in self.found]


def choose(runs: Sequence[Run], stored: Iterable[Stored]) -> Results:
    """Finds the runs of an experiment among what is stored. Runs are of one kind when they ask the
    same, as `gc` and p5stats.tidy.load have it; build products may be others by now."""
    ended: dict[Asks, list[Stored]] = {}
    for one in stored:
        if one.status in ENDED and one.record["identity"]:
            ended.setdefault(_recorded(one.record), []).append(one)
    for kind in ended.values():
        kind.sort(
            key=lambda one: (one.status == "ok", str(one.record.get("started", ""))), reverse=True
        )
    return Results(
        [Found(run, ended[_asked(run)]) for run in runs if _asked(run) in ended],
        [run for run in runs if _asked(run) not in ended],
    )


def _recorded(record: dict[str, Any]) -> Asks:
    machine = record["machine"]
    return (
        record["engine"],
        machine["name"],
        machine["geometry"],
        tuple(sorted(machine.get("shadows", {}))),
        record["feedback"],
        record["guest"]["name"],
        record["seed"],
        record["workload"]["name"],
        tuple(sorted(record["parameters"].items())),
        bool(record.get("request", {}).get("sample")),
    )


def _asked(run: Run) -> Asks:
    return (
        run.engine,
        run.machine.name,
        run.machine.geometry,
        tuple(sorted(shadow.name for shadow in run.shadows)),
        "on" if run.has_feedback else "off",
        run.guest.name,
        run.seed,
        run.workload.name,
        tuple(sorted(run.parameters.items())),
        run.sample is not None,
    )
