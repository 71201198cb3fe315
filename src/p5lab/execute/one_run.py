# SPDX-License-Identifier: MIT
"""Executes one run in one directory: the run directory, or a directory of a worker
(p5lab.execute.worker). This module does not use the location of the results directory."""

import os
import platform
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from typing import Any

from p5lab import engines
from p5lab.describe import ended, refused
from p5lab.describe.observation import Region
from p5lab.describe.run import Run
from p5lab.engines import EVENTS, Outcome, Plan
from p5lab.engines.bochs import saved_state
from p5lab.errors import UserError, disk_error
from p5lab.execute import forkserver
from p5lab.execute.forkserver import Server
from p5lab.files import digest_of
from p5lab.host.processors import cores
from p5lab.keep import store
from p5lab.logs import NOTHING
from p5stats import StatsError, dimensions, events, tidy
from p5stats.phase_names import named_by_programs

INTERRUPTED = "interrupted by the user"
KILLED = 128  # a program that a signal ended has this status plus the signal


@dataclass(frozen=True)
class Task:
    """A run that is ready to be executed. `digests`: the digests of the plan's inputs. `boot`: a
    text. Runs with the same text can share a boot. A run with an empty text boots by itself.
    `host_limit`: the engine is killed if it has no result after this number of seconds."""

    run: Run
    id: str
    plan: Plan
    digests: dict[str, str]
    boot: str
    host_limit: float


@dataclass(frozen=True)
class Done:
    """How a run ended, and further facts for its record."""

    outcome: Outcome
    facts: dict[str, Any]


def perform(
    task: Task,
    directory: Path,
    lock: int,
    boot: Callable[[], Server | None],
    stopped: Callable[[], bool],
) -> Done:
    """Executes a run. The engine inherits `lock` (a file descriptor). `boot` returns the server
    that forks the run, or None if the run must boot by itself. `stopped` returns whether the run
    must end early. The outcome reports every error."""
    facts: dict[str, Any] = {
        "host": host(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    start = time.monotonic()
    try:
        outcome, after_boot = _simulate(task, directory, lock, boot, stopped)
        if outcome.status == "ok":
            outcome, counted = _count(task, directory, outcome)
            facts |= counted
            if after_boot:
                facts["after_boot_seconds"] = after_boot
    except OSError as error:
        outcome = Outcome("failed", str(disk_error(error, directory)))
    except UserError as error:
        outcome = Outcome("failed", str(error))
    full = os.strerror(ENOSPC)
    if outcome.status == "failed" and full not in outcome.reason and _disk_is_full(directory):
        # If the disk is full, the engine cannot write its events, and it cannot write why it
        # failed.
        outcome = replace(outcome, reason=f"{outcome.reason} ({directory}: {full})")
    facts["wall_seconds"] = round(time.monotonic() - start, 3)
    return Done(outcome, facts)


def _disk_is_full(directory: Path) -> bool:
    facts = os.statvfs(directory)
    return facts.f_bavail * facts.f_frsize < store.RESERVE_BYTES


def _simulate(
    task: Task,
    directory: Path,
    lock: int,
    boot: Callable[[], Server | None],
    stopped: Callable[[], bool],
) -> tuple[Outcome, float]:
    """Returns the outcome of the run, and the host time from the fork to the end in seconds. The
    time is 0 for a run that was not forked."""
    engine = engines.get(task.run.engine)
    for file, content in task.plan.write.items():
        (directory / file).write_bytes(content)
    if task.plan.state:
        saved_state.unpack(task.plan.inputs[task.plan.state], directory)
    deadline = time.monotonic() + task.host_limit

    def give_up() -> bool:
        return stopped() or time.monotonic() > deadline

    server = boot()
    if server:
        status, after_boot = server.run(directory, lock, engine.outputs, give_up)
    else:
        status = _run_alone(task.plan, directory, lock, give_up)
        after_boot = 0
    if status is not None:
        return _explained(task, engine.collect(directory, status)), after_boot
    if stopped():
        return Outcome("failed", INTERRUPTED), 0
    return Outcome(
        "timeout", f"engine killed: no result within {task.host_limit:g} s of host time"
    ), 0


def _explained(task: Task, outcome: Outcome) -> Outcome:
    """The outcome, with an explanation if the processor refused an instruction of the user's
    program, and with the place where the program was when its time was up."""
    program = task.run.program
    if outcome.status == "ok" or program is None:
        return outcome
    reason = ended.at_limit(outcome.reason, program)
    return replace(outcome, reason=refused.explained(reason, program, task.run.guest.isa))


def _run_alone(plan: Plan, directory: Path, lock: int, give_up: Callable[[], bool]) -> int | None:
    """Returns the exit status of the engine, or None if `give_up` ended the engine."""
    process = forkserver.start(plan, directory, lock)
    ended = os.pidfd_open(process.pid)
    try:
        while not select.select([ended], [], [], forkserver.POLL_SECONDS)[0]:
            if give_up():
                process.kill()
                process.wait()
                return None
        return process.wait()
    finally:
        os.close(ended)


def host() -> dict[str, Any]:
    """The host of this process, for the record: name, system, machine, number of processors."""
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": cores(),
    }


def phases(run: Run) -> dict[int, str]:
    """Returns the name of each phase in the table of counts. The keys are the phases' numbers."""
    if sample := run.sample:
        return {interval.number: f"interval {interval.number}" for interval in sample.intervals}
    region = run.observation.get(Region)
    return run.workload.phases | ({region.phase: region.function} if region else {})


def _count(task: Task, directory: Path, outcome: Outcome) -> tuple[Outcome, dict[str, Any]]:
    """Converts the events of a successful run to the tidy table. Returns the outcome and further
    facts for the record. The outcome is `failed` if the events are not valid, or if the program in
    the guest failed; the engine's notes are then in the record, too."""
    run = task.run
    try:
        parsed = events.parse(directory / EVENTS)
        if parsed.guest_status:
            outcome = Outcome("failed", _program_failure(run, directory, parsed))
            return outcome, {"notes": parsed.notes}
        if not parsed.brackets:
            return Outcome("failed", "the workload issued no begin and end markers"), {}
        origin = tidy.Origin(
            run.experiment,
            task.id,
            run.engine,
            run.machine.name,
            run.machine.geometry,
            tidy.YES if run.has_feedback else tidy.NO,
            run.guest.name,
            run.seed,
            run.workload.name,
            run.parameter_text,
        )
        if sample := run.sample:
            for interval in sample.intervals:
                if interval.number not in parsed.intervals:
                    return Outcome(
                        "failed",
                        f"interval {interval.number} was not simulated: the run ended before the"
                        " interval began",
                    ), {}
            parsed = replace(parsed, brackets=parsed.as_brackets)
        names = phases(run) | named_by_programs(parsed.notes)
        tidy.write(
            directory / store.COUNTS,
            tidy.table(parsed, origin, names),
            clock_hz=parsed.clock_hz,
            counted=dimensions.observed(directory, names),
            units=dimensions.OWN_EVENTS,
        )
    except StatsError as error:
        return Outcome("failed", str(error).replace(f"{directory}/", "")), {}
    digests = {file: digest_of(directory / file) for file in (EVENTS, store.COUNTS)}
    return outcome, {"digests": digests, "notes": parsed.notes}


def _program_failure(run: Run, directory: Path, parsed: events.Events) -> str:
    status = parsed.guest_status or 0
    printed = engines.get(run.engine).last_output(directory)
    if status <= KILLED:
        return f"{run.workload.name} ended with status {status} in the guest: {printed}"
    how = ended.by_signal(status - KILLED, parsed.notes, run.program)
    said = printed if printed == NOTHING else f"last output: {printed}"
    return f"{run.workload.name} {how}; {said}"
