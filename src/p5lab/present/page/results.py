# SPDX-License-Identifier: MIT
"""Finds the stored runs that a page shows: the newest stored run for each run of the experiment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe.experiment import Run
from p5lab.keep.store import Stored

ENDED = ("ok", "failed", "timeout")
Asks = tuple[object, ...]


@dataclass(frozen=True)
class Found:
    """A run of the experiment, and the stored runs of the same kind.

    `stored` is never empty. Runs with status ok come before failed runs. Among runs with status ok,
    and among failed runs, newer runs come before older runs.
    """

    run: Run
    stored: list[Stored]

    @property
    def shown(self) -> Stored:
        """The stored run that the page shows."""
        return self.stored[0]

    @property
    def changed(self) -> list[str]:
        """The machine keys with values that have changed since the run."""
        now = self.run.machine.canonical("engine", "bochsrc")
        values = self.shown.record["machine"]["values"]
        return [key for key, value in values.items() if now.get(key) != value]


@dataclass(frozen=True)
class Results:
    """The runs of an experiment, in the order of the experiment. `missing`: the runs for which no
    finished run is stored."""

    found: list[Found]
    missing: list[Run]

    @property
    def shown(self) -> list[Stored]:
        """The stored runs that the page shows."""
        return [one.shown for one in self.found]


def choose(runs: Sequence[Run], stored: Iterable[Stored]) -> Results:
    """Finds the runs of an experiment among the stored runs.

    Two runs are of the same kind if their engine, machine, guest, seed, workload and parameters are
    the same. `gc` and p5stats.tidy.load use the same rule. The build products may differ.
    """
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
