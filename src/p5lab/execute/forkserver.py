# SPDX-License-Identifier: MIT
"""Boots a guest once for several runs. The booted engine forks a process for each run
(engine/session/server.hh describes the protocol).

Runs share a boot if they are equal in everything that has an effect before the guest's ready
marker. A forked run and a run that boots by itself have the same results, byte for byte.
"""

import fcntl
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from p5lab.engines import Plan
from p5lab.errors import UserError
from p5lab.keep import store
from p5lab.lab import relative

POLL_SECONDS = 0.1


def key(plan: Plan, digests: Mapping[str, str]) -> str:
    """Returns the identity of a run's boot, or an empty text if the engine cannot fork. `digests`
    contains the digests of the plan's inputs (store.identity)."""
    if not plan.server:
        return ""
    return store.run_id({**made_of(plan, digests), "command": plan.command, "shared": plan.shared})


def made_of(plan: Plan, digests: Mapping[str, str]) -> dict[str, Any]:
    """Returns everything that has an effect on the events before the ready marker."""
    return {
        "digests": {role: digests[role] for role in plan.boot.inputs},
        "settings": plan.boot.settings,
    }


def start(
    plan: Plan, directory: Path, *locks: int, stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Starts the engine of a plan, in a new session of the operating system. The engine inherits
    `locks` (file descriptors). While the engine runs, no other p5lab process uses the directory.
    Raises UserError if the engine cannot start."""
    with (directory / plan.console).open("wb") as console:
        try:
            return subprocess.Popen(
                plan.command,
                cwd=directory,
                env=dict(plan.environment),
                stdin=stdin,
                stdout=console,
                stderr=subprocess.STDOUT,
                pass_fds=locks,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start {plan.command[0]}: {error.strerror}") from None


class Server:
    """An engine process that boots and then forks. Several threads may use a server at the same
    time."""

    def __init__(self, plan: Plan, beside: Path, owner: str = "") -> None:
        """Starts the engine in a new directory beside the run directory `beside`. The relative
        paths of the plan lead to the same files from the new directory. The name of the new
        directory contains `owner`. Raises OSError or UserError if the engine cannot start."""
        self.directory = Path(
            tempfile.mkdtemp(prefix=f"{store.BOOT_PREFIX}{owner}", dir=beside.parent)
        )
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self.directory, ignore_errors=True)
            self._lock = undo.enter_context((self.directory / store.LOCK).open("w"))
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            given = {**plan.boot.write, **plan.server}
            self._given = {*given, store.LOCK}
            for file, content in given.items():
                (self.directory / file).write_bytes(content)
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.enter_context(self._socket)
            with theirs:
                self._process = start(
                    plan, self.directory, self._lock.fileno(), stdin=theirs.fileno()
                )
            self._undo = undo.pop_all()

    def run(
        self, directory: Path, lock: int, outputs: Sequence[str], give_up: Callable[[], bool]
    ) -> tuple[int | None, float]:
        """Forks a run in `directory` and waits for the end of the run. Returns the exit status of
        the run (as Popen.returncode), or None if `give_up` ended the run. Also returns the host
        time in seconds from the fork to the end. This time is 0 if the engine did not fork the run.

        The forked process holds `lock` (a file descriptor) while it runs. If the boot fails, the
        result is the exit status of the booting engine. The files that the booting engine has
        written are then copied to `directory`. `outputs` contains the names of files that are its
        outputs also if they were there before.
        """
        answer, theirs = os.pipe()
        with os.fdopen(answer, "rb", buffering=0) as pipe:
            path = relative(directory, self.directory).encode()
            try:
                with suppress(OSError):  # a dead engine does not answer
                    socket.send_fds(self._socket, [path], [theirs, lock])
            finally:
                os.close(theirs)
            said, forked = b"", 0.0
            while True:
                if select.select([pipe], [], [], POLL_SECONDS)[0]:
                    if not (more := pipe.read(100)):
                        break
                    said += more
                    if not forked and _number(said, b"pid") is not None:
                        forked = time.monotonic()
                elif give_up():
                    if pid := _number(said, b"pid"):
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    else:
                        self._process.kill()
                    return None, 0.0
        # A short run may end before its number is read. Zero stands for a run that was not forked.
        seconds = max(0.001, round(time.monotonic() - forked, 3)) if forked else 0.0
        status = _number(said, b"status")
        if status is not None:
            return os.waitstatus_to_exitcode(status), seconds
        if give_up():  # another run of this boot has given up, too, and has killed the engine
            return None, 0.0
        if _number(said, b"pid") is None:
            for written in self.directory.iterdir():
                if written.name in outputs or written.name not in self._given:
                    shutil.copyfile(written, directory / written.name)
        return self._process.wait(), seconds

    @property
    def ended(self) -> bool:
        """Whether the engine has ended and can no longer fork a run."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends the server. Forked runs that still exist are killed, too."""
        self._process.kill()
        self._process.wait()
        self._undo.close()


def _number(said: bytes, what: bytes) -> int | None:
    match = re.search(rb"^%s (\d+)\n" % what, said, re.MULTILINE)
    return int(match[1]) if match else None


class Servers:
    """Keeps one server for each boot that several runs share. A server starts with the first run of
    its boot and ends after the last run of its boot."""

    def __init__(self, keys: Iterable[str]) -> None:
        """`keys`: the boots of all runs. A run is not forked if its boot is empty, or if no other
        run shares its boot."""
        self._left = Counter(keys)
        self._shared = {name for name, count in self._left.items() if name and count > 1}
        self._servers: dict[str, Server] = {}
        self._lock = threading.Lock()

    def get(self, name: str, plan: Plan, beside: Path) -> Server | None:
        """Returns the server for a run of this boot, or None if the run must boot by itself."""
        if name not in self._shared:
            return None
        with self._lock:
            if name not in self._servers:
                self._servers[name] = Server(plan, beside)
            return self._servers[name]

    def done(self, name: str) -> None:
        """Records that a run of this boot has ended or was skipped. Ends the server after the last
        run of this boot."""
        with self._lock:
            self._left[name] -= 1
            server = None if self._left[name] else self._servers.pop(name, None)
        if server:
            server.close()

    def close(self) -> None:
        """Ends all servers. No run is forked afterwards."""
        with self._lock:
            servers = list(self._servers.values())
            self._servers.clear()
            self._shared.clear()
        for server in servers:
            server.close()
