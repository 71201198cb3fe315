# SPDX-License-Identifier: MIT
"""The display of progress, with and without a terminal."""

import io
import time

from rich.console import Console

from p5lab.host import progress
from p5lab.host.progress import Progress


def shown(terminal):
    stream = io.StringIO()
    return stream, Progress(
        Console(file=stream, force_terminal=terminal, width=60, highlight=False)
    )


def test_a_long_silent_step_is_reported_without_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.02)
    stream, plain = shown(False)
    with plain.activity("build") as step:
        step("kernel [x]")
        step("")
        time.sleep(0.1)
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"build 0 s: kernel [x]"}


def test_a_short_step_says_nothing_without_a_terminal():
    stream, plain = shown(False)
    with plain.activity("build") as step:
        step("kernel")
    assert stream.getvalue() == ""


def test_a_terminal_shows_the_step_and_the_runs():
    stream, live = shown(True)
    with live.activity("build") as step:
        step("linking [bold]")
        time.sleep(0.7)
    assert "linking [bold]" in stream.getvalue()
    with live.runs(2) as tracker:
        tracker.started("a run")
        time.sleep(0.7)
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


def test_runs_are_plain_lines_without_a_terminal():
    stream, plain = shown(False)
    with plain.runs(1) as tracker:
        tracker.started("a run")
        tracker.finished("a run", "ok")
    assert stream.getvalue() == "[1/1] a run: ok\n"
