# SPDX-License-Identifier: MIT
"""Experiments: configs/experiments/NAME.toml expands to runs."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from p5lab.describe import guest as guests
from p5lab.describe import machine as machines
from p5lab.describe import program as programs
from p5lab.describe import sweep, this_host, tomlfile
from p5lab.describe import workload as workloads
from p5lab.describe.guest import X86_64, Guest
from p5lab.describe.keys import BY_NAME, GEOMETRY, readable
from p5lab.describe.machine import Machine
from p5lab.describe.program import Program
from p5lab.describe.sweep import Axis, Point
from p5lab.describe.tomlfile import type_name
from p5lab.describe.workload import Workload
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

SCHEMA_VERSION = 1
LIMIT_SECONDS = 120  # modelled; an experiment can say otherwise
TRACES = ("crossings", "accesses")
# Counts by function, and beside them by the calls that led there, or with the classes of misses.
ATTRIBUTIONS = ("functions", "stacks", "misses")
ACCESSES = 10_000_000  # to L1, that a trace of them ends after
EVENTS = ("all", "misses")
GEOMETRY_NAME = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,39}"
# A program of the user's own belongs to no experiment file.
NATIVE = "native"  # the engine that is this host itself, without machine, guest and seed
EMBEDDED = "bochs"
NO_LIMIT = 1 << 40  # bytes of memory of a host, for the size of a program
PROGRAM, PROGRAM_MACHINE, PROGRAM_GUEST = "program", "p90-premiere2", "linux"
SEED_LIMIT, SEEDS = 1 << 31, 1000


@dataclass(frozen=True)
class Shadow:
    """A geometry whose misses a run counts beside its own: what it sets, in canonical form."""

    name: str
    settings: dict[str, str]


@dataclass(frozen=True)
class Interval:
    """A part of a run: instructions inside the brackets, counted from the first of them. `weight`:
    how many of them all it stands for."""

    number: int
    begin: int
    end: int
    weight: int


@dataclass(frozen=True)
class Sample:
    """The intervals that a run simulates in detail, in the order of time, with functional warming
    for so many instructions before each, and the texts of the .simpoints and .weights files that
    chose them (p5stats.simpoint)."""

    intervals: tuple[Interval, ...]
    warm_up: int
    simpoints: str
    weights: str


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
    engine: str = EMBEDDED
    program: Program | None = None  # the user's own, in place of the workload's
    trace: tuple[str, ...] = ()  # of TRACES
    accesses: int = ACCESSES  # of a trace of accesses, at most
    shadows: tuple[Shadow, ...] = ()
    model: bool = True  # False: one clock an instruction, no caches, TLBs or stalls
    shell: bool = False  # a shell on the guest's console, in place of the workload
    vectors: int = 0  # write basic-block vectors of intervals of so many instructions; 0: none
    attribute: tuple[str, ...] = ()  # of ATTRIBUTIONS
    sample: Sample | None = None  # simulate only these parts in detail
    power_cut: int = 0  # microseconds after the guest is ready; 0: never
    pcap: bool = False  # write what is on the wire

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
    def has_clocks(self) -> bool:
        """Whether its time is that of a machine: the embedded engine knows the clocks of a Pentium
        only, and of a processor of x86-64 none."""
        return self.engine != EMBEDDED or self.machine.values["cpu.isa"] != X86_64

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
            parts.append(readable(self.machine.geometry))
        if self.seed:
            parts.append(f"seed {self.seed}")
        if self.vectors:
            parts.append(f"block vectors of {self.vectors}")
        if self.attribute:
            parts.append(f"by {', '.join(self.attribute)}")
        if self.sample:
            parts.append(f"{len(self.sample.intervals)} intervals")
        if self.power_cut:
            parts.append(f"power cut at {self.power_cut / 1e6:g} s")
        if self.pcap:
            parts.append("captured")
        return ", ".join(parts)


@dataclass(frozen=True)
class Cannot:
    """A run that an experiment asks for and a guest cannot do."""

    guest: str
    workload: str
    reason: str

    def __str__(self) -> str:
        if self.guest == this_host.NAME:
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
    engine: str = EMBEDDED
    trace: tuple[str, ...] = ()
    accesses: int = ACCESSES
    sweeps: tuple[Axis, ...] = ()
    vectors: int = 0
    attribute: tuple[str, ...] = ()
    power_cut: int = 0
    pcap: bool = False


def names(lab: Lab) -> list[str]:
    """All experiments, in alphabetical order."""
    return list(lab.files("experiment"))


def title(lab: Lab, name: str) -> str:
    """What an experiment is about, in a line."""
    return tomlfile.load(lab.files("experiment")[name], schema_version=SCHEMA_VERSION).text("title")


def load(lab: Lab, name: str, choice: Filter | None = None) -> list[Run]:
    """All runs of an experiment that can be done; see `expand`."""
    return expand(lab, name, choice).runs


def expand(lab: Lab, name: str, choice: Filter | None = None) -> Expansion:
    """All runs of an experiment, in the order of its file: machine, overlay, point of a sweep,
    guest, seed, [[run]].

    Everything is checked before anything runs.
    """
    if name not in names(lab):
        raise unknown("experiment", name, names(lab))
    choice = choice or Filter()
    table = tomlfile.load(lab.files("experiment")[name], schema_version=SCHEMA_VERSION)
    where = table.where
    table.only(
        [
            "title",
            "machines",
            "guests",
            "seeds",
            "events",
            "feedback",
            "limit_seconds",
            "set",
            "overlay",
            "sweep",
            "run",
        ]
    )
    table.text("title")
    limit = table.number("limit_seconds", LIMIT_SECONDS)
    if limit < 1:
        raise UserError(f"{where}: limit_seconds: expected at least 1 (modelled second)")
    feedback = table.flag("feedback", True) if choice.feedback is None else choice.feedback
    wanted_events = table.text("events", "all")
    if wanted_events not in EVENTS:
        raise UserError(
            f"{where}: events: expected one of {', '.join(EVENTS)}; found {wanted_events!r}"
        )
    misses = wanted_events == "misses"
    axes = [*sweep.axes(table), *choice.sweeps]
    points = sweep.points(axes)
    variants = [_Variant(f"{where}: set", _common(table))] if misses else _variants(table)
    geometries = _geometries(table, points) if misses else []
    if misses:  # one run has all machines of the sweep as its shadows
        points = sweep.without_machine(points)
    if misses and "accesses" in choice.trace:
        raise UserError(f'{where}: events: "misses" and --trace accesses are not for one run')
    if "misses" in choice.attribute and (misses or "accesses" in choice.trace):
        raise UserError(
            f'{where}: --attribute misses: expected without events = "misses" and --trace accesses'
        )
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
        boards, variants, systems, seeds = (
            [this_host.machine()],
            [_Variant("", {})],
            [this_host.guest()],
            (0,),
        )
        feedback, geometries, points = False, [], sweep.points(())

    entries = _entries(table, known, guest_names)
    _check_parameters(axes, entries)
    if choice.workloads:
        entries = [entry for entry in entries if entry.workload.name in choice.workloads]

    runs: list[Run] = []
    cannot: dict[Cannot, None] = {}
    seen = set()  # a parameter that a workload does not have makes no further run of it
    for board in boards:
        for variant, point in itertools.product(variants, points):
            jobs = []
            for entry in entries:
                job = entry.job(point.parameters)
                own_board = variant.of(board)
                if choice.engine != NATIVE:
                    own_board = job.variant.of(own_board)
                if point.machine:
                    own_board = own_board.with_set(dict(point.machine), f"{where}: sweep")
                if choice.settings:
                    own_board = own_board.with_set(dict(choice.settings), "--set")
                shadows = tuple(_shadow(own_board, *geometry) for geometry in geometries)
                jobs.append((job, own_board, shadows))
            for system in systems:
                for seed in seeds:
                    for job, own_board, shadows in jobs:
                        if not _asked(system, guest_names, job.only):
                            continue
                        if reason := system.why_not(job.workload, job.parameters):
                            cannot[Cannot(system.name, job.workload.name, reason)] = None
                            continue
                        run = Run(
                            name,
                            with_isa(where, system, own_board),
                            system,
                            job.workload,
                            job.parameters,
                            job.given,
                            seed,
                            feedback,
                            limit,
                            choice.engine,
                            trace=choice.trace,
                            accesses=choice.accesses,
                            shadows=shadows,
                            model=choice.model,
                            vectors=choice.vectors,
                            attribute=choice.attribute,
                            power_cut=choice.power_cut,
                            pcap=choice.pcap,
                        )
                        same = (board.name, own_board.geometry, system.name, seed, run.job)
                        if same not in seen:
                            seen.add(same)
                            runs.append(run)
    if not runs and cannot:
        raise UserError(f"{where}: {'; '.join(map(str, cannot))}")
    if not runs:
        raise UserError(f"{where}: no runs are left: expected at least one [[run]] that matches")
    return Expansion(runs, list(cannot))


def of_program(lab: Lab, path: Path, arguments: str, choice: Filter) -> Expansion:
    """The runs of a program of the user's own, or of the guest's: on each machine and guest, with
    each seed."""
    if choice.workloads:
        raise UserError("--workload: expected without --program, which is what runs")
    in_guest = str(path).startswith(programs.IN_GUEST)
    if choice.engine == NATIVE:
        if in_guest:
            raise UserError(
                f"--program {path}: expected without --engine native, which has no guest"
            )
        _check_native(choice)
        program = programs.load(path, arguments, NO_LIMIT)
        run = Run(
            PROGRAM,
            this_host.machine(),
            this_host.guest(),
            program.workload,
            program.parameters,
            (),
            0,
            False,
            LIMIT_SECONDS,
            choice.engine,
            program,
        )
        return Expansion([run], [])
    feedback = True if choice.feedback is None else choice.feedback
    runs = []
    for board in _program_boards(lab, choice):
        for name in choice.guests or (PROGRAM_GUEST,):
            guest = guests.load(lab, name)
            own_board = with_isa("--program", guest, board)
            if in_guest and not guest.image:
                raise UserError(
                    f"--program {path}: guest {name} has only programs of ours; expected a guest"
                    " that is a distribution, such as debian64"
                )
            memory = int(board.values["dram.size"])
            program = (
                programs.in_guest(str(path), arguments)
                if in_guest
                else programs.load(path, arguments, memory, guest.isa)
            )
            runs += [
                Run(
                    PROGRAM,
                    own_board,
                    guest,
                    program.workload,
                    program.parameters,
                    (),
                    seed,
                    feedback,
                    LIMIT_SECONDS,
                    choice.engine,
                    program,
                    choice.trace,
                    choice.accesses,
                    model=choice.model,
                    vectors=choice.vectors,
                    attribute=choice.attribute,
                    power_cut=choice.power_cut,
                    pcap=choice.pcap,
                )
                for seed in choice.seeds or (0,)
            ]
    return Expansion(runs, [])


def _program_boards(lab: Lab, choice: Filter) -> Iterator[Machine]:
    for name in choice.machines or (PROGRAM_MACHINE,):
        for point in sweep.points(choice.sweeps):
            if point.parameters:
                raise UserError(f"{sweep.OPTION}: expected machine keys with --program")
            board = machines.load(lab.machines, name)
            if point.machine:
                board = board.with_set(dict(point.machine), sweep.OPTION)
            yield board.with_set(dict(choice.settings), "--set") if choice.settings else board


def _check_native(choice: Filter) -> None:
    """What makes no sense on the host itself is refused, not ignored."""
    given = {
        "--trace": choice.trace,
        "--seed": choice.seeds,
        "--set": choice.settings,
        "--machine": choice.machines,
        "--guest": choice.guests,
        sweep.OPTION: choice.sweeps,
        "--feedback": choice.feedback is not None,
        "--model": not choice.model,
        "--bbv": choice.vectors,
        "--attribute": choice.attribute,
        "--power-cut": choice.power_cut,
        "--pcap": choice.pcap,
    }
    for option, value in given.items():
        if value:
            raise UserError(f"{option}: expected without --engine native: the host is as it is")


def _asked(guest: Guest, guest_names: list[str], only: list[str]) -> bool:
    """Whether a [[run]] is for this guest; one from the command line gets them all."""
    return guest.name not in guest_names or guest.name in only


def _common(table: tomlfile.Table) -> dict[str, Any]:
    return tomlfile.flatten(table.table("set", {}).data)


@dataclass(frozen=True)
class _Variant:
    """An overlay of the experiment's file; `where` names it in messages."""

    where: str
    settings: dict[str, Any]

    def of(self, board: Machine) -> Machine:
        return board.with_set(self.settings, self.where) if self.settings else board


def _variants(table: tomlfile.Table) -> list[_Variant]:
    """The overlays: `set` for all runs, then one set of runs for each [[overlay]]."""
    common = _common(table)
    variants = []
    for overlay in table.tables("overlay"):
        overlay.only(["set"])
        settings = tomlfile.flatten(overlay.table("set").data)
        variants.append(_Variant(overlay.where, {**common, **settings}))
    return variants or [_Variant(f"{table.where}: set", common)]


@dataclass(frozen=True)
class _Job:
    """What a system is asked to do: a workload with all its parameters; `given` are those that the
    experiment sets, `only` the guests that are asked, `variant` what it sets of the machine."""

    workload: Workload
    parameters: dict[str, int | str]
    given: tuple[str, ...]
    only: list[str]
    variant: _Variant


@dataclass(frozen=True)
class _Entry:
    """A [[run]] of the experiment's file."""

    where: str
    workload: Workload
    parameters: dict[str, Any]
    only: list[str]
    variant: _Variant

    def job(self, swept: Mapping[str, Any]) -> _Job:
        """With the parameters of a sweep, of which it takes those it has."""
        own = {name: value for name, value in swept.items() if name in self.workload.parameters}
        given = {**self.parameters, **own}
        return _Job(
            self.workload,
            self.workload.resolve(given, self.where),
            tuple(given),
            self.only,
            self.variant,
        )


def _entries(
    table: tomlfile.Table, known: dict[str, Workload], guest_names: list[str]
) -> list[_Entry]:
    entries = []
    for run in table.tables("run"):
        run.only(["workload", "parameters", "guests", "set"])
        name = run.text("workload")
        if name not in known:
            raise unknown("workload", name, known, where=run.where)
        only = run.texts("guests", guest_names)
        for guest in only:
            if guest not in guest_names:
                raise unknown("guest", guest, guest_names, where=run.where)
        given = run.table("parameters", {})
        known[name].resolve(given.data, given.where)
        variant = _Variant(f"{run.where}: set", _common(run))
        entries.append(_Entry(given.where, known[name], given.data, only, variant))
    return entries


def _check_parameters(axes: list[Axis], entries: list[_Entry]) -> None:
    """A swept parameter that no workload of the experiment has is a mistake."""
    known = dict.fromkeys(name for entry in entries for name in entry.workload.parameters)
    for axis in axes:
        for key in dict.fromkeys(key for step in axis.steps for key in step):
            name = key.removeprefix(sweep.PARAMETERS)
            if name != key and name not in known:
                raise unknown("parameter", name, known, where=axis.where)


def _geometries(
    table: tomlfile.Table, points: list[Point]
) -> list[tuple[str, str, dict[str, Any]]]:
    """With events = "misses": of each overlay and each point of a sweep its name, where it stands
    and what it sets."""
    found: dict[str, tuple[str, str, dict[str, Any]]] = {}
    for overlay in table.tables("overlay"):
        overlay.only(["name", "set"])
        name = overlay.text("name")
        if not re.fullmatch(GEOMETRY_NAME, name) or name in found:
            raise UserError(
                f"{overlay.where}: name: expected a name of its own for each geometry,"
                f' such as "l2-512K"; found {name!r}'
            )
        found[name] = name, overlay.where, tomlfile.flatten(overlay.table("set").data)
    for point in points:
        if point.machine:
            name = ",".join(f"{key}={value}" for key, value in point.machine.items())
            found[name] = name, f"{table.where}: sweep", dict(point.machine)
    for _, where, settings in found.values():
        for key in settings:
            if key in BY_NAME and key not in GEOMETRY:
                raise UserError(
                    f"{where}: {key}: expected only the geometry of caches and TLBs (and of L1 not"
                    ' the line) with events = "misses", which has no clocks'
                )
    if not found:
        raise UserError(
            f'{table.where}: events: "misses" expects an [[overlay]] or a [[sweep]] of machine keys'
        )
    return list(found.values())


def _shadow(board: Machine, name: str, where: str, settings: dict[str, Any]) -> Shadow:
    values = board.with_set(settings, where).values
    return Shadow(name, {key: BY_NAME[key].canonical(values[key]) for key in sorted(settings)})


def with_isa(where: str, guest: Guest, machine: Machine) -> Machine:
    """The machine as this guest gets it: with a processor of x86-64 if it is made for one. Refuses
    a machine whose processor lacks instructions that the guest is built of."""
    isa = machine.values["cpu.isa"]
    if guest.isa == X86_64 and "cpu.isa" not in machine.overlay:
        return replace(
            machine,
            values=machine.values | {"cpu.isa": X86_64},
            sources=machine.sources | {"cpu.isa": f"choice: of the guest {guest.name}"},
        )
    if guest.isa != isa and (isa == "pentium" or X86_64 in (guest.isa, isa)):
        raise UserError(
            f"{where}: guest {guest.name} needs cpu.isa {guest.isa!r}, machine {machine.name} has"
            f" {isa!r}"
        )
    return machine


def _seeds(table: tomlfile.Table) -> tuple[int, ...]:
    if isinstance(table.data.get("seeds"), str):
        return _seed_list(table.text("seeds"), f"{table.where}: seeds")
    seeds = table.items("seeds", [0])
    if not seeds or not all(type(seed) is int and 0 <= seed < SEED_LIMIT for seed in seeds):
        raise UserError(
            f"{table.where}: seeds: expected a list of whole numbers, 0 to {SEED_LIMIT - 1},"
            f" found {type_name(seeds)}"
        )
    return tuple(dict.fromkeys(seeds))


def parse_seeds(text: str) -> tuple[int, ...]:
    """The argument of --seed."""
    return _seed_list(text, "--seed")


def _seed_list(text: str, where: str) -> tuple[int, ...]:
    """Numbers and ranges, such as 0,1,2 or 0-9."""
    seeds: dict[int, None] = {}
    for part in text.split(","):
        match = re.fullmatch(r" *([0-9]{1,9})(?:-([0-9]{1,9}))? *", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < first + SEEDS:
            raise UserError(
                f"{where}: expected whole numbers and at most {SEEDS} of them, such as 3 or 0,1,2"
                f" or 0-9; found {text!r}"
            )
        seeds |= dict.fromkeys(range(first, last + 1))
    return tuple(seeds)
