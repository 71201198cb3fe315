# SPDX-License-Identifier: MIT
"""Asks the build graph whether everything that runs need is up to date, and builds what is not."""

import os
import shutil
import subprocess
import sys
import time
from collections import deque

from p5lab.errors import STATUS_FAILED, UserError
from p5lab.lab import Lab
from p5lab.progress import Progress

# Measured on 2 cores, Debian 12, with empty caches; the forecast says what it rests on.
FIRST_BUILD_MINUTES = 15
FIRST_BUILD_GB = 4
LOG = "build/build.log"


def ensure(lab: Lab, progress: Progress, targets: tuple[str, ...] = ()) -> None:
    """Runs scons on the given targets (none: everything). Output goes to build/build.log; the
    current step is shown. UserError with the last lines when it fails."""
    log = lab.root / LOG
    first = not lab.engine.exists()
    try:
        log.parent.mkdir(exist_ok=True)
        if first:
            free = shutil.disk_usage(lab.root).free / 1e9
            progress.say(
                f"First build: up to {FIRST_BUILD_MINUTES} minutes on 2 cores and"
                f" {FIRST_BUILD_GB} GB of disk ({free:.0f} GB free); much less with a warm cache."
                f" Log: {LOG}"
            )
        start = time.monotonic()
        last: deque[str] = deque(maxlen=15)
        with (
            log.open("w", encoding="utf-8") as file,
            progress.activity("build") as step,
            subprocess.Popen(
                [sys.executable, "-m", "SCons", "-Q", *targets],
                cwd=lab.root,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                file.write(line)
                last.append(line.rstrip())
                step(line.strip())
    except OSError as error:
        raise UserError(f"build: {error.strerror}: {error.filename or log}", status=1) from None
    if process.returncode != 0:
        tail = "\n".join(f"  {line}" for line in last)
        raise UserError(
            f"build failed (scons status {process.returncode}), see {LOG}; it ended with\n{tail}",
            status=STATUS_FAILED,
        )
    if first:
        progress.say(f"Built in {time.monotonic() - start:.0f} s.")
