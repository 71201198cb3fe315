# SPDX-License-Identifier: MIT
"""Experiments. This module makes the list of runs from an experiment's file
(configs/experiments/NAME.toml) or from a program of the user."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from p5lab.describe import engine as engines
from p5lab.describe import experiment_file as files
from p5lab.describe import guest as guests
from p5lab.describe import machine as machines
from p5lab.describe import sweep, this_host
from p5lab.describe.experiment_file import ExperimentFile, Job, RunEntry, Variant
from p5lab.describe.experiment_file import names as names
from p5lab.describe.experiment_file import title as title
from p5lab.describe.guest import CMOV, X86_64, Guest, built
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Geometries, Shadow
from p5lab.describe.request import Filter as Filter
from p5lab.describe.run import ImageRun, Run
from p5lab.describe.sweep import Axis, SweepPoint
from p5lab.errors import UserError
from p5lab.lab import Lab

# For a run of `--program`: the name of the experiment in the record, the default machine and the
# default guest.
PROGRAM, PROGRAM_MACHINE, PROGRAM_GUEST = "program", "p90-premiere2", "linux"
MEDIA = "media"  # the name of the experiment in the record of a boot from media
# Runs that belong to no experiment: the option that makes them.
OWN = {PROGRAM: "--program FILE", MEDIA: "--disk FILE"}


def again(name: str) -> str:
    """The words after `./p5lab run` that make the runs of an experiment: its name. For PROGRAM and
    MEDIA, the words are an option with a placeholder."""
    return OWN.get(name, name)


@dataclass(frozen=True)
class Cannot:
    """An experiment requests this workload on this guest, but the guest cannot run the workload."""

    guest: str
    workload: str
    reason: str

    def __str__(self) -> str:
        if self.guest == this_host.NAME:
            return f"this host cannot run {self.workload}: {self.reason}"
        return f"guest {self.guest} cannot run {self.workload}: {self.reason}"


@dataclass(frozen=True)
class Expansion:
    """The runs of an experiment. `runs`: the possible runs. `cannot`: the runs that are impossible
    on their guests. `swept`: the keys of the sweeps that have several values."""

    runs: list[Run]
    cannot: list[Cannot]
    swept: tuple[str, ...] = ()


def load(lab: Lab, name: str, choice: Filter | None = None) -> list[Run]:
    """All possible runs of an experiment. Raises UserError in the same cases as `expand`."""
    return expand(lab, name, choice).runs


def expand(lab: Lab, name: str, choice: Filter | None = None) -> Expansion:
    """All runs of an experiment, in the order of its file: machine, overlay, point of a sweep,
    guest, seed, [[run]].

    All values are checked before the first run. Raises UserError for wrong values, and if no run is
    left.
    """
    asked = _asked(lab, name, choice or Filter())
    runs: dict[tuple[object, ...], Run] = {}
    cannot: dict[Cannot, None] = {}
    for part in _parts(asked):
        if reason := part.system.why_not(part.job.workload, part.job.parameters):
            cannot[Cannot(part.system.name, part.job.workload.name, reason)] = None
            continue
        run = _run(name, asked, part)
        # If a workload does not have the swept parameter, it gets only one run for all values.
        job = (run.workload.name, run.job)
        same = (part.board.name, part.board.geometry, part.system.name, part.seed, job)
        runs.setdefault(same, run)
    if not runs and cannot:
        raise UserError(f"{asked.where}: {'; '.join(map(str, cannot))}")
    if not runs:
        raise UserError(
            f"{asked.where}: no runs are left: expected at least one [[run]] that matches"
        )
    axes = asked.axes if asked.simulates else []
    return Expansion(list(runs.values()), list(cannot), sweep.keys(axes))


@dataclass(frozen=True)
class _Asked:
    """An experiment's file and the changes of the command line, with all names resolved."""

    file: ExperimentFile
    choice: Filter
    simulates: bool
    feedback: bool
    boards: list[Machine]
    variants: list[Variant]
    axes: list[Axis]
    points: list[SweepPoint]
    geometries: list[tuple[str, str, dict[str, object]]]
    systems: list[Guest]
    seeds: tuple[int, ...]
    entries: list[RunEntry]

    @property
    def where(self) -> str:
        """The name of the experiment's file, for messages."""
        return self.file.where


@dataclass(frozen=True)
class _Part:
    """The properties by which one run differs from the other runs of its experiment."""

    board: Machine
    system: Guest
    seed: int
    job: Job
    shadows: tuple[Shadow, ...]


def _asked(lab: Lab, name: str, choice: Filter) -> _Asked:
    can = engines.capabilities(choice.engine)
    file = files.read(lab, name)
    own = dict.fromkeys(entry.workload.name for entry in file.entries)
    for wanted in choice.workloads:
        files.check_workload(lab, wanted)
        if wanted not in own:
            raise UserError(
                f"workload {wanted}: experiment {name} does not run it; expected one of"
                f" {', '.join(own)}"
            )
    axes = [*file.axes, *choice.sweeps]
    files.check_parameters(axes, file.entries)
    points = sweep.points(axes)
    place = file.table.near
    workloads = choice.workloads or file.workloads
    asked = _Asked(
        file,
        choice,
        can.simulates,
        file.feedback if choice.feedback is None else choice.feedback,
        [machines.load(lab, machine) for machine in choice.machines]
        or [machines.load(lab, machine, place) for machine in file.machines],
        file.variants,
        axes,
        sweep.without_machine(points) if file.misses else points,
        file.geometries(points) if file.misses else [],
        [guests.load(lab, guest) for guest in choice.guests]
        or [guests.load(lab, guest, place) for guest in file.guests],
        choice.seeds or file.seeds,
        [entry for entry in file.entries if entry.workload.name in workloads],
    )
    if not can.simulates:
        check_host(choice)
        return _on_this_host(asked)
    engines.check(choice.engine, choice.observation)
    # With `misses`, a single run counts the misses of all geometries of the sweep. These geometries
    # are the shadows of the run (p5lab.describe.observation.shadows).
    shadows = Geometries(()) if file.misses else None
    choice.observation.with_(shadows).check_together(asked.where)
    return asked


def _on_this_host(asked: _Asked) -> _Asked:
    """The same experiment with this host as the only machine and the only guest, and with 0 as the
    only seed."""
    return replace(
        asked,
        feedback=False,
        boards=[this_host.machine()],
        variants=[Variant("", {})],
        points=sweep.points(()),
        geometries=[],
        systems=[this_host.guest()],
        seeds=(0,),
    )


def _parts(asked: _Asked) -> Iterator[_Part]:
    """All combinations that the experiment requests, in the order of `expand`. Some of these
    combinations may be impossible on their guest."""
    for board, variant, point in itertools.product(asked.boards, asked.variants, asked.points):
        jobs = []
        for entry in asked.entries:
            job = entry.job(point.parameters, asked.axes)
            own = _board(asked, board, variant, point, job)
            shadows = tuple(files.shadow(own, *geometry) for geometry in asked.geometries)
            jobs.append((job, own, shadows))
        for system, seed, (job, own, shadows) in itertools.product(
            asked.systems, asked.seeds, jobs
        ):
            # The command line can name a guest that the experiment's file does not name. Such a
            # guest runs all jobs.
            if system.name not in asked.file.guests or system.name in job.only:
                yield _Part(own, system, seed, job, shadows)


def _board(asked: _Asked, board: Machine, variant: Variant, point: SweepPoint, job: Job) -> Machine:
    """A machine with the changes of the overlay, the [[run]], the sweep and --set, in this
    order."""
    own = variant.of(board)
    if asked.simulates:
        own = job.variant.of(own)
    return _at_point(own, point, asked.axes, asked.choice)


def _at_point(board: Machine, point: SweepPoint, axes: Iterable[Axis], choice: Filter) -> Machine:
    """A machine with the changes of a point of the sweeps and of --set. The machine leaves out the
    optional keys of parts that it does not have then, and those that --set sets."""
    settings, where = dict(choice.settings), partial(sweep.where, axes)
    if point.machine:
        board = board.with_set(dict(point.machine), where)
    if settings:
        board = board.with_set(settings, "--set")
    optional = {
        key: value
        for key, value in point.optional.items()
        if key not in settings and board.has(key)
    }
    return board.with_set(optional, where) if optional else board


def _run(name: str, asked: _Asked, part: _Part) -> Run:
    choice = asked.choice
    return ImageRun(
        name,
        with_isa(asked.where, part.system, part.board),
        built(part.system),
        part.job.workload,
        part.job.parameters,
        part.job.given,
        part.seed,
        asked.feedback,
        choice.limit or asked.file.limit_seconds,
        choice.engine,
        model=choice.model,
        observation=choice.observation.with_(Geometries(part.shadows) if part.shadows else None),
    )


def boards(lab: Lab, choice: Filter) -> Iterator[Machine]:
    """The machines of runs that belong to no experiment, with the changes of the command line."""
    for name in choice.machines or (PROGRAM_MACHINE,):
        different: dict[str, Machine] = {}
        for point in sweep.points(choice.sweeps):
            if point.parameters:
                raise UserError(f"{sweep.OPTION}: expected machine keys with --program")
            board = _at_point(machines.load(lab, name), point, choice.sweeps, choice)
            different.setdefault(board.geometry, board)
        yield from different.values()


def check_host(choice: Filter) -> None:
    """Raises UserError for options that have no meaning on the host itself."""
    given = {
        "--seed": choice.seeds,
        "--set": choice.settings,
        "--machine": choice.machines,
        "--guest": choice.guests,
        sweep.OPTION: choice.sweeps,
        "--feedback": choice.feedback is not None,
        "--model": not choice.model,
        "--limit": choice.limit is not None,
    }
    for option, value in given.items():
        if value:
            raise engines.refused(choice.engine, option)
    engines.check(choice.engine, choice.observation)


def with_isa(where: str, guest: Guest, machine: Machine) -> Machine:
    """The machine for a guest. If the guest is built for x86-64 or needs CMOV, the machine gets
    such a processor. Raises UserError if the processor lacks instructions that the guest uses."""
    isa = machine.values["cpu.isa"]
    if guest.isa in (CMOV, X86_64) and "cpu.isa" not in machine.overlay:
        return replace(
            machine,
            values=machine.values | {"cpu.isa": guest.isa},
            sources=machine.sources | {"cpu.isa": f"choice: required by guest {guest.name}"},
        )
    if guest.isa != isa and (isa == "pentium" or X86_64 in (guest.isa, isa)):
        raise UserError(
            f"{where}: guest {guest.name} needs cpu.isa {guest.isa!r}; machine {machine.name} has"
            f" {isa!r}"
        )
    return machine
