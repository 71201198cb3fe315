# SPDX-License-Identifier: MIT
"""Nominal clocks of guest linux64: the plateaus of a pointer chase, the CPI stack, virtual time."""

import pytest

from p5stats import declared

pytestmark = pytest.mark.usefixtures("built64")
SYSTEM = "linux64"
BUSY, INSTRUCTIONS = "nominal.cycles.busy", "instructions"
LOADS = 100_000
TICK = 90_000_000 // 100  # clocks between two ticks of the guest's clock


def chase(boot, size, **how):
    """The clocks of a dependent load in an array of this size, without page walks."""
    found = boot(f"mem-read iterations={LOADS} size={size}", **how)
    assert found.outcome.status == "ok", found.outcome.reason
    prefix = "nominal." if how else ""
    clocks, walks = (sum(found.totals(size, prefix + one)) for one in ("cycles.busy", "stall.walk"))
    return (clocks - walks) / LOADS


@pytest.mark.parametrize("size", [4096, 65536, 1048576])  # in L1D, in L2, in DRAM
def test_a_chase_has_the_plateaus_of_the_pentium(boot, size):
    """The loops are equal, and both are in L1I. Clock ticks and code around the loop differ."""
    pentium = chase(boot, size)
    nominal = chase(boot, size, system=SYSTEM, clocks="nominal")
    assert nominal == pytest.approx(pentium, rel=0.03)


@pytest.mark.parametrize("job", ["getpid iterations=20", "dup iterations=20"])
def test_the_stack_adds_up_and_every_instruction_has_a_class(boot, job):
    found = boot(job, system=SYSTEM, clocks="nominal", conf=("run.cpi = true",))
    assert found.outcome.status == "ok", found.outcome.reason
    assert [note for note in found.events.notes if note["what"] == "unknown-class"] == []
    parts = [name for name in declared.nominal() if name.startswith("nominal.cpi.")]
    assert set(parts) < set(found.events.units)
    busy = found.totals(0, BUSY)
    assert len(busy) == 20
    for number, cycles in enumerate(busy):
        assert sum(found.totals(0, part)[number] for part in parts) == cycles
    # Two instructions begin in a clock at most.
    assert all(2 * a >= b for a, b in zip(busy, found.totals(0, INSTRUCTIONS), strict=True))


def test_no_event_has_the_name_of_a_pentium(boot):
    found = boot("getpid iterations=20", system=SYSTEM, clocks="nominal")
    plain = {name.removeprefix(declared.NOMINAL) for name in declared.nominal()}
    assert not plain & set(found.events.units)
    assert {name for name in found.events.units if name.startswith("nominal.")} > {BUSY}


def test_the_timer_follows_nominal_clocks(boot):
    found = boot("mem-read iterations=400000 size=1M", system=SYSTEM, clocks="nominal")
    (ticks,) = found.totals(1048576, "hw_interrupts")
    (busy,) = found.totals(1048576, BUSY)
    assert ticks > 5
    assert abs(ticks - busy / TICK) <= 1


def test_a_repeated_run_has_the_same_bytes(boot, tmp_path):
    forked, whole = (
        boot("dup iterations=20", system=SYSTEM, clocks="nominal", directory=directory)
        for directory in (None, tmp_path / "whole")
    )
    name = "events.jsonl"
    assert (forked.directory / name).read_bytes() == (whole.directory / name).read_bytes()
