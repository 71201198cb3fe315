# SPDX-License-Identifier: MIT
"""Executes runs: each is an engine process of its own in its run directory."""

import json
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from p5lab import __version__, engines, forkserver, rerun, store
from p5lab.engines import EVENTS, Outcome, Plan
from p5lab.errors import UserError, disk_error
from p5lab.experiment import Run
from p5lab.forkserver import Servers
from p5lab.lab import Lab
from p5stats import StatsError, events, tidy

# The virtual-time limit is the engine's; this one catches an engine that itself hangs.
HOST_LIMIT_SECONDS = 3600
PREVIOUS = "events.previous.jsonl"
INTERRUPTED = "interrupted by the user"
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


@dataclass
class Runner:
    """Runs of one command. `started` and `finished` are called from worker threads."""

    lab: Lab
    force: bool = False
    jobs: int = 1
    fork: bool = True  # boot once for all runs that can share a boot
    fail_fast: bool = False  # the first failure leaves what has not begun `queued`
    estimate: Callable[[Run], float | None] = lambda run: None  # host seconds
    host_limit: float = HOST_LIMIT_SECONDS
    started: Callable[[Run], None] = lambda run: None
    finished: Callable[[Result], None] = lambda result: None
    _stop: threading.Event = field(default_factory=threading.Event)
    _failed: threading.Event = field(default_factory=threading.Event)
    _servers: Servers = field(default_factory=lambda: Servers(()))

    def run_all(self, runs: list[Run]) -> list[Result]:
        """Executes all runs, `jobs` at a time, the longest first; a failed one does not stop the
        others unless `fail_fast`.

        Results come in the order of `runs`; a run that is there twice is run and returned once.
        """
        jobs = {job.id: job for job in map(self._identify, runs)}
        for job in jobs.values():
            self._queue(job)
        self._servers = Servers(job.boot for job in jobs.values() if self.fork)
        results: dict[str, Result] = {}
        with ThreadPoolExecutor(self.jobs) as pool, closing(self._servers):
            waiting = {pool.submit(self._execute, job) for job in self._order(jobs)}
            try:
                while waiting:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        result = future.result()
                        results[result.id] = result
            except BaseException:
                self._stop.set()
                for future in waiting:
                    future.cancel()
                raise
        return [results[name] for name in jobs]

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
            "versions": {"p5lab": __version__, "python": platform.python_version(),
                         **plan.versions},
            "built_from": {
                name: json.loads(path.read_bytes())
                for name, path in plan.built_from.items()
                if path.is_file()
            },
        }  # fmt: skip
        name = store.run_id(identity)
        directory = self.lab.results / run.experiment / name
        return _Job(run, name, directory, made_of, forkserver.key(plan, identity["digests"]))

    def _queue(self, job: _Job) -> None:
        try:
            job.directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, job.directory) from None
        with store.locked(job.directory) as lock:
            if lock is None or store.read(job.directory) is not None:
                return
            store.write(job.directory, {**job.describe(), "status": "queued"})

    def _execute(self, job: _Job) -> Result:
        try:
            while not self._stop.is_set():
                if self.fail_fast and self._failed.is_set():
                    return job.result("queued", NOT_BEGUN)
                with store.locked(job.directory) as lock:
                    if lock is not None:
                        result = self._locked(job, lock)
                        break
                time.sleep(0.2)  # another p5lab is at this very run
            else:
                result = job.result("failed", INTERRUPTED)
        finally:
            self._servers.done(job.boot)
        if result.status != "ok":
            self._failed.set()
        self.finished(result)
        return result

    def _locked(self, job: _Job, lock: int) -> Result:
        record = store.read(job.directory)
        if not self.force and record and store.complete(job.directory, record):
            return job.result("ok", "", record["wall_seconds"], reused=True)
        self.started(job.run)
        return self._run(job, lock, record)

    def _run(self, job: _Job, lock: int, before: dict[str, Any] | None) -> Result:
        directory = job.directory
        record = {
            **job.describe(),
            "host": _host(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        start = time.monotonic()
        try:
            known = _set_aside(engines.get(job.run.engine), directory, before)
            store.reserve(directory)
            store.write(directory, {**record, "status": "running"})
            outcome, after_boot = self._simulate(job, lock)
            found: dict[str, Any] = {}
            if outcome.status == "ok":
                outcome, found = _count(job.run, job.id, directory, outcome, known)
                found |= {"after_boot_seconds": after_boot} if after_boot else {}
        except OSError as error:
            outcome, found = Outcome("failed", str(disk_error(error, directory))), {}
        except UserError as error:
            outcome, found = Outcome("failed", str(error)), {}
        wall = round(time.monotonic() - start, 3)
        record |= {
            "status": outcome.status,
            "reason": outcome.reason,
            "wall_seconds": wall,
            **found,
        }
        # When not even this can be written, the lock-less `running` record tells the next reader
        # that the run failed.
        with suppress(UserError):
            store.write(directory, record)
        with suppress(OSError):
            (directory / store.RESERVE).unlink(missing_ok=True)
        return job.result(outcome.status, outcome.reason, wall)

    def _simulate(self, job: _Job, lock: int) -> tuple[Outcome, float]:
        """How the run ended, and of a forked one the seconds it took without the boot."""
        directory = job.directory
        engine = engines.get(job.run.engine)
        plan = engine.prepare(self.lab, job.run, directory)
        for file, content in plan.write.items():
            (directory / file).write_bytes(content)
        deadline = time.monotonic() + self.host_limit

        def give_up() -> bool:
            return self._stop.is_set() or time.monotonic() > deadline

        server = self._servers.get(job.boot, plan, directory)
        if server:
            booted = time.monotonic()
            status = server.run(directory, lock, engine.outputs, give_up)
            after_boot = round(time.monotonic() - booted, 3)
        else:
            status = _run_alone(plan, directory, lock, give_up)
            after_boot = 0
        if status is not None:
            return engine.collect(directory, status), after_boot
        if self._stop.is_set():
            return Outcome("failed", INTERRUPTED), 0
        return Outcome(
            "timeout", f"engine killed: no result within {self.host_limit:g} s of host time"
        ), 0


def _run_alone(plan: Plan, directory: Path, lock: int, give_up: Callable[[], bool]) -> int | None:
    """The exit status of the engine, None when it was killed because `give_up` said so."""
    process = forkserver.start(plan, directory, lock)
    while True:
        try:
            return process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            if give_up():
                process.kill()
                process.wait()
                return None


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
        "feedback": "on" if _has_feedback(run) else "off",
        "request": rerun.request(run),
    }


def _has_feedback(run: Run) -> bool:
    return run.feedback and run.model and run.has_clocks


def _described(run: Run) -> dict[str, Any]:
    """What the machine, guest and workload files say that no engine is told, but that the table and
    the reports hold."""
    return {
        "machine": run.machine.name,
        "guest": run.guest.name,
        "clock_vector": run.guest.clock_vector,
        "operations": run.workload.operations,
        "bytes": run.workload.bytes,
        "phases": {str(phase): name for phase, name in sorted(_phases(run).items())},
        "curve": run.workload.curve,
    }


def _phases(run: Run) -> dict[int, str]:
    """The names of what the table has counts of."""
    if run.sample:
        return {one.number: f"interval {one.number}" for one in run.sample.intervals}
    return run.workload.phases


def _host() -> dict[str, Any]:
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": cores(),
    }


def cores() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _set_aside(
    engine: engines.Engine, directory: Path, before: dict[str, Any] | None
) -> str | None:
    """Removes what an earlier attempt left. An earlier ok result of a repeatable engine is kept for
    comparison; returns the digest of its events."""
    known = None
    if engine.repeatable and before and before["status"] == "ok":
        known = before["digests"].get(EVENTS)
    for file in (*engine.outputs, store.COUNTS):
        path = directory / file
        if file == EVENTS and known and path.exists():
            path.replace(directory / PREVIOUS)
        else:
            path.unlink(missing_ok=True)
    return known


def _count(
    run: Run, name: str, directory: Path, outcome: Outcome, known: str | None
) -> tuple[Outcome, dict[str, Any]]:
    """Turns the events of a run that ended well into the tidy table; what does not make sense
    makes the run fail. Returns what the record gets beside the outcome."""
    try:
        parsed = events.parse(directory / EVENTS)
        if parsed.guest_status:
            return Outcome("failed", _program_failure(run, directory, parsed.guest_status)), {}
        if not parsed.brackets:
            return Outcome("failed", "the workload issued no begin and end markers"), {}
        origin = tidy.Origin(
            run.experiment, name, run.engine, run.machine.name, run.machine.geometry,
            tidy.YES if _has_feedback(run) else tidy.NO, run.guest.name, run.seed,
            run.workload.name, run.parameter_text,
        )  # fmt: skip
        if run.sample:
            for one in run.sample.intervals:
                if one.number not in parsed.intervals:
                    return Outcome(
                        "failed",
                        f"interval {one.number} was not simulated: the run ended before it",
                    ), {}
            parsed = replace(parsed, brackets=parsed.as_brackets)
        frame = tidy.table(parsed, origin, _phases(run))
        tidy.write(directory / store.COUNTS, frame, clock_hz=parsed.clock_hz)
    except StatsError as error:
        return Outcome("failed", str(error).replace(f"{directory}/", "")), {}
    digests = {file: store.digest(directory / file) for file in (EVENTS, store.COUNTS)}
    if known and digests[EVENTS] != known:
        return Outcome(
            "failed",
            f"not repeatable: {EVENTS} differs from the earlier result of the same inputs,"
            f" kept as {PREVIOUS}",
        ), {}
    (directory / PREVIOUS).unlink(missing_ok=True)
    return outcome, {"digests": digests, "notes": parsed.notes}


def _program_failure(run: Run, directory: Path, status: int) -> str:
    how = f"ended with status {status}" if status < 128 else f"was killed by signal {status - 128}"
    printed = engines.get(run.engine).last_output(directory)
    return f"{run.workload.name} {how} in the guest: {printed}"
