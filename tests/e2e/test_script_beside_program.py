# SPDX-License-Identifier: MIT
"""A script beside a program: it begins at the ready marker, presses keys, searches the program's
output and keeps the pictures of a graphics screen. ready_keys.S is the program."""

from pathlib import Path

from p5lab.describe import keyboard

SOURCE = Path(__file__).with_name("ready_keys.S")
WINDOW = 0x80000000
FILES = ("run.screen = screen.txt", "run.serial = output.log", "run.step_screens = steps.txt")


def run(boot, bare_program, *steps):
    """Runs the program with steps, each of which is a line of job.conf without its number."""
    lines = [
        line
        for number, step in enumerate(steps)
        for line in (f"run.step.{number}.title = step {number + 1}", f"run.step.{number}.{step}")
    ]
    return boot("x", bare=bare_program(SOURCE), limit_seconds=30, boot_conf=FILES, conf=lines)


def keys(text):
    return "keys = " + " ".join("+".join(chord) for chord in keyboard.typed(text, ""))


def test_keys_reach_the_program_and_its_output_ends_a_wait(boot, bare_program):
    steps = ("wait = >", f"begin = {WINDOW}", keys("ab"), "wait = ab", f"end = {WINDOW}")
    booted = run(boot, bare_program, *steps, keys("c\n"))
    assert (booted.outcome.status, booted.output) == ("ok", ">abc\n")
    ready, begin, end, _ = booted.events.markers
    assert (ready.op, begin.op, end.op) == ("ready", "begin", "end")
    # Two keys, each 30 ms down and 20 ms up, at 90 MHz. A look at the output follows within 10 ms.
    assert 0.09 <= (end.tsc - begin.tsc) / 90e6 <= 0.12
    again = run(boot, bare_program, *steps, keys("c\n"))
    files = [made.directory / "events.jsonl" for made in (booted, again)]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_each_step_keeps_its_picture(boot, bare_program):
    made = run(boot, bare_program, "wait = >", keys("\n")).directory
    assert (made / "screen.txt").read_text() == "(a graphics mode: 640 dots x 480 lines)\n"
    assert (made / "screen.png").is_file()
    # The Enter key ends the program before it goes up.
    assert sorted(path.name for path in made.glob("step-*.png")) == ["step-1.png", "step-2.png"]
    assert "step 1: done at" in (made / "steps.txt").read_text()


def test_a_program_that_ends_before_a_step_fails(boot, bare_program):
    # Nobody needs to wait for a pause.
    assert run(boot, bare_program, keys("\n"), "pause_us = 1000000").outcome.status == "ok"
    outcome = run(boot, bare_program, keys("\n"), "wait = nothing").outcome
    assert outcome.status == "failed"
    assert outcome.reason == "step 2: did not appear: the program has ended"
    outcome = run(boot, bare_program, keys("\na")).outcome
    assert (outcome.status, outcome.reason) == ("failed", "step 1: the program has ended")
