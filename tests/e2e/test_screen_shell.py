# SPDX-License-Identifier: MIT
"""`shell` with a screen: a terminal (tmux) and a VNC viewer show small systems of our own."""

import os
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from boot_sector import (
    TYPING,
    assembled,
    bootable,
    keys_floppy,
    new_runs,
    planned,
    prepared,
    record,
)

from p5lab.execute import screen, viewers
from p5lab.execute.shell import started
from p5lab.lab import Lab

HERE = Path(__file__).parent
ROOT = Lab.here().root
PATIENCE = 120  # seconds for a guest on a busy host
LONG = 3600  # virtual seconds: the pauses of a recorded script are as long as those of the session
tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="needs tmux")


def shell(*words):
    """The command line of a shell, and its environment."""
    command = [sys.executable, "-m", "p5lab", "shell", *map(str, words), "--model", "off"]
    # Without these two, a terminal's size is that of the terminal.
    ours = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return [*command, "--no-build"], ours


def eventually(found, what):
    """Waits until a function returns something. Returns it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if result := found():
            return result
        time.sleep(0.1)
    raise AssertionError(what)


class Terminal:
    """A terminal of 100 columns and 30 lines, which tmux keeps."""

    def __init__(self, command, environment):
        self._place = tempfile.TemporaryDirectory()  # the name of a socket must be short
        words = ["new-session", "-d", "-x", "100", "-y", "30", *command]
        self._tmux(*words, env=environment, check=True)

    def _tmux(self, *words, env=None, check=False):
        command = ["tmux", "-S", f"{self._place.name}/tmux", "-f", "/dev/null", *words]
        done = subprocess.run(command, env=env, check=check, capture_output=True, text=True)
        return done.stdout

    def rows(self, *options):
        return self._tmux("capture-pane", "-p", *options).splitlines()

    def wait(self, text):
        eventually(lambda: any(text in row for row in self.rows()), f"{text}: {self.rows()}")

    def keys(self, *names):
        self._tmux("send-keys", *names)

    def type(self, text):
        self._tmux("send-keys", "-l", text)

    def ended(self):
        return not self._tmux("list-sessions")

    def close(self):
        self._tmux("kill-server")
        self._place.cleanup()


@pytest.fixture
def keys(tmp_path):
    """The floppy of keys.S."""
    return keys_floppy(tmp_path)


@tmux
def test_a_person_types_in_a_terminal_and_the_script_repeats_it(keys, own_lab, tmp_path, capsys):
    recorded = tmp_path / "recorded.toml"
    terminal = Terminal(*shell("--floppy", keys, "--record", recorded))
    try:
        terminal.wait(">")
        # In one write, because a pause between the keys is a step of its own in the script.
        terminal.type("Hello, W0rld!\r")
        terminal.wait("floppy one")
        for name in ("F1", "C-c", "M-x", "Up", "C-a", "C-a"):
            terminal.keys(name)
        terminal.wait("><3b>^C<2d><48>^A")
        colours = "\n".join(terminal.rows("-e"))
        terminal.keys("C-a", "x")
        eventually(terminal.ended, terminal.rows())
    finally:
        terminal.close()
    assert "\x1b[37m" in colours  # the light grey of the BIOS on black
    text = recorded.read_text()
    assert text.startswith("# Recorded on floppy:one.img.\nschema_version = 1\n\n[[script]]\nwait")
    assert 'type = "Hello, W0rld!\\n"' in text
    assert [re.findall(r'press = "(.*)"', text)] == [["f1", "ctrl-c", "alt-x", "up", "ctrl-a"]]

    (made,) = new_runs(own_lab, "--floppy", keys, "--script", recorded, "--limit", LONG)
    assert record(made)["status"] == "ok"
    rows = [row for row in (made / "screen.txt").read_text().splitlines() if row]
    assert rows[-3:] == [">Hello, W0rld!", "floppy one", "><3b>^C<2d><48>^A"]


# --- a VNC viewer ---------------------------------------------------------------------------------

# The guest fills the screen of mode 13h with blue, and after a key with red.
FILL = """.code16
        .globl _start
_start: movw $0x0013, %ax
        int $0x10
        movw $0xA000, %ax
        movw %ax, %es
        movb $1, %al
        call fill
        movb $0, %ah
        int $0x16
        movb $4, %al
        call fill
1:      hlt
        jmp 1b
fill:   xorw %di, %di
        movw $64000, %cx
        rep stosb
        ret
"""
# The standard colours 1 to 5.
BLUE, GREEN, CYAN = (0, 0, 0xAA), (0, 0xAA, 0), (0, 0xAA, 0xAA)
RED, MAGENTA = (0xAA, 0, 0), (0xAA, 0, 0xAA)
RAW, SIZE = 0, -223  # encodings of RFB 3.8


class Viewer:
    """A VNC viewer (RFB 3.8, without a password) that keeps the whole picture."""

    def __init__(self, address):
        host, _, port = address.partition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        assert self.read(12) == b"RFB 003.008\n"
        self.socket.sendall(b"RFB 003.008\n")
        assert 1 in self.read(self.read(1)[0])
        self.socket.sendall(b"\1")  # no password
        assert self.read(4) == bytes(4)
        self.socket.sendall(b"\1")
        self.width, self.height = struct.unpack(">HH", self.read(4))
        self.read(16)
        self.name = self.read(struct.unpack(">I", self.read(4))[0])
        self.socket.sendall(struct.pack(">BxHii", 2, 2, RAW, SIZE))
        self.dots = bytearray(self.width * self.height * 4)

    def read(self, count):
        found = b""
        while len(found) < count:
            more = self.socket.recv(count - len(found))
            assert more
            found += more
        return found

    def look(self):
        """Receives the next picture."""
        area = (0, 0, self.width, self.height)
        self.socket.sendall(struct.pack(">BBHHHH", 3, 0, *area))
        kind, parts = struct.unpack(">BxH", self.read(4))
        assert kind == 0
        for _ in range(parts):
            x, y, width, height, encoding = struct.unpack(">HHHHi", self.read(12))
            if encoding == SIZE:
                self.width, self.height = width, height
                self.dots = bytearray(width * height * 4)
                continue
            rows = self.read(width * height * 4)
            for row in range(height):
                at = ((y + row) * self.width + x) * 4
                self.dots[at : at + width * 4] = rows[row * width * 4 : (row + 1) * width * 4]

    def colour(self, x, y):
        self.look()
        at = (y * self.width + x) * 4
        return tuple(self.dots[at : at + 3])

    def key(self, symbol):
        for down in (1, 0):
            self.socket.sendall(struct.pack(">BBxxI", 4, down, symbol))

    def pointer(self, x, y, buttons=0):
        self.socket.sendall(struct.pack(">BBHH", 5, buttons, x, y))


@pytest.fixture
def viewed():
    """Starts a shell with a VNC server. Returns the process and a viewer."""
    if not (viewers.HEADER.exists() and (ROOT / "build/engine/p5vnc").exists()):
        pytest.skip("needs build/engine/p5vnc, which needs LibVNCServer")
    processes = []

    def start(*words):
        command, environment = shell(*words, "--vnc")
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        processes.append(process)
        address = re.search(r"at (127\.0\.0\.1:\d+)\.", process.stderr.readline())[1]
        return process, Viewer(address)

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stderr.close()


def test_a_viewer_shows_graphics_and_takes_keys(viewed, tmp_path):
    floppy = tmp_path / "fill.img"
    floppy.write_bytes(bootable(assembled(FILL, tmp_path)))
    process, viewer = viewed("--floppy", floppy)
    assert viewer.name == b"p5lab"
    eventually(lambda: viewer.colour(600, 300) == BLUE, "no blue picture")
    assert (viewer.width, viewer.height) == (640, 400)
    viewer.key(ord("a"))
    eventually(lambda: viewer.colour(0, 0) == RED, "no red picture")
    process.stdin.close()  # the end of the input ends the session
    assert process.wait(PATIENCE) == 0


def test_the_mouse_of_a_viewer_is_recorded(viewed, own_lab, tmp_path):
    floppy, recorded = tmp_path / "mouse.img", tmp_path / "recorded.toml"
    floppy.write_bytes(bootable(assembled(HERE / "mouse.S", tmp_path)))
    process, viewer = viewed("--floppy", floppy, "--record", recorded)
    viewer.pointer(100, 100)
    # The first character has the next colour when the guest has done the action before.
    for colour, action in (
        (BLUE, lambda: viewer.key(ord("a"))),  # switches the mouse on
        (GREEN, lambda: viewer.pointer(112, 97)),
        (CYAN, lambda: viewer.pointer(112, 97, 4)),  # the right button of RFB
        (RED, lambda: viewer.pointer(112, 97, 0)),
        (MAGENTA, lambda: None),
    ):
        eventually(lambda: viewer.colour(0, 15) == colour, "no answer of the guest")  # noqa: B023
        action()
    process.stdin.close()
    assert process.wait(PATIENCE) == 0
    text = recorded.read_text()
    assert "move = [12, -3]" in text
    assert 'click = "right"' in text
    (made,) = new_runs(own_lab, "--floppy", floppy, "--script", recorded, "--limit", LONG)
    rows = [row.strip() for row in (made / "screen.txt").read_text().splitlines() if row]
    assert rows[-2:] == ["000c 0003 0002", "000c 0003 0000"]


# --- what a look changes --------------------------------------------------------------------------


def test_watching_changes_no_event(keys, own_lab, tmp_path):
    steps, place = tmp_path / "steps.toml", tmp_path / "live"
    steps.write_text(TYPING)
    (made,) = new_runs(own_lab, "--floppy", keys, "--script", steps, "--limit", 60)
    plan = prepared(own_lab, planned(own_lab, keys, steps), place, live=True)
    ours, theirs = socket.socketpair()
    with ours, started(plan, place, theirs.fileno()) as engine:
        theirs.close()
        link = screen.Link(ours)
        looks, asked_for, rows, prompt = 0, 0, [], ""

        def look():
            nonlocal looks, asked_for, rows, prompt
            if looks == asked_for:
                link.send("screen\npicture\nprompt")
                asked_for += 3
            select.select([ours], [], [], 1)
            for about, content in link.answers():
                looks += 1
                rows = about.get("rows", rows)
                prompt = about.get("text", prompt)
                assert about["type"] in ("screen", "prompt") or content.startswith(b"P6\n")
            # There is a prompt only after the last step of the script.
            return "floppy one" in rows and prompt

        eventually(look, "the text did not appear, or the script did not end")
        ours.close()
        assert engine.wait(PATIENCE) == 0
    assert looks >= 2
    watched, alone = ((one / "events.jsonl").read_text().splitlines() for one in (place, made))
    assert len(alone) == 7  # the header, four markers, the exit and the end
    assert watched[:5] == alone[:5]


@pytest.mark.parametrize(
    "words, expected",
    [
        ((), "p5lab: shell: expected a guest, or media (--floppy, --disk, --cdrom)"),
        (("linux", "--screen"), "--screen: guest linux has its console on the serial line"),
        (("linux", "--put", "a.txt"), "--put: expected with --floppy, --disk, --cdrom"),
        (("--floppy", "absent.img", "--vnc"), "--floppy absent.img: no such file"),
        (("--floppy", "absent.img"), "shell: the screen of a guest needs a terminal, or --vnc"),
    ],
)
def test_a_wrong_command_is_one_line(words, expected):
    command, environment = shell(*words)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=-3)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert done.stderr.count("\n") == 1
