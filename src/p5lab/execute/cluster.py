# SPDX-License-Identifier: MIT
"""Runs on the workers of a Dask cluster: of this machine (`--workers N`), or of a scheduler that is
there already (`--scheduler ADDRESS`). docs/reference/clusters.md says how to use it,
p5lab.execute.worker
what a worker does, p5lab.execute.connection how the cluster is reached.

A run is one task. Whatever happens to workers, a run directory gets the files of one whole
execution or none: they are put there by this process, which holds the directory's lock, and its
record is written last.
"""

import hashlib
import itertools
import os
import pickle
import shutil
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from p5lab.engines import Outcome
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.execute import worker
from p5lab.execute.one_run import INTERRUPTED, Done, Task
from p5lab.execute.runner import Lost
from p5lab.execute.worker import Input, Order, Report
from p5lab.host.logs import printable
from p5lab.keep import store

if TYPE_CHECKING:
    from distributed import Client, Future

RETRIES = 5  # of a run whose worker died while it ran
POLL_SECONDS = 0.5
ELASTIC = 64  # runs at a time for a scheduler's cluster, which may grow when it has work
GROUPS = 2  # of runs for each worker, at least
# A run meant for a worker that dies finds no other if there is none at that moment, and would wait
# for ever (distributed 2026.8.0: bulk_schedule_unrunnable_after_adding_worker).
STRANDED_SECONDS = 5
PIECE = 4 << 20  # bytes of an input that is sent


@dataclass(frozen=True)
class Tls:
    """Files in PEM form: the authority that signed everybody's certificate, our own certificate,
    its key."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class Wanted:
    """What the command line says: so many workers here, or the address of a scheduler or the file
    it wrote it to. `ship`: workers are sent everything, whatever they see of this file system."""

    workers: int = 0
    scheduler: str = ""
    tls: Tls | None = None
    ship: bool = False


@dataclass
class _Watched:
    """A run that is with the cluster, and what is heard of it: `messages` of the attempt under way,
    the digests of the events that its executions came to."""

    messages: SimpleQueue[str] = field(default_factory=SimpleQueue)
    attempts: int = 0
    worker: str = ""
    events: set[str] = field(default_factory=set)


@dataclass
class _Chain:
    """Runs of one boot that are given one after another; `worker` had the last one."""

    boot: str
    rank: int
    worker: str = ""


class Cluster:
    """The Place of runs that are sent to workers (p5lab.execute.runner)."""

    def __init__(self, client: "Client", wanted: Wanted, beacon: Path) -> None:
        """`beacon`: something among the results, by which workers see whether they share them."""
        threads = wanted.workers or sum(client.nthreads().values())
        self.at_a_time = 2 * threads if wanted.workers else max(ELASTIC, 2 * threads)
        self.threads = threads
        self._client = client
        self._name = wanted.scheduler or "of this machine"
        self._beacon = None if wanted.ship else beacon
        self._session = beacon.name.removeprefix(store.BEACON_PREFIX)
        self._watched: dict[str, _Watched] = {}
        self._shared: set[str] = set()  # boots that several runs have
        self._unbegun: set[str] = set()  # those of them that no run has been given out of
        self._chain = threading.local()
        self._ranks = itertools.count()
        self._own = bool(wanted.workers)
        self._sending: dict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)
        client.subscribe_topic(self._session, self._hear)

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        """Runs of one boot go to one worker, one after another, so that it boots once; but no such
        group is so long that other workers have nothing to do at the end."""
        self._shared = {boot for boot, runs in Counter(boots).items() if boot and runs > 1}
        groups: dict[str, list[int]] = {}
        for number, boot in enumerate(boots):
            groups.setdefault(boot or str(number), []).append(number)
        size = max(1, len(boots) // (GROUPS * max(1, self.threads)))
        self._unbegun = set(self._shared)
        return [
            group[start : start + size]
            for group in groups.values()
            for start in range(0, len(group), size)
        ]

    @property
    def _others(self) -> bool:
        """Whether a worker that has nothing to do may go on with another's chain. It would boot
        once more, so not while there are boots that nobody has begun; on a scheduler that others
        use too, the worker may be at work of theirs."""
        return not self._own or not self._unbegun

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        watched = self._watched[task.id] = _Watched()
        if task.boot not in self._shared:
            task = replace(task, boot="")
        try:
            while not stopped():
                if report := self._attempt(task, directory, watched, began, stopped):
                    return _received(report, watched, directory)
            return Done(Outcome("failed", INTERRUPTED), {}) if watched.attempts else None
        finally:
            del self._watched[task.id]
            for stage in directory.parent.glob(f"{store.WORKER_PREFIX}{task.id}-*"):
                _remove(stage)

    def ended(self, boot: str) -> None:
        """Which boots are still wanted, workers judge by their use."""

    def close(self, results: Path) -> None:
        """No run is to come: boots are ended, and what workers left that were killed is removed."""
        if self._client.status == "running":
            self._client.run(worker.end, self._session, on_error="ignore")
        for directory in results.glob(f"*/{store.BOOT_PREFIX}{self._session}-*"):
            _remove(directory)

    def _hear(self, event: tuple[float, dict[str, str]]) -> None:
        """What a worker tells about a run."""
        _, told = event
        watched = self._watched.get(told["run"])
        if watched and told["what"] == worker.BEGAN:
            watched.attempts += 1
            watched.worker = told["worker"]
            watched.messages.put(worker.BEGAN)
        elif watched and told["events"]:
            watched.events.add(told["events"])

    def _attempt(
        self,
        task: Task,
        directory: Path,
        watched: _Watched,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Report | None:
        """What a worker reports of a run; None when there is nothing to report: it is to be asked
        again, or nobody wants the run any more."""
        from distributed import KilledWorker

        chain = self._chain_of(task.boot)
        messages = watched.messages = SimpleQueue()
        future = self._submit(task, directory, chain)
        future.add_done_callback(lambda _: messages.put(worker.ENDED))
        try:
            if not self._wait(watched, chain.worker, began, stopped):
                chain.worker = ""
                return None
        except OSError:
            raise self._lost() from None
        finally:
            if not future.done():
                future.cancel()
        try:
            report = future.result()
        except KilledWorker as killed:
            # Dask counts a run also when it waited on a worker that died; we do not.
            if watched.attempts <= RETRIES:
                chain.worker = ""
                return None
            reason = f"its worker died {watched.attempts} times while it ran"
            return Report(
                watched.worker or killed.last_worker.address, Done(Outcome("failed", reason), {})
            )
        except (CancelledError, OSError):
            raise self._lost() from None
        except Exception as error:  # whatever the worker did not expect
            reason = f"worker: {type(error).__name__}: {printable(str(error))}"
            return Report(watched.worker, Done(Outcome("failed", reason), {}))
        if isinstance(report, str):
            raise Lost(
                f"a worker of {self._name} has no p5lab ({report}): expected it to be"
                " started as docs/reference/clusters.md says",
                status=STATUS_FAILED,
            )
        chain.worker = report.worker
        if report.refused:
            raise Lost(f"worker {report.worker}: {report.refused}", status=STATUS_FAILED)
        if report.missing:
            self._send(report.worker, task, report.missing)
            return None
        return report

    def _chain_of(self, boot: str) -> _Chain:
        """The chain that this thread is at. Earlier ones come first on every worker, so that few
        boots are in use at a time."""
        chain = getattr(self._chain, "now", None)
        if chain is None or not boot or chain.boot != boot:
            chain = self._chain.now = _Chain(boot, next(self._ranks))
            self._unbegun.discard(boot)
        return chain

    def _submit(self, task: Task, directory: Path, chain: _Chain) -> "Future":
        order = Order(task, _inputs(task, directory), directory, self._beacon, self._session)
        near = (
            {"workers": [chain.worker], "allow_other_workers": self._others} if chain.worker else {}
        )
        try:
            return self._client.submit(
                _execute_on_worker(),
                worker.fingerprint(),
                pickle.dumps(order),
                key=f"{task.run.workload.name}-{task.id}-{uuid.uuid4().hex[:8]}",
                priority=-chain.rank,
                pure=False,
                **near,
            )
        except RuntimeError:  # a client that is closed
            raise self._lost() from None

    def _wait(
        self, watched: _Watched, near: str, began: Callable[[], None], stopped: Callable[[], bool]
    ) -> bool:
        """Waits for the end of an attempt; False: nobody wants it any more, or nobody has it."""
        has_it, heard = near, time.monotonic()
        while True:
            try:
                message = watched.messages.get(timeout=POLL_SECONDS)
            except Empty:
                if self._client.status != "running":
                    raise self._lost() from None
                if stopped():
                    return False
                if near and time.monotonic() > heard + STRANDED_SECONDS:
                    if not self._client.nthreads(workers=[has_it]):
                        return False
                    heard = time.monotonic()
                continue
            if message == worker.ENDED:
                return True
            has_it, heard = watched.worker, time.monotonic()
            if watched.attempts == 1:
                began()

    def _lost(self) -> Lost:
        return Lost(
            f"the connection to the scheduler {self._name} is lost; the runs that have ended are"
            " recorded, and the same command goes on from there",
            status=STATUS_FAILED,
        )

    # --- inputs -------------------------------------------------------------------------------

    def _send(self, address: str, task: Task, missing: Iterable[str]) -> None:
        """Sends a worker the inputs it does not have."""
        paths = {task.digests[role]: path for role, path in task.plan.inputs.items()}
        for digest in sorted(missing):
            with self._sending[address, digest]:
                try:
                    problem = self._send_one(address, paths[digest], digest)
                except OSError:
                    return  # that worker has gone; the run is tried on another
            if problem:
                raise UserError(f"worker {address}: {problem}", status=STATUS_FAILED)

    def _send_one(self, address: str, path: Path, digest: str) -> str:
        """What went wrong there, or nothing."""

        def there(what: Callable[..., object], *arguments: object) -> object:
            return self._client.run(what, *arguments, workers=[address]).get(address)

        if there(worker.has, digest):  # another run of ours has sent it
            return ""
        upload = uuid.uuid4().hex
        content = path.read_bytes()
        for offset in range(0, len(content) or 1, PIECE):
            last = offset + PIECE >= len(content)
            piece = content[offset : offset + PIECE]
            if problem := there(worker.keep, upload, digest, offset, piece, last):
                return str(problem)
        return ""


def _execute_on_worker() -> Callable[[dict[str, str], bytes], object]:
    """worker.execute as Dask can send it to whom has no p5lab, such as its scheduler: a function
    inside another one is sent by its code."""

    def execute(wanted: dict[str, str], order: bytes) -> object:
        try:
            from p5lab.execute import worker
        except ImportError as error:
            return str(error)
        return worker.execute(wanted, order)

    return execute


def _inputs(task: Task, directory: Path) -> tuple[Input, ...]:
    return tuple(
        Input(os.path.relpath(path, directory), path.absolute(), task.digests[role])
        for role, path in task.plan.inputs.items()
    )


# --- results ----------------------------------------------------------------------------------


def _received(report: Report, watched: _Watched, directory: Path) -> Done:
    """Puts what a worker made into the run directory."""
    assert report.done is not None
    facts = {**report.done.facts, "worker": report.worker, "attempts": watched.attempts}
    outcome = report.done.outcome
    if report.stage:
        _publish(report.stage, directory)
    elif report.files:
        stage = Path(
            tempfile.mkdtemp(prefix=f"{store.WORKER_PREFIX}{directory.name}-", dir=directory.parent)
        )
        try:
            _unpack(report.files, stage)
            _publish(stage, directory)
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    for name, digest in facts.get("digests", {}).items():
        if store.digest(directory / name) != digest:
            outcome = Outcome("failed", f"{name} did not arrive as worker {report.worker} made it")
    if len(watched.events) > 1:
        outcome = Outcome("failed", "not repeatable: two executions came to different events")
    if outcome.status != "ok":
        facts = {name: fact for name, fact in facts.items() if name not in ("digests", "notes")}
    return Done(outcome, facts)


def _unpack(files: Mapping[str, tuple[str, bytes]], stage: Path) -> None:
    for name, (digest, content) in files.items():
        path = PurePath(name)
        if path.is_absolute() or ".." in path.parts:
            raise UserError(
                f"a worker sent a file {printable(name)!r}: expected a name inside the"
                " run directory"
            )
        if hashlib.sha256(content).hexdigest() != digest:
            raise UserError(f"{printable(name)} did not arrive as the worker sent it")
        (stage / path).parent.mkdir(parents=True, exist_ok=True)
        (stage / path).write_bytes(content)


def _publish(stage: Path, directory: Path) -> None:
    """Both are on one file system, so each file is moved in one step; the run's record, which says
    that they are all there, is written after them."""
    for path in list(worker.files_of(stage)):
        place = directory / path.relative_to(stage)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def _remove(stage: Path) -> None:
    """What an execution has left; not while one that everybody has given up is still there."""
    try:
        with store.locked(stage) as lock:
            if lock is not None:
                shutil.rmtree(stage, ignore_errors=True)
    except OSError:
        pass  # gc finds it
