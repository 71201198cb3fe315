# SPDX-License-Identifier: MIT
"""Identifies, queues, executes and records runs.

An Executor executes the runs. The class Here executes runs with engines of this process. The class
Cluster (p5lab.execute.cluster) executes runs on the workers of a Dask cluster. Both classes use
p5lab.execute.one_run.
"""

import inspect
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from p5lab import engines
from p5lab.describe.boot import Boot
from p5lab.describe.experiment_file import LIMIT_SECONDS
from p5lab.describe.run import MediaRun, Run
from p5lab.engines import EVENTS, Outcome
from p5lab.engines.bochs import saved_state
from p5lab.errors import UserError, disk_error, writing
from p5lab.execute import forkserver, one_run, repeat
from p5lab.execute.executor import Executor, Here, Lost
from p5lab.execute.one_run import INTERRUPTED, Done, Task
from p5lab.files import digest_of, read_json
from p5lab.host import compiler, worktree
from p5lab.keep import named, store
from p5lab.keep.result import Result
from p5lab.lab import PLACES, Lab
from p5lab.version import __version__

# The engine has a limit of modelled time. This limit of host time catches an engine that hangs.
HOST_LIMIT_SECONDS = 3600
SIGNAL_SECONDS = 0.5  # after this time, at the latest, a Ctrl-C is seen
PREVIOUS = "events.previous.jsonl"
NOT_BEGUN = "not begun, because another run failed first (--fail-fast)"
TO_RUN = "to run"
KEPT = "; the earlier result is kept"


@dataclass(frozen=True)
class KnownRun:
    """The id of a run and the status of its record. The status is `to run` if there is no record,
    or if the files of the run do not match the record."""

    id: str
    status: str


@dataclass(frozen=True)
class _Job:
    """A run with its identity."""

    run: Run
    id: str
    directory: Path
    made_of: dict[str, Any]
    boot: str  # runs with the same text can share a boot; if empty, the run shares no boot

    def describe(self) -> dict[str, Any]:
        """The record of a run that has not started yet."""
        return {**_describe(self.run, self.id), **self.made_of}

    def result(self, status: str, reason: str, wall: float = 0, reused: bool = False) -> Result:
        """The result of the run."""
        return Result(self.run, self.id, self.directory, status, reason, reused, wall)


@dataclass
class Runner:
    """Executes the runs of one command. `started`, `finished` and `waits` (for a run that another
    process executes) are called from worker threads."""

    lab: Lab
    force: bool = False
    jobs: int = 1
    fork: bool = True  # boot once for all runs that can share a boot
    fail_fast: bool = False  # after a failure, runs that have not begun stay `queued`
    # A function that opens the place. The runner calls this function only if there is a run to
    # execute. If `place` is None, engines of this process execute the runs, `jobs` runs at a time.
    place: Callable[[], AbstractContextManager[Executor]] | None = None
    estimate: Callable[[Run], float | None] = lambda run: None  # host seconds
    host_limit: float = HOST_LIMIT_SECONDS
    started: Callable[[Run], None] = lambda run: None
    finished: Callable[[Result], None] = lambda result: None
    waits: Callable[[Run], None] = lambda run: None
    _stop: threading.Event = field(default_factory=threading.Event)
    _failed: threading.Event = field(default_factory=threading.Event)

    def run_all(self, runs: list[Run]) -> list[Result]:
        """Executes all runs, `jobs` at a time, the longest first. If `fail_fast` is false, the
        other runs continue after a failed run.

        The results are in the same order as `runs`. A run that occurs twice in `runs` is executed
        and returned once.
        """
        jobs = {job.id: job for job in map(self._identify, runs)}
        now = datetime.now(UTC)
        for number, job in enumerate(jobs.values()):
            self._queue(job, now + timedelta(microseconds=number))
        there = all(self._is_there(job) for job in jobs.values())
        order = list(jobs.values()) if there else self._order(jobs)
        results: dict[str, Result] = {}
        with self._place(order, there) as place, ThreadPoolExecutor(place.at_a_time) as pool:
            waiting: set[Future[tuple[list[Result], list[_Job]]]] = set()
            try:
                for numbers in place.together([job.boot for job in order]):
                    together = [order[number] for number in numbers]
                    waiting.add(pool.submit(self._execute, place, together))
                while waiting:
                    # Python sees a signal that arrives just before an endless wait only after it.
                    done, waiting = wait(waiting, SIGNAL_SECONDS, return_when=FIRST_COMPLETED)
                    for future in done:
                        ended, elsewhere = future.result()
                        results |= {result.id: result for result in ended}
                        if elsewhere:  # after all other runs
                            waiting.add(pool.submit(self._execute, place, elsewhere, patient=True))
            except BaseException:
                self._stop.set()
                for future in waiting:
                    future.cancel()
                raise
        return [results[name] for name in jobs]

    @contextmanager
    def _place(self, jobs: Sequence[_Job], there: bool) -> Iterator[Executor]:
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

    def known(self, run: Run) -> KnownRun:
        """The id and status of a run. Raises UserError if an input of the run is not built."""
        job = self._identify(run)
        record = store.read(job.directory) if job.directory.is_dir() else None
        if record is None or record["status"] == "queued":
            return KnownRun(job.id, TO_RUN)
        if record["status"] == "ok" and not store.complete(job.directory, record):
            return KnownRun(job.id, TO_RUN)
        return KnownRun(job.id, str(store.settle(job.directory, record)["status"]))

    def _order(self, jobs: Mapping[str, _Job]) -> list[_Job]:
        """Sorts the longest runs first. Otherwise a long run could begin last, and only this run
        would be executed at the end. Runs of one boot stay together, so that few booted guests wait
        at the same time."""
        seconds = {name: self.estimate(job.run) or 0.0 for name, job in jobs.items()}
        boots: dict[str, float] = {}
        for name, job in jobs.items():
            boots[job.boot] = boots.get(job.boot, 0.0) + seconds[name]
        # Runs of equal length stay in the order of the experiment.
        place = {boot: number for number, boot in enumerate(boots)}
        return sorted(
            jobs.values(),
            key=lambda job: (-boots[job.boot], place[job.boot], -seconds[job.id]),
        )

    def _identify(self, run: Run) -> _Job:
        # The name of the run directory comes from the identity, and the identity comes from this
        # plan. The name is therefore not known yet, and the plan is prepared for another directory.
        # The plan's relative paths are valid in every directory at the same depth. The identity
        # contains no relative paths.
        place = self.lab.results / run.experiment / "run"
        engine = engines.get(run.engine)
        plan = engine.prepare(self.lab, run, place)
        identity = {**store.identity(plan), "described": _described(run)}
        # An engine without a program of its own is its module.
        identity["digests"].setdefault("engine", digest_of(Path(inspect.getfile(type(engine)))))
        if plan.state:
            made_of = forkserver.made_of(plan, identity["digests"])
            saved_state.check(plan.inputs[plan.state], made_of)
        built_from = dict(plan.built_from)
        if program := compiler.record_of(self.lab, plan.inputs.get("program", Path())):
            built_from["program"] = program
        facts = {
            "identity": identity,
            "versions": {
                "p5lab": __version__,
                **({"p5lab commit": commit} if (commit := worktree.commit(self.lab.root)) else {}),
                "python": platform.python_version(),
                **plan.versions,
            },
            "built_from": {
                name: read_json(path, "remove it, and `./p5lab build` makes it again")
                for name, path in built_from.items()
                if path.is_file()
            },
            "files": self._described_in(run),
        }
        name = store.run_id(identity)
        directory = self.lab.results / run.experiment / name
        boot = forkserver.key(plan, identity["digests"]) if self.fork else ""
        return _Job(run, name, directory, facts, boot)

    def _described_in(self, run: Run) -> dict[str, str]:
        """The files that describe the machine, guest, workload and experiment of a run. Files from
        P5LAB_PATH have absolute paths."""
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

    def _queue(self, job: _Job, asked: datetime) -> None:
        with writing(job.directory):
            job.directory.mkdir(parents=True, exist_ok=True)
        with store.locked(job.directory) as lock:
            if lock is None or store.read(job.directory) is not None:
                return
            asked_at = {store.ASKED: asked.isoformat(timespec="microseconds")}
            store.write(job.directory, {**job.describe(), **asked_at, "status": "queued"})

    def _execute(
        self, place: Executor, jobs: Sequence[_Job], *, patient: bool = False
    ) -> tuple[list[Result], list[_Job]]:
        """Executes runs. Returns their results, and the runs that another p5lab process executes.
        If `patient`, waits for these, and returns none of them."""
        results, elsewhere = [], []
        for job in jobs:
            if _is_executed_elsewhere(job):
                if not patient:
                    elsewhere.append(job)
                    continue
                self.waits(job.run)
            results.append(self._execute_one(place, job))
        return results, elsewhere

    def _execute_one(self, place: Executor, job: _Job) -> Result:
        try:
            while not self._stop.is_set():
                if self.fail_fast and self._failed.is_set():
                    return job.result("queued", NOT_BEGUN)
                with store.locked(job.directory) as lock:
                    if lock is not None:
                        result = self._locked(place, job, lock)
                        break
                time.sleep(0.2)  # another p5lab process executes this run
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

    def _locked(self, place: Executor, job: _Job, lock: int) -> Result:
        record = store.read(job.directory)
        if not self.force and record and store.complete(job.directory, record):
            return job.result("ok", "", record["wall_seconds"], reused=True)
        return self._run(place, job, lock, record)

    def _run(self, place: Executor, job: _Job, lock: int, before: dict[str, Any] | None) -> Result:
        """Executes a run and records the result. A good earlier result of the same run does not
        change before the new result is complete, and stays if the new attempt fails."""
        directory = job.directory
        record = {**job.describe(), **store.kept(before), **named.kept(before)}
        is_kept = store.complete(directory, before)
        logs = directory
        begun = False

        def write(more: Mapping[str, Any]) -> None:
            if not is_kept:
                store.write(directory, {**record, **more})

        def began() -> None:
            nonlocal begun
            begun = True
            now = datetime.now(UTC).isoformat(timespec="seconds")
            write({"started": now, "status": "running"})
            self.started(job.run)

        def stopped() -> bool:
            failed_fast = self.fail_fast and not begun and self._failed.is_set()
            return failed_fast or self._stop.is_set()

        try:
            with repeat.place(directory, is_kept=is_kept) as work:
                engine = engines.get(job.run.engine)
                known = _known(engine, before)
                if not is_kept:
                    _set_aside(engine, directory, known)
                store.reserve(directory)
                plan = engine.prepare(self.lab, job.run, work)
                digests = job.made_of["identity"]["digests"]
                # A run with a longer limit of modelled time may take longer on the host.
                patience = self.host_limit * max(1.0, job.run.limit_seconds / LIMIT_SECONDS)
                task = Task(job.run, job.id, plan, digests, job.boot, patience)
                done = place.run(task, work, lock, began, stopped)
                if done is None:
                    write({})
                    return job.result("queued", NOT_BEGUN)
                outcome, facts = done.outcome, done.facts
                if is_kept and outcome.status == "ok":
                    is_kept = False
                    if known and facts["digests"][EVENTS] != known:
                        (directory / EVENTS).replace(directory / PREVIOUS)
                    repeat.publish(work, directory, engine.outputs)
                elif is_kept and not self._stop.is_set():
                    logs = repeat.set_apart(work, directory)
                if outcome.status == "ok":
                    outcome, facts = _compared(directory, done, known)
        except Lost:
            with suppress(UserError):
                write({})
            raise
        except OSError as error:
            outcome, facts = Outcome("failed", str(disk_error(error, directory))), {}
        except UserError as error:
            outcome, facts = Outcome("failed", str(error)), {}
        # If this record cannot be written, the status in the earlier record stays `running`, but no
        # process holds the lock of the run. The next process that reads the record treats the run
        # as failed.
        with suppress(UserError):
            write({"status": outcome.status, "reason": outcome.reason, **facts})
        with suppress(OSError):
            (directory / store.RESERVE).unlink(missing_ok=True)
        result = job.result(outcome.status, outcome.reason, facts.get("wall_seconds", 0))
        return replace(result, directory=logs, reason=result.reason + KEPT) if is_kept else result


def _is_executed_elsewhere(job: _Job) -> bool:
    with store.locked(job.directory) as lock:
        return lock is None


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
        "program": program.recorded if (program := run.program) else None,
        **(_media(run.boot) if isinstance(run, MediaRun) else {}),
        "parameters": run.parameters,
        "seed": run.seed,
        "feedback": "on" if run.has_feedback else "off",
        "request": run.recorded_request,
    }


def _media(boot: Boot) -> dict[str, Any]:
    return {
        "media": {medium.role: medium.recorded for medium in (*boot.media, *boot.inserted)},
        "script": list(boot.script.titles) if boot.script else [],
    }


def _described(run: Run) -> dict[str, Any]:
    """Returns entries of the machine, guest and workload files. The table and the reports use these
    entries, but the engine does not read them."""
    return {
        "machine": run.machine.name,
        "guest": run.guest.name,
        "clock_vector": run.guest.clock_vector,
        "operations": run.workload.operations,
        "bytes": run.workload.bytes,
        "phases": {str(phase): name for phase, name in sorted(one_run.phases(run).items())},
        "curve": run.workload.curve,
    }


def _known(engine: engines.Engine, before: dict[str, Any] | None) -> str | None:
    """Returns the digest of the events that a repeat must give again. Returns None if the engine is
    not repeatable, or if there is no earlier good result."""
    if engine.can.repeatable and before and before["status"] == "ok":
        return str(before["digests"][EVENTS]) if EVENTS in before["digests"] else None
    return None


def _set_aside(engine: engines.Engine, directory: Path, known: str | None) -> None:
    """Removes the files of an earlier attempt. Keeps the events for comparison if their digest is
    `known`."""
    for file in (*engine.outputs, store.COUNTS):
        path = directory / file
        if file == EVENTS and known and path.exists():
            path.replace(directory / PREVIOUS)
        else:
            path.unlink(missing_ok=True)


def _compared(directory: Path, done: Done, known: str | None) -> tuple[Outcome, dict[str, Any]]:
    """Compares the events of a successful run with the events of its earlier result. The earlier
    events have the digest `known`. The run fails if the digests differ."""
    if known and done.facts["digests"][EVENTS] != known:
        facts = {
            name: fact for name, fact in done.facts.items() if name not in ("digests", "notes")
        }
        return Outcome(
            "failed",
            f"not repeatable: {EVENTS} differs from the earlier result of the same inputs"
            f" (the earlier file is now {PREVIOUS})",
        ), facts
    (directory / PREVIOUS).unlink(missing_ok=True)
    return done.outcome, done.facts
