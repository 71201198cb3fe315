# SPDX-License-Identifier: MIT
"""Runs from their description to their record: identified, queued, executed somewhere, recorded.

Where a run is executed is a Place: in engines of this process (Here), or on the workers of a Dask
cluster (p5lab.execute.cluster). Both execute it by p5lab.execute.one_run.
"""

import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from p5lab import __version__, engines
from p5lab.describe.run import Run
from p5lab.engines import EVENTS, Outcome
from p5lab.errors import UserError, disk_error
from p5lab.execute import forkserver, one_run, rerun
from p5lab.execute.forkserver import Servers
from p5lab.execute.one_run import INTERRUPTED, Done, Task
from p5lab.host.files import read_json
from p5lab.keep import store
from p5lab.lab import PLACES, Lab

# The virtual-time limit is the engine's; this one catches an engine that itself hangs.
HOST_LIMIT_SECONDS = 3600
PREVIOUS = "events.previous.jsonl"
NOT_BEGUN = "not begun: another run failed before it (--fail-fast)"
TO_RUN = "to run"


@dataclass(frozen=True)
class Result:
    """What became of one run."""

    run: Run
    id: str
    directory: Path
    status: str
    reason: str
    reused: bool
    wall_seconds: float


@dataclass(frozen=True)
class Known:
    """The id of a run and the status of its record; `to run` where there is none, or where its
    files are not what was recorded."""

    id: str
    status: str


@dataclass(frozen=True)
class _Job:
    """A run that has been identified."""

    run: Run
    id: str
    directory: Path
    made_of: dict[str, Any]
    boot: str  # runs with the same one can share a boot; empty: none

    def describe(self) -> dict[str, Any]:
        return {**_describe(self.run, self.id), **self.made_of}

    def result(self, status: str, reason: str, wall: float = 0, reused: bool = False) -> Result:
        return Result(self.run, self.id, self.directory, status, reason, reused, wall)


class Place(Protocol):
    """Where runs are executed. Its methods are called from several threads."""

    @property
    def at_a_time(self) -> int:
        """How many runs it is given at the same time."""
        ...

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        """Which of these runs, by their places in the list of their boots, are given to it one
        after another."""
        ...

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        """Executes a run; afterwards its files are in `directory`, all or none. Tells by `began`
        that it is under way; None: it was `stopped` before. Lost: the place itself is gone."""
        ...

    def ended(self, boot: str) -> None:
        """A run with this boot has ended, or need not be run."""
        ...


class Lost(UserError):
    """Nothing can be executed in a place any more."""


class Here:
    """Engines of this process, in the run directories themselves."""

    def __init__(self, at_a_time: int, boots: Sequence[str]) -> None:
        self.at_a_time = at_a_time
        self._servers = Servers(boots)

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        return [[number] for number in range(len(boots))]

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        began()
        return one_run.perform(
            task,
            directory,
            lock,
            lambda: self._servers.get(task.boot, task.plan, directory),
            stopped,
        )

    def ended(self, boot: str) -> None:
        self._servers.done(boot)

    def close(self) -> None:
        self._servers.close()


@dataclass
class Runner:
    """Runs of one command. `started` and `finished` are called from worker threads."""

    lab: Lab
    force: bool = False
    jobs: int = 1
    fork: bool = True  # boot once for all runs that can share a boot
    fail_fast: bool = False  # the first failure leaves what has not begun `queued`
    # Opened when there is something to run. None: here, `jobs` at a time.
    place: Callable[[], AbstractContextManager[Place]] | None = None
    estimate: Callable[[Run], float | None] = lambda run: None  # host seconds
    host_limit: float = HOST_LIMIT_SECONDS
    started: Callable[[Run], None] = lambda run: None
    finished: Callable[[Result], None] = lambda result: None
    _stop: threading.Event = field(default_factory=threading.Event)
    _failed: threading.Event = field(default_factory=threading.Event)

    def run_all(self, runs: list[Run]) -> list[Result]:
        """Executes all runs, `jobs` at a time, the longest first; a failed one does not stop the
        others unless `fail_fast`.

        Results come in the order of `runs`; a run that is there twice is run and returned once.
        """
        jobs = {job.id: job for job in map(self._identify, runs)}
        for job in jobs.values():
            self._queue(job)
        there = all(self._is_there(job) for job in jobs.values())
        order = list(jobs.values()) if there else self._order(jobs)
        results: dict[str, Result] = {}
        with self._place(order, there) as place, ThreadPoolExecutor(place.at_a_time) as pool:
            waiting = {
                pool.submit(self._execute, place, [order[number] for number in numbers])
                for numbers in place.together([job.boot for job in order])
            }
            try:
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        results |= {result.id: result for result in future.result()}
            except BaseException:
                self._stop.set()
                for future in waiting:
                    future.cancel()
                raise
        return [results[name] for name in jobs]

    @contextmanager
    def _place(self, jobs: Sequence[_Job], there: bool) -> Iterator[Place]:
        if self.place and not there:
            with self.place() as place:
                yield place
            return
        here = Here(self.jobs, [job.boot for job in jobs])
        try:
            yield here
        finally:
            here.close()

    def _is_there(self, job: _Job) -> bool:
        return not self.force and store.complete(job.directory, store.read(job.directory))

    def known(self, run: Run) -> Known:
        """What is there of a run. UserError when it cannot be told: something is not built."""
        job = self._identify(run)
        record = store.read(job.directory) if job.directory.is_dir() else None
        if record is None or record["status"] == "queued":
            return Known(job.id, TO_RUN)
        if record["status"] == "ok" and not store.complete(job.directory, record):
            return Known(job.id, TO_RUN)
        return Known(job.id, str(store.settle(job.directory, record)["status"]))

    def _order(self, jobs: Mapping[str, _Job]) -> list[_Job]:
        """The longest first, so that none is left alone at the end; but runs of one boot after
        another, so that few engines wait with a booted guest at the same time."""
        seconds = {name: self.estimate(job.run) or 0.0 for name, job in jobs.items()}
        boots: dict[str, float] = {}
        for name, job in jobs.items():
            boots[job.boot] = boots.get(job.boot, 0.0) + seconds[name]
        # Equal ones stay in the order of the experiment.
        place = {boot: number for number, boot in enumerate(boots)}
        return sorted(
            jobs.values(),
            key=lambda job: (-boots[job.boot], place[job.boot], -seconds[job.id]),
        )

    def _identify(self, run: Run) -> _Job:
        # Relative paths are not part of the identity, so any directory at that depth will do.
        place = self.lab.results / run.experiment / "run"
        plan = engines.get(run.engine).prepare(self.lab, run, place)
        identity = {**store.identity(plan), "described": _described(run)}
        made_of = {
            "identity": identity,
            "versions": {
                "p5lab": __version__,
                "python": platform.python_version(),
                **plan.versions,
            },
            "built_from": {
                name: read_json(path, "remove it, and `./p5lab build` makes it again")
                for name, path in plan.built_from.items()
                if path.is_file()
            },
            "files": self._described_in(run),
        }
        name = store.run_id(identity)
        directory = self.lab.results / run.experiment / name
        boot = forkserver.key(plan, identity["digests"]) if self.fork else ""
        return _Job(run, name, directory, made_of, boot)

    def _described_in(self, run: Run) -> dict[str, str]:
        """The files that describe what a run is made of; those of P5LAB_PATH with their whole
        path."""
        names = {
            "experiment": run.experiment,
            "machine": run.machine.name,
            "guest": run.guest.name,
            "workload": run.workload.name,
        }
        return {
            kind: self.lab.short(self._files[kind][name])
            for kind, name in names.items()
            if name in self._files[kind]
        }

    @cached_property
    def _files(self) -> dict[str, dict[str, Path]]:
        return {kind: self.lab.files(kind) for kind in PLACES}

    def _queue(self, job: _Job) -> None:
        try:
            job.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, job.directory) from None
        with store.locked(job.directory) as lock:
            if lock is None or store.read(job.directory) is not None:
                return
            store.write(job.directory, {**job.describe(), "status": "queued"})

    def _execute(self, place: Place, jobs: Sequence[_Job]) -> list[Result]:
        return [self._execute_one(place, job) for job in jobs]

    def _execute_one(self, place: Place, job: _Job) -> Result:
        try:
            while not self._stop.is_set():
                if self.fail_fast and self._failed.is_set():
                    return job.result("queued", NOT_BEGUN)
                with store.locked(job.directory) as lock:
                    if lock is not None:
                        result = self._locked(place, job, lock)
                        break
                time.sleep(0.2)  # another p5lab is at this very run
            else:
                result = job.result("failed", INTERRUPTED)
        finally:
            place.ended(job.boot)
        if result.status == "queued":
            return result
        if result.status != "ok":
            self._failed.set()
        self.finished(result)
        return result

    def _locked(self, place: Place, job: _Job, lock: int) -> Result:
        record = store.read(job.directory)
        if not self.force and record and store.complete(job.directory, record):
            return job.result("ok", "", record["wall_seconds"], reused=True)
        return self._run(place, job, lock, record)

    def _run(self, place: Place, job: _Job, lock: int, before: dict[str, Any] | None) -> Result:
        directory = job.directory
        record = job.describe()
        begun = False

        def began() -> None:
            nonlocal begun
            begun = True
            now = datetime.now(UTC).isoformat(timespec="seconds")
            store.write(directory, {**record, "started": now, "status": "running"})
            self.started(job.run)

        def stopped() -> bool:
            failed_fast = self.fail_fast and not begun and self._failed.is_set()
            return failed_fast or self._stop.is_set()

        try:
            known = _set_aside(engines.get(job.run.engine), directory, before)
            store.reserve(directory)
            plan = engines.get(job.run.engine).prepare(self.lab, job.run, directory)
            digests = job.made_of["identity"]["digests"]
            task = Task(job.run, job.id, plan, digests, job.boot, self.host_limit)
            done = place.run(task, directory, lock, began, stopped)
            if done is None:
                store.write(directory, record)
                return job.result("queued", NOT_BEGUN)
            outcome, facts = done.outcome, done.facts
            if outcome.status == "ok":
                outcome, facts = _compared(directory, done, known)
        except Lost:
            with suppress(UserError):
                store.write(directory, record)
            raise
        except OSError as error:
            outcome, facts = Outcome("failed", str(disk_error(error, directory))), {}
        except UserError as error:
            outcome, facts = Outcome("failed", str(error)), {}
        record |= {"status": outcome.status, "reason": outcome.reason, **facts}
        # When not even this can be written, the lock-less `running` record tells the next reader
        # that the run failed.
        with suppress(UserError):
            store.write(directory, record)
        with suppress(OSError):
            (directory / store.RESERVE).unlink(missing_ok=True)
        return job.result(outcome.status, outcome.reason, facts.get("wall_seconds", 0))


def _describe(run: Run, name: str) -> dict[str, Any]:
    return {
        "schema_version": store.SCHEMA_VERSION,
        "run": name,
        "experiment": run.experiment,
        "status": "queued",
        "reason": "",
        "engine": run.engine,
        "label": run.label,
        "machine": {
            "name": run.machine.name,
            "geometry": run.machine.geometry,
            "clock_hz": run.machine.clock_hz,
            "values": run.machine.canonical("engine", "bochsrc"),
            "sources": run.machine.sources,
            "shadows": {shadow.name: shadow.settings for shadow in run.shadows},
        },
        "guest": {"name": run.guest.name, "clock_vector": run.guest.clock_vector},
        "workload": {
            "name": run.workload.name,
            "bracket": run.workload.bracket,
            "operation": run.workload.operation,
            "operations": 1 if run.sample else run.workload.operations_in(run.parameters),
            "bytes": run.workload.bytes,
            "curve": run.workload.curve,
        },
        "parameters": run.parameters,
        "seed": run.seed,
        "feedback": "on" if run.has_feedback else "off",
        "request": rerun.request(run),
    }


def _described(run: Run) -> dict[str, Any]:
    """What the machine, guest and workload files say that no engine is told, but that the table and
    the reports hold."""
    return {
        "machine": run.machine.name,
        "guest": run.guest.name,
        "clock_vector": run.guest.clock_vector,
        "operations": run.workload.operations,
        "bytes": run.workload.bytes,
        "phases": {str(phase): name for phase, name in sorted(one_run.phases(run).items())},
        "curve": run.workload.curve,
    }


def _set_aside(
    engine: engines.Engine, directory: Path, before: dict[str, Any] | None
) -> str | None:
    """Removes what an earlier attempt left. An earlier ok result of a repeatable engine is kept for
    comparison; returns the digest of its events."""
    known = None
    if engine.can.repeatable and before and before["status"] == "ok":
        known = before["digests"].get(EVENTS)
    for file in (*engine.outputs, store.COUNTS):
        path = directory / file
        if file == EVENTS and known and path.exists():
            path.replace(directory / PREVIOUS)
        else:
            path.unlink(missing_ok=True)
    return known


def _compared(directory: Path, done: Done, known: str | None) -> tuple[Outcome, dict[str, Any]]:
    """An ok run beside its earlier result, whose events have the digest `known`: they must be the
    same."""
    if known and done.facts["digests"][EVENTS] != known:
        facts = {
            name: fact for name, fact in done.facts.items() if name not in ("digests", "notes")
        }
        return Outcome(
            "failed",
            f"not repeatable: {EVENTS} differs from the earlier result of the same inputs,"
            f" kept as {PREVIOUS}",
        ), facts
    (directory / PREVIOUS).unlink(missing_ok=True)
    return done.outcome, done.facts
