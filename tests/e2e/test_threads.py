# SPDX-License-Identifier: MIT
"""Counts by thread of Linux (`--by thread`)."""

from pathlib import Path

import pytest
from boot_sector import new_runs

from p5stats import dimensions
from p5stats.dimensions import OBSERVERS

PROGRAM = Path(__file__).parent / "threads.c"
THREADS, MARKERS = (
    [one for one in OBSERVERS if one.name == name and one.has(["space"])][-1]
    for name in ("threads", "markers")
)


def counts(directory, observer, *names, event, **where):
    """The counts of an event by the values of these dimensions, without zeros."""
    frame = dimensions.of_run(directory, observer, [*names, *where]).frame
    frame = frame[frame["event"] == event]
    for name, value in where.items():
        frame = frame[frame[name] == value]
    sums = frame.groupby(list(names))["count"].sum()
    return {key: count for key, count in sums.items() if count}


def test_two_threads_of_a_program_have_their_own_counts(own_lab):
    words = ("--program", PROGRAM, "--guest", "linux", "--by", "thread,call")
    (directory,) = new_runs(own_lab, *words)
    joint = dimensions.JOINT
    calls = counts(directory, joint, "thread", event="soft_interrupts", call="sched_yield")
    # The loop executes at least 3 instructions in each of its 1000 turns.
    user = counts(directory, THREADS, "thread", "space", event="instructions", ring=3)
    ((space, second),) = [(at, n) for (name, at), n in user.items() if name == "second"]
    assert second > 20 * 1000 * 3
    ((name, first),) = [
        (name, n)
        for (name, at), n in user.items()
        if at == space and name != "second" and n > 10 * 1000 * 3
    ]
    assert 1.5 * first < second < 2 * first
    assert calls == {"second": 20, name: 10}


@pytest.mark.parametrize("guest", ["linux", "linux64"])
def test_the_threads_of_two_processes_are_their_address_spaces(own_lab, guest):
    """What a process executes in ring 3, its only thread does. The switch of the address space
    comes before that of the task, so in ring 0 each has counts in both spaces."""
    words = ("chen95-core", "--workload", "cswitch", "--guest", guest, "--by", "thread")
    (directory,) = new_runs(own_lab, *words)
    for event in ("instructions", "data_reads", "branches"):
        threads = counts(directory, THREADS, "thread", "space", event=event, ring=3)
        spaces = counts(directory, MARKERS, "space", event=event, ring=3)
        assert len(threads) == len(spaces) == 2
        assert {space: count for (_, space), count in threads.items()} == spaces
    kernel = counts(directory, THREADS, "thread", "space", event="instructions", ring=0)
    for thread in {name for name, _ in threads}:
        assert len([space for name, space in kernel if name == thread]) == 2


def test_a_kernel_without_tasks_of_linux_is_refused_in_one_line(own_lab, capsys):
    assert new_runs(own_lab, "smoke", "--guest", "mach", "--by", "thread", status=2) == []
    (line,) = capsys.readouterr().err.splitlines()
    assert all(word in line for word in ("--threads", "mach", "current_task"))
