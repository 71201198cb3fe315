# SPDX-License-Identifier: MIT
"""Far transfers through gates and to tasks, and test register 12, in a bare program.

The accesses that the model counts must be exactly the accesses that the emulator executes.
"""

from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "gates.S"
FAR, GATE, TASK, TASK_GATE, VERR, SINGLE, PAIRED = range(1, 8)
EMPTY = 4  # instructions of an empty bracket: the set-up of the second marker


@pytest.fixture
def counts(boot, bare_program):
    """Returns the counts of an event in the last bracket of a phase, with all code and data in the
    caches.
    """
    booted = boot("gates", bare=bare_program(SOURCE), limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.guest_status == 0xD  # TR12 keeps NBP, SE and CI

    def last(phase, event):
        return booted.totals(phase, event)[-1]

    last.events = list(booted.events.units)
    return last


def test_transfers_take_the_clocks_of_what_they_turn_out_to_be(counts):
    def clocks(phase):
        """Returns the clocks of a bracket without stalls (of locked cycles and TSS accesses)."""
        stalls = [name for name in counts.events if name.startswith("stall.")]
        return counts(phase, "cycles.busy") - sum(counts(phase, name) for name in stalls)

    far = clocks(FAR)  # CALL 4, RET 4
    assert clocks(GATE) - far == 22 - 4
    # The called task executes a JMP back to its IRET. The JMP takes one clock.
    assert clocks(TASK) - far == (21 + 85) + (10 + 85) + 1 - (4 + 4)
    assert clocks(TASK_GATE) - far == (23 + 85) + (10 + 85) + 1 - (4 + 4)


def test_transfers_count_as_they_should(counts):
    for phase, instructions in ((FAR, 2), (GATE, 2), (TASK, 3), (TASK_GATE, 3)):
        assert counts(phase, "instructions") == EMPTY + instructions
        assert counts(phase, "segment_loads") == 2
        assert counts(phase, "branches") == instructions
    # The busy bit of the called task's descriptor is set and then cleared.
    for phase, locked in ((FAR, 0), (GATE, 0), (TASK, 2), (TASK_GATE, 2)):
        assert counts(phase, "locked_cycles") == locked
    assert counts(TASK_GATE, "soft_interrupts") == 1
    # The ring does not change, and no ring crossing is counted. A return to the caller of a gate
    # therefore costs the same as any other far return.
    for event in ("crossings.int", "crossings.gate", "crossings.far", "crossings.iret"):
        assert {counts(phase, event) for phase in range(1, 8)} == {0}
    assert counts(VERR, "branches") == 2


def test_tr12_selects_one_pipe(counts):
    assert counts(SINGLE, "instructions.v") == 0
    assert counts(PAIRED, "instructions.v") == 3  # the two moves, and two pairs of the marker
