# SPDX-License-Identifier: MIT
"""Asks the build graph whether everything that runs need is up to date, and builds what is not."""

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
PATIENCE_SECONDS = 20  # for what an interrupted build has to tidy up
# How our build scripts begin the line that says why they failed.
REASON = re.compile(r"(p5lab|build_\w+|mkcpio|mkdisk|mkscsi|mkrootfs|check_isa): ")
NO_SPACE = re.compile(r"No space left on device|disk full")


@dataclass(frozen=True)
class Cost:
    """What one step of a kind takes: seconds of one core, MB downloaded, MB of disk while it runs.

    Measured on 2 cores, Debian 12, gcc 12. A forecast adds them up and divides by the cores.
    """

    cpu_seconds: float
    download_mb: float = 0
    disk_mb: float = 0


# By the first word of the line that SCons prints for the step (SConstruct).
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
# The step that finds out which file a source is.
LOOK_UP = re.compile(r"^  look up +(\S+)$", re.MULTILINE)
# The first use of Zig compiles its C library into the p5lab cache.
ZIG_FIRST = Cost(45, 0, 100)


def ensure(
    lab: Lab, progress: Progress, targets: tuple[str, ...] = (), jobs: int | None = None
) -> None:
    """Builds the given targets (none: everything) where they are not up to date.

    Says first what it will take, if it takes long; shows the current step; leaves all output in
    build/build.log. UserError with the last lines when it fails.
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
        # Without the digests of the sources nothing is found in the cache.
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
    """Two builds in one checkout would make the same files at once."""
    with (lab.root / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note("Waiting for another p5lab that builds here.")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _plan(lab: Lab, targets: tuple[str, ...]) -> str:
    """What scons would do. What the cache has is taken from it already and is not in the plan."""
    return "".join(_scons(lab, ("-n", *targets)))


def _is_current(lab: Lab, targets: tuple[str, ...]) -> bool:
    """SCons's own answer; it also is no when the graph cannot be read, which the build will say."""
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
    """The lines that scons prints; UserError with the last of them when it fails."""
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
        reasons.insert(0, f"disk full, in {lab.root}, its temporary files or {cache_directory()}")
    if reasons:
        raise UserError(f"build failed: {reasons[0]} (log: {LOG})", status=STATUS_FAILED)
    tail = "\n".join(f"  {line}" for line in last)
    raise UserError(
        f"build failed (scons status {process.returncode}), see {LOG}; it ended with\n{tail}",
        status=STATUS_FAILED,
    )


@contextmanager
def _process(lab: Lab, arguments: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """scons, which does not outlive us, nor does what it runs: a group of processes of its own,
    which is interrupted as a whole, so that build scripts remove what they have begun."""
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
    """Says what the planned steps will take, unless that is a few seconds.

    UserError when the disk is too small for them: better now than after minutes.
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
        f" most {download:.0f} MB to download; {disk:.0f} MB of disk while it works"
        f" ({free:.0f} MB free in {cache}). Later builds take only what changed. Log: {LOG}"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
