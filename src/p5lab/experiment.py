# SPDX-License-Identifier: MIT
"""Experiments: configs/experiments/NAME.toml expands to runs."""

from dataclasses import dataclass
from typing import Any

from p5lab import guest as guests
from p5lab import machine as machines
from p5lab import tomlfile
from p5lab import workload as workloads
from p5lab.errors import UserError, unknown
from p5lab.guest import Guest
from p5lab.lab import Lab
from p5lab.machine import Machine
from p5lab.tomlfile import type_name
from p5lab.workload import Workload

SCHEMA_VERSION = 1
LIMIT_SECONDS = 120  # modelled; an experiment can say otherwise


@dataclass(frozen=True)
class Run:
    """One simulation, with nothing left to look up."""

    experiment: str
    machine: Machine
    guest: Guest
    workload: Workload
    parameters: dict[str, int | str]
    given: tuple[str, ...]  # parameters the experiment sets: enough to tell its runs apart
    seed: int
    feedback: bool  # modelled clocks drive virtual time
    limit_seconds: int  # modelled time after which the run has failed
    engine: str = "bochs"

    @property
    def parameter_text(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.parameters.items())

    @property
    def job(self) -> str:
        """The command line the guest is given."""
        return f"{self.workload.name} {self.parameter_text}".strip()

    @property
    def limit_cycles(self) -> int:
        return self.limit_seconds * self.machine.clock_hz

    @property
    def label(self) -> str:
        """Short name for people."""
        given = "".join(
            f" {self.parameters[name]}"
            if self.workload.parameters[name].choices
            else f" {name}={self.parameters[name]}"
            for name in self.given
        )
        parts = [self.workload.name + given, self.guest.name, self.machine.name]
        if self.machine.geometry:
            parts.append(self.machine.geometry)
        return ", ".join(parts)


@dataclass(frozen=True)
class Filter:
    """What the command line changes: empty lists mean everything the experiment names."""

    machines: tuple[str, ...] = ()
    guests: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    settings: tuple[tuple[str, object], ...] = ()
    feedback: bool | None = None


def names(lab: Lab) -> list[str]:
    return sorted(path.stem for path in lab.experiments.glob("*.toml"))


def title(lab: Lab, name: str) -> str:
    path = lab.experiments / f"{name}.toml"
    return tomlfile.load(path, schema_version=SCHEMA_VERSION).text("title")


def load(lab: Lab, name: str, choice: Filter | None = None) -> list[Run]:
    """All runs of an experiment, in the order of its file: machine, overlay, guest, seed, [[run]].

    Everything is checked before anything runs.
    """
    if name not in names(lab):
        raise unknown("experiment", name, names(lab))
    choice = choice or Filter()
    table = tomlfile.load(lab.experiments / f"{name}.toml", schema_version=SCHEMA_VERSION)
    where = table.where
    table.only(["title", "machines", "guests", "seeds", "feedback", "limit_seconds", "set",
                "overlay", "run"])  # fmt: skip
    table.text("title")
    limit = table.number("limit_seconds", LIMIT_SECONDS)
    if limit < 1:
        raise UserError(f"{where}: limit_seconds: expected at least 1 (modelled second)")
    feedback = table.flag("feedback", True) if choice.feedback is None else choice.feedback
    variants = _variants(table)
    seeds = _seeds(table)
    guest_names = table.texts("guests")
    known = workloads.load(lab)
    for wanted in choice.workloads:
        if wanted not in known:
            raise unknown("workload", wanted, known)
    boards = [
        machines.load(lab.machines, machine)
        for machine in choice.machines or table.texts("machines")
    ]
    systems = [guests.load(lab, guest) for guest in choice.guests or guest_names]

    jobs = []
    for entry in table.tables("run"):
        entry.only(["workload", "parameters", "guests"])
        workload_name = entry.text("workload")
        if workload_name not in known:
            raise unknown("workload", workload_name, known, where=entry.where)
        only = entry.texts("guests", guest_names)
        for guest in only:
            if guest not in guest_names:
                raise unknown("guest", guest, guest_names, where=entry.where)
        given = entry.table("parameters", {})
        parameters = known[workload_name].resolve(given.data, given.where)
        if not choice.workloads or workload_name in choice.workloads:
            jobs.append((known[workload_name], parameters, tuple(given.data), only))

    runs = []
    for board in boards:
        for number, variant in enumerate(variants):
            origin = f"{where}: overlay[{number}]"
            variant_board = board.with_set(variant, origin) if variant else board
            if choice.settings:
                variant_board = variant_board.with_set(dict(choice.settings), "--set")
            for system in systems:
                _check_isa(where, system, variant_board)
                for seed in seeds:
                    for workload, parameters, names_given, only in jobs:
                        if system.name in guest_names and system.name not in only:
                            continue
                        if workload.name in system.cannot:
                            raise UserError(
                                f"{where}: guest {system.name} cannot run {workload.name}:"
                                f" {system.cannot[workload.name]}"
                            )
                        runs.append(Run(name, variant_board, system, workload, parameters,
                                        names_given, seed, feedback, limit))  # fmt: skip
    if not runs:
        raise UserError(f"{where}: no runs are left: expected at least one [[run]] that matches")
    return runs


def _variants(table: tomlfile.Table) -> list[dict[str, Any]]:
    """The overlays: `set` for all runs, then one set of runs for each [[overlay]]."""
    common = tomlfile.flatten(table.table("set", {}).data)
    variants = []
    for overlay in table.tables("overlay"):
        overlay.only(["set"])
        variants.append({**common, **tomlfile.flatten(overlay.table("set").data)})
    return variants or [common]


def _check_isa(where: str, guest: Guest, machine: Machine) -> None:
    isa = machine.values["cpu.isa"]
    if guest.isa != isa and isa == "pentium":
        raise UserError(
            f"{where}: guest {guest.name} needs cpu.isa {guest.isa!r}, machine {machine.name} has"
            f" {isa!r}"
        )


def _seeds(table: tomlfile.Table) -> list[int]:
    seeds = table.items("seeds", [0])
    for seed in seeds:
        # Nothing takes a seed yet; accepting one would record a difference that is none.
        if type(seed) is not int or seed != 0:
            raise UserError(
                f"{table.where}: seeds: expected [0] (no guest takes a placement seed yet),"
                f" found {type_name(seed)}"
            )
    return seeds
