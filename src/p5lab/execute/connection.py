# SPDX-License-Identifier: MIT
"""Connects to a cluster (p5lab.execute.cluster): starts workers on this machine, or uses a
scheduler that already runs."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab.errors import STATUS_FAILED, UserError, writing
from p5lab.execute.cluster import POLL_SECONDS, Cluster, Workers
from p5lab.host.orphans import dies_with_us
from p5lab.keep import store
from p5lab.lab import Lab
from p5lab.logs import printable

if TYPE_CHECKING:
    from distributed import Security

CONNECT_SECONDS = 20
QUIET = ("distributed", "tornado", "asyncio")  # loggers, with those below them
START_SECONDS = 120  # limit for the start of workers on this machine, which may be busy


@contextmanager
def connected(lab: Lab, wanted: Workers, say: Callable[[str], None]) -> Iterator[Cluster]:
    """Provides a cluster while the block runs. `say` shows the user a message if the runs must wait
    for workers. Raises UserError if there is no connection."""
    # These modules take a long time to load, so only the commands that use a cluster import them.
    import dask
    from distributed import Client, LocalCluster

    _quiet()
    with ExitStack() as stack:
        beacon = stack.enter_context(_beacon(lab))
        # With this setting, Dask reports every death of a worker to this process. Then the class
        # Cluster decides whether the run is sent again, because only Cluster counts the executions
        # of the run that began.
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
        security = _security(wanted)
        try:
            if wanted.workers:
                # With this `dashboard_address`, only this host can open Dask's HTTP pages.
                local = stack.enter_context(
                    LocalCluster(
                        n_workers=0,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",
                        security=security,
                        silence_logs=logging.CRITICAL,
                    )
                )
                client = stack.enter_context(Client(local, set_as_default=False))
                stack.enter_context(_workers(wanted, local.scheduler_address))
                client.wait_for_workers(1, timeout=START_SECONDS)
            else:
                where = (
                    {"scheduler_file": wanted.scheduler}
                    if Path(wanted.scheduler).is_file()
                    else {"address": wanted.scheduler}
                )
                client = stack.enter_context(
                    Client(
                        **where, security=security, timeout=CONNECT_SECONDS, set_as_default=False
                    )
                )
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            what = wanted.scheduler or "on this machine"
            raise UserError(
                f"cannot use the cluster {what}: {_first_line(error)}", status=STATUS_FAILED
            ) from None
        cluster = Cluster(client, wanted, beacon)
        if not cluster.threads:
            say(f"Scheduler {wanted.scheduler} has no workers yet. The runs wait for workers.")
        stack.callback(cluster.close, lab.results)
        yield cluster


@contextmanager
def _workers(wanted: Workers, address: str) -> Iterator[None]:
    """Keeps worker processes running on this machine while the block runs. If a worker dies, even
    during its start, this process starts the worker again. All workers end with this process.
    Dask's own supervisor is not used, because it does not restart a worker that dies during its
    start."""
    tls = wanted.tls
    lab = Lab.here()
    sources = os.pathsep.join(str(lab.root / name) for name in ("src", "stats-parsers"))
    with tempfile.TemporaryDirectory(prefix="p5lab-workers-") as place:
        command = [
            *dies_with_us("KILL"),
            *(sys.executable, "-m", "distributed.cli.dask_worker", address),
            *("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--local-directory", place),
            *("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"),
        ]
        if tls:
            files = {"--tls-ca-file": tls.ca, "--tls-cert": tls.cert, "--tls-key": tls.key}
            command += [word for option, file in files.items() for word in (option, str(file))]
        closing = threading.Event()

        def start() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                command,
                env={**os.environ, "PYTHONPATH": sources},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C must reach only this process
            )

        def tend() -> None:
            workers = [start() for _ in range(wanted.workers)]
            while not closing.wait(POLL_SECONDS):
                workers = [start() if worker.poll() is not None else worker for worker in workers]
            for worker in workers:
                worker.kill()
                worker.wait()

        # The thread must live as long as the workers, because the end of the thread kills the
        # workers (dies_with_us).
        tender = threading.Thread(target=tend, daemon=True)
        tender.start()
        try:
            yield
        finally:
            closing.set()
            tender.join()


def _quiet() -> None:
    """Suppresses Dask's messages in this process. p5lab itself reports everything about a run.
    Dask's own logs contain all other messages."""
    for name in (*QUIET, *logging.root.manager.loggerDict):  # Dask gives some of them a level
        if name.partition(".")[0] in QUIET:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module="distributed")


def _security(wanted: Workers) -> "Security":
    """Returns the TLS settings: the files of the command line, or Dask's own configuration."""
    from distributed import Security

    if not wanted.tls:
        return Security()
    files = {"--tls-ca": wanted.tls.ca, "--tls-cert": wanted.tls.cert, "--tls-key": wanted.tls.key}
    for option, path in files.items():
        try:
            path.read_bytes()
        except OSError as error:
            raise UserError(f"{option}: cannot read {path}: {error.strerror}") from None
    everybody = {
        f"tls_{role}_{what}": str(path)
        for role in ("client", "scheduler", "worker")
        for what, path in (("cert", wanted.tls.cert), ("key", wanted.tls.key))
    }
    return Security(require_encryption=True, tls_ca_file=str(wanted.tls.ca), **everybody)


def _first_line(error: Exception) -> str:
    return printable((str(error) or type(error).__name__).splitlines()[0])


@contextmanager
def _beacon(lab: Lab) -> Iterator[Path]:
    """Creates a directory in the results directory and locks the new directory while the block
    runs. A worker that sees this directory can use the results directory, too."""
    path = lab.results.absolute() / f"{store.BEACON_PREFIX}{uuid.uuid4().hex[:12]}"
    with writing(lab.results):
        path.mkdir(parents=True)
    try:
        with store.locked(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
