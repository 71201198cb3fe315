# SPDX-License-Identifier: MIT
"""Our own program without operating system, in every mode of the processor."""

from pathlib import Path

SOURCE = Path(__file__).parent / "modes.S"


def test_modes_crossings_and_refused_controls(boot, bare_program):
    booted = boot("modes", bare=bare_program(SOURCE), limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.guest_status == 2  # CR4.PGE and CR4.PAE: #GP each

    # Markers work in real, protected and virtual-8086 mode, and add no counts in any mode. An empty
    # bracket contains only the instructions that set up the second marker's registers.
    for phase in (1, 2, 3):
        assert booted.totals(phase, "instructions") == [4]
        assert booted.totals(phase, "data_reads") == [0]
        assert booted.totals(phase, "data_writes") == [0]

    parsed = booted.events
    names = list(parsed.units)
    begin = next(b.begin for b in parsed.brackets if b.phase == 1)
    end = parsed.markers[-1]

    def count(marker, event):
        index = names.index(event)
        return sum(v[index] for v in marker.banks.values() if index < len(v))

    def change(event):
        return count(end, event) - count(begin, event)

    # The program sets PE with the old code segment, jumps to 32-bit code, enters V86 mode by IRET,
    # and returns to 32-bit code by INT.
    assert change("mode_changes.16bit") == 1
    assert change("mode_changes.v86") == 1
    assert change("mode_changes.32bit") == 2
    assert change("mode_changes.real") == 0
    # IRET goes from ring 0 to V86 (ring 3), and INT returns. The faults, and the IRETs of their
    # handlers, stay in ring 0.
    assert change("crossings.iret") == 1
    assert change("crossings.int") == 1
    assert change("crossings.async") == 0
    assert change("exceptions") == 2
    assert change("soft_interrupts") == 1
