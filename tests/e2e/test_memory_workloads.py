# SPDX-License-Identifier: MIT
"""The memory workloads move the right data, and their plateaus agree with the papers.

The papers are lai96 and talagala97. The tests use only a few sizes, and move a twentieth of the
bytes that the papers moved.
"""

import re
import subprocess

import pytest

from p5lab.describe import markers, workload
from p5lab.lab import Lab

LAB = Lab.here()
NATIVE = LAB.root / "build/workloads/linux"
ROUTINES = [
    (name, routine)
    for name in ("mem-bandwidth", "copy-routines")
    for routine in workload.load(LAB)[name].parameters["routine"].choices
]
WORDS = 96 << 10
MHZ = {"p100-plato": 100, "p133-triton": 133.33}


@pytest.fixture
def rates(boot):
    """Returns MB/s by size of the buffer or copy."""

    def measure(board, name, routine, **arguments):
        sizes = " ".join(f"{key}={value}" for key, value in arguments.items())
        run = boot(f"{name} routine={routine} words={WORDS} {sizes}", board=board)
        assert run.outcome.status == "ok", run.outcome.reason
        clocks = {
            size: sum(run.totals(size, "cycles.busy"))
            for size in workload.load(LAB)[name].phases
            if size != markers.EMPTY_PHASE
        }
        return {size: 4 * WORDS * MHZ[board] / count for size, count in clocks.items() if count}

    return measure


def within(curve, low, high):
    return [rate for size, rate in curve.items() if low <= size <= high]


@pytest.mark.parametrize(("name", "routine"), ROUTINES)
@pytest.mark.parametrize("size", ["32", "2K", "80K"])
def test_every_routine_finds_its_data_right(name, routine, size):
    """The programs check the moved data. In this test the programs run on the host, without
    markers.
    """
    arguments = [f"routine={routine}", f"size={size}", "words=10012", "placement=guest"]
    result = subprocess.run(
        [NATIVE / name, *arguments], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mem-bandwidth", ["words=6"]),  # an iteration moves 4 words
        ("mem-bandwidth", ["size=40"]),
        ("mem-bandwidth", ["min=48"]),  # not a power of two
        ("mem-bandwidth", ["min=8K", "max=4K"]),
        ("copy-routines", ["max=4M"]),  # more than the region
        ("copy-routines", ["size=6"]),
        ("mem-write", ["stride=6"]),
        ("mem-write", ["min=64"]),  # less than a stride
    ],
)
def test_sizes_that_do_not_fit_are_refused(name, arguments):
    result = subprocess.run(
        [NATIVE / name, *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert re.match(r".*: .* must be .*\n$", result.stderr)


def test_lai96_reads(rates):
    curve = rates("p100-plato", "mem-bandwidth", "read", min="2K", max="1M")
    assert max(within(curve, 0, 8 << 10)) > 300
    for rate in within(curve, 12 << 10, 256 << 10):
        assert rate == pytest.approx(110, rel=0.05)
    for rate in within(curve, 512 << 10, 1 << 20):
        assert rate == pytest.approx(75, rel=0.10)


@pytest.mark.parametrize("routine", ["memset", "write"])
def test_lai96_writes_to_lines_that_l1_does_not_have(rates, routine):
    curve = rates("p100-plato", "mem-bandwidth", routine, min="1K", max="1M")
    assert max(curve.values()) < 50


def test_lai96_writes_to_lines_that_were_touched(rates):
    curve = rates("p100-plato", "mem-bandwidth", "write-prefetch", min="1K", max="64K")
    assert max(curve.values()) == pytest.approx(310, rel=0.05)


@pytest.mark.parametrize("routine", ["memcpy", "copy"])
def test_lai96_copies_to_lines_that_l1_does_not_have(rates, routine):
    """If the source is in L1, the rate is about 40 MB/s. If the source is in L2, the model's rate
    is 31 MB/s.
    """
    curve = rates("p100-plato", "mem-bandwidth", routine, min="1K", max="64K")
    for rate in within(curve, 1 << 10, 4 << 10):
        assert rate == pytest.approx(40, rel=0.10)
    for rate in within(curve, 12 << 10, 64 << 10):
        assert 30 < rate < 40


def test_lai96_copies_to_lines_that_were_touched(rates):
    curve = rates("p100-plato", "mem-bandwidth", "copy-prefetch", min="1K", max="4K")
    assert max(curve.values()) > 160


@pytest.mark.parametrize(("routine", "published"), [("libc", 40), ("integer", 60), ("float", 80)])
def test_talagala97_copies_from_memory_to_memory(rates, routine, published):
    curve = rates("p133-triton", "copy-routines", routine, min="1K", max="8K")
    assert max(curve.values()) == pytest.approx(published, rel=0.10)


def test_a_pair_of_writes_takes_both_buffers(rates):
    """Paired stores keep the bus busy. After a single store the bus is idle until the next store
    comes.
    """
    paired, single = (
        rates("p133-triton", "mem-bandwidth", routine, size="512K")[512 << 10]
        for routine in ("write", "memset")
    )
    # 2 bus clocks per word, on the bus and in memory. So memory makes up for no refresh and for no
    # change of its page.
    assert paired == pytest.approx(4 * 66.67 / 2, rel=0.07)
    assert single == pytest.approx(4 * 66.67 / 3, rel=0.05)  # 3 clocks per word
    assert single == pytest.approx(83, rel=0.10)  # lmbench, FreeBSD/i586


def test_a_write_miss_goes_to_the_bus_and_a_hit_does_not(boot):
    """A write to a word in L1D takes 2 clocks. A write does not fetch a line that is not in L1D."""
    clocks = {}
    for held in ("yes", "no"):
        job = f"mem-write held={held} stride=4 iterations=50000 min=4K max=64K"
        run = boot(job, board="p100-plato")
        assert run.outcome.status == "ok", run.outcome.reason
        clocks[held] = {size: run.totals(size, "cycles.busy")[0] / 50000 for size in (4096, 65536)}
        misses = run.totals(65536, "data_write_misses")[0] / 50000
        # 64 KB were read before. L1D contains the last 8 KB, except for a few lines that contain
        # other data of the program.
        assert 0.99 < misses < 1.01 if held == "no" else 0.87 < misses < 0.95
    assert clocks["yes"][4096] == pytest.approx(2, rel=0.05)
    assert clocks["no"][4096] > 4 * clocks["yes"][4096]


def test_the_same_twice(boot):
    job = "mem-bandwidth routine=copy-prefetch words=40000 size=12K placement=guest"
    first, second = ((boot(job).directory / "events.jsonl").read_bytes() for _ in range(2))
    assert first == second
