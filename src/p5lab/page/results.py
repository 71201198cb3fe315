# SPDX-License-Identifier: MIT
"""Finds the stored runs that a page shows: the newest stored run for each run of the experiment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from p5lab.describe.experiment import Run
from p5lab.files import sha256_of
from p5lab.keep import selection, swept_keys
from p5lab.keep.store import Stored


@dataclass(frozen=True)
class RunGroup:
    """The stored runs of one kind, and the run of the experiment if the page is about an
    experiment.

    `stored` is never empty. Runs with status ok come before failed runs. Among runs with status ok,
    and among failed runs, newer runs come before older runs.
    """

    stored: list[Stored]
    run: Run | None = None

    @property
    def shown(self) -> Stored:
        """The stored run that the page shows, with the overlay of the experiment's run."""
        return selection.as_asked(self.stored[0], self.run) if self.run else self.stored[0]

    @property
    def named(self) -> list[Stored]:
        """All stored runs, called as the run that the page shows."""
        name = self.shown.record.get(selection.CALLED)
        if not name:
            return self.stored
        called = {selection.CALLED: name}
        return [Stored(stored.directory, stored.record | called) for stored in self.stored]

    @property
    def machine_title(self) -> str:
        """The title of the machine; empty if the page is not about an experiment."""
        return str(self.run.machine.values["machine.title"]) if self.run else ""

    @property
    def changed(self) -> list[str]:
        """The machine keys with values that have changed since the run. Empty if the page is not
        about an experiment."""
        if self.run is None:
            return []
        now = self.run.machine.canonical("engine", "bochsrc")
        values = self.shown.record["machine"]["values"]
        return [key for key, value in values.items() if now.get(key) != value]


@dataclass(frozen=True)
class Results:
    """The runs of a page, in the order of the experiment. `missing`: the runs of the experiment for
    which no finished run is stored."""

    groups: list[RunGroup]
    missing: list[Run]

    @property
    def of_experiment(self) -> bool:
        """Whether the page is about an experiment, and not only about stored runs."""
        return any(group.run for group in self.groups)

    @property
    def shown(self) -> list[Stored]:
        """The stored runs that the page shows."""
        return [group.shown for group in self.groups]


def choose(runs: Sequence[Run], stored: Iterable[Stored]) -> Results:
    """Finds the runs of an experiment among the stored runs.

    A stored run is of the same kind as a run of the experiment if it has the same engine, machine,
    guest, seed, workload and parameters. `gc` and p5stats.tidy.load use the same rule. The build
    products may differ. If no stored run has the same overlay, a stored run with the same values of
    all changed keys counts as well: a sweep that includes the machine's own value reuses a run
    without an overlay.
    """
    ended = selection.by_kind(stored)
    groups, missing = [], []
    for run in runs:
        same = ended.get(_asked(run, run.machine.geometry)) or _same_values(run, ended.values())
        if same:
            groups.append(RunGroup(same, run))
        else:
            missing.append(run)
    return Results(groups, missing)


def of_stored(groups: Iterable[list[Stored]]) -> Results:
    """Returns stored runs as results without an experiment. `groups`: the runs of
    p5lab.keep.selection.groups."""
    return Results([RunGroup(same) for same in groups], [])


def _same_values(run: Run, groups: Iterable[list[Stored]]) -> list[Stored]:
    """Returns the stored runs of the first group that has the same values as `run` in all keys of
    the two overlays, or [] if there is no such group."""
    now = run.machine.canonical("engine", "bochsrc")
    for same in groups:
        record = same[0].record
        values, changed = record["machine"]["values"], swept_keys.overlay(record)
        equal = all(values.get(key) == now.get(key) for key in {*run.machine.overlay, *changed})
        if equal and selection.kind(same[0]) == _asked(run, record["machine"]["geometry"]):
            return same
    return []


def _asked(run: Run, geometry: str) -> selection.Kind:
    """Returns the kind of a run that is not stored, as selection.kind. `geometry`: the overlay."""
    return (
        run.engine,
        run.machine.name,
        geometry,
        tuple(sorted(shadow.name for shadow in run.shadows)),
        "on" if run.has_feedback else "off",
        run.guest.name,
        run.seed,
        run.workload.name,
        tuple(sorted(run.parameters.items())),
        run.sample is not None,
        run.has_nominal_clocks,
        sha256_of(program) if run.program and (program := run.program.delivered) else "",
        "",
    )
