# SPDX-License-Identifier: MIT
"""Uses SCons to build the targets that runs need, if these targets are not up to date."""

import fcntl
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from p5lab.duration import roughly
from p5lab.errors import STATUS_FAILED, UserError, describes_stop, writing
from p5lab.host import checkout_state
from p5lab.host.processors import cpu_seconds
from p5lab.host.steps import RETRIEVED, TIMES, Steps
from p5lab.host.steps import planned as steps_of
from p5lab.lab import Lab, cache_directory
from p5lab.progress import Progress

LOG = "build/build.log"
LOCK = "build/build.lock"
PATIENCE_SECONDS = 20  # the time that an interrupted build gets to remove its temporary files
# A build script that fails prints a line with the reason. The line begins with one of these names.
REASON = re.compile(r"(p5lab|build_\w+|mkcpio|mkdisk|mkscsi|mkrootfs|check_isa): ")
# The parts of the laboratory that have a short name as a target. Each is a directory of build/.
PARTS = ("engine", "guests", "workloads", "tests")
NO_SPACE = re.compile(r"No space left on device|disk full")
# The lines of a traceback that say where a script stopped, and why. The last of each kind counts.
PLACE = re.compile(r'^  File "(.+)", line (\d+), in ')
EXCEPTION = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)\b(?:: .*)?$")


# SCons prints this line for a step that determines which file the build uses for a source.
LOOK_UP = re.compile(r"^  look up +(\S+)$", re.MULTILINE)


def ensure(
    lab: Lab, progress: Progress, targets: tuple[str, ...] = (), jobs: int | None = None
) -> None:
    """Builds the given targets if they are not up to date. Builds everything without targets.

    Prints a forecast for a long build. Shows the steps that run, the number of steps and the time
    left. All output of the build is written to build/build.log. Raises UserError with the last
    lines if the build fails, and Stopped if the user stops the build.
    """
    with describes_stop(_not_begun), progress.activity("build") as step:
        step("comparing the products with their sources")
        if _is_current(lab, targets):
            return
    log = lab.root / LOG
    with writing(log):
        log.parent.mkdir(exist_ok=True)
        with _alone(lab, progress) as has_waited:
            if has_waited and _is_current(lab, targets):
                return
            with log.open("w", encoding="utf-8") as file:
                _build(lab, progress, targets, jobs, file)


def _build(
    lab: Lab, progress: Progress, targets: tuple[str, ...], jobs: int | None, log: TextIO
) -> None:
    steps = Steps([])
    with describes_stop(lambda: _stopped(steps)):
        with progress.activity("build") as step:
            step("looking for the steps to execute")
            planned = _plan(lab, targets)
            if records := LOOK_UP.findall(planned):
                step("looking up the versions of the sources")
                # SCons can find cached products only after these steps have recorded the
                # sources' digests.
                log.writelines(_scons(lab, tuple(records)))
                step("looking for the steps to execute, and copying products from the cache")
                planned = _plan(lab, targets)
            steps = Steps(steps_of(planned.splitlines()))
            if unpacked := steps.unpacked:
                # No product of the cache is found while headers that only this checkout has, and
                # that its key names, are not here.
                log.writelines(_scons(lab, unpacked))
                planned = _plan(lab, targets)
            cached = tuple(RETRIEVED.findall(planned))
            if cached and steps_of(planned.splitlines()):
                # A plan copies nothing. The keys of other products name the headers among these.
                log.writelines(_scons(lab, cached))
                planned = _plan(lab, targets)
        zig_is_new = not (cache_directory() / "zig").exists()
        steps = Steps(steps_of(planned.splitlines(), zig_is_new=zig_is_new))
        is_long = _forecast(progress, steps)
        start = time.monotonic()
        number = () if jobs is None else (f"-j{jobs}",)
        # SCons begins with the first target. If a long step began last, only one core would be
        # busy at the end. `.` stands for everything.
        ordered = (*(step.product for step in steps.long), *(targets or (".",)))
        arguments = ("--debug=time", *number, *ordered)
        with progress.activity("build", steps.text):
            for line in _scons(lab, arguments, steps):
                if steps.read(line):
                    log.write(line)
                    log.flush()
    say = progress.milestone if is_long else progress.note
    say(f"Built in {time.monotonic() - start:.0f} s.")


def _not_begun() -> str:
    return "the build had not begun; the same command begins it again"


def _stopped(steps: Steps) -> str:
    """Describes a build that the user stopped."""
    if not steps.begun:
        return _not_begun()
    running = steps.names()
    kept = f"the build was in step {steps.begun} of {len(steps.plan)}; all finished steps are kept"
    again = f", and begins anew with {', '.join(running)}" if running else ""
    return f"{kept}; the same command goes on from there{again}"


@contextmanager
def _alone(lab: Lab, progress: Progress) -> Iterator[bool]:
    """Holds the build's lock, because two builds in one checkout would write the same files. Yields
    whether another build held the lock."""
    with (lab.root / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            has_waited = False
        except BlockingIOError:
            progress.milestone("Waiting for another p5lab that builds here.")
            fcntl.flock(file, fcntl.LOCK_EX)
            has_waited = True
        yield has_waited


def _plan(lab: Lab, targets: tuple[str, ...]) -> str:
    """The steps that scons would execute. A product whose key is known and that is in the cache is
    no step."""
    return "".join(_scons(lab, ("-n", *targets)))


def _is_current(lab: Lab, targets: tuple[str, ...]) -> bool:
    """Returns whether all targets are up to date. The result is also false if scons cannot read the
    build graph. The build then reports the error."""
    now = checkout_state.state(lab)
    if checkout_state.is_known(lab, targets, now):
        return True
    done = subprocess.run(
        [*_command(), "-q", *targets],
        cwd=lab.root,
        env=lab.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    if done.returncode == 0 and now:
        checkout_state.remember(lab, targets, now)
    return done.returncode == 0


def _command() -> list[str]:
    return [sys.executable, "-m", "SCons", "-Q"]


def _scons(lab: Lab, arguments: tuple[str, ...], steps: Steps | None = None) -> Iterator[str]:
    """The lines that scons prints. Raises UserError with the last lines if scons fails. `steps` is
    told how to measure what scons uses."""
    last: deque[str] = deque(maxlen=15)
    with _process(lab, arguments) as process:
        if steps:
            steps.used = partial(cpu_seconds, process.pid)
        assert process.stdout is not None
        for line in process.stdout:
            if not TIMES.match(line):
                last.append(line.rstrip())
            yield line
    if process.returncode == 0:
        return
    reasons = [line[match.end() :] for line in last if (match := REASON.match(line))]
    if any(NO_SPACE.search(line) for line in last):
        reasons.insert(
            0,
            f"disk full, in {lab.root}, in the directory of temporary files or in"
            f" {cache_directory()}",
        )
    reasons = reasons or _exception(lab, list(last))
    if reasons:
        raise UserError(f"build failed: {reasons[0]} (log: {LOG})", status=STATUS_FAILED)
    tail = "\n".join(f"  {line}" for line in last)
    raise UserError(
        f"build failed (scons status {process.returncode}), see {LOG}; it ended with\n{tail}",
        status=STATUS_FAILED,
    )


def _exception(lab: Lab, lines: list[str]) -> list[str]:
    """The last exception in the output of the build: the line of our code where it was raised or
    from which other code was called, and its text. Empty if there is none."""
    raised = [line for line in lines if EXCEPTION.match(line)]
    places = [match for line in lines if (match := PLACE.match(line))]
    ours = [match for match in places if Path(match[1]).absolute().is_relative_to(lab.root)]
    if not raised or not places:
        return []
    file, number = (ours or places)[-1].groups()
    where = Path(file)
    if where.is_absolute() and where.is_relative_to(lab.root):
        where = where.relative_to(lab.root)
    return [f"{where}:{number}: {raised[-1]}"]


@contextmanager
def _process(lab: Lab, arguments: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """Starts scons in its own process group. If the block ends before scons ends, the whole process
    group is interrupted. Build scripts then remove their temporary files, and no process
    remains."""
    process = subprocess.Popen(
        [*_command(), *arguments],
        cwd=lab.root,
        env=lab.environment | {"PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        yield process
        process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=PATIENCE_SECONDS)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _forecast(progress: Progress, steps: Steps) -> bool:
    """Prints the time, the download and the disk space that the planned steps need. Returns whether
    the build is long.

    Nothing is printed if the steps take less than 10 seconds. Raises UserError if the disk is too
    small, because the build would otherwise fail after minutes.
    """
    costs = [step.cost for step in steps.plan]
    count = f"{len(costs)} step{'s' if len(costs) > 1 else ''}"
    seconds = steps.left()
    if seconds < 10:
        return False
    download = math.ceil(sum(cost.download_mb for cost in costs))
    disk = sum(cost.disk_mb for cost in costs) + 150
    cache = cache_directory()
    free = shutil.disk_usage(cache if cache.exists() else cache.parent).free / 1e6
    if free < disk:
        raise UserError(
            f"disk full: the build needs {disk:.0f} MB in {cache}, {free:.0f} MB are free",
            status=STATUS_FAILED,
        )
    to_download = f"at most {download} MB to download" if download else "nothing to download"
    names = ", ".join(step.name for step in steps.long)
    longest = f" The longest steps: {names}." if names else ""
    progress.milestone(
        f"To build: {count}, about {roughly(seconds)} on {steps.cores}"
        f" cores; {to_download}; {disk:.0f} MB of disk during the build"
        f" ({free:.0f} MB free in {cache}).{longest} Later builds make only what changed. Log:"
        f" {LOG}"
    )
    return True
