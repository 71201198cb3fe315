# SPDX-License-Identifier: MIT
"""The display of progress, with and without a terminal."""

import io
import re
import time

import pytest
from rich.console import Console

from p5lab import progress
from p5lab.progress import Progress


def shown(terminal):
    stream = io.StringIO()
    return stream, Progress(
        Console(file=stream, force_terminal=terminal, width=60, highlight=False)
    )


@pytest.fixture(autouse=True)
def nothing_asked_for(monkeypatch):
    monkeypatch.delenv("P5LAB_PROGRESS", raising=False)


def wait_for(stream, text, times=1):
    """Waits until the text was printed. A busy host may print it late."""
    deadline = time.monotonic() + 600
    while stream.getvalue().count(text) < times:
        assert time.monotonic() < deadline, stream.getvalue()
        time.sleep(0.01)


def lines_of_long_work(stream, work):
    """Returns the lines of work that lasts until two lines are printed."""
    with work:
        wait_for(stream, "\n", 2)
    return stream.getvalue().splitlines()


def test_a_log_gets_lines_about_long_work_without_being_asked(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.02)
    stream, plain = shown(False)
    lines = lines_of_long_work(stream, plain.activity("build", lambda: "step 1 of 9"))
    assert re.fullmatch(r"build \d+ s: step 1 of 9", lines[0])
    stream, plain = shown(False)
    lines = lines_of_long_work(stream, plain.runs(3, lambda: "a minute"))
    assert lines[0].startswith("0/3 done, about a minute left")


def test_a_long_line_keeps_its_words_on_a_terminal_and_stays_one_line_in_a_log():
    words = ["build", "needs", "several", "minutes", "on", "this", "host"] * 3
    stream, live = shown(True)
    live.say(" ".join(words))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= 60
    assert " ".join(lines).split() == words
    stream, plain = shown(False)
    plain.say(" ".join(words))
    assert stream.getvalue().splitlines() == [" ".join(words)]


def test_a_log_gets_no_line_about_each_run_without_being_asked():
    stream, plain = shown(False)
    with plain.runs(1) as tracker:
        tracker.started("a run")
        tracker.finished("a run", "ok")
    plain.note("a detail")
    assert stream.getvalue() == ""
    plain.milestone("the build begins")
    assert stream.getvalue() == "the build begins\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_progress_can_be_silent(monkeypatch, terminal):
    monkeypatch.setenv("P5LAB_PROGRESS", "none")
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.01)
    stream, silent = shown(terminal)
    with silent.activity("build") as step, silent.runs(1) as tracker:
        step("kernel")
        tracker.started("a run")
        tracker.finished("a run", "ok")
        silent.note("a detail")
        silent.milestone("the build begins")
        time.sleep(0.05)
    assert stream.getvalue() == ""
    silent.say("an error")
    assert stream.getvalue() == "an error\n"


def test_a_long_silent_step_is_reported_without_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.02)
    stream, plain = shown(False)
    with plain.activity("build") as step:
        step("kernel [x]")
        step("")
        wait_for(stream, "kernel [x]\n", 2)
    assert re.search(r"^build \d+ s: kernel \[x\]\n$", stream.getvalue(), re.M)


def test_a_short_step_says_nothing_without_a_terminal():
    stream, plain = shown(False)
    with plain.activity("build") as step:
        step("kernel")
    assert stream.getvalue() == ""


def test_a_terminal_shows_the_step_and_the_runs():
    stream, live = shown(True)
    with live.activity("build") as step:
        step("linking [bold]")
        wait_for(stream, "linking [bold]")
    with live.runs(2) as tracker:
        tracker.started("a run")
        wait_for(stream, "running: a run")
        tracker.finished("a run", "ok")
    assert "0/2 done; running: a run" in stream.getvalue()
    assert "[1/2] a run: ok" in stream.getvalue()


def test_the_number_of_runs_that_are_done_agrees_with_the_lines_above():
    stream, live = shown(True)
    with live.runs(6) as tracker:
        for number in (1, 2):
            tracker.started(f"run {number}")
            tracker.finished(f"run {number}", "ok")
    after = stream.getvalue().partition("[2/6] run 2: ok")[2]
    assert "2/6 done" in after
    assert "0/6 done" not in after
    assert "1/6 done" not in after


def test_a_run_that_the_user_stops_is_not_done(monkeypatch):
    monkeypatch.setenv("P5LAB_PROGRESS", "plain")
    stream, plain = shown(False)
    with plain.runs(3) as tracker:
        for label in ("a run", "another"):
            tracker.started(label)
        tracker.finished("a run", "ok")
        tracker.stopped("another")
    assert stream.getvalue() == "[1/3] a run: ok\n[1/3] another: stopped\n"
    assert tracker.text() == "1/3 done; running: -"


def test_runs_are_plain_lines_in_a_log_that_asks_for_them(monkeypatch):
    monkeypatch.setenv("P5LAB_PROGRESS", "plain")
    stream, plain = shown(False)
    with plain.runs(1) as tracker:
        tracker.started("a run")
        tracker.finished("a run", "ok")
    assert stream.getvalue() == "[1/1] a run: ok\n"
