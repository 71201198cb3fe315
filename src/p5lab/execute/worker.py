# SPDX-License-Identifier: MIT
"""Executes runs on a Dask worker. The client of the worker is p5lab.execute.cluster.

Each execution has its own directory, so two executions of a run never use the same files. If the
worker sees the client's results directory, the directory of the execution is beside the run
directories. If the worker does not see the results directory, the directory of the execution is on
the worker's disk. On this disk, the inputs have the same relative paths as on the client's host.
The worker returns the path of the directory, or the files in the directory. Only the client moves
files into the run directory.
"""

import functools
import hashlib
import importlib.metadata
import os
import pickle
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab.engines import EVENTS, Outcome, Plan
from p5lab.errors import disk_error
from p5lab.execute import one_run
from p5lab.execute.forkserver import Server
from p5lab.execute.one_run import Done, Task
from p5lab.files import digest_of
from p5lab.host.orphans import dies_with_us
from p5lab.keep import store
from p5lab.lab import Lab, cache_directory
from p5lab.version import __version__

if TYPE_CHECKING:
    from distributed import Worker

IDLE_SECONDS = 60  # a booted engine is ended after this time without a run
BEGAN, ENDED = "began", "ended"
FILLER = ".p5lab"  # name of directories that only make a path deeper
# The files of a run directory that the worker does not return with the result.
_OWN = (store.LOCK, store.RECORD, store.RESERVE)


@dataclass(frozen=True)
class Input:
    """An input file of a run: its path relative to the run directory, its path on the client's
    host, and its SHA-256."""

    relative: str
    path: Path
    digest: str


@dataclass(frozen=True)
class Order:
    """A client's order to execute a run. `beacon`: a directory in the client's results directory. A
    worker that sees the beacon can use the results directory, too. If `beacon` is None, the client
    sends all inputs. `session`: the name of one command of the client. A worker reports its
    progress to the Dask topic of this name."""

    task: Task
    inputs: tuple[Input, ...]
    directory: Path
    beacon: Path | None
    session: str


@dataclass(frozen=True)
class Report:
    """A worker's answer to an order. If the worker did not execute the run, `refused` contains the
    reason, or `missing` contains the digests of the inputs that the worker needs first. If the
    worker executed the run, `done` is the result of the run. The files of the result are in the
    directory `stage`, or `files` contains each file with its SHA-256."""

    worker: str
    done: Done | None = None
    stage: Path | None = None
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    refused: str = ""


@functools.cache
def fingerprint() -> dict[str, str]:
    """Returns the versions that must be equal on worker and client. With different versions, a run
    could have different results."""
    sources = hashlib.sha256()
    root = Lab.here().root
    for path in sorted([*root.glob("src/p5lab/**/*.py"), *root.glob("stats-parsers/**/*.py")]):
        sources.update(f"{path.relative_to(root)}\0{digest_of(path)}\n".encode())
    return {
        "Python": ".".join(platform.python_version_tuple()[:2]),
        **{name: importlib.metadata.version(name) for name in ("pandas", "pyarrow")},
        "p5lab": f"{__version__}, sources {sources.hexdigest()[:12]}",
    }


def skew(wanted: dict[str, str]) -> str:
    """Returns a message about the first difference between this p5lab and the client's fingerprint.
    The message is empty if there is no difference."""
    for name, version in fingerprint().items():
        if wanted.get(name) != version:
            return (
                f"it has {name} {version}, but the client has {wanted.get(name)}; make the versions"
                " equal and start the worker again"
            )
    return ""


def execute(wanted: dict[str, str], order: bytes) -> Report:
    """Executes an order, as a Dask task. `wanted` is the client's fingerprint(). `order` is a
    pickled Order, which is unpickled only if the fingerprints are equal."""
    from distributed.worker import get_worker

    worker = get_worker()
    if reason := skew(wanted):
        return Report(worker.address, refused=reason)
    asked: Order = pickle.loads(order)
    try:
        return _execute(worker, asked)
    except OSError as error:
        reason = str(disk_error(error, error.filename or asked.directory))
        return Report(worker.address, Done(Outcome("failed", reason), {}))


def _execute(worker: "Worker", order: Order) -> Report:
    shared = (
        order.beacon is not None
        and order.beacon.exists()
        and all(_holds(wanted.path, wanted.digest) for wanted in order.inputs)
    )
    if shared:
        beside = order.directory.parent
    elif not order.task.run.can.portable:
        engine = order.task.run.engine
        return Report(
            worker.address,
            refused=f"it does not see the directory {order.directory.parent}, but the engine"
            f" {engine} needs a file system that workers and client share",
        )
    else:
        paths = {wanted.digest: _find(wanted, order.beacon is not None) for wanted in order.inputs}
        missing = frozenset(digest for digest, path in paths.items() if path is None)
        if missing:
            return Report(worker.address, missing=missing)
        base = Path(worker.local_directory) / "p5lab"
        beside = _tree(base, order.inputs, {name: path for name, path in paths.items() if path})
    stage = Path(tempfile.mkdtemp(prefix=f"{store.WORKER_PREFIX}{order.task.id}-", dir=beside))
    about = {"run": order.task.id, "worker": worker.address}
    worker.log_event(order.session, {**about, "what": BEGAN})
    dropped = _dropped(worker)
    done = _perform(
        order.task, stage, order.session, keep=2 * worker.state.nthreads, dropped=dropped
    )
    events = done.facts.get("digests", {}).get(EVENTS, "")
    worker.log_event(order.session, {**about, "what": ENDED, "events": events})
    if shared:
        if dropped():  # the client may have cleaned up before this directory was there
            shutil.rmtree(stage, ignore_errors=True)
        return Report(worker.address, done, stage)
    try:
        return Report(worker.address, done, files=_contents(stage))
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _dropped(worker: "Worker") -> Callable[[], bool]:
    """A function that tells whether no client waits for the current task any more: the client has
    cancelled the run, or the client has ended."""
    key = worker.get_current_task()

    def dropped() -> bool:
        state = worker.state.tasks.get(key)
        return state is None or state.state not in ("executing", "long-running")

    return dropped


def _perform(
    task: Task, stage: Path, session: str, *, keep: int, dropped: Callable[[], bool]
) -> Done:
    """Executes a run in the directory `stage`. At most `keep` unused booted engines remain."""
    plan = replace(task.plan, command=(*dies_with_us("KILL"), *task.plan.command))
    task = replace(task, plan=plan)
    with store.locked(stage) as lock, ExitStack() as stack:
        assert lock is not None

        def boot() -> Server | None:
            if not task.boot:
                return None
            return stack.enter_context(_boots.booted(session, task.boot, plan, stage, keep))

        return one_run.perform(task, stage, lock, boot, dropped)


def _contents(stage: Path) -> dict[str, tuple[str, bytes]]:
    files = {}
    for path in files_of(stage):
        content = path.read_bytes()
        files[str(path.relative_to(stage))] = hashlib.sha256(content).hexdigest(), content
    return files


def files_of(stage: Path) -> Iterator[Path]:
    """Yields the files of a result, without symbolic links."""
    for path in stage.rglob("*"):
        if path.is_file() and not path.is_symlink() and str(path.relative_to(stage)) not in _OWN:
            yield path


# --- inputs -----------------------------------------------------------------------------------


def kept() -> Path:
    """Returns the directory where a host keeps received inputs. The digest of an input is its file
    name."""
    return cache_directory() / "inputs"


def _holds(path: Path, digest: str) -> bool:
    try:
        return digest_of(path) == digest
    except OSError:
        return False


def _find(wanted: Input, elsewhere: bool) -> Path | None:
    """Returns the path of an input on this host: the client's path or the path of a kept copy. The
    client's path is used only if `elsewhere` is true. Returns None if this host does not have the
    input."""
    if elsewhere and _holds(wanted.path, wanted.digest):
        return wanted.path
    path = kept() / wanted.digest
    if not _holds(path, wanted.digest):
        return None
    with suppress(OSError):
        os.utime(path)  # gc removes inputs that were unused for a long time
    return path


def has(digest: str) -> bool:
    """Whether this host keeps an input with this SHA-256."""
    return _holds(kept() / digest, digest)


def keep(upload: str, digest: str, offset: int, piece: bytes, last: bool) -> str:
    """Stores a piece of an input from the client. After the `last` piece, checks the digest of the
    whole file and keeps the file. Returns an error message, or an empty text."""
    path = kept() / f"{upload}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            if file.tell() != offset:
                raise OSError(0, "a piece of the file was lost")
            file.write(piece)
        if last:
            if not _holds(path, digest):
                raise OSError(0, "the file was corrupted on the way from the client")
            path.chmod(0o555)  # executable, because the engine is an input too
            path.replace(kept() / digest)
    except OSError as error:
        path.unlink(missing_ok=True)
        return str(disk_error(error, path))
    return ""


def _tree(base: Path, inputs: Sequence[Input], paths: dict[str, Path]) -> Path:
    """Creates and returns a directory below `base` for runs with these inputs. In each subdirectory
    of this directory, the relative path of an input leads to a file with the input's content.
    Raises OSError for a path that leads out of the tree."""
    text = "\n".join(sorted(f"{wanted.relative}\0{wanted.digest}" for wanted in inputs))
    tree = base / hashlib.sha256(text.encode()).hexdigest()[:16]
    up = max((_ups(wanted.relative) for wanted in inputs), default=1)
    beside = tree.joinpath(*[FILLER] * max(up - 1, 0))
    beside.mkdir(parents=True, exist_ok=True)
    for wanted in inputs:
        place = Path(os.path.normpath(beside / "run" / wanted.relative))
        if not place.is_relative_to(tree):
            raise OSError(0, "the path is outside of the tree of inputs", wanted.relative)
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            place.symlink_to(paths[wanted.digest])
    return beside


def _ups(relative: str) -> int:
    parts = Path(relative).parts
    return next((number for number, part in enumerate(parts) if part != ".."), len(parts))


# --- boots ------------------------------------------------------------------------------------


@dataclass
class _Booted:
    session: str
    server: Server
    users: int = 0
    used: float = 0


class _Boots:
    """Booted engines that are ready for the next run of the same boot and session."""

    def __init__(self) -> None:
        self._there: dict[str, _Booted] = {}  # in the order of their last use
        self._lock = threading.Lock()
        self._reaper: threading.Thread | None = None

    @contextmanager
    def booted(
        self, session: str, boot: str, plan: Plan, stage: Path, keep: int
    ) -> Iterator[Server]:
        """Provides the server for a run in `stage`. At most `keep` unused servers remain."""
        name = f"{session} {boot} {stage.parent}"
        with self._lock:
            booted = self._there.pop(name, None)
            if booted and booted.server.ended:
                booted.server.close()
                booted = None
            booted = booted or _Booted(session, Server(plan, stage, f"{session}-"))
            booted.users += 1
            self._there[name] = booted
            if not self._reaper:
                self._reaper = threading.Thread(target=self._reap, daemon=True)
                self._reaper.start()
        self._end(list(self._there)[:-keep])
        try:
            yield booted.server
        finally:
            with self._lock:
                booted.users -= 1
                booted.used = time.monotonic()

    def end(self, session: str) -> None:
        """Ends the unused engines of a session."""
        self._end([name for name, booted in list(self._there.items()) if booted.session == session])

    def _reap(self) -> None:
        """Ends unused engines of clients that never reported their own end."""
        while True:
            time.sleep(IDLE_SECONDS / 4)
            before = time.monotonic() - IDLE_SECONDS
            self._end([name for name, booted in list(self._there.items()) if booted.used < before])

    def _end(self, names: Sequence[str]) -> None:
        """Ends the engines in this list that no run uses."""
        with self._lock:
            unused = [name for name in names if name in self._there]
            going = [self._there.pop(name) for name in unused if not self._there[name].users]
        for booted in going:
            booted.server.close()


_boots = _Boots()


def end(session: str) -> None:
    """Ends the booted engines of a client that has ended. This function runs on the worker."""
    _boots.end(session)
