# SPDX-License-Identifier: MIT
"""Our own program in 64-bit code. The x86-64 engine counts accesses, crossings and misses.

This engine does not model clocks.
"""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "long.S"
MARKER = 4  # instructions that set up the registers of the end marker


@pytest.fixture
def ran(boot, bare_program):
    booted = boot(
        "long",
        bare=bare_program(SOURCE, bits=64),
        isa="x86-64",
        limit_seconds=10,
        settings={"dtlb.replacement": "lru", "dtlb_large.replacement": "lru"},
    )
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert "decoder:" not in (booted.directory / "engine.out").read_text()
    return booted


def by_ring(booted, phase, event):
    """Returns the counts by ring in the second bracket of a phase, with all pages in the TLBs."""
    parsed = booted.events
    index = list(parsed.units).index(event)
    bracket = [one for one in parsed.brackets if one.phase == phase][1]
    counts = {}
    for (_, ring), after in bracket.end.banks.items():
        before = bracket.begin.banks.get((_, ring), [])
        value = after[index] if index < len(after) else 0
        counts[ring] = counts.get(ring, 0) + value - (before[index] if index < len(before) else 0)
    return {ring: count for ring, count in counts.items() if count}


def test_long_mode_counts(ran):
    # Accesses of all sizes. An operand of 16 bytes takes two accesses. An operand that crosses a
    # line also takes two accesses.
    assert by_ring(ran, 1, "instructions") == {0: 16 + MARKER}
    assert by_ring(ran, 1, "data_reads") == {0: 14}
    assert by_ring(ran, 1, "data_writes") == {0: 10}
    assert by_ring(ran, 1, "misaligned") == {0: 1}
    assert by_ring(ran, 1, "branches") == {0: 2}

    # SYSCALL is counted as a gate, and SYSRET is counted as a return. Neither instruction accesses
    # memory. Each of them loads CS and SS.
    assert by_ring(ran, 2, "instructions") == {3: 1 + 3 * 5 + MARKER, 0: 5}
    assert by_ring(ran, 2, "crossings.gate") == {3: 5}
    assert by_ring(ran, 2, "crossings.iret") == {0: 5}
    assert by_ring(ran, 2, "segment_loads") == {3: 10, 0: 10}
    assert by_ring(ran, 2, "data_reads") == by_ring(ran, 2, "data_writes") == {}

    # INT reads 16 bytes of the gate, the code segment's descriptor and RSP0 of the TSS. INT pushes
    # SS, RSP, flags, CS and RIP. IRETQ pops these values and reads the descriptors of CS and SS.
    assert by_ring(ran, 3, "crossings.int") == {3: 1}
    assert by_ring(ran, 3, "crossings.iret") == {0: 1}
    assert by_ring(ran, 3, "soft_interrupts") == {3: 1}
    assert by_ring(ran, 3, "data_reads") == {3: 2 + 1 + 1, 0: 5 + 2}
    assert by_ring(ran, 3, "data_writes") == {3: 5}

    # A page fault also pushes the error code. The fault is counted as an instruction. The load does
    # not complete and is not counted. The page walk of the load finds no entry in the third table.
    assert by_ring(ran, 4, "exceptions") == {3: 1}
    assert by_ring(ran, 4, "crossings.async") == {3: 1}
    assert by_ring(ran, 4, "instructions") == {3: 1 + MARKER, 0: 3}
    assert by_ring(ran, 4, "dtlb_misses") == {3: 1}
    assert by_ring(ran, 4, "walk_reads") == {3: 3}
    assert ran.totals(4, "hw_interrupts") == [0, 0]


def test_long_mode_tlbs(ran):
    """A page walk makes four reads for a 4 KB page and three reads for a 2 MB page: one read for
    each level of tables.
    """

    def counts(phase):
        names = ("dtlb_misses", "itlb_misses", "walk_reads", "tlb_flushes", "cr3_loads.unchanged")
        return [ran.totals(phase, name)[0] for name in names]

    assert counts(5) == [4, 1, 4 * 4 + 4, 1, 1]
    assert counts(6) == [5 + 5, 1, 10 * 4 + 4, 1, 1]
    assert counts(7) == [2, 1, 2 * 3 + 4, 1, 1]
    assert counts(8) == [1, 1, 4 + 4, 1, 1]  # the global page has stayed
    assert counts(9)[3:] == [0, 0]
    assert ran.totals(9, "data_read_misses") == [2]


def test_long_mode_has_no_clocks(ran):
    parsed = ran.events
    assert not [name for name, unit in parsed.units.items() if unit == "cycles"]
    assert not {"instructions.v", "btb_hits", "pipeline_flushes", "flops"} & {*parsed.units}
    # Each instruction takes one clock, even if its access misses.
    for bracket in parsed.brackets:
        index = list(parsed.units).index("instructions")
        done = [
            sum(bank[index] for bank in marker.banks.values() if len(bank) > index)
            for marker in (bracket.begin, bracket.end)
        ]
        # The load that raises the fault takes a clock, but is not counted as an instruction.
        faulted = bracket.phase == 4
        assert bracket.end.tsc - bracket.begin.tsc == done[1] - done[0] + faulted

    index = list(parsed.units).index("mode_changes.64bit")
    assert sum(bank[index] for bank in parsed.markers[-1].banks.values() if len(bank) > index) == 1


def test_a_pentium_has_no_long_mode(boot, bare_program, tmp_path):
    booted = boot("long", bare=bare_program(SOURCE, bits=64), directory=tmp_path / "p5")
    # A Pentium raises #GP for CR4.PAE. Without a handler the machine shuts down.
    assert booted.outcome.status == "failed"
    assert "reset" in booted.outcome.reason
