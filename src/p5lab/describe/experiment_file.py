# SPDX-License-Identifier: MIT
"""The content of an experiment's file, configs/experiments/NAME.toml, before the expansion to
runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any

from p5lab.describe import seeds, sweep, tomlfile
from p5lab.describe import workload as workloads
from p5lab.describe.keys import BY_NAME, GEOMETRY
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Shadow
from p5lab.describe.sweep import Axis, SweepPoint
from p5lab.describe.workload import Workload
from p5lab.errors import UserError, unknown
from p5lab.lab import VARIABLE, Lab

LIMIT_SECONDS = 120  # modelled time; the default of an experiment
EVENTS = ("all", "misses")
GEOMETRY_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}"
KEYS = (
    *("title", "machines", "guests", "seeds", "events", "feedback", "limit_seconds", "set"),
    *("overlay", "sweep", "run"),
)


@dataclass(frozen=True)
class Variant:
    """An overlay of the experiment's file. `where` returns the place of a key for messages."""

    where: tomlfile.Where
    settings: dict[str, Any]

    def of(self, board: Machine) -> Machine:
        """The machine with this overlay. Raises UserError for a wrong key or value."""
        return board.with_set(self.settings, self.where) if self.settings else board


@dataclass(frozen=True)
class Job:
    """A workload with all its parameters. `given`: the parameters that the experiment sets. `only`:
    the guests that run the job. `variant`: the machine keys that the job sets."""

    workload: Workload
    parameters: dict[str, int | str]
    given: tuple[str, ...]
    only: list[str]
    variant: Variant


@dataclass(frozen=True)
class RunEntry:
    """A [[run]] of the experiment's file. `where` returns the place of a parameter for messages."""

    where: tomlfile.Where
    workload: Workload
    parameters: dict[str, Any]
    only: list[str]
    variant: Variant

    def job(self, swept: Mapping[str, Any], axes: Sequence[Axis]) -> Job:
        """The job at one point of a sweep. The job ignores swept parameters that the job's workload
        does not have."""
        own = {name: value for name, value in swept.items() if name in self.workload.parameters}
        given = {**self.parameters, **own}

        def where(name: str) -> str:
            key = f"{sweep.PARAMETERS}{name}"
            return sweep.where(axes, key) if name in own else tomlfile.begin(self.where, name)

        return Job(
            self.workload,
            self.workload.resolve(given, where),
            tuple(given),
            self.only,
            self.variant,
        )


@dataclass(frozen=True)
class ExperimentFile:
    """An experiment's file. `misses`: each run counts the misses of many geometries. `machines`,
    `guests`: the names of machines and guests. `variants`: the overlays, at least one. With
    `misses`, there is exactly one overlay: the table `set`."""

    where: str
    table: tomlfile.TomlTable
    limit_seconds: int
    feedback: bool
    misses: bool
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    machines: list[str]
    guests: list[str]
    variants: list[Variant]
    entries: list[RunEntry]

    @property
    def workloads(self) -> set[str]:
        """The names of the workloads in the [[run]] tables of the experiment."""
        return {entry.workload.name for entry in self.entries}

    def geometries(self, points: list[SweepPoint]) -> list[tuple[str, str, dict[str, Any]]]:
        """With `misses`: one geometry for each overlay and each point of a sweep. A geometry
        consists of its name, its position in the file (for messages), and the machine keys that the
        geometry sets."""
        geometries: dict[str, tuple[str, str, dict[str, Any]]] = {}
        for overlay in self.table.tables("overlay"):
            overlay.only(["name", "set"])
            name = overlay.text("name")
            if not re.fullmatch(GEOMETRY_NAME, name) or name in geometries:
                raise UserError(
                    f"{overlay.at('name')}: expected a valid name that no other geometry has,"
                    f' such as "l2-512K"; found {name!r}'
                )
            geometries[name] = name, overlay.where, tomlfile.flatten(overlay.table("set").data)
        for point in points:
            if settings := {**point.machine, **point.optional}:
                name = ",".join(f"{key}={value}" for key, value in settings.items())
                geometries[name] = name, self.table.at("sweep"), settings
        for _, where, settings in geometries.values():
            for key in settings:
                if key in BY_NAME and key not in GEOMETRY:
                    raise UserError(
                        f"{where}: {key}: expected a key of the geometry of caches and TLBs, except"
                        ' the line length of L1; events = "misses" counts no clocks'
                    )
        if not geometries:
            raise UserError(
                f'{self.table.at("events")}: "misses" expects an [[overlay]] or a [[sweep]] of'
                " machine keys"
            )
        return list(geometries.values())


def names(lab: Lab) -> list[str]:
    """The names of all experiments, in alphabetical order."""
    return list(lab.files("experiment"))


def title(lab: Lab, name: str) -> str:
    """The title of an experiment: one line."""
    return _load(lab, name).text("title")


def read(lab: Lab, name: str) -> ExperimentFile:
    """Reads and checks a file. Raises UserError for an unknown name and for a wrong value."""
    if name not in names(lab):
        if name.endswith(".toml"):
            raise UserError(
                f"{name}: expected the name of an experiment; put the file into configs/experiments"
                f" or a directory {VARIABLE}/experiments, and say {PurePath(name).stem!r}"
            )
        raise unknown("experiment", name, names(lab))
    table = _load(lab, name)
    where = table.where
    table.only(KEYS)
    table.text("title")
    misses = table.choice("events", EVENTS, "all") == "misses"
    guests = table.texts("guests")
    return ExperimentFile(
        where,
        table,
        table.number("limit_seconds", LIMIT_SECONDS, least=1),
        table.flag("feedback", True),
        misses,
        tuple(sweep.axes(table)),
        seeds.of_table(table),
        table.texts("machines"),
        guests,
        [Variant(_settings(table).near, _common(table))] if misses else _variants(table),
        _entries(table, workloads.load(lab), guests),
    )


def check_workload(lab: Lab, name: str) -> None:
    """Raises UserError if no workload has this name."""
    known = workloads.names(lab)
    if name not in known:
        raise workloads.unknown_workload(lab, name, known)


def _load(lab: Lab, name: str) -> tomlfile.TomlTable:
    return tomlfile.load(lab.files("experiment")[name])


def _settings(table: tomlfile.TomlTable) -> tomlfile.TomlTable:
    return table.table("set", {})


def _common(table: tomlfile.TomlTable) -> dict[str, Any]:
    return tomlfile.flatten(_settings(table).data)


def _variants(table: tomlfile.TomlTable) -> list[Variant]:
    """The overlays: each [[overlay]], combined with `set`, which applies to all runs."""
    common = _common(table)
    variants = []
    for overlay in table.tables("overlay"):
        overlay.only(["set"])
        settings = tomlfile.flatten(overlay.table("set").data)
        where = partial(_place, _settings(table), overlay.table("set"), settings)
        variants.append(Variant(where, {**common, **settings}))
    return variants or [Variant(_settings(table).near, common)]


def _place(
    common: tomlfile.TomlTable, own: tomlfile.TomlTable, settings: Mapping[str, Any], key: str
) -> str:
    """The place of a key in an overlay, or in the `set` of the experiment if the overlay does not
    set the key."""
    return (own if key in settings else common).near(key)


def _entries(
    table: tomlfile.TomlTable, known: dict[str, Workload], guest_names: list[str]
) -> list[RunEntry]:
    entries = []
    for run in table.tables("run"):
        run.only(["workload", "parameters", "guests", "set"])
        name = run.text("workload")
        if name not in known:
            raise unknown("workload", name, known, where=run.near("workload"))
        only = run.texts("guests", guest_names)
        for guest in only:
            if guest not in guest_names:
                raise unknown("guest", guest, guest_names, where=run.near("guests"))
        given = run.table("parameters", {})
        known[name].resolve(given.data, given.near)
        variant = Variant(_settings(run).near, _common(run))
        entries.append(RunEntry(given.near, known[name], given.data, only, variant))
    return entries


def check_parameters(axes: Sequence[Axis], entries: Sequence[RunEntry]) -> None:
    """Raises UserError for a swept parameter that no workload of the experiment has."""
    known = dict.fromkeys(name for entry in entries for name in entry.workload.parameters)
    for axis in axes:
        for key in dict.fromkeys(key for step in axis.steps for key in step):
            name = key.removeprefix(sweep.PARAMETERS)
            if name != key and name not in known:
                raise unknown("parameter", name, known, where=tomlfile.begin(axis.where, key))


def shadow(board: Machine, name: str, where: str, settings: dict[str, Any]) -> Shadow:
    """An additional geometry, in the form that the engine reads."""
    values = board.with_set(settings, where).values
    return Shadow(name, {key: BY_NAME[key].canonical(values[key]) for key in sorted(settings)})
