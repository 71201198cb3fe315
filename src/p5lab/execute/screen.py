# SPDX-License-Identifier: MIT
"""`./p5lab shell --screen`: a person sees the screen of a simulated machine and drives it.

The engine looks 100 times in each virtual second for commands on a socket, and answers them
(engine/session/viewer.hh). Keys are steps of a script that the person writes while the machine
runs. The engine draws only what somebody has asked for, and a look changes no event. The machine's
clock follows real time, as in p5lab.execute.shell. All files of the session are deleted at its end.
"""

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from p5lab import engines
from p5lab.describe.run import Run
from p5lab.engines import Outcome
from p5lab.execute.recorder import Recorder
from p5lab.execute.shell import ESCAPE, LEAVE, raw_terminal, started, status_of
from p5lab.execute.viewers import Viewers
from p5lab.files import store_bytes
from p5lab.host.painter import CLEAR, RESET, SHOW, Painter, TextScreen
from p5lab.host.terminal_keys import Typed, typed
from p5lab.lab import Lab

HELP = "Ctrl-A x leaves, Ctrl-A d sends Ctrl-Alt-Delete, Ctrl-A Ctrl-A sends Ctrl-A"
RESTART = ord("d")
MOUSE_OFF = "the mouse is off"  # a reason of the engine (engine/session/viewer.cc)
REDRAW_SECONDS = 0.05
# Records an input. The arguments are the virtual time in microseconds, and the new text before the
# cursor.
Note = Callable[[Recorder, int, str], None]


def run(lab: Lab, planned: Run, viewers: Viewers | None, record: Path | None) -> int:
    """Runs the session. `record`: the file of the script. Returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="p5lab-shell-") as name:
        outcome, script = _session(lab, planned, Path(name), viewers, record is not None)
    if record:
        store_bytes(record, script.encode())
        print(f"p5lab: the script is in {record}", file=sys.stderr)
    return status_of(planned, outcome)


def _session(
    lab: Lab, planned: Run, directory: Path, viewers: Viewers | None, record: bool
) -> tuple[Outcome | None, str]:
    """Returns the outcome of the engine, or None if the person left first. Also returns the
    script."""
    engine = engines.get(planned.engine)
    plan = engine.prepare(lab, planned, directory)
    for file, content in {**plan.write, **plan.live}.items():
        (directory / file).write_bytes(content)
    ours, theirs = socket.socketpair()
    engine_runs = started(plan, directory, theirs.fileno())
    with ours, engine_runs as process, raw_terminal() as interactive:
        theirs.close()  # so that our end tells when the engine has ended
        recorder = Recorder(f"Recorded on {planned.guest.name}.") if record else None
        person = Person(process, Link(ours), viewers, recorder, interactive)
        try:
            person.run()
        finally:
            if interactive:
                sys.stdout.write(f"{RESET}{CLEAR}\x1b[H{SHOW}")
                sys.stdout.flush()
        left = process.poll() is None
    outcome = None if left else engine.collect(directory, process.returncode)
    return outcome, recorder.script if recorder else ""


class Link:
    """The engine's socket: commands to the engine, and its answers."""

    def __init__(self, to_engine: socket.socket) -> None:
        self.socket = to_engine
        self.socket.setblocking(False)
        self._out = self._in = b""
        self.is_open = True

    def send(self, command: str) -> None:
        """Sends a command, or keeps it until the engine takes it."""
        self._out += command.encode() + b"\n"
        self.flush()

    def flush(self) -> None:
        """Sends what is kept."""
        try:
            while self._out:
                self._out = self._out[self.socket.send(self._out) :]
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False

    def answers(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The answers that have come, each with its bytes."""
        try:
            while more := self.socket.recv(1 << 20):
                self._in += more
            self.is_open = False
        except BlockingIOError:
            pass
        except OSError:
            self.is_open = False
        while b"\n" in self._in:
            line, _, rest = self._in.partition(b"\n")
            about = json.loads(line)
            count = about.get("bytes", 0)
            if len(rest) < count:
                return
            self._in = rest[count:]
            yield about, rest[:count]


@dataclass
class Person:
    """A person who sees the machine and drives it, in a terminal and in a VNC viewer."""

    process: "subprocess.Popen[bytes]"
    link: Link
    viewers: Viewers | None
    recorder: Recorder | None
    interactive: bool
    _painter: Painter = field(init=False)
    _next_look: float = 0.0
    _asked: bool = False  # for the screen
    _notes: deque[Note] = field(default_factory=deque)  # that wait for the engine's time
    _escaped: bool = False
    _left: bool = False
    _ended: bool = False  # no more input will come

    def __post_init__(self) -> None:
        self._painter = Painter(_write, shutil.get_terminal_size)

    def run(self) -> None:
        """Returns when the engine has ended or the person has left."""
        source = sys.stdin.fileno()
        while self.link.is_open and not self._left:
            reading: list[Any] = [self.link.socket]
            if not self._ended:
                reading.append(source)
            if self.viewers:
                reading.append(self.viewers.source)
            ready, _, _ = select.select(reading, [], [], REDRAW_SECONDS)
            self.link.flush()
            for about, content in self.link.answers():
                self._answer(about, content)
            if source in ready:
                self._from_terminal(os.read(source, 4096))
            if self.viewers and self.viewers.source in ready:
                self._from_viewers(self.viewers)
            self._ask()
        self._finish()

    def _ask(self) -> None:
        """Asks for the screen, if a terminal shows it."""
        now = time.monotonic()
        if self._asked or now < self._next_look or not sys.stdout.isatty():
            return
        self._asked, self._next_look = True, now + REDRAW_SECONDS
        self.link.send("screen")

    def _answer(self, about: dict[str, Any], content: bytes) -> None:
        if about["type"] == "screen":
            self._asked = False
            self._show(about, content)
        elif about["type"] == "picture" and self.viewers:
            self.viewers.show(content)
        elif about["type"] == "refused" and about["reason"] == MOUSE_OFF and self._notes:
            # The commands before this motion are answered, so the first note is the motion's.
            self._notes[0] = _note_nothing
        elif about["type"] == "prompt" and self.recorder:
            self._notes.popleft()(self.recorder, about["time_us"], about["text"])

    def _show(self, about: dict[str, Any], attributes: bytes) -> None:
        if about["rows"]:
            cursor = about.get("cursor")
            self._painter.paint(TextScreen(about["columns"], about["rows"], attributes, cursor))
            return
        size = f"{about['width']} x {about['height']} dots"
        where = f"a VNC viewer shows it at {self.viewers.address}" if self.viewers else ""
        self._painter.say(f"(a graphics mode of {size}; {where or '--vnc shows it'}) {HELP}")

    def _from_terminal(self, data: bytes) -> None:
        self._ended = not data
        self._left = not data and not self.interactive
        kept = bytearray()
        for byte in data:
            if self._escaped:
                self._escaped = False
                self._left |= byte in LEAVE
                if byte == ESCAPE:
                    kept.append(byte)
                elif byte == RESTART:
                    self._press([Typed("press", "ctrl-alt-delete")])
            elif self.interactive and byte == ESCAPE:
                self._escaped = True
            else:
                kept.append(byte)
        self._press(list(typed(kept.decode("ascii", "ignore"))))

    def _press(self, keys: Sequence[Typed]) -> None:
        if not keys:
            return
        self._note(partial(_note_keys, keys))
        self.link.send("step keys = " + " ".join("+".join(key.chord) for key in keys))

    def _from_viewers(self, viewers: Viewers) -> None:
        for kind, value in viewers.events():
            if kind == "gone":
                self.viewers = None
            elif kind == "want":
                self.link.send("picture")
            elif kind == "keys":
                self._press(value)
            elif kind == "mouse":
                right, down, buttons = value
                self.link.send(f"mouse {right} {down} {buttons}")
                self._note(partial(_note_mouse, (right, down), buttons))

    def _note(self, note: Note) -> None:
        """Records an input when the engine has reported its virtual time and the text before it."""
        if self.recorder:
            self._notes.append(note)
            self.link.send("prompt")

    def _finish(self) -> None:
        """Records the end, and waits for all answers of the engine."""
        self._note(Recorder.end)
        while self._notes and self.link.is_open:
            select.select([self.link.socket], [], [], REDRAW_SECONDS)
            self.link.flush()
            for about, content in self.link.answers():
                self._answer(about, content)


def _note_keys(keys: Sequence[Typed], recorder: Recorder, time_us: int, prompt: str) -> None:
    recorder.keys(keys, time_us, prompt)


def _note_mouse(
    way: tuple[int, int], buttons: int, recorder: Recorder, time_us: int, prompt: str
) -> None:
    recorder.mouse(way, buttons, time_us)


def _note_nothing(recorder: Recorder, time_us: int, prompt: str) -> None:
    """For an input that the engine refused: a script with it would fail."""


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
