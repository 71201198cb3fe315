# SPDX-License-Identifier: MIT
"""The parts of a shell with a screen: what a terminal shows and sends, and recorded scripts."""

import errno
import os
import socket
from types import SimpleNamespace

import pytest

from p5lab.describe import keyboard, script
from p5lab.errors import UserError
from p5lab.execute import screen
from p5lab.execute.recorder import Recorder
from p5lab.execute.viewers import Viewers
from p5lab.host.painter import CLEAR, Painter, TextScreen, sequence
from p5lab.host.terminal_keys import Typed, typed

SECOND = 1_000_000


# --- what a terminal shows ------------------------------------------------------------------------


def text(*rows, columns=10, attributes=b"\x07", cursor=None):
    return TextScreen(columns, rows, attributes * (columns * len(rows)), cursor)


class Terminal:
    def __init__(self, columns=80, lines=25):
        self.written, self.now = [], (columns, lines)
        self.painter = Painter(self.written.append, lambda: self.now)

    def paint(self, shown):
        self.written.clear()
        self.painter.paint(shown)
        return "".join(self.written)


def test_colours_are_those_of_the_card():
    assert sequence(0x07) == "\x1b[0;37;40m"
    assert sequence(0x1E) == "\x1b[0;93;44m"  # bright yellow on blue
    assert sequence(0x41) == "\x1b[0;34;41m"  # blue on red
    row = TextScreen(4, ["abc"], b"\x07\x07\x1e\x1e", None).row(0, 80)
    assert row == "\x1b[0;37;40mab\x1b[0;93;44mc \x1b[0m"
    assert "c" not in TextScreen(4, ["abc"], b"\x07" * 4, None).row(0, 2)


def test_only_changed_rows_are_painted():
    terminal = Terminal()
    first = terminal.paint(text("one", "two", cursor=13))
    assert CLEAR in first
    assert "\x1b[1;1H" in first
    assert first.endswith("\x1b[2;4H\x1b[?25h")
    again = terminal.paint(text("one", "tws", cursor=13))
    assert "one" not in again
    assert "\x1b[2;1H\x1b[0;37;40mtws" in again
    assert "\x1b[1;1H" not in terminal.paint(text("one", "tws"))
    terminal.now = (40, 25)  # another size of the terminal
    assert CLEAR in terminal.paint(text("one", "tws"))


def test_a_small_terminal_shows_the_lines_with_the_cursor():
    terminal = Terminal(lines=2)
    rows = [f"row{number}" for number in range(5)]
    assert "row4" in terminal.paint(text(*rows))
    shown = terminal.paint(text(*rows, cursor=3))
    assert "row0" in shown
    assert "row1" in shown
    assert "row2" not in shown
    shown = terminal.paint(text(*rows, cursor=32))
    assert "row3" in shown
    assert "row4" not in shown
    assert "\x1b[2;3H" in shown


# --- what a terminal sends ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent, expected",
    [
        ("aB\r", [("type", "a"), ("type", "B"), ("type", "\n")]),
        ("\x7f\t", [("type", "\b"), ("type", "\t")]),
        ("\x03\x1a", [("press", "ctrl-c"), ("press", "ctrl-z")]),
        ("\x1b[A\x1bOD\x1b[5~\x1b[24~", [("press", n) for n in "up left pageup f12".split()]),
        ("\x1bOP\x1b[[E", [("press", "f1"), ("press", "f5")]),
        ("\x1b", [("press", "esc")]),
        ("\x1bxa", [("press", "alt-x"), ("type", "a")]),
        ("\x1bX", [("press", "alt-shift-x")]),
        ("\x1b[200~a", [("type", "a")]),  # an unknown sequence
        ("ä", []),
    ],
)
def test_what_a_terminal_sends_becomes_keys(sent, expected):
    assert [(key.action, key.value) for key in typed(sent)] == expected


def test_each_key_of_a_terminal_is_on_the_keyboard():
    sent = "".join(map(chr, range(1, 127))) + "".join(f"\x1b[{code}~" for code in range(1, 25))
    for key in typed(sent):
        assert key.chord
    assert Typed("type", "A").chord == (keyboard.SHIFT, keyboard.PLAIN["a"])


# --- what a viewer sends --------------------------------------------------------------------------


def test_symbols_of_a_viewer_become_keys():
    viewers = Viewers.__new__(Viewers)
    viewers._held = set()
    assert viewers._key(ord("A"), 1) == [Typed("type", "A")]
    assert viewers._key(ord("A"), 0) == []
    assert viewers._key(0xFFE3, 1) == []
    assert viewers._key(ord("c"), 1) == [Typed("press", "ctrl-c")]
    assert viewers._key(0xFFE9, 1) == []
    assert viewers._key(0xFFFF, 1) == [Typed("press", "ctrl-alt-delete")]
    viewers._key(0xFFE3, 0)
    assert viewers._key(0xFFBE, 1) == [Typed("press", "alt-f1")]
    (minus,) = viewers._key(ord("-"), 1)
    assert minus.chord == (keyboard.NAMED["alt"], keyboard.PLAIN["-"])
    for held in (1, 0):
        viewers._key(0xFFE9, held)
        # Not on a US keyboard: the euro sign, its character U+20AC, and a key for the volume.
        for symbol in (0x20AC, 0x10020AC, 0x1008FF11):
            assert viewers._key(symbol, 1) == []


# --- recorded scripts -----------------------------------------------------------------------------


def recorded(tmp_path, recorder):
    """The steps of a recorded script, which must be a script."""
    path = tmp_path / "steps.toml"
    path.write_text(recorder.script)
    return [(one.action, one.value) for one in script.load(path).steps]


def keys(recorder, sent, seconds, prompt=""):
    recorder.keys(list(typed(sent)), int(seconds * SECOND), prompt)


def test_a_script_waits_for_prompts_and_else_as_long_as_the_person(tmp_path):
    recorder = Recorder("Recorded on a test.")
    keys(recorder, "d", 3, "A:\\>")
    keys(recorder, "ir\r", 3.2)
    keys(recorder, "ver\rx", 9.5, "A:\\>")
    keys(recorder, "y", 9.6)
    keys(recorder, "\x1bOP", 12.25)
    keys(recorder, "z", 12.5)
    recorder.end(20 * SECOND, "")
    assert recorded(tmp_path, recorder) == [
        ("wait", "A:\\>"),
        ("type", "dir\n"),
        ("wait", "A:\\>"),
        ("type", "ver\n"),
        ("type", "xy"),
        ("pause", "2.65"),
        ("press", "f1"),
        ("pause", "0.25"),
        ("type", "z"),
        ("pause", "7.5"),
    ]
    assert recorder.script.startswith("# Recorded on a test.\nschema_version = 1\n")


def test_a_motion_that_the_engine_refused_is_not_recorded(tmp_path):
    recorder = Recorder("")
    ours, theirs = socket.socketpair()
    viewers = SimpleNamespace(events=lambda: events)
    with ours, theirs:
        person = screen.Person(None, screen.Link(ours), viewers, recorder, interactive=False)
        events = [("keys", [Typed("type", "a")]), ("mouse", (5, 5, 0)), ("mouse", (7, 7, 0))]
        person._from_viewers(viewers)
        sent = theirs.recv(4096).decode().splitlines()
    assert [line.split()[0] for line in sent] == ["prompt", "step", *["mouse", "prompt"] * 2]
    prompt = {"type": "prompt", "time_us": 3 * SECOND, "text": ""}
    refused = {"type": "refused", "reason": "the mouse is off"}
    for answer in (prompt, refused, prompt, prompt):  # the guest switches its mouse on
        person._answer(answer, b"")
    recorder.end(3 * SECOND, "")
    assert recorded(tmp_path, recorder) == [("pause", "3"), ("type", "a"), ("move", "7 7")]


def test_a_full_disk_leaves_no_half_of_a_script(tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(screen, "_session", lambda *words: (None, "# a script"))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"cannot write .*steps\.toml: No space left"):
        screen.run(None, None, None, tmp_path / "steps.toml")
    assert not list(tmp_path.iterdir())


def test_the_mouse_is_recorded_as_motions_and_clicks(tmp_path):
    recorder = Recorder("")
    recorder.mouse((3, 0), 0, 5 * SECOND)
    recorder.mouse((4, -2), 0, 5 * SECOND + 100)
    recorder.mouse((0, 0), 1, 5 * SECOND + 200)
    recorder.mouse((0, 0), 0, 5 * SECOND + 300)
    recorder.mouse((0, 0), 2, 5 * SECOND + 400)
    recorder.mouse((10, 5), 2, 5 * SECOND + 500)
    recorder.mouse((0, 0), 0, 5 * SECOND + 600)
    recorder.mouse((1, 1), 0, 9 * SECOND)
    recorder.end(9 * SECOND, "")
    assert recorded(tmp_path, recorder) == [
        ("pause", "5"),
        ("move", "7 -2"),
        ("click", "left"),
        ("move", "10 5 holding right"),
        ("pause", "3.9994"),
        ("move", "1 1"),
    ]
