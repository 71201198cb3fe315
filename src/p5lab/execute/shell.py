# SPDX-License-Identifier: MIT
"""`./p5lab shell GUEST` shows the serial console of a simulated machine in the user's terminal.

Bochs opens one end of a pseudo-terminal as its first serial line. This module relays bytes between
the other end and the user. The machine's clock follows real time: it is at most one second ahead of
real time, and the engine idles while the guest is idle. p5lab deletes all files of the session when
the session ends.

In a session, the guest's output reaches the terminal unchanged, because editors need the control
sequences. In all other commands, the control sequences in a guest's output are made harmless before
the output is shown (p5stats/untrusted.py).
"""

import contextlib
import os
import re
import select
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from p5lab import engines
from p5lab.describe.guest import ImageGuest
from p5lab.describe.machine import Machine
from p5lab.describe.program import Shell
from p5lab.describe.run import ImageRun, Run
from p5lab.describe.workload import Workload
from p5lab.engines import Outcome, Plan
from p5lab.errors import STATUS_FAILED
from p5lab.execute import forkserver
from p5lab.lab import Lab
from p5lab.terminal import for_terminal

NAME = "shell"
SPEED = "clock: sync=slowdown"  # real time
ESCAPE, LEAVE, END_OF_FILE = 0x01, b"xX", b"\x04"  # Ctrl-A, Ctrl-D
HELP = "Ctrl-A x leaves, Ctrl-A Ctrl-A sends Ctrl-A"
LIMIT_SECONDS = 365 * 86400  # of modelled time; in practice only the user ends a session
PROMPT = re.compile(rb"[#$>] \Z")
# If the input is a file or a pipe, a line is sent PROMPT_SECONDS after a prompt. Without a prompt,
# the line is sent after SILENT_SECONDS without output, because a running program may read the line.
PROMPT_SECONDS, SILENT_SECONDS = 0.05, 2.0
TICK_SECONDS = 0.05
CHUNK = 512  # number of bytes that can be written to a pipe without blocking


def plan(machine: Machine, guest: ImageGuest, seed: int, model: bool) -> Run:
    """Returns the run of a session: one shell on the console. If `model` is false, the machine is
    fast and has no caches."""
    workload = Workload(NAME, "a shell on the console", "", "none", "session")
    return ImageRun(
        NAME,
        machine,
        guest,
        workload,
        {},
        (),
        seed,
        True,
        LIMIT_SECONDS,
        program=Shell(),
        model=model,
    )


def run(lab: Lab, planned: Run) -> int:
    """Runs the session. Returns the exit status of the command."""
    with tempfile.TemporaryDirectory(prefix="p5lab-shell-") as name:
        return status_of(planned, _session(lab, planned, Path(name)))


def status_of(planned: Run, outcome: Outcome | None) -> int:
    """The exit status of a session that ended with this outcome. Prints the reason of a failure."""
    if outcome is None or outcome.status == "ok":
        return 0
    said = for_terminal(outcome.reason)
    print(f"p5lab: {planned.guest.name}: {outcome.status}: {said}", file=sys.stderr)
    return STATUS_FAILED


def _session(lab: Lab, planned: Run, directory: Path) -> Outcome | None:
    """Returns the outcome of the engine, or None if the user left the session before the engine
    ended."""
    engine = engines.get(planned.engine)
    prepared = engine.prepare(lab, planned, directory)
    for file, content in prepared.write.items():
        (directory / file).write_bytes(content)
    master, slave = os.openpty()
    try:
        tty.setraw(slave)  # no echo before Bochs has opened the line
        line = f"com1: enabled=1, mode=term, dev={os.ttyname(slave)}"
        with started(prepared, directory, subprocess.DEVNULL, line) as process:
            with raw_terminal() as interactive:
                if interactive:
                    say(f"{planned.guest.name} on {planned.machine.name}, simulated; {HELP}")
                Relay(process, master, interactive).run()
            left = process.poll() is None
        return None if left else engine.collect(directory, process.returncode)
    finally:
        os.close(master)
        os.close(slave)


@contextlib.contextmanager
def started(
    plan: Plan, directory: Path, source: int, *more: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """The engine, with real time, which is killed at the end of the block if it still runs.
    `source`: its standard input. `more`: further settings."""
    # Bochs starts in a new session of the operating system, so a serial line becomes the
    # controlling terminal of Bochs. If this process dies, Bochs therefore gets a hang-up signal.
    command = (*plan.command, *more, SPEED)
    process = forkserver.start(replace(plan, command=command), directory, stdin=source)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def raw_terminal() -> Iterator[bool]:
    """Passes every key to the guest while the block runs. Yields True if standard input is a
    terminal, else False."""
    if not sys.stdin.isatty():
        yield False
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setraw(sys.stdin, termios.TCSADRAIN)
        yield True
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def say(text: str) -> None:
    """Prints a line of p5lab itself, also in raw mode."""
    sys.stderr.write(f"\rp5lab: {text}\r\n")
    sys.stderr.flush()


@dataclass
class Relay:
    """Relays bytes between the guest's serial line and the user."""

    process: "subprocess.Popen[bytes]"
    line: int  # our end of the pseudo-terminal
    interactive: bool
    _typed: bytes = b""  # for the guest
    _shown: bytes = b""  # for the user
    _tail: bytes = b""  # the last bytes that the guest has sent
    _escaped: bool = False
    _ended: bool = False  # no more input will come
    _left: bool = False
    _quiet_since: float = field(default_factory=time.monotonic)
    _heard: bool = False  # the guest has sent something

    def run(self) -> None:
        """Relays bytes until the engine has ended or the user leaves."""
        source, screen = sys.stdin.fileno(), sys.stdout.fileno()
        while not self._left:
            ended = self.process.poll() is not None
            reading = [self.line]
            if not self._ended and (len(self._typed) < CHUNK or b"\n" not in self._typed):
                reading.append(source)
            ready, writable, _ = select.select(
                reading, [screen] if self._shown else [], [], 0 if ended else TICK_SECONDS
            )
            if self.line in ready:
                self._from_guest(os.read(self.line, CHUNK))
            if source in ready:
                self._from_user(os.read(source, CHUNK))
            if writable:
                written = os.write(screen, self._shown[:CHUNK])
                self._shown = self._shown[written:]
            if ended and not ready and not self._shown:
                return
            self._to_guest()

    def _from_guest(self, data: bytes) -> None:
        self._heard = True
        self._quiet_since = time.monotonic()
        self._tail = (self._tail + data)[-16:]
        # The guest ends a line with CR and LF. A terminal gets both characters, but a file gets
        # only LF.
        self._shown += data if sys.stdout.isatty() else data.replace(b"\r", b"")

    def _from_user(self, data: bytes) -> None:
        if not data:
            self._ended = True
        if not self.interactive:
            self._typed += data
            return
        for byte in data:
            if self._escaped:
                self._escaped = False
                if byte in LEAVE:
                    self._left = True
                elif byte == ESCAPE:
                    self._typed += bytes((byte,))
                else:
                    say(HELP)
            elif byte == ESCAPE:
                self._escaped = True
            else:
                self._typed += bytes((byte,))

    def _to_guest(self) -> None:
        """Sends input to the guest, but not before the guest's first output. Before this output,
        the guest does not read input."""
        if not self._heard:
            return
        if self.interactive:
            sent = os.write(self.line, self._typed) if self._typed else 0
            self._typed = self._typed[sent:]
        elif self._wants_line():
            whole, newline, rest = self._typed.partition(b"\n")
            if newline or (whole and self._ended):
                os.write(self.line, whole.replace(b"\r", b"") + b"\n")
                self._typed = rest
            elif self._ended:
                os.write(self.line, END_OF_FILE)
            else:
                return
            self._tail = b""
            self._quiet_since = time.monotonic()

    def _wants_line(self) -> bool:
        quiet = time.monotonic() - self._quiet_since
        return quiet > (PROMPT_SECONDS if PROMPT.search(self._tail) else SILENT_SECONDS)
