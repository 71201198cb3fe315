# SPDX-License-Identifier: MIT
"""The ready point of a script: runs that share a boot give the bytes of runs from reset."""

import json

import pytest
from boot_sector import assembled, bootable, keys_floppy, new_runs, record

from p5lab.engines.bochs.engine import CONSOLE, LOG
from p5lab.execute import executor, forkserver
from p5lab.keep import store
from p5lab.lab import Lab
from p5stats import events

HEAD = "schema_version = 1\n"
GUEST = f"""{HEAD}
name = "small"
title = "a small system"
structure = "monolithic"
isa = "pentium"
[boot]
protocol = "bios"
[media.floppy_a]
file = "./one.img"
"""
# The first floppy is changed and taken out before the ready point.
BOOT = (
    'wait = ">"',
    'type = "a\\n"',
    'wait = "floppy one"',
    'insert = {floppy_a = "./two.img"}',
    "ready = true",
    'press = "f1"',
)
# Each script ends with another floppy.
FIRST = (
    'begin = "typing"',
    'type = "hello\\n"',
    'wait = "floppy two"',
    'end = "typing"',
    'insert = {floppy_a = "./one.img"}',
    'type = "\\n"',
    'wait = "floppy one"',
)
SECOND = (
    'insert = {floppy_a = "./three.img"}',
    'begin = "typing"',
    'type = "\\n"',
    'wait = "floppy three"',
    'end = "typing"',
)
CONFS = "boot.conf", "job.conf"
# Files that name the run, and the emulator's messages, which contain names of files.
NOT_COMPARED = {CONSOLE, LOG, store.LOCK, "run.json", "counts.parquet", *CONFS, "bochsrc"}


def steps(*lines):
    return "".join(f"[[script]]\n{one}\n" for one in lines)


@pytest.fixture
def place(tmp_path):
    """A directory with a guest and three floppies."""
    guest = tmp_path / "guests/small"
    guest.mkdir(parents=True)
    (guest / "guest.toml").write_text(GUEST + steps(*BOOT))
    for name, directory in (("one", guest), ("two", guest), ("three", tmp_path)):
        keys_floppy(tmp_path, name).rename(directory / f"{name}.img")
    for name, lines in (("first", FIRST), ("second", SECOND)):
        own = [one.replace("./one.img", str(guest / "one.img")) for one in lines]
        (tmp_path / f"{name}.toml").write_text(HEAD + steps(*own))
    return tmp_path


@pytest.fixture
def run(place, monkeypatch):
    """Runs the guest, with boots of its own. Returns the run directories by script, and the number
    of shared boots."""
    boots = []

    class Counted(forkserver.Server):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            boots.append(self)

    monkeypatch.setattr(executor, "Servers", forkserver.Servers)
    monkeypatch.setattr(forkserver, "Server", Counted)

    def run(results, *options, scripts=("first", "second"), status=0):
        boots.clear()
        (place / results).mkdir(parents=True, exist_ok=True)
        lab = Lab(Lab.here().root, place / results, (place,))
        words = [word for name in scripts for word in ("--script", place / f"{name}.toml")]
        made = new_runs(lab, "--guest", "small", *words, "--limit", 20, *options, status=status)
        label = [record(one)["label"].split(",")[0] for one in made]
        return dict(zip(label, made, strict=True)), len(boots)

    return run


def test_runs_from_the_ready_point_are_byte_for_byte_those_from_reset(run):
    forked, boots = run("forked", "--jobs", 2, "--calls", "--modes")
    assert (set(forked), boots) == ({"first.toml", "second.toml"}, 1)
    alone, boots = run("alone", "--no-fork", "--jobs", 2, "--calls", "--modes")
    assert boots == 0
    for name, directory in forked.items():
        other = alone[name]
        assert directory.name == other.name
        files = {path.name for path in directory.iterdir()}
        assert files == {path.name for path in other.iterdir()}
        assert {"floppy_a.img", "insert_1.img", "steps.txt", "screen.txt"} <= files
        for file in files - NOT_COMPARED:
            assert (directory / file).read_bytes() == (other / file).read_bytes(), file
        facts = record(directory)
        assert facts["after_boot_seconds"] > 0
        assert "after_boot_seconds" not in record(other)
        parsed = events.parse(directory / "events.jsonl")
        assert parsed.brackets[0].end.tsc == parsed.ready.tsc  # `ready` closes the boot
    lines = [(one / "events.jsonl").read_text().splitlines() for one in forked.values()]
    assert [json.loads(line).get("op") for line in lines[0][1:4]] == ["begin", "end", "ready"]
    assert lines[0][:4] == lines[1][:4]
    assert lines[0][4:] != lines[1][4:]

    # A run of the guest's own script is another run with the same boot.
    own, boots = run("own", scripts=())
    assert (list(own), boots) == (["boot"], 0)
    assert (own["boot"] / "events.jsonl").read_text().splitlines()[:4] == lines[0][:4]


# The guest asks for its job at once and after a key, and prints it each time. It is in a graphics
# mode from the first to the second time.
ASKS = """.code16
        .globl _start
        .set LEAF, 0x50354C42
_start: xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw $0x0013, %ax
        int $0x10
        call ask
        movb $0, %ah
        int $0x16
        movw $0x0003, %ax
        int $0x10
        call ask
1:      hlt
        jmp 1b
ask:    movl $LEAF, %eax
        movl $12, %ecx                  # the job
        movl $64, %edx
        movw $job, %di
        cpuid
        movl $LEAF, %eax
        movl $11, %ecx                  # its text, with the zero byte
        movw $job, %si
        cpuid
        ret
job:    .fill 64
"""


def test_the_job_and_the_pictures_of_a_shared_boot(run, place):
    floppy = place / "guests/small/one.img"
    floppy.write_bytes(bootable(assembled(ASKS, place)))
    boot = ("pause = 0.5", "ready = true", "pause = 0.1")
    (place / "guests/small/guest.toml").write_text(GUEST + steps(*boot))
    for name, seconds in (("first", 0.2), ("second", 0.3)):
        (place / f"{name}.toml").write_text(HEAD + steps('press = "a"', f"pause = {seconds}"))
    forked, boots = run("forked", "--args", "my job")
    assert boots == 1
    for directory in forked.values():
        # A job is there from the ready point on.
        assert (directory / "output.log").read_bytes() == b"\0my job\0"
        assert "picture: step-1.png" in (directory / "steps.txt").read_text()
        assert (directory / "step-1.png").read_bytes()[:4] == b"\x89PNG"


def test_a_boot_that_fails_shows_its_screen_in_each_run(run, place):
    guest = GUEST + steps('wait = "never"\nwithin = 1', "ready = true")
    (place / "guests/small/guest.toml").write_text(guest)
    made, boots = run("failed", status=1)
    assert (len(made), boots) == (2, 1)
    for directory in made.values():
        assert record(directory)["status"] == "timeout"
        assert record(directory)["reason"].startswith('step 1, wait "never", guest.toml:')
        assert ">" in (directory / "screen.txt").read_text()


def test_a_saved_state_continues_with_the_events_of_a_run_from_reset(run, place, capsys):
    state = place / "small.state"
    saving, boots = run("saved", "--save-state", state, "--calls", scripts=["first"])
    assert (len(saving), boots) == (1, 0)
    assert "Saved the system at its ready point as" in capsys.readouterr().err
    options = ("--calls", "--state", state)
    # Another process continues the state, deeper in the file system, once with the same script and
    # once with another one.
    continued, boots = run("elsewhere/deeper", *options)
    assert (len(continued), boots) == (2, 0)
    alone, _ = run("alone", "--no-fork", "--calls")
    for name, directory in continued.items():
        other = alone[name]
        assert directory.name != other.name  # the digest of the state is part of the identity
        assert record(directory)["identity"]["digests"]["state"]
        files = {path.name for path in directory.iterdir()}
        assert files == {path.name for path in other.iterdir()}
        for file in files - NOT_COMPARED:
            assert (directory / file).read_bytes() == (other / file).read_bytes(), file
    saved = saving["first.toml"]
    assert (saved / "events.jsonl").read_bytes() == (
        alone["first.toml"] / "events.jsonl"
    ).read_bytes()
    # The file is never replaced.
    assert run("saved", "--save-state", state, scripts=["first"], status=2) == ({}, 0)
    assert "the file exists already" in capsys.readouterr().err


def test_a_state_that_does_not_belong_to_the_run_is_one_line(run, place, capsys):
    state = place / "small.state"
    run("saved", "--save-state", state, scripts=["first"])
    capsys.readouterr()

    def refused(*options):
        assert run("refused", *options, status=2) == ({}, 0)
        # The first line says that the floppy has an unknown content.
        return capsys.readouterr().err.strip().splitlines()[-1]

    assert "the state was saved with another settings engine.conf l2.size" in refused(
        "--state", state, "--set", "l2.size=512K"
    )
    assert "the state was saved with another settings engine.conf run.call_table" in refused(
        "--state", state, "--calls"
    )
    assert "no such file" in refused("--state", place / "absent")
    assert "expected a state of `run --save-state`" in refused("--state", place / "first.toml")
    damaged = bytearray(state.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    (place / "damaged.state").write_bytes(damaged)
    made, _ = run("damaged", "--state", place / "damaged.state", scripts=["first"], status=1)
    (directory,) = made.values()
    assert "damaged: " in record(directory)["reason"]
    assert "--save-state: expected one run, found 2" in refused("--save-state", place / "two")
    guest = GUEST + steps('wait = ">"')
    (place / "guests/small/guest.toml").write_text(guest)
    assert "--state: expected a script with a ready point" in refused("--state", state)
