# SPDX-License-Identifier: MIT
"""Guest debian32-x: an X server draws to the frame buffer, and a script drives its clients.

The tests are skipped if the checkout has no root file system of guest debian32 with an X server
(docs/concepts/x.md). A boot with the X server takes half a minute, so they run with --full.
"""

import json
import shlex
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

from p5lab.describe import experiment, script
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.build_and_run import execute
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.progress import Progress
from p5stats import events

SYSTEM = "debian32-x"
RECORD = Lab.here().rootfs("debian32").with_name("rootfs.json")
NEEDED = {"xserver-xorg-video-fbdev", "xserver-xorg-input-evdev", "xterm"}
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
PLACE = (10, 30)  # of the terminal's window
WINDOW = (300, 200)  # a dot in the terminal's window
# The terminal writes to a file, because nobody searches a picture for text.
TERMINAL = """xterm -geometry 60x20+10+30 -e sh -c 'echo up >/tmp/out; exec sh' &
while ! test -s /tmp/out; do sleep 0.1; done; cat /tmp/out; wait; cat /tmp/typed"""
TYPED = ('wait = "up"', 'begin = "typing"', 'type = "echo Hello, X >/tmp/typed; exit\\n"')


def has_server():
    return RECORD.is_file() and json.loads(RECORD.read_text())["packages"].keys() >= NEEDED


pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not has_server(), reason="no disk of debian32 with an X server"),
]


@pytest.fixture(scope="module")
def built(lab):
    if not lab.engine.is_file():
        pytest.skip("the engine is not built: run ./p5lab build")
    subprocess.run([lab.root / "p5lab", "build", "build/guests/debian32"], check=True)


@pytest.fixture
def run(own_lab, built, tmp_path):
    """Returns a function that runs the terminal with scripts, and returns the run directories."""

    def run(*scripts, fork=True):
        files = []
        for number, steps in enumerate(scripts):
            files.append(tmp_path / f"{number}.toml")
            text = "".join(f"[[script]]\n{step}\n" for step in steps)
            files[-1].write_text(f"schema_version = 1\n{text}")
        runs = prepare(
            own_lab,
            Request(
                UserProgram(
                    Path("guest:/bin/sh"),
                    shlex.join(("-c", TERMINAL)),
                    scripts=tuple(map(script.load, files)),
                ),
                Filter(guests=(SYSTEM,), limit=300),
            ),
        ).runs
        results = execute(own_lab, runs, Progress(), no_build=True, jobs=1, fork=fork, force=True)
        assert [one.status for one in results] == ["ok"] * len(runs), results
        return [one.directory for one in results]

    return run


def dot(directory, step, place):
    with Image.open(directory / f"step-{step}.png") as picture:
        assert picture.size == (640, 480)
        return picture.convert("RGB").getpixel(place)


def test_keys_reach_a_client_and_its_window_is_on_the_screen(run):
    steps = (*TYPED, 'end = "typing"')
    moved = ('wait = "up"', "move = [-200, -130]", 'type = "echo moved >/tmp/typed; exit\\n"')
    first, second = run(steps, moved)
    assert (first / "output.log").read_text() == "up\nHello, X\n"
    assert dot(first, 1, WINDOW) == WHITE
    assert dot(first, 1, (PLACE[0] - 5, PLACE[1] - 5)) == BLACK
    # The pointer of the terminal is a vertical line, first in the middle of the screen.
    assert [dot(second, step, (320, 240)) for step in (1, 2)] == [BLACK, WHITE]
    assert [dot(second, step, (120, 110)) for step in (1, 2)] == [WHITE, BLACK]
    (typing,) = [
        one for one in events.parse(first / "events.jsonl").brackets if one.phase == 1 << 31
    ]
    spaces = {space for space, _ in typing.end.banks}
    assert len(spaces) >= 4  # the server, the terminal, its shell and init


def test_a_forked_run_has_the_events_of_a_run_that_boots(run):
    steps = (*TYPED, 'end = "typing"')
    # `force` fails if the events differ from those of the first run.
    assert run(steps) == run(steps, fork=False)


def test_wish_shows_its_demonstrations(own_lab, built):
    if "tk8.6-doc" not in json.loads(RECORD.read_text())["packages"]:
        pytest.skip("the image has no package tk8.6-doc")
    runs = experiment.load(own_lab, "applications", Filter(workloads=("wish",)))
    (result,) = execute(own_lab, runs, Progress(), no_build=True, jobs=1, force=True)
    assert result.status == "ok", result.reason
    brackets = events.parse(result.directory / "events.jsonl").brackets
    found = Counter(one.phase for one in brackets)
    # 12 demonstrations, seven of them with buttons (script.h).
    assert [found[phase] for phase in (0, 1, 2, 3)] == [1, 1, 12, 7]
    with Image.open(result.directory / "screen.png") as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors()}
    # The list of demonstrations is white and blue, and the last demonstration draws a red line.
    assert {(255, 255, 255), (0, 0, 255), (255, 0, 0)} <= colours
