# SPDX-License-Identifier: MIT
"""Boot once: an engine that has booted a guest forks a process for each run
(engine/session/server.hh
describes what is said to it).

Runs share a boot when they agree in everything that matters before the guest's ready marker. Each
forked run is byte for byte what it would have been on its own.
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
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from p5lab.engines import Plan
from p5lab.errors import UserError
from p5lab.keep import store

POLL_SECONDS = 0.1


def key(plan: Plan, digests: Mapping[str, str]) -> str:
    """What the boot of a run is identified by; empty when its engine cannot fork. `digests` are
    those of the plan's inputs (store.identity)."""
    if not plan.server:
        return ""
    return store.run_id(
        {
            "digests": {
                role: digest for role, digest in digests.items() if role not in plan.after_boot
            },
            "settings": {
                name: value for name, value in plan.settings.items() if name not in plan.after_boot
            },
            "command": plan.command,
        }
    )


def start(
    plan: Plan, directory: Path, lock: int, stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """The engine of a plan. It inherits `lock` (a file descriptor): as long as it lives, nobody
    takes its directory for left."""
    with (directory / plan.console).open("wb") as console:
        try:
            return subprocess.Popen(
                plan.command,
                cwd=directory,
                env=dict(plan.environment),
                stdin=stdin,
                stdout=console,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"cannot start {plan.command[0]}: {error.strerror}") from None


class Server:
    """An engine process that boots and then forks. Several threads may use it at the same time."""

    def __init__(self, plan: Plan, beside: Path, owner: str = "") -> None:
        """Starts it in a directory of its own beside the run directory `beside`, from where the
        plan's relative paths lead to the same files; its name has the `owner`'s in it. OSError or
        UserError if it cannot start."""
        self.directory = Path(
            tempfile.mkdtemp(prefix=f"{store.BOOT_PREFIX}{owner}", dir=beside.parent)
        )
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self.directory, ignore_errors=True)
            self._lock = undo.enter_context((self.directory / store.LOCK).open("w"))
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            for file, content in {**plan.write, **plan.server}.items():
                (self.directory / file).write_bytes(content)
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.enter_context(self._socket)
            with theirs:
                self._process = start(plan, self.directory, self._lock.fileno(), theirs.fileno())
            self._undo = undo.pop_all()

    def run(
        self, directory: Path, lock: int, outputs: Sequence[str], give_up: Callable[[], bool]
    ) -> int | None:
        """Forks a run in `directory` and waits for its end; returns its exit status, as
        Popen.returncode has it, or None when it was killed because `give_up` said so.

        The run holds `lock` (a file descriptor) as long as it lives. When the boot itself fails,
        its exit status is returned, and its `outputs` are in `directory` as if the run had failed.
        """
        answer, theirs = os.pipe()
        with os.fdopen(answer, "rb", buffering=0) as pipe:
            path = os.path.relpath(directory, self.directory).encode()
            try:
                with suppress(OSError):  # a dead engine is seen by its silence
                    socket.send_fds(self._socket, [path], [theirs, lock])
            finally:
                os.close(theirs)
            said = b""
            while True:
                if select.select([pipe], [], [], POLL_SECONDS)[0]:
                    if not (more := pipe.read(100)):
                        break
                    said += more
                elif give_up():
                    if pid := _number(said, b"pid"):
                        with suppress(ProcessLookupError):
                            os.kill(pid, signal.SIGKILL)
                    else:
                        self._process.kill()
                    return None
        status = _number(said, b"status")
        if status is not None:
            return os.waitstatus_to_exitcode(status)
        if _number(said, b"pid") is None:
            for name in outputs:
                if (self.directory / name).exists():
                    shutil.copyfile(self.directory / name, directory / name)
        return self._process.wait()

    @property
    def ended(self) -> bool:
        """Whether it can fork no more."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends the server; forked runs that are still there are killed with it."""
        self._process.kill()
        self._process.wait()
        self._undo.close()


def _number(said: bytes, what: bytes) -> int | None:
    found = re.search(rb"^%s (\d+)\n" % what, said, re.MULTILINE)
    return int(found[1]) if found else None


class Servers:
    """One server for each boot that several runs share, from its first run to its last."""

    def __init__(self, keys: Iterable[str]) -> None:
        """`keys`: the boot of every run to come; runs without one, or alone with theirs, are not
        forked."""
        self._left = Counter(keys)
        self._shared = {name for name, count in self._left.items() if name and count > 1}
        self._servers: dict[str, Server] = {}
        self._lock = threading.Lock()

    def get(self, name: str, plan: Plan, beside: Path) -> Server | None:
        """The server for a run of this boot; None when the run is to be started by itself."""
        if name not in self._shared:
            return None
        with self._lock:
            if name not in self._servers:
                self._servers[name] = Server(plan, beside)
            return self._servers[name]

    def done(self, name: str) -> None:
        """A run of this boot has ended, or need not be run; after the last one the server ends."""
        with self._lock:
            self._left[name] -= 1
            server = None if self._left[name] else self._servers.pop(name, None)
        if server:
            server.close()

    def close(self) -> None:
        with self._lock:
            servers = list(self._servers.values())
            self._servers.clear()
            self._shared.clear()
        for server in servers:
            server.close()
