# SPDX-License-Identifier: MIT
"""How do inputs reach the workers of a cluster, and how do the files of a run come back?"""

import hashlib
import shutil
import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from p5lab.engines import Outcome
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute import worker
from p5lab.execute.one_run import Done, Task
from p5lab.execute.worker import Input, Report
from p5lab.files import digest_of
from p5lab.keep import store
from p5lab.lab import relative
from p5lab.logs import printable

if TYPE_CHECKING:
    from distributed import Client

PIECE = 4 << 20  # bytes of an input in one message


def inputs_of(task: Task, directory: Path) -> tuple[Input, ...]:
    """The inputs of a run, in the form that a worker needs. The relative paths of these inputs
    begin at the run directory."""
    return tuple(
        Input(relative(path, directory), path.absolute(), task.digests[role])
        for role, path in task.plan.inputs.items()
    )


class Sender:
    """Sends inputs to workers that do not share this file system. Sends each input once."""

    def __init__(self, client: "Client") -> None:
        self._client = client
        self._sending: dict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)

    def send(self, address: str, task: Task, missing: Iterable[str]) -> None:
        """Sends the missing inputs to a worker."""
        paths = {task.digests[role]: path for role, path in task.plan.inputs.items()}
        for digest in sorted(missing):
            with self._sending[address, digest]:
                try:
                    problem = self._send_one(address, paths[digest], digest)
                except OSError:
                    return  # the worker is gone, so another worker gets the run
            if problem:
                raise UserError(f"worker {address}: {problem}", status=STATUS_FAILED)

    def _send_one(self, address: str, path: Path, digest: str) -> str:
        """Sends one input. Returns the error message of the worker, or an empty text."""

        def there(what: Callable[..., object], *arguments: object) -> object:
            return self._client.run(what, *arguments, workers=[address]).get(address)

        if there(worker.has, digest):  # the input was already sent for another run
            return ""
        upload = uuid.uuid4().hex
        content = path.read_bytes()
        for offset in range(0, len(content) or 1, PIECE):
            last = offset + PIECE >= len(content)
            piece = content[offset : offset + PIECE]
            if problem := there(worker.keep, upload, digest, offset, piece, last):
                return str(problem)
        return ""


def received(report: Report, attempts: int, events: Collection[str], directory: Path) -> Done:
    """Moves the files of an execution into the run directory. Returns how the run ended.

    `attempts`: how often the run was started. `events`: the digests of the event files of all
    executions; the run fails if there are two different digests.
    """
    assert report.done is not None
    facts = {**report.done.facts, "worker": report.worker, "attempts": attempts}
    outcome = report.done.outcome
    if report.stage:
        _publish(report.stage, directory)
    elif report.files:
        stage = Path(
            tempfile.mkdtemp(prefix=f"{store.WORKER_PREFIX}{directory.name}-", dir=directory.parent)
        )
        try:
            unpack(report.files, stage)
            _publish(stage, directory)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    for name, digest in facts.get("digests", {}).items():
        if digest_of(directory / name) != digest:
            outcome = Outcome("failed", f"{name} differs from the file of worker {report.worker}")
    if len(events) > 1:
        outcome = Outcome("failed", "not repeatable: two executions gave different events")
    if outcome.status != "ok":
        facts = {name: fact for name, fact in facts.items() if name not in ("digests", "notes")}
    return Done(outcome, facts)


def unpack(files: Mapping[str, tuple[str, bytes]], stage: Path) -> None:
    """Writes files to the directory `stage`. A worker sent these files. `files`: the digest and the
    content of each file, by name.

    Raises UserError for a name outside of `stage` and for a wrong digest.
    """
    for name, (digest, content) in files.items():
        path = PurePath(name)
        if path.is_absolute() or ".." in path.parts:
            raise UserError(
                f"a worker sent a file {printable(name)!r}: expected a name inside the"
                " run directory"
            )
        if hashlib.sha256(content).hexdigest() != digest:
            raise UserError(f"{printable(name)} was corrupted on the way from the worker")
        (stage / path).parent.mkdir(parents=True, exist_ok=True)
        (stage / path).write_bytes(content)


def _publish(stage: Path, directory: Path) -> None:
    """Moves files from `stage` to the run directory. Both directories are on one file system, so
    each file moves in one step. The caller writes the run's record afterwards. The record then
    confirms that the directory contains all files."""
    for path in list(worker.files_of(stage)):
        place = directory / path.relative_to(stage)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def remove(stage: Path) -> None:
    """Removes the directory of an execution, unless the process of the execution still runs."""
    try:
        with store.locked(stage) as lock:
            if lock is not None:
                shutil.rmtree(stage, ignore_errors=True)
    except OSError:
        pass  # gc removes the directory later
