# SPDX-License-Identifier: MIT
"""After a run: saves a changed image, or the state at the ready point, as a new file."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from p5lab import engines
from p5lab.describe.media import CHANGED
from p5lab.describe.run import MediaRun
from p5lab.engines.bochs import saved_state
from p5lab.errors import STATUS_FAILED, UserError, disk_error
from p5lab.execute import forkserver
from p5lab.keep import store
from p5lab.keep.result import Result
from p5lab.lab import Lab


def save_image(result: Result, file: Path) -> str:
    """Copies the changed image of a run to a new file. Returns the role of its medium. Raises
    UserError if the file exists by now or cannot be written; then no part of it stays."""
    assert isinstance(result.run, MediaRun)
    role = result.run.boot.keep
    _copy(result.directory / CHANGED[role], file, lambda copy: None)
    return role


def save_state(lab: Lab, result: Result, file: Path) -> None:
    """Copies the saved state of a run to a new file, with the digests of what it was made of.
    Raises UserError as save_image does."""
    plan = engines.get(result.run.engine).prepare(lab, result.run, result.directory)
    made_of = forkserver.made_of(plan, store.identity(plan)["digests"])
    source = result.directory / saved_state.ARCHIVE
    _copy(source, file, lambda copy: saved_state.describe(copy, made_of))


def _copy(source: Path, file: Path, finish: Callable[[Path], None]) -> None:
    """Copies a file of a run to a new file. `finish` completes the copy. Raises UserError if the
    new file exists by now or cannot be written; then no part of it stays."""
    if not source.is_file():
        raise UserError(f"{source} is missing; repeat the run with --force", status=STATUS_FAILED)
    try:
        with tempfile.TemporaryDirectory(prefix=".p5lab-keep-", dir=file.parent) as place:
            copy = Path(place) / "copy"
            shutil.copyfile(source, copy)
            finish(copy)
            os.link(copy, file)  # fails if the file exists
    except FileExistsError:
        raise UserError(f"{file}: the file exists already", status=STATUS_FAILED) from None
    except OSError as error:
        raise disk_error(error, file) from None
