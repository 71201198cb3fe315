# SPDX-License-Identifier: MIT
"""Measures INT and IRET in modes that guest programs never use. Each one has its own markers."""

from pathlib import Path

# Each row contains the phase in transfers.S, the empty phase with the same kind of code, and the
# clocks [QTM, 86BOX, UM3: engine/p5/SOURCES.md]. The set-up of a marker takes longer in 16-bit
# code.
TRANSFERS = {
    "INT, real mode": (10, 12, 16),
    "IRET, real mode": (11, 12, 8),
    "INT inside ring 0": (20, 22, 31),
    "IRET inside ring 0": (21, 22, 10),
    "INT from virtual-8086 mode to ring 0": (30, 32, 82),
    "IRET from ring 0 to virtual-8086 mode": (31, 22, 27),
}


def test_int_and_iret_in_every_mode(boot, bare_program):
    program = bare_program(Path(__file__).parent / "transfers.S")
    # Lines that are fetched ahead would evict some of the cached ones.
    settings = {"fetch.ahead": "false"}
    booted = boot("transfers", bare=program, limit_seconds=10, settings=settings)
    assert booted.outcome.status == "ok", booted.outcome.reason
    found = {}
    for name, (phase, empty, _) in TRANSFERS.items():
        # In the last of 4 passes all code and data are in the caches.
        *_, taken = booted.totals(phase, "cycles.busy")
        *_, markers = booted.totals(empty, "cycles.busy")
        found[name] = taken - markers
    assert found == {name: clocks for name, (_, _, clocks) in TRANSFERS.items()}
