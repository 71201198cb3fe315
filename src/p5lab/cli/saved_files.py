# SPDX-License-Identifier: MIT
"""After a run: saves the image of --keep and the state of --save-state as new files."""

import argparse
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from p5lab import engines
from p5lab.cli import media, request
from p5lab.describe.run import Run
from p5lab.engines.bochs.engine import KEPT
from p5lab.errors import STATUS_FAILED, UserError, disk_error
from p5lab.execute import forkserver
from p5lab.execute.runner import Result
from p5lab.keep import gc, saved_state, store
from p5lab.lab import Lab


def keep(args: argparse.Namespace, results: Sequence[Result]) -> str:
    """Copies the changed image of the run to the file of --keep. Returns a line about it; empty
    without --keep and for a run that failed. Raises UserError if the file exists by now or cannot
    be written; then no part of it stays."""
    _, file = request.keep(args)
    (result,) = results if file else (None,)
    if file is None or result is None or result.status != "ok":
        return ""
    _copy(result.directory / KEPT[_role(result.run)], file, media.KEEP, lambda copy: None)
    return f"Saved {_role(result.run)} as {file}."


def keep_state(args: argparse.Namespace, lab: Lab, results: Sequence[Result]) -> str:
    """As keep(), for the state of --save-state."""
    file = args.save_state
    (result,) = results if file else (None,)
    if result is None or result.status != "ok":
        return ""
    plan = engines.get(result.run.engine).prepare(lab, result.run, result.directory)
    made_of = forkserver.made_of(plan, store.identity(plan)["digests"])
    source = result.directory / saved_state.ARCHIVE
    _copy(source, file, media.SAVE_STATE, lambda copy: saved_state.describe(copy, made_of))
    return f"Saved the system at its ready point as {file}, {gc.human(file.stat().st_size)}."


def _copy(source: Path, file: Path, option: str, finish: Callable[[Path], None]) -> None:
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
        raise UserError(f"{option} {file}: the file exists already", status=STATUS_FAILED) from None
    except OSError as error:
        raise disk_error(error, file) from None


def _role(run: Run) -> str:
    return run.boot.keep if run.boot else ""
