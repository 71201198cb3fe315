# SPDX-License-Identifier: MIT
"""p5lab's programs for Linux 2.0 to 2.6, on our own guest `linux`. A later Linux also has the
system calls of Linux 2.0."""

import json

import pytest
from boot_sector import new_runs

from p5lab.host import linux_programs, workload_programs
from p5stats import events, tidy

LINUX = "int:128:"  # begins its calls in calls.jsonl
NEWEST = 163  # mremap, the last system call of Linux 2.0 (include/asm-i386/unistd.h)
ARGUMENTS = {
    "getpid": "iterations=7",
    "dup": "iterations=7",
    "mem-read": "placement=guest iterations=1000 max=1K",
    "cached-read": "files=3 iterations=2",
    "create": "files=3 iterations=2",
    "small-files": "files=3 directories=1",
    "pipe": "iterations=2",
    "cswitch": "iterations=7",
}
BRACKETS = {"mem-read": 1, "pipe": 1, "cached-read": 2, "create": 2, "small-files": 1}


# small-files empties the cache of files, which takes long.
EACH = [
    pytest.param(name, marks=pytest.mark.full if name == "small-files" else ())
    for name in ARGUMENTS
]


@pytest.fixture(scope="module", params=EACH)
def made(request, lab, own_lab, built):
    """The name of a program and the directory of its run with --calls."""
    name = request.param
    program = built(f"{linux_programs.MADE}/{name}")
    words = ("--program", program, "--guest", "linux", "--args", ARGUMENTS[name], "--calls")
    (directory,) = new_runs(own_lab, *words)
    return name, directory


def test_a_bracket_calls_nothing_newer_than_linux_2_0(made):
    """The build removes the numbers of newer calls, so the rest of a program cannot make them. (The
    bracket of the whole program also has the calls of the guest's init.)"""
    name, directory = made
    found = {
        int(line["call"].removeprefix(LINUX))
        for line in map(json.loads, (directory / "calls.jsonl").open())
        if line.get("phase", 1 << 31) < 1 << 31 and line["call"].startswith(LINUX)
    }
    assert found or name == "mem-read"
    assert max(found, default=0) <= NEWEST


def test_its_phases_have_numbers_of_their_own(made, lab):
    name, directory = made
    first = linux_programs.sources(lab)[name][1]
    parsed = events.parse(directory / "events.jsonl")
    own = [one.phase for one in parsed.brackets if one.phase < 1 << 31]
    assert own
    numbers = {phase // workload_programs.PHASES for phase in own}
    assert numbers == {first // workload_programs.PHASES}
    assert max(own.count(phase) for phase in own) == BRACKETS.get(name, 7)
    assert set(own) <= linux_programs.phases(lab).keys()


def test_small_files_come_from_the_disk(made, lab):
    """The three files have 16 sectors each, and an IDE disk without DMA interrupts for each."""
    name, directory = made
    if name == "small-files":
        phase = str(linux_programs.sources(lab)[name][1])
        frame = tidy.load(directory)
        of_it = frame[(frame["phase"] == phase) & (frame["event"] == "hw_interrupts")]
        assert of_it["value"].sum() >= 3 * 16
