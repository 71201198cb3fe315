# SPDX-License-Identifier: MIT
"""Guest linux64 on the embedded engine: boot, jobs, output, disk, the contiguous buffer."""

import re

import pytest

pytestmark = pytest.mark.usefixtures("built64")
SYSTEM = "linux64"
EMPTY = 0xFFFFFFFF  # phase of the empty brackets (workloads/lib/p5w.h)
BOOT_INSTRUCTIONS = 105_000_000  # gem5 executes 1.3 million per second


def test_boots_and_measures(boot):
    booted = boot("getpid iterations=20", system=SYSTEM)
    assert booted.outcome.status == "ok", booted.outcome.reason
    phases = [bracket.phase for bracket in booted.events.brackets]
    assert phases == [EMPTY] * 10 + [0] * 20
    ready = booted.events.ready
    index = list(booted.events.units).index("instructions")
    assert sum(bank[index] for bank in ready.banks.values()) <= BOOT_INSTRUCTIONS


def test_output_and_status_arrive(boot):
    booted = boot("test-output lines=300 status=7", system=SYSTEM)
    assert booted.events.guest_status == 7
    lines = sorted(booted.output.splitlines(), key=lambda line: (line[3], int(line.split()[2])))
    assert lines == [f"{stream} line {i}" for stream in ("stderr", "stdout") for i in range(300)]


def test_the_tick_and_the_disk_are_those_of_guest_linux(boot):
    interrupts = boot("test-proc file=interrupts", system=SYSTEM).output
    assert re.search(r"^ *0: +\d+ .*timer$", interrupts, re.MULTILINE)
    assert re.search(r"^ *14: +\d+ .*pata_legacy", interrupts, re.MULTILINE)


@pytest.mark.parametrize(
    "job",
    [
        "dup iterations=3",
        "exec-static iterations=2",
        "fork iterations=2",
        "cswitch iterations=3",
        "pipe iterations=2",
        "mmap-fault iterations=2",
        "cached-read iterations=1 files=4",
        "create iterations=1 files=4",
        "mem-read iterations=1000 max=8192",
        "mem-write iterations=1000 max=8192",
        "mem-bandwidth words=1024 max=1024",
        "copy-routines words=1024 max=1024 routine=float",
        "tlb accesses=500",
        "forkexec iterations=2",
        "test-signal",
    ],
)
def test_workloads_run(boot, job):
    booted = boot(job, system=SYSTEM)
    assert booted.outcome.status == "ok", f"{booted.outcome.reason}: {booted.output}"
