# SPDX-License-Identifier: MIT
"""Where is a run repeated that has a good result? `run --force` repeats such a run in a directory
beside the run directory. The good result stays in the run directory until the repeat has ended. If
p5lab or the host is killed before the end, nothing in the run directory has changed."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from p5lab.keep import store

FAILED = "failed-repeat"  # the directory, in a run directory, with the files of a failed repeat


@contextmanager
def place(directory: Path, *, is_kept: bool) -> Iterator[Path]:
    """Yields the directory in which to execute the run of `directory`, and removes this directory
    at the end of the block.

    If there is no result to keep (`is_kept` is false), yields `directory` itself, and removes
    nothing. The new directory is beside the run directory, so the relative paths of a plan lead to
    the same files. The caller holds the lock of the run directory. The new directory has the same
    lock file. `./p5lab gc` therefore removes the new directory only if no process uses it. Raises
    OSError if the directory cannot be made.
    """
    if not is_kept:
        yield directory
        return
    for left in directory.parent.glob(f"{store.REPEAT_PREFIX}{directory.name}-*"):
        shutil.rmtree(left, ignore_errors=True)  # of a killed command
    stage = Path(
        tempfile.mkdtemp(prefix=f"{store.REPEAT_PREFIX}{directory.name}-", dir=directory.parent)
    )
    try:
        with suppress(OSError):  # not every file system has hard links
            os.link(directory / store.LOCK, stage / store.LOCK)
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def publish(stage: Path, directory: Path, outputs: tuple[str, ...]) -> None:
    """Moves the files of a repeat into the run directory, one file in one step. Then removes the
    files of the earlier result that the repeat did not write. `outputs`: the files that an engine
    can write. Raises OSError if a file cannot be moved."""
    made = [path for path in stage.iterdir() if path.name != store.LOCK]
    for path in made:
        old = directory / path.name
        if old.is_dir():
            shutil.rmtree(old)
        path.replace(old)
    for name in {*outputs, store.COUNTS} - {path.name for path in made}:
        (directory / name).unlink(missing_ok=True)
    shutil.rmtree(directory / FAILED, ignore_errors=True)


def set_apart(stage: Path, directory: Path) -> Path:
    """Moves the files of a failed repeat to a directory in the run directory, and returns the new
    directory. The files of an earlier failed repeat are removed."""
    apart = directory / FAILED
    shutil.rmtree(apart, ignore_errors=True)
    (stage / store.LOCK).unlink(missing_ok=True)
    stage.replace(apart)
    return apart
