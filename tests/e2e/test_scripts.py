# SPDX-License-Identifier: MIT
"""Scripts that drive a guest: a small system of our own that shows the keys (keys.S)."""

import functools

import pytest
from boot_sector import keys_floppy, new_runs, record

from p5lab.cli import main as cli
from p5lab.describe import markers
from p5lab.lab import Lab
from p5stats import events

HEAD = "schema_version = 1\n"


@pytest.fixture
def floppy(tmp_path):
    """Returns a function that makes a floppy whose second sector contains its name."""
    return functools.partial(keys_floppy, tmp_path)


@pytest.fixture
def run(own_lab, floppy, tmp_path, capsys):
    """Runs steps on the floppy `one`. Returns the run directory and the output."""

    def run(*steps, options=(), limit=20, status=0):
        path = tmp_path / "steps.toml"
        path.write_text(HEAD + "".join(f"[[script]]\n{one}\n" for one in steps))
        words = ["--floppy", floppy("one"), "--script", path, "--limit", limit, *options]
        made = new_runs(own_lab, *words, status=status)
        return made[0] if made else None, capsys.readouterr()

    return run


def screen(directory):
    return [row for row in (directory / "screen.txt").read_text().splitlines() if row]


TYPING = (
    'wait = ">"\nname = "prompt"',
    'end = "boot"',
    'begin = "typing"',
    'type = "Hello, W0rld! \\\\|[]{}~\\n"',
    'wait_pattern = "^floppy [a-z]+$"',
    'end = "typing"',
    'wait = ">"',
    'press = ["f1", "ctrl-c", "shift-a"]',
    "pause = 0.1",
)


def test_a_script_types_and_finds_the_answer(run, own_lab, capsys):
    made, _ = run(*TYPING)
    assert screen(made)[-3:] == [">Hello, W0rld! \\|[]{}~", "floppy one", "><3b>^CA"]
    found = record(made)
    assert (found["status"], found["reason"][:19]) == ("ok", "the script ended at")
    assert found["script"][0] == 'step 1 (prompt), wait ">", steps.toml:2'

    # The brackets are those of the script, and each has counts.
    parsed = events.parse(made / "events.jsonl")
    numbers = [markers.BOOT_PHASE, markers.WINDOW_PHASE]
    assert [bracket.phase for bracket in parsed.brackets] == numbers
    boot, typing = parsed.brackets
    assert boot.end.tsc == typing.begin.tsc
    # Twenty-one keys, and seven of them with Shift: 50 ms for each change of a key's group.
    typed = 21 * 0.05 + 7 * 0.05
    assert typed < (typing.end.tsc - typing.begin.tsc) / parsed.clock_hz < typed + 1

    # The steps keep the screens that they saw.
    steps = (made / "steps.txt").read_text()
    titles = [line for line in steps.splitlines() if line.startswith("step ")]
    assert len(titles) == 9
    assert titles[0].startswith('step 1 (prompt), wait ">", steps.toml:2: done at 0.')
    assert steps.count("(the same screen)") >= 2
    assert cli.main(["show", made.name], own_lab) == 0
    shown = capsys.readouterr().out
    assert titles[4] in shown
    assert "typing" in shown

    # The same script gives the same events, byte for byte.
    again, _ = run(*TYPING, options=["--force"])
    assert again is None
    assert record(made)["digests"] == found["digests"]


def test_another_floppy_is_inserted(run, floppy, tmp_path):
    floppy("two")
    steps = (
        'wait = ">"',
        'type = "a\\n"',
        'wait = "floppy one"',
        'insert = {floppy_a = "./two.img"}',
        'type = "b\\n"',
        'wait = "floppy two"',
        'insert = {floppy_a = "./one.img"}',
        'type = "c\\n"',
    )
    made, _ = run(*steps, options=["--until", "floppy one"])
    rows = [row for row in screen(made) if row != ">"]  # the last prompt may be there already
    assert rows[-6:] == [">a", "floppy one", ">b", "floppy two", ">c", "floppy one"]
    first = record(made)
    assert first["reason"].startswith("`floppy one` on the screen at ")
    assert set(first["media"]) == {"floppy_a", "insert_1"}
    assert "insert_1" in first["identity"]["digests"]

    # Another content of the second floppy is another run.
    path = tmp_path / "two.img"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    other, _ = run(*steps, options=["--until", "floppy one"])
    assert other is not None
    assert record(other)["run"] != first["run"]


GUEST = """schema_version = 1
name = "small"
title = "a small system"
structure = "monolithic"
isa = "pentium"
[boot]
protocol = "bios"
[media.floppy_a]
file = "./one.img"
[[script]]
wait = ">"
[[script]]
insert = {floppy_a = "./two.img"}
[[script]]
type = "a\\n"
[[script]]
wait = "floppy two"
"""


def test_the_script_of_a_guest_is_run_and_repeated(floppy, tmp_path, capsys):
    place = tmp_path / "guests/small"
    place.mkdir(parents=True)
    (place / "guest.toml").write_text(GUEST)
    for name in ("one", "two"):
        floppy(name).rename(place / f"{name}.img")
    steps = tmp_path / "steps.toml"
    steps.write_text(HEAD + '[[script]]\nwait = ">"\n')
    lab = Lab(Lab.here().root, tmp_path / "results", (tmp_path,))
    words = ["run", "--guest", "small", "--limit", "5", "--no-build"]
    assert cli.main(words, lab) == 0
    (made,) = (path.parent for path in lab.results.glob("media/*/run.json"))
    assert screen(made)[-2:] in ([">a", "floppy two"], ["floppy two", ">"])
    assert cli.main(["rerun", made.name, "--no-build"], lab) == 0
    assert "the events are the same again" in capsys.readouterr().err

    assert cli.main([*words, "--script", str(steps)], lab) == 0
    (other,) = {path.parent for path in lab.results.glob("media/*/run.json")} - {made}
    capsys.readouterr()
    assert cli.main(["rerun", other.name, "--no-build"], lab) == 2
    said = capsys.readouterr().err
    assert f"run {other.name} executed the steps of steps.toml, and its record" in said
    assert "use `./p5lab run --guest small --script FILE` instead" in said

    put = tmp_path / "a.txt"
    put.write_text("text")
    before = {path.parent for path in lab.results.glob("media/*/run.json")}
    assert cli.main([*words, "--put", str(put)], lab) == 0
    assert "--put:" not in capsys.readouterr().err  # its content is known
    (third,) = {path.parent for path in lab.results.glob("media/*/run.json")} - before
    assert cli.main(["rerun", third.name, "--no-build"], lab) == 2
    said = capsys.readouterr().err
    assert "had a floppy with files of --put or --programs in drive B" in said
    assert "use `./p5lab run --guest small` with the same options instead" in said


def test_a_step_that_is_too_late_names_itself_and_shows_its_screen(run):
    made, said = run('wait = ">"', 'type = "abc"', 'wait = "never"\nwithin = 0.5', status=1)
    found = record(made)
    assert found["status"] == "timeout"
    assert found["reason"] == (
        'step 3, wait "never", steps.toml:6: did not appear: limit of the step of 0.500 s reached;'
        " `within` of the step sets another limit"
    )
    assert "  >abc\n" in said.err
    assert (made / "steps.txt").read_text().count("step 3, wait") == 1
    assert "not done at" in (made / "steps.txt").read_text()

    made, _ = run('wait = "never"', limit=1, status=1)
    assert record(made)["reason"].startswith(
        'step 1, wait "never", steps.toml:2: did not appear: virtual-time limit of 1.000 s reached'
    )
    assert record(made)["status"] == "timeout"


def test_a_guest_that_halts_for_good_ends_the_run_at_once(run):
    halting = ('wait = ">"', 'press = "esc"', 'wait = "halted"')
    made, _ = run(*halting, limit=100_000)
    assert record(made)["status"] == "ok"
    assert record(made)["reason"].startswith("`halted` on the screen at 0.")

    made, said = run(*halting, 'wait = "more"', limit=100_000, status=1)
    found = record(made)
    assert found["status"] == "failed"
    assert found["reason"].startswith(
        'step 4, wait "more", steps.toml:8: did not appear: the guest halted with interrupts off'
        " at 0."
    )
    assert "  halted\n" in said.err


def test_the_prompt_before_a_command_is_no_answer(run):
    made, _ = run('wait = ">"', 'type = "a"', 'wait = ">"', limit=2, status=1)
    assert "step 3" in record(made)["reason"]
