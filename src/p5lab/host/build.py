# SPDX-License-Identifier: MIT
"""Uses SCons to build the targets that runs need, if these targets are not up to date."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TextIO

from p5lab.errors import STATUS_FAILED, UserError, disk_error
from p5lab.host.fetch import cache_directory
from p5lab.host.progress import Progress
from p5lab.lab import Lab

LOG = "build/build.log"
LOCK = "build/build.lock"
PATIENCE_SECONDS = 20  # the time that an interrupted build gets to remove its temporary files
# A build script that fails prints a line with the reason. The line begins with one of these names.
REASON = re.compile(r"(p5lab|build_\w+|mkcpio|mkdisk|mkscsi|mkrootfs|check_isa): ")
NO_SPACE = re.compile(r"No space left on device|disk full")


@dataclass(frozen=True)
class Cost:
    """The cost of one build step: seconds of one core, MB downloaded, MB of disk while it runs.

    The numbers were measured on 2 cores with Debian 12 and gcc 12. The forecast of the build time
    is the sum of the seconds of all planned steps, divided by the number of cores.
    """

    cpu_seconds: float
    download_mb: float = 0
    disk_mb: float = 0


# The key is the first word of the line that SCons prints for the step (SConstruct).
COSTS = {
    "Bochs": Cost(80, 4, 200),
    "kernel": Cost(330, 140, 1500),
    "musl": Cost(55, 1, 60),
    "busybox": Cost(35, 3, 60),
    "lwIP": Cost(6, 1.1, 10),
    "C++": Cost(4),
    "zig": Cost(1.5),
    "unpack": Cost(0.3, 0.2),
    "rootfs": Cost(6, 0, 400),
}
# SCons prints this line for a step that determines which file the build uses for a source.
LOOK_UP = re.compile(r"^  look up +(\S+)$", re.MULTILINE)
# The first use of Zig compiles its C library into the p5lab cache.
ZIG_FIRST = Cost(45, 0, 100)


def ensure(
    lab: Lab, progress: Progress, targets: tuple[str, ...] = (), jobs: int | None = None
) -> None:
    """Builds the given targets if they are not up to date. Builds everything without targets.

    Prints a forecast for a long build, and shows the current step. All output of the build is
    written to build/build.log. Raises UserError with the last lines if the build fails.
    """
    if _is_current(lab, targets):
        return
    log = lab.root / LOG
    try:
        log.parent.mkdir(exist_ok=True)
        with _alone(lab, progress):
            if not _is_current(lab, targets):
                with log.open("w", encoding="utf-8") as file:
                    _build(lab, progress, targets, jobs, file)
    except OSError as error:
        raise disk_error(error, log) from None


def _build(
    lab: Lab, progress: Progress, targets: tuple[str, ...], jobs: int | None, log: TextIO
) -> None:
    planned = _plan(lab, targets)
    if records := LOOK_UP.findall(planned):
        # SCons can find cached products only after these steps have recorded the sources' digests.
        log.writelines(_scons(lab, tuple(records)))
        planned = _plan(lab, targets)
    _forecast(progress, planned)
    start = time.monotonic()
    with progress.activity("build") as step:
        for line in _scons(lab, (*(() if jobs is None else (f"-j{jobs}",)), *targets)):
            log.write(line)
            log.flush()
            step(line.strip())
    progress.note(f"Built in {time.monotonic() - start:.0f} s.")


@contextmanager
def _alone(lab: Lab, progress: Progress) -> Iterator[None]:
    """Holds the build's lock, because two builds in one checkout would write the same files."""
    with (lab.root / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note("Waiting for another p5lab that builds here.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _plan(lab: Lab, targets: tuple[str, ...]) -> str:
    """The steps that scons would execute. Cached products are not in the plan, because scons has
    already copied them from the cache."""
    return "".join(_scons(lab, ("-n", *targets)))


def _is_current(lab: Lab, targets: tuple[str, ...]) -> bool:
    """Returns whether all targets are up to date. The result is also false if scons cannot read the
    build graph. The build then reports the error."""
    return (
        subprocess.run(
            [*_command(), "-q", *targets],
            cwd=lab.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        ).returncode
        == 0
    )


def _command() -> list[str]:
    return [sys.executable, "-m", "SCons", "-Q"]


def _scons(lab: Lab, arguments: tuple[str, ...]) -> Iterator[str]:
    """The lines that scons prints. Raises UserError with the last lines if scons fails."""
    last: deque[str] = deque(maxlen=15)
    with _process(lab, arguments) as process:
        assert process.stdout is not None
        for line in process.stdout:
            last.append(line.rstrip())
            yield line
    if process.returncode == 0:
        return
    reasons = [line[found.end() :] for line in last if (found := REASON.match(line))]
    if any(NO_SPACE.search(line) for line in last):
        reasons.insert(
            0,
            f"disk full, in {lab.root}, in the directory of temporary files or in"
            f" {cache_directory()}",
        )
    if reasons:
        raise UserError(f"build failed: {reasons[0]} (log: {LOG})", status=STATUS_FAILED)
    tail = "\n".join(f"  {line}" for line in last)
    raise UserError(
        f"build failed (scons status {process.returncode}), see {LOG}; it ended with\n{tail}",
        status=STATUS_FAILED,
    )


@contextmanager
def _process(lab: Lab, arguments: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """Starts scons in its own process group. If the block ends before scons ends, the whole process
    group is interrupted. Build scripts then remove their temporary files, and no process
    remains."""
    process = subprocess.Popen(
        [*_command(), *arguments],
        cwd=lab.root,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
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


def _forecast(progress: Progress, planned: str) -> None:
    """Prints the time, the download and the disk space that the planned steps need.

    Nothing is printed if the steps take less than 10 seconds. Raises UserError if the disk is too
    small, because the build would otherwise fail after minutes.
    """
    steps = Counter(line.split()[0] for line in planned.splitlines() if line.startswith("  "))
    costs = [cost for label, cost in COSTS.items() for _ in range(steps[label])]
    cache = cache_directory()
    if steps["zig"] and not (cache / "zig").exists():
        costs.append(ZIG_FIRST)
    cores = os.cpu_count() or 1
    seconds = sum(cost.cpu_seconds for cost in costs) / cores
    if seconds < 10:
        return
    download = sum(cost.download_mb for cost in costs)
    disk = sum(cost.disk_mb for cost in costs) + 150
    free = shutil.disk_usage(cache if cache.exists() else cache.parent).free / 1e6
    if free < disk:
        raise UserError(
            f"disk full: the build needs {disk:.0f} MB in {cache}, {free:.0f} MB are free",
            status=STATUS_FAILED,
        )
    progress.note(
        f"To build: {sum(steps.values())} steps, about {_minutes(seconds)} on {cores} cores; at"
        f" most {download:.0f} MB to download; {disk:.0f} MB of disk during the build"
        f" ({free:.0f} MB free in {cache}). Later builds make only what changed. Log: {LOG}"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
