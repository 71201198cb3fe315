# SPDX-License-Identifier: MIT
"""Shows a simulated machine to VNC viewers on this host. The program p5vnc is the server
(engine/vnc/vnc.cc), with LibVNCServer."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from p5lab.describe import keyboard
from p5lab.errors import UserError
from p5lab.host.orphans import dies_with_us
from p5lab.host.terminal_keys import Typed
from p5lab.lab import Lab

# Symbols of the X Window System (X11/keysymdef.h). Those below 256 are characters.
SYMBOLS = {
    0xFF08: "backspace",
    0xFF09: "tab",
    0xFF0D: "enter",
    0xFF13: "pause",
    0xFF14: "scrolllock",
    0xFF1B: "esc",
    0xFF50: "home",
    0xFF51: "left",
    0xFF52: "up",
    0xFF53: "right",
    0xFF54: "down",
    0xFF55: "pageup",
    0xFF56: "pagedown",
    0xFF57: "end",
    0xFF61: "print",
    0xFF63: "insert",
    0xFF7F: "numlock",
    0xFF8D: "kpenter",
    0xFFAA: "kpmultiply",
    0xFFAB: "kpplus",
    0xFFAD: "kpminus",
    0xFFAE: "kpperiod",
    0xFFAF: "kpdivide",
    **{0xFFB0 + digit: f"kp{digit}" for digit in range(10)},
    **{0xFFBD + number: f"f{number}" for number in range(1, 13)},
    0xFFE5: "capslock",
    0xFFFF: "delete",
}
# Keys that are held while another key is pressed, in the order of a combination.
HELD = {
    0xFFE3: "ctrl",
    0xFFE4: "rightctrl",
    0xFFE9: "alt",
    0xFFEA: "rightalt",
    0xFFE1: "shift",
    0xFFE2: "rightshift",
}
BUTTONS = {1: 1, 4: 2}  # of RFB: the engine's (engine/session/console.hh)


HEADER = Path("/usr/include/rfb/rfb.h")


def program(lab: Lab) -> Path:
    """The server. Raises UserError if this host cannot build it."""
    path = lab.root / "build/engine/p5vnc"
    if not path.exists() and not HEADER.exists():
        raise UserError(
            "--vnc: LibVNCServer is missing; install it with `apt-get install libvncserver-dev`"
        )
    return path


class Viewers:
    """The server and its viewers. `address`: for a viewer. `source`: becomes readable."""

    def __init__(self, server: Path, port: int) -> None:
        """Starts the server. Port 0 is any free port. Raises UserError if it cannot listen."""
        self._process = subprocess.Popen(
            [*dies_with_us("KILL"), server, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdout and self._process.stdin
        said = self._process.stdout.readline().split()
        if len(said) != 2:
            self.close()
            raise UserError(f"--vnc: 127.0.0.1:{port} cannot be used; expected a free port")
        self.address = f"127.0.0.1:{int(said[1])}"
        self.source = self._process.stdout
        self._said = b""  # the beginning of a line
        self._held: set[int] = set()
        self._place: tuple[int, int] | None = None  # of the pointer
        self._buttons = 0

    def show(self, pixmap: bytes) -> None:
        """Shows a picture (the format P6 of ppm(5))."""
        size, _, dots = pixmap.removeprefix(b"P6\n").partition(b"\n255\n")
        with contextlib.suppress(OSError):
            assert self._process.stdin
            self._process.stdin.write(b"frame " + size + b"\n" + dots)
            self._process.stdin.flush()

    def events(self) -> Iterator[tuple[str, Any]]:
        """What has come: ("want", None), ("keys", keys), ("mouse", (right, down, buttons)), or
        ("gone", None) if the server has ended."""
        if not (more := os.read(self.source.fileno(), 1 << 16)):
            yield "gone", None
        *lines, self._said = (self._said + more).split(b"\n")
        for line in lines:
            kind, *numbers = line.split()
            values = map(int, numbers)
            if kind == b"want":
                yield "want", None
            elif kind == b"key":
                if keys := self._key(*values):
                    yield "keys", keys
            elif kind == b"pointer":
                yield "mouse", self._pointer(*values)

    def _key(self, symbol: int, down: int) -> list[Typed]:
        if symbol in HELD:
            (self._held.add if down else self._held.discard)(symbol)
            return []
        if not down:
            return []
        held = [name for code, name in HELD.items() if code in self._held]
        if symbol in SYMBOLS:
            return [Typed("press", "-".join([*held, SYMBOLS[symbol]]))]
        character = chr(symbol) if symbol < 256 else ""
        key = "minus" if character == "-" else character.lower()
        plain = [name for name in held if "shift" not in name]
        if plain and (key == "minus" or key in keyboard.PLAIN):
            return [Typed("press", "-".join([*held, key]))]
        return [Typed("type", character)] if " " <= character <= "~" else []

    def _pointer(self, x: int, y: int, mask: int) -> tuple[int, int, int]:
        """A place of the pointer as a motion of the mouse."""
        was = self._place or (x, y)
        self._place = (x, y)
        self._buttons = sum(ours for bit, ours in BUTTONS.items() if mask & bit)
        return x - was[0], y - was[1], self._buttons

    def close(self) -> None:
        """Ends the server."""
        self._process.kill()
        self._process.wait()
