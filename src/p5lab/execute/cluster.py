# SPDX-License-Identifier: MIT
"""Executes runs on the workers of a Dask cluster.

The workers are processes on this machine (`--workers N`), or the workers of a running scheduler
(`--scheduler ADDRESS`). docs/reference/clusters.md describes the use of clusters.
p5lab.execute.connection connects to the cluster. p5lab.execute.worker runs on the workers.

Each run is one Dask task. A run directory gets either all files of one execution or no files, even
if workers die. This process holds the lock of the run directory and moves the files into the
directory. This process writes the run's record last.
"""

import itertools
import pickle
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, cast

from p5lab.engines import Outcome
from p5lab.errors import STATUS_FAILED
from p5lab.execute import cluster_files, worker
from p5lab.execute.executor import Lost
from p5lab.execute.one_run import INTERRUPTED, Done, Task
from p5lab.execute.worker import Order, Report
from p5lab.keep import store
from p5lab.logs import printable

if TYPE_CHECKING:
    from distributed import Client, Future

RETRIES = 5  # how often a run is sent again after the death of its worker
POLL_SECONDS = 0.5
ELASTIC = 64  # minimum number of runs at a scheduler, because its cluster may grow under load
GROUPS = 2  # minimum number of groups of runs for each worker
# If the preferred worker of a run dies and there is no other worker, Dask lets the run wait forever
# (distributed 2026.8.0: bulk_schedule_unrunnable_after_adding_worker). The same happens if the
# worker dies after the end of the run, before this process has received the result: Dask then wants
# to execute the run again. After this time without a message or a result, this process therefore
# checks whether a worker has the run.
STRANDED_SECONDS = 5


@dataclass(frozen=True)
class Tls:
    """Files in PEM format: `ca` is the certificate of the authority that signed all certificates,
    `cert` is our own certificate, and `key` is the key of `cert`."""

    ca: Path
    cert: Path
    key: Path


@dataclass(frozen=True)
class Workers:
    """The cluster that the command line requests: a number of workers on this machine, or a
    scheduler. `scheduler` is the address of the scheduler, or the file to which the scheduler wrote
    its address. `ship`: send all inputs to the workers, even if the workers see this file
    system."""

    workers: int = 0
    scheduler: str = ""
    tls: Tls | None = None
    ship: bool = False


@dataclass
class _Watched:
    """The state of a run on the cluster. `messages`: messages about the current attempt. `events`:
    the digests of the event files of all executions of the run."""

    messages: SimpleQueue[str] = field(default_factory=SimpleQueue)
    attempts: int = 0
    worker: str = ""
    events: set[str] = field(default_factory=set)


@dataclass
class _Chain:
    """Runs that share a boot and are sent to the cluster one after another. `rank`: a smaller
    number has priority. `worker`: the worker of the last run."""

    boot: str
    rank: int
    worker: str = ""


class Cluster:
    """An Executor (p5lab.execute.runner) that sends runs to workers."""

    def __init__(self, client: "Client", wanted: Workers, beacon: Path) -> None:
        """`beacon`: a directory in the results directory. A worker that sees the beacon can use
        the results directory, too."""
        threads = wanted.workers or sum(client.nthreads().values())
        self.at_a_time = 2 * threads if wanted.workers else max(ELASTIC, 2 * threads)
        self.threads = threads
        self._client = client
        self._name = wanted.scheduler or "of this machine"
        self._beacon = None if wanted.ship else beacon
        self._session = beacon.name.removeprefix(store.BEACON_PREFIX)
        self._watched: dict[str, _Watched] = {}
        self._shared: set[str] = set()  # boots that several runs share
        self._unbegun: set[str] = set()  # shared boots for which no run has been sent yet
        self._chain = threading.local()
        self._ranks = itertools.count()
        self._own = bool(wanted.workers)
        self._sender = cluster_files.Sender(client)
        client.subscribe_topic(self._session, self._hear)

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        """Groups the runs that share a boot. One worker executes the runs of a group one after
        another, so the guest boots once. The groups are short enough to keep all workers busy until
        the end."""
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
        """Whether an idle worker may continue the chain of another worker. The idle worker would
        have to boot the guest again. If this command started the workers, an idle worker must
        therefore wait until a run of every shared boot has been sent. After that, the worker may
        continue a chain. With a shared scheduler, an idle worker may always continue a chain,
        because the preferred worker may be busy with the work of other clients."""
        return not self._own or not self._unbegun

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        """Executes a run on a worker. Sends the run again if its worker died. Returns None if the
        run was stopped before it began. Raises Lost if the connection to the scheduler is lost."""
        watched = self._watched[task.id] = _Watched()
        if task.boot not in self._shared:
            task = replace(task, boot="")
        try:
            while not stopped():
                if report := self._attempt(task, directory, watched, began, stopped):
                    return cluster_files.received(
                        report, watched.attempts, watched.events, directory
                    )
            return Done(Outcome("failed", INTERRUPTED), {}) if watched.attempts else None
        finally:
            del self._watched[task.id]
            for stage in directory.parent.glob(f"{store.WORKER_PREFIX}{task.id}-*"):
                cluster_files.remove(stage)

    def ended(self, boot: str) -> None:
        """Does nothing, because the workers end booted engines that are unused for some time."""

    def close(self, results: Path) -> None:
        """Ends all booted engines of this command. Removes the directories that engines of killed
        workers left behind."""
        if self._client.status == "running":
            self._client.run(worker.end, self._session, on_error="ignore")
        for directory in results.glob(f"*/{store.BOOT_PREFIX}{self._session}-*"):
            cluster_files.remove(directory)

    def _hear(self, event: tuple[float, dict[str, str]]) -> None:
        """Records a message from a worker about a run."""
        _, message = event
        watched = self._watched.get(message["run"])
        if watched and message["what"] == worker.BEGAN:
            watched.attempts += 1
            watched.worker = message["worker"]
            watched.messages.put(worker.BEGAN)
        elif watched and message["events"]:
            watched.events.add(message["events"])

    def _attempt(
        self,
        task: Task,
        directory: Path,
        watched: _Watched,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Report | None:
        """Returns a worker's report on a run. Returns None if there is no report, because the run
        was stopped or must be sent again."""
        from distributed import KilledWorker

        chain = self._chain_of(task.boot)
        messages = watched.messages = SimpleQueue()
        future = self._submit(task, directory, chain)
        future.add_done_callback(lambda _: messages.put(worker.ENDED))
        try:
            if not self._wait(watched, chain.worker, began, stopped):
                chain.worker = ""
                return None
            report = self._result(future, stopped)
        except Lost:
            raise
        except KilledWorker as killed:
            # Dask also counts the death of a worker on which the run had not yet begun. `attempts`
            # counts only the executions that began.
            if watched.attempts <= RETRIES:
                chain.worker = ""
                return None
            reason = f"its worker died {watched.attempts} times while it ran"
            return Report(
                watched.worker or killed.last_worker.address, Done(Outcome("failed", reason), {})
            )
        except (CancelledError, OSError):
            raise self._lost() from None
        except Exception as error:  # an error that the worker did not handle
            reason = f"worker: {type(error).__name__}: {printable(str(error))}"
            return Report(watched.worker, Done(Outcome("failed", reason), {}))
        finally:
            if not future.done():
                future.cancel()
        if report is None:
            chain.worker = ""
            return None
        if isinstance(report, str):
            raise Lost(
                f"a worker of the scheduler {self._name} has no p5lab ({report}); start the worker"
                " as docs/reference/clusters.md describes",
                status=STATUS_FAILED,
            )
        chain.worker = report.worker
        if report.refused:
            raise Lost(f"worker {report.worker}: {report.refused}", status=STATUS_FAILED)
        if report.missing:
            self._sender.send(report.worker, task, report.missing)
            return None
        return report

    def _chain_of(self, boot: str) -> _Chain:
        """Returns the chain of this thread, or a new chain for another boot. Earlier chains have
        priority on every worker, so few booted engines are in use at the same time."""
        chain = getattr(self._chain, "now", None)
        if chain is None or not boot or chain.boot != boot:
            chain = self._chain.now = _Chain(boot, next(self._ranks))
            self._unbegun.discard(boot)
        return chain

    def _submit(self, task: Task, directory: Path, chain: _Chain) -> "Future":
        order = Order(
            task, cluster_files.inputs_of(task, directory), directory, self._beacon, self._session
        )
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
        except RuntimeError:  # the client is closed
            raise self._lost() from None

    def _wait(
        self, watched: _Watched, near: str, began: Callable[[], None], stopped: Callable[[], bool]
    ) -> bool:
        """Waits for the end of an attempt. Returns False if the run was stopped, or if no worker
        has the run."""
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

    def _result(self, future: "Future", stopped: Callable[[], bool]) -> Report | str | None:
        """Returns what the worker returned. Returns None if the run was stopped, or if the worker
        died before this process had received the result and no other worker has the run."""
        with ThreadPoolExecutor(1) as pool:
            # A time limit of Dask would cancel the requests of the other threads, too.
            result = pool.submit(future.result)
            while not wait([result], STRANDED_SECONDS).done:
                if self._client.status != "running":
                    raise self._lost()
                if stopped() or not self._is_somewhere(future):
                    future.cancel()  # ends the call in the other thread
                    return None
            return cast("Report | str", result.result())

    def _is_somewhere(self, future: "Future") -> bool:
        """Whether a worker has the result of a run or executes the run."""
        executed = itertools.chain.from_iterable(self._client.processing().values())
        return any(self._client.who_has([future]).values()) or future.key in executed

    def _lost(self) -> Lost:
        return Lost(
            f"the connection to the scheduler {self._name} is lost; finished runs are recorded;"
            " repeat the command to execute the other runs",
            status=STATUS_FAILED,
        )


def _execute_on_worker() -> Callable[[dict[str, str], bytes], object]:
    """Returns a function that calls worker.execute. The function is an inner function, because Dask
    sends an inner function as code. A process that has no p5lab, such as the scheduler, can receive
    this code."""

    def execute(wanted: dict[str, str], order: bytes) -> object:
        try:
            from p5lab.execute import worker
        except ImportError as error:
            return str(error)
        return worker.execute(wanted, order)

    return execute
