# SPDX-License-Identifier: MIT
"""Experiments: configs/experiments/NAME.toml expands to runs."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p5lab import guest as guests
from p5lab import host, tomlfile
from p5lab import machine as machines
from p5lab import program as programs
from p5lab import workload as workloads
from p5lab.errors import UserError, unknown
from p5lab.guest import Guest
from p5lab.lab import Lab
from p5lab.machine import Machine
from p5lab.program import Program
from p5lab.schema import BY_NAME, GEOMETRY
from p5lab.tomlfile import type_name
from p5lab.workload import Workload

SCHEMA_VERSION = 1
LIMIT_SECONDS = 120  # modelled; an experiment can say otherwise
TRACES = ("crossings", "accesses")
ACCESSES = 10_000_000  # to L1, that a trace of them ends after
EVENTS = ("all", "misses")
GEOMETRY_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}"
# A program of the user's own belongs to no experiment file.
NATIVE = "native"  # the engine that is this host itself, without machine, guest and seed
NO_LIMIT = 1 << 40  # bytes of memory of a host, for the size of a program
PROGRAM, PROGRAM_MACHINE, PROGRAM_GUEST = "program", "p90-premiere2", "linux"
SEED_LIMIT, SEEDS = 1 << 31, 1000


@dataclass(frozen=True)
class Shadow:
    """A geometry whose misses a run counts beside its own: what it sets, in canonical form."""

    name: str
    settings: dict[str, str]


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
    feedback: bool  # caches, TLBs and bus have their influence on time
    limit_seconds: int  # modelled time after which the run has failed
    engine: str = "bochs"
    program: Program | None = None  # the user's own, in place of the workload's
    trace: tuple[str, ...] = ()  # of TRACES
    accesses: int = ACCESSES  # of a trace of accesses, at most
    shadows: tuple[Shadow, ...] = ()
    model: bool = True  # False: one clock an instruction, no caches, TLBs or stalls
    shell: bool = False  # a shell on the guest's console, in place of the workload

    @property
    def parameter_text(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.parameters.items())

    @property
    def job(self) -> str:
        """The command line the guest is given."""
        if self.program:
            return self.program.job
        if self.shell:
            return "@shell"
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
        what = (
            " ".join((self.program.name, *self.program.arguments))
            if self.program
            else self.workload.name + given
        )
        if self.engine == NATIVE:
            return f"{what}, host"
        parts = [what, self.guest.name, self.machine.name]
        if self.machine.geometry:
            parts.append(self.machine.geometry)
        if self.seed:
            parts.append(f"seed {self.seed}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Cannot:
    """A run that an experiment asks for and a guest cannot do."""

    guest: str
    workload: str
    reason: str

    def __str__(self) -> str:
        if self.guest == host.NAME:
            return f"this host cannot run {self.workload}: {self.reason}"
        return f"guest {self.guest} cannot run {self.workload}: {self.reason}"


@dataclass(frozen=True)
class Expansion:
    """What an experiment comes to."""

    runs: list[Run]
    cannot: list[Cannot]


@dataclass(frozen=True)
class Filter:
    """What the command line changes: empty lists mean everything the experiment names."""

    machines: tuple[str, ...] = ()
    guests: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    settings: tuple[tuple[str, object], ...] = ()
    feedback: bool | None = None
    model: bool = True
    seeds: tuple[int, ...] = ()
    engine: str = "bochs"
    trace: tuple[str, ...] = ()
    accesses: int = ACCESSES


def names(lab: Lab) -> list[str]:
    return sorted(path.stem for path in lab.experiments.glob("*.toml"))


def title(lab: Lab, name: str) -> str:
    path = lab.experiments / f"{name}.toml"
    return tomlfile.load(path, schema_version=SCHEMA_VERSION).text("title")


def load(lab: Lab, name: str, choice: Filter | None = None) -> list[Run]:
    """All runs of an experiment that can be done; see `expand`."""
    return expand(lab, name, choice).runs


def expand(lab: Lab, name: str, choice: Filter | None = None) -> Expansion:
    """All runs of an experiment, in the order of its file: machine, overlay, guest, seed, [[run]].

    Everything is checked before anything runs.
    """
    if name not in names(lab):
        raise unknown("experiment", name, names(lab))
    choice = choice or Filter()
    table = tomlfile.load(lab.experiments / f"{name}.toml", schema_version=SCHEMA_VERSION)
    where = table.where
    table.only(["title", "machines", "guests", "seeds", "events", "feedback", "limit_seconds",
                "set", "overlay", "run"])  # fmt: skip
    table.text("title")
    limit = table.number("limit_seconds", LIMIT_SECONDS)
    if limit < 1:
        raise UserError(f"{where}: limit_seconds: expected at least 1 (modelled second)")
    feedback = table.flag("feedback", True) if choice.feedback is None else choice.feedback
    wanted_events = table.text("events", "all")
    if wanted_events not in EVENTS:
        raise UserError(f"{where}: events: expected one of {', '.join(EVENTS)};"
                        f" found {wanted_events!r}")  # fmt: skip
    misses = wanted_events == "misses"
    variants = [_common(table)] if misses else _variants(table)
    geometries = _geometries(table) if misses else []
    if misses and "accesses" in choice.trace:
        raise UserError(f'{where}: events: "misses" and --trace accesses are not for one run')
    seeds = choice.seeds or _seeds(table)
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

    if choice.engine == NATIVE:
        _check_native(choice)
        boards, variants, systems, seeds = [host.machine()], [{}], [host.guest()], (0,)
        feedback, geometries = False, []

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
    cannot = {
        Cannot(system.name, workload.name, reason): None
        for system in systems
        for workload, parameters, _, only in jobs
        if _asked(system, guest_names, only) and (reason := _why_not(system, workload, parameters))
    }
    for board in boards:
        for number, variant in enumerate(variants):
            origin = f"{where}: overlay[{number}]"
            variant_board = board.with_set(variant, origin) if variant else board
            if choice.settings:
                variant_board = variant_board.with_set(dict(choice.settings), "--set")
            shadows = tuple(_shadow(variant_board, *geometry) for geometry in geometries)
            for system in systems:
                check_isa(where, system, variant_board)
                for seed in seeds:
                    for workload, parameters, names_given, only in jobs:
                        if not _asked(system, guest_names, only) or _why_not(
                            system, workload, parameters
                        ):
                            continue
                        runs.append(Run(name, variant_board, system, workload, parameters,
                                        names_given, seed, feedback, limit, choice.engine,
                                        trace=choice.trace, accesses=choice.accesses,
                                        shadows=shadows,
                                        model=choice.model))  # fmt: skip
    if not runs and cannot:
        raise UserError(f"{where}: {'; '.join(map(str, cannot))}")
    if not runs:
        raise UserError(f"{where}: no runs are left: expected at least one [[run]] that matches")
    return Expansion(runs, list(cannot))


def of_program(lab: Lab, path: Path, arguments: str, choice: Filter) -> Expansion:
    """The runs of a program of the user's own: on each machine and guest, with each seed."""
    if choice.workloads:
        raise UserError("--workload: expected without --program, which is what runs")
    if choice.engine == NATIVE:
        _check_native(choice)
        program = programs.load(path, arguments, NO_LIMIT)
        run = Run(PROGRAM, host.machine(), host.guest(), program.workload, program.parameters, (),
                  0, False, LIMIT_SECONDS, choice.engine, program)  # fmt: skip
        return Expansion([run], [])
    feedback = True if choice.feedback is None else choice.feedback
    runs = []
    for machine in choice.machines or (PROGRAM_MACHINE,):
        board = machines.load(lab.machines, machine)
        if choice.settings:
            board = board.with_set(dict(choice.settings), "--set")
        program = programs.load(path, arguments, int(board.values["dram.size"]))
        for name in choice.guests or (PROGRAM_GUEST,):
            guest = guests.load(lab, name)
            check_isa("--program", guest, board)
            runs += [
                Run(PROGRAM, board, guest, program.workload, program.parameters, (), seed, feedback,
                    LIMIT_SECONDS, choice.engine, program, choice.trace,
                    choice.accesses, model=choice.model)
                for seed in choice.seeds or (0,)
            ]  # fmt: skip
    return Expansion(runs, [])


def _check_native(choice: Filter) -> None:
    """What makes no sense on the host itself is refused, not ignored."""
    given = {
        "--trace": choice.trace, "--seed": choice.seeds, "--set": choice.settings,
        "--machine": choice.machines, "--guest": choice.guests,
        "--feedback": choice.feedback is not None, "--model": not choice.model,
    }  # fmt: skip
    for option, value in given.items():
        if value:
            raise UserError(f"{option}: expected without --engine native: the host is as it is")


def _why_not(system: Guest, workload: Workload, parameters: dict[str, int | str]) -> str:
    """Why a system cannot do a run; empty: it can."""
    if system.name == host.NAME:
        return host.why_not(workload, parameters)
    return system.cannot.get(workload.name, "")


def _asked(guest: Guest, guest_names: list[str], only: list[str]) -> bool:
    """Whether a [[run]] is for this guest; one from the command line gets them all."""
    return guest.name not in guest_names or guest.name in only


def _common(table: tomlfile.Table) -> dict[str, Any]:
    return tomlfile.flatten(table.table("set", {}).data)


def _variants(table: tomlfile.Table) -> list[dict[str, Any]]:
    """The overlays: `set` for all runs, then one set of runs for each [[overlay]]."""
    common = _common(table)
    variants = []
    for overlay in table.tables("overlay"):
        overlay.only(["set"])
        variants.append({**common, **tomlfile.flatten(overlay.table("set").data)})
    return variants or [common]


def _geometries(table: tomlfile.Table) -> list[tuple[str, str, dict[str, Any]]]:
    """With events = "misses": of each overlay its name, where it stands and what it sets."""
    found: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for number, overlay in enumerate(table.tables("overlay")):
        overlay.only(["name", "set"])
        where, name = f"{table.where}: overlay[{number}]", overlay.text("name")
        if not re.fullmatch(GEOMETRY_NAME, name) or name in found:
            raise UserError(f"{where}: name: expected a name of its own for each geometry, such as"
                            f" \"l2-512K\"; found {name!r}")  # fmt: skip
        settings = tomlfile.flatten(overlay.table("set").data)
        for key in settings:
            if key in BY_NAME and key not in GEOMETRY:
                raise UserError(
                    f"{where}: {key}: expected only the geometry of caches and TLBs (and of L1 not"
                    ' the line) with events = "misses", which has no clocks'
                )
        found[name] = name, where, settings
    if not found:
        raise UserError(f'{table.where}: expected at least one [[overlay]] with events = "misses"')
    return list(found.values())


def _shadow(board: Machine, name: str, where: str, settings: dict[str, Any]) -> Shadow:
    values = board.with_set(settings, where).values
    return Shadow(name, {key: BY_NAME[key].canonical(values[key]) for key in sorted(settings)})


def check_isa(where: str, guest: Guest, machine: Machine) -> None:
    """Refuses a machine whose processor lacks instructions that the guest is built of."""
    isa = machine.values["cpu.isa"]
    if guest.isa != isa and isa == "pentium":
        raise UserError(
            f"{where}: guest {guest.name} needs cpu.isa {guest.isa!r}, machine {machine.name} has"
            f" {isa!r}"
        )


def _seeds(table: tomlfile.Table) -> tuple[int, ...]:
    seeds = table.items("seeds", [0])
    if not seeds or not all(type(seed) is int and 0 <= seed < SEED_LIMIT for seed in seeds):
        raise UserError(
            f"{table.where}: seeds: expected a list of whole numbers, 0 to {SEED_LIMIT - 1},"
            f" found {type_name(seeds)}"
        )
    return tuple(dict.fromkeys(seeds))


def parse_seeds(text: str) -> tuple[int, ...]:
    """The argument of --seed: numbers and ranges, such as 0,1,2 or 0-9."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < first + SEEDS:
            raise UserError(
                f"--seed: expected whole numbers and at most {SEEDS} of them, such as 3 or 0,1,2 or"
                f" 0-9; found {text!r}"
            )
        seeds |= dict.fromkeys(range(first, last + 1))
    return tuple(seeds)
