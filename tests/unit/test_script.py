# SPDX-License-Identifier: MIT
"""Scripts that drive guests and programs: steps, keys, windows, and messages about errors."""

from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import guest, keyboard, markers, pattern, script
from p5lab.describe.request import Filter, Request, UserMedia, UserProgram
from p5lab.engines.bochs import bochsrc
from p5lab.engines.bochs import script as conf
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.prepare import media as media_runs
from p5lab.prepare import prepare

HEAD = "schema_version = 1\n"
FLOPPY = 1_474_560
BOOT = b"\0" * 510 + b"\x55\xaa"


@pytest.fixture
def load(tmp_path):
    """Returns a function that reads steps: each argument is the text of one step."""

    def load(*steps):
        path = tmp_path / "steps.toml"
        path.write_text(HEAD + "".join(f"[[script]]\n{one}\n" for one in steps))
        return script.load(path)

    return load


def floppy(place, name, size=FLOPPY):
    path = place / name
    path.write_bytes((BOOT + name.encode()).ljust(size, b"\0"))
    return path


def boot(place, steps, until=""):
    """The boot of a floppy with a script."""
    asked = UserMedia((floppy(place, "my.img"),), until=until, scripts=(steps,))
    choice = Filter(machines=("p90-premiere2",))
    (run,) = prepare(Lab(REPO, place / "results"), Request(asked, choice)).runs
    return run


# --- keys ---------------------------------------------------------------------------------------


def test_a_text_is_typed_on_the_us_layout():
    assert keyboard.typed("aA1!\n", "") == (("1e",), ("2a", "1e"), ("02",), ("2a", "02"), ("1c",))
    assert keyboard.typed("\\|'\"`~ \t", "") == (
        ("2b",),
        ("2a", "2b"),
        ("28",),
        ("2a", "28"),
        ("29",),
        ("2a", "29"),
        ("39",),
        ("0f",),
    )
    printable = "".join(map(chr, range(32, 127)))
    assert len(set(keyboard.typed(printable, ""))) == len(printable)
    with pytest.raises(UserError, match="here: 'é' is not on a US keyboard"):
        keyboard.typed("café", "here")


def test_keys_are_pressed_together():
    assert keyboard.pressed("ctrl-alt-delete", "") == ("1d", "38", "e053")
    assert keyboard.pressed("f10", "") == ("44",)
    assert keyboard.pressed("ctrl-c", "") == ("1d", "2e")
    assert keyboard.pressed("minus", "") == ("0c",)
    for wrong, expected in {
        "enterr": "here: unknown key 'enterr'; did you mean 'enter'?",
        "ctrl-": "unknown key ''",
        "-": "unknown key ''",
        "C": "unknown key 'C'",
        "a-a": "'a-a': expected each key only once",
    }.items():
        with pytest.raises(UserError) as caught:
            keyboard.pressed(wrong, "here")
        assert expected in str(caught.value)


# --- steps --------------------------------------------------------------------------------------


def test_each_action_is_read(load, tmp_path):
    found = load(
        "wait = 'A:\\>'\nwithin = 30",
        'type = "dir\\n"\nname = "list"',
        'press = ["down", "ctrl-c"]',
        "pause = 0.5",
        'wait_pattern = "[0-9]+ file"',
        'insert = {floppy_a = "./two.img"}',
    )
    assert found.name == "steps.toml"
    wait, typed, pressed, pause, wait_pattern, insert = found.steps
    assert (wait.value, wait.within) == ("A:\\>", 30_000_000)
    assert found.titles[0] == 'step 1, wait "A:\\\\>", steps.toml:2'
    assert found.titles[1] == 'step 2 (list), type "dir\\n", steps.toml:5'
    assert typed.chords == (("20",), ("17",), ("13",), ("1c",))
    assert pressed.chords == (("e050",), ("1d", "2e"))
    assert (pause.microseconds, wait_pattern.value) == (500_000, "[0-9]+ file")
    assert insert.floppy is not None
    assert (insert.floppy.role, insert.floppy.file) == ("floppy_a", str(tmp_path / "two.img"))


@pytest.mark.parametrize(
    "step, expected",
    [
        ("", "steps.toml:2: script[0]: expected one of wait, wait_pattern, type"),
        ('wait = "a"\ntype = "b"', "found wait and type"),
        ('waits = "a"', "steps.toml:3: script[0]: unknown key 'waits'; did you mean 'wait'?"),
        ('wait = ""', "steps.toml:3: script[0]: wait: expected a text that is not empty"),
        ("wait = 1", "steps.toml:3: script[0]: wait: expected a text in quotes, found a whole"),
        ('wait = "a "', "without spaces at its ends"),
        ('wait = "a\\nb"', "expected printable ASCII in one line"),
        ('wait_pattern = "a("', "is not an extended regular expression of POSIX: Unmatched"),
        ('type = "ä"', "steps.toml:3: script[0]: type: 'ä' is not on a US keyboard"),
        ('press = "entr"', "steps.toml:3: script[0]: press: unknown key 'entr'"),
        ("press = []", "press: expected the names of keys"),
        ("press = [1]", "press: expected a list of texts"),
        ("pause = 0", "expected seconds of virtual time, 0.000001 to 1000000, found 0"),
        ("pause = nan", "expected seconds of virtual time, 0.000001"),
        ("pause = true", "pause: expected seconds of virtual time, a number, found true or false"),
        ('type = "a"\nwithin = 3', "steps.toml:4: script[0]: within: expected only with wait or"),
        ('wait = "a"\nwithin = "3"', "within: expected seconds of virtual time, a number"),
        ('wait = "a"\nname = "a\\nb"', "name: expected printable text in one line"),
        ('insert = "a"', "insert: expected a table, found a text"),
        ('insert = {disk_1 = "a"}', "unknown key 'disk_1'"),
        ("insert = {}", "insert: expected one of floppy_a or floppy_b"),
        ('insert = {floppy_a = "a", floppy_b = "b"}', "expected one of floppy_a or floppy_b"),
        ('begin = "boot"', "begin: 'boot': expected a name of letters"),
        ('begin = "a b"', "begin: 'a b': expected a name of letters"),
        ('begin = "a"', "steps.toml:3: script[0]: begin: 'a' begins and does not end"),
        ('end = "a"', "end: expected 'boot', the window that began last, found 'a'"),
        ("ready = false", "steps.toml:3: script[0]: ready: expected true"),
        ("move = 3", "move: expected [RIGHT, DOWN], two whole numbers from -100000 to 100000"),
        ("move = [1]", "move: expected [RIGHT, DOWN]"),
        ("move = [1, 2.0]", "move: expected [RIGHT, DOWN]"),
        ("move = [1, 100001]", "move: expected [RIGHT, DOWN]"),
        ("move = [true, 1]", "move: expected [RIGHT, DOWN]"),
        ('move = [1, 2]\nholding = "lef"', "holding: unknown button 'lef'; did you mean 'left'?"),
        ('move = [1, 2]\nholding = ["left"]', "holding: expected a text in quotes"),
        (
            'pause = 1\nholding = "left"',
            "steps.toml:4: script[0]: holding: expected only with",
        ),
        ("click = []", "click: expected the names of buttons"),
        ('click = "middle"', "click: unknown button 'middle'"),
    ],
)
def test_a_wrong_step_is_one_line(load, step, expected):
    with pytest.raises(UserError) as caught:
        load(step)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_windows_nest(load):
    found = load('end = "boot"', *(f'{key} = "{name}"' for key, name in NESTED))
    assert found.windows == ("a", "b")
    for wrong in (
        ['begin = "a"', 'begin = "a"'],
        ['begin = "a"', 'begin = "b"', 'end = "a"'],
        ['end = "boot"', 'end = "boot"'],
    ):
        with pytest.raises(UserError):
            load(*wrong)


def test_the_mouse_has_steps(load, tmp_path):
    steps = load("move = [-30, 7]", 'move = [1, 0]\nholding = "right"', 'click = ["left", "left"]')
    assert [one.value for one in steps.steps] == ["-30 7", "1 0 holding right", "left left"]
    assert steps.titles[0] == "step 1, move -30 7, steps.toml:2"
    assert conf.lines(boot(tmp_path, steps).boot)[1].steps == {
        "run.step.0.move": "-30 7",
        "run.step.1.move": "1 0",
        "run.step.1.holding": "2",
        "run.step.2.click": "1 1",
    }


def test_a_ready_point_is_outside_of_all_windows(load):
    found = load('wait = "a"', "ready = true", 'begin = "b"', 'end = "b"')
    assert [one.action for one in found.boot] == ["wait", "ready"]
    assert load('end = "boot"', "ready = true").boot
    assert load('wait = "a"').boot == ()
    for wrong, expected in {
        ("ready = true", "ready = true"): "ready: expected once in a script",
        ('begin = "b"', "ready = true"): "ready: expected after the end of the window 'b'",
        ("ready = true", 'end = "boot"'): "end: expected no window, the window that began last",
    }.items():
        with pytest.raises(UserError) as caught:
            load(*wrong)
        assert expected in str(caught.value)


NESTED = [("begin", "a"), ("begin", "b"), ("end", "b"), ("end", "a"), ("begin", "a"), ("end", "a")]


def test_patterns_are_checked_as_the_engine_does():
    assert pattern.problem("^C:.*>$") == ""
    assert pattern.problem("a{2,1}") != ""
    assert pattern.problem("[a") != ""


def test_the_file_needs_steps(tmp_path):
    path = tmp_path / "steps.toml"
    path.write_text(HEAD)
    with pytest.raises(UserError, match=r"steps.toml: expected one or more steps \[\[script\]\]"):
        script.load(path)
    path.write_text(HEAD + "[script]\nwait = 'a'\n")
    with pytest.raises(UserError, match=r"steps.toml:2: script: expected a list"):
        script.load(path)


# --- runs ---------------------------------------------------------------------------------------


def test_the_engine_gets_the_steps(load, tmp_path):
    floppy(tmp_path, "two.img")
    run = boot(
        tmp_path,
        load(
            "wait = 'A:\\>'\nwithin = 2.5",
            'end = "boot"',
            'begin = "dir"',
            'type = "D"',
            'insert = {floppy_a = "./two.img"}',
            'insert = {floppy_a = "./my.img"}',
            "pause = 1",
            'end = "dir"',
        ),
        until="A:\\>",
    )
    before, job = conf.lines(run.boot)
    assert before.steps == before.titles == {}  # there is no ready point
    assert job.steps == {
        "run.step.0.wait": "A:\\>",
        "run.step.0.within_us": "2500000",
        "run.step.1.end": str(markers.BOOT_PHASE),
        "run.step.2.begin": str(markers.WINDOW_PHASE),
        "run.step.3.keys": "2a+20",
        "run.step.4.insert": "0 insert_1.img",
        "run.step.5.insert": "0 floppy_a.img",  # the floppy of the start, with its changes
        "run.step.6.pause_us": "1000000",
        "run.step.7.end": str(markers.WINDOW_PHASE),
        "run.step.8.wait": "A:\\>",
    }
    assert job.titles["run.step.8.title"] == 'step 9, until "A:\\>"'
    assert run.workload.phases == {
        **media_runs.WORKLOAD.phases,
        markers.WINDOW_PHASE: "dir",
    }
    assert [one.role for one in run.boot.inserted] == ["insert_1"]
    assert run.label.startswith("steps.toml until 'A:")


def test_only_what_the_steps_do_is_in_the_identity(load, tmp_path):
    first = boot(tmp_path, load('wait = "a"', 'type = "b"'))
    named = boot(tmp_path, load('name = "x"\n\n\nwait = "a"', '# comment\ntype = "b"'))
    other = boot(tmp_path, load('wait = "a"', 'type = "c"'))
    assert conf.lines(first.boot)[1].steps == conf.lines(named.boot)[1].steps
    assert first.parameters == named.parameters
    assert first.parameters["script"] != other.parameters["script"]


def test_a_drive_takes_all_floppies_of_the_script(load, tmp_path):
    floppy(tmp_path, "small.img", 737_280)
    floppy(tmp_path, "old.img", 368_640)
    run = boot(tmp_path, load('insert = {floppy_b = "./small.img"}'))
    lines = bochsrc._media(run.boot, {})["floppies"].split("\n")
    assert lines == [
        'floppya: type=1_44, 1_44="floppy_a.img", status=inserted',
        "floppyb: type=720k",
    ]
    with pytest.raises(UserError) as caught:
        boot(tmp_path, load('insert = {floppy_a = "./old.img"}'))
    assert "my.img (1_44), old.img (360k): no drive takes all these floppies" in str(caught.value)
    with pytest.raises(UserError, match=r"missing medium absent\.img"):
        boot(tmp_path, load('insert = {floppy_a = "absent.img"}'))


GUEST = """schema_version = 1
name = "small"
title = "a small system"
structure = "monolithic"
isa = "pentium"
[boot]
protocol = "bios"
until = "ready"
[media.floppy_a]
file = "./my.img"
[[script]]
wait = "login:"
[[script]]
insert = {floppy_a = "./two.img"}
"""


@pytest.fixture
def lab(tmp_path):
    """A lab with a guest that has a script."""
    place = tmp_path / "mine/guests/small"
    place.mkdir(parents=True)
    (place / "guest.toml").write_text(GUEST)
    for name in ("my.img", "two.img"):
        floppy(place, name)
    return Lab(REPO, tmp_path / "results", (tmp_path / "mine",))


READY = GUEST.replace("login:", "a").replace(
    "[[script]]\ninsert",
    """[[script]]
insert = {floppy_b = "./early.img"}
[[script]]
ready = true
[[script]]
insert""",
)


def test_scripts_of_the_command_line_follow_the_ready_point(lab, load, tmp_path):
    place = tmp_path / "mine/guests/small"
    (place / "guest.toml").write_text(READY)
    floppy(place, "early.img")
    for name in ("one.img", "other.img"):
        floppy(tmp_path, name)
    choice = Filter(machines=("p90-premiere2",), guests=("small",))
    (own,) = prepare(lab, Request(UserMedia(), choice)).runs
    assert own.boot.early == ("floppy_a", "insert_1")
    assert [one.role for one in own.boot.inserted] == ["insert_1", "insert_2"]
    scripts = (
        load('insert = {floppy_a = "./one.img"}', 'begin = "w"', 'end = "w"'),
        load('insert = {floppy_a = "./other.img"}', "pause = 1"),
    )
    runs = prepare(lab, Request(UserMedia(scripts=scripts), choice)).runs
    (first, after), (other, after_other) = (conf.lines(run.boot) for run in runs)
    assert first == other == conf.lines(own.boot)[0]
    assert list(first.steps) == ["run.step.0.wait", "run.step.1.insert", "run.step.2.ready"]
    assert after.steps["run.step.3.insert"] == "0 insert_2.img"
    assert after_other.steps["run.step.4.pause_us"] == "1000000"
    assert runs[0].boot.script.titles[3] == ("step 4, insert floppy_a one.img, steps.toml:2")
    assert [run.boot.until for run in runs] == ["", ""]
    with pytest.raises(UserError) as caught:
        prepare(lab, Request(UserMedia(scripts=(load("ready = true"),)), choice))
    assert str(caught.value) == (
        "step 1, ready true, steps.toml:2: not possible after the ready point of the guest, which"
        " is in guest.toml"
    )
    with pytest.raises(UserError):
        prepare(lab, Request(UserMedia(scripts=(load('end = "boot"'),)), choice))


def test_a_floppy_of_the_current_directory_is_found(load, tmp_path, monkeypatch):
    step = 'insert = {floppy_a = "two.img"}'
    assert load(step).floppies[0].file == "two.img"  # in P5LAB_MEDIA, if anywhere
    (tmp_path / "here").mkdir()
    path = floppy(tmp_path / "here", "two.img")
    monkeypatch.chdir(path.parent)
    assert load(step).floppies[0].file == str(path)


def test_a_guest_has_its_own_script(lab, load):
    system = guest.load(lab, "small")
    assert [one.action for one in system.script.steps] == ["wait", "insert"]
    choice = Filter(machines=("p90-premiere2",), guests=("small",))
    (own,) = prepare(lab, Request(UserMedia(), choice)).runs
    assert (own.boot.until, own.boot.script) == ("ready", system.script)
    assert own.label == "boot until 'ready', small, p90-premiere2"
    # A script of the command line replaces the steps and the text of the guest.
    asked = UserMedia(scripts=(load('wait = "x"'),))
    (other,) = prepare(lab, Request(asked, choice)).runs
    assert (other.boot.until, len(other.boot.script.steps)) == ("", 1)
    assert other.boot.inserted == ()


def test_a_wrong_step_of_a_guest_names_its_line(lab, tmp_path):
    path = tmp_path / "mine/guests/small/guest.toml"
    path.write_text(GUEST.replace('wait = "login:"', 'wait = "login: "'))
    with pytest.raises(UserError, match=r"guest.toml:12: script\[0\]: wait: 'login: '"):
        guest.load(lab, "small")


def test_a_script_is_only_for_guests_with_media(lab, tmp_path, capsys):
    path = tmp_path / "mine/guests/small/guest.toml"
    path.write_text('schema_version = 1\nname = "small"\ntitle = "t"\nbase = "linux"\n[[script]]\n')
    with pytest.raises(UserError, match=r"script: expected only for a guest with \[media\]"):
        guest.load(lab, "small")
    steps = tmp_path / "steps.toml"
    steps.write_text(HEAD + '[[script]]\nwait = "a"\n')
    path.unlink()
    assert cli.main(["run", "smoke", "--script", str(steps)], lab) == 2
    assert "--script: expected with --floppy, --disk, --cdrom" in capsys.readouterr().err
    steps.write_text(HEAD + '[[script]]\nwaits = "a"\n')
    image = tmp_path / "mine/guests/small/my.img"
    assert cli.main(["run", "--floppy", str(image), "--script", str(steps)], lab) == 2
    (line,) = capsys.readouterr().err.strip().split("\n")
    assert "steps.toml:3: script[0]: unknown key 'waits'" in line


# --- beside a program -----------------------------------------------------------------------------


def beside(*scripts, system="debian32-x"):
    """The runs of a program of a guest with scripts."""
    choice = Filter(guests=(system,))
    return prepare(
        Lab(REPO), Request(UserProgram(Path("guest:/usr/bin/xterm"), scripts=scripts), choice)
    ).runs


def test_each_script_is_a_run_of_the_program(load):
    steps = load('wait = "up"', 'begin = "key"', 'type = "a"', 'end = "key"', "pause = 1")
    first, second = beside(steps, load("pause = 1"))
    assert first.parameters["script"] == steps.digest[:12] != second.parameters["script"]
    assert first.label.startswith("guest:/usr/bin/xterm steps.toml, debian32-x")
    assert first.workload.phases[markers.WINDOW_PHASE] == "key"
    assert first.program.recorded["script"][0].startswith('step 1, wait "up"')
    steps = conf.beside_program(first.program.script)
    assert steps.steps == {
        "run.step.0.wait": "up",
        "run.step.1.begin": str(markers.WINDOW_PHASE),
        "run.step.2.keys": "1e",
        "run.step.3.end": str(markers.WINDOW_PHASE),
        "run.step.4.pause_us": "1000000",
    }
    assert list(steps.titles) == [f"run.step.{number}.title" for number in range(5)]
    (without,) = beside()
    assert without.program.script is None
    assert "script" not in {**without.parameters, **without.program.recorded}


@pytest.mark.parametrize(
    "step", ["ready = true", 'insert = {floppy_a = "./a.img"}', 'end = "boot"']
)
def test_steps_that_are_not_possible_beside_a_program(load, step):
    with pytest.raises(UserError, match=r"steps\.toml:2: not possible while a program runs"):
        beside(load(step))


def test_a_script_needs_a_screen_and_a_program(load, tmp_path, capsys):
    with pytest.raises(UserError, match="--script: guest debian32 has no graphics screen"):
        beside(load("pause = 1"), system="debian32")
    words = ["run", "smoke", "--script", str(tmp_path / "steps.toml")]
    assert cli.main(words, Lab(REPO, tmp_path / "results")) == 2
    assert "--script: expected with --floppy, --disk, --cdrom" in capsys.readouterr().err
