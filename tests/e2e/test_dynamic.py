# SPDX-License-Identifier: MIT
"""exec-dynamic: a dynamically linked program, its loader and libraries, in the guest."""

import subprocess
from statistics import mean

import pytest

PROGRAMS = "build/workloads/linux"
LIBC = "build/libc/musl/lib/libc.so"


def dynamic_section(file):
    shown = subprocess.run(
        ["readelf", "--program-headers", "--dynamic", "--wide", file],
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout


@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_the_program_is_linked_dynamically(lab, count):
    shown = dynamic_section(lab.root / PROGRAMS / f"true-dynamic-{count}")
    assert "[Requesting program interpreter: /lib/ld-musl-i386.so.1]" in shown
    wanted = [*(f"libp5-{number}.so" for number in range(1, count + 1)), "libc.so"]
    needed = [line.split("[")[1].rstrip("]") for line in shown.splitlines() if "(NEEDED)" in line]
    assert needed == wanted


def test_libraries_have_two_segments_as_those_of_the_nineties(lab):
    for file in (LIBC, f"{PROGRAMS}/lib/libp5-1.so"):
        loads = [line for line in dynamic_section(lab.root / file).splitlines() if " LOAD " in line]
        assert len(loads) == 2, file


def test_musl_is_the_pinned_version(lab):
    """The loader prints its version when it is run directly. A 64-bit host kernel can run this
    32-bit loader.
    """
    shown = subprocess.run([lab.root / LIBC], capture_output=True, text=True, check=False)
    assert "musl libc (i386)\nVersion 1.2.5\n" in shown.stderr


def test_dynamic_linking_costs_about_twice_and_each_library_more(boot):
    """chen95 section 4.3: on the two systems that have dynamic linking, the dynamically linked
    program costs about twice as much as the static program. test_recorded_runs.py compares the
    counts with the record.
    """
    jobs = ["exec-static", *(f"exec-dynamic libraries={count}" for count in (0, 1, 2, 4))]
    cycles, faults = [], []
    for job in jobs:
        run = boot(f"{job} iterations=20")
        assert run.outcome.status == "ok", run.outcome
        cycles.append(mean(run.totals(0, "cycles.busy")))
        faults.append(mean(run.totals(0, "exceptions")))
    assert 1.5 < cycles[1] / cycles[0] < 2.5
    assert cycles[1] < cycles[2] < 3 * cycles[0]
    assert cycles == sorted(cycles)
    assert faults == sorted(faults)
