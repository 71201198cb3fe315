# SPDX-License-Identifier: MIT
"""Markers with buffers, from every mode of the processor (docs/reference/marker-protocol.md)."""

from pathlib import Path

SOURCE = Path(__file__).parent / "buffers.S"
# The protocol's answers to refused buffers, as the program writes them: A is 1.
OUTSIDE_SEGMENT, PAGE, NO_MEMORY, TOO_LONG, TOO_SHORT, NAME = "ABCDEF"


def test_a_buffer_is_used_as_a_whole_or_refused(boot, bare_program):
    booted = boot("buffers", bare=bare_program(SOURCE), limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.guest_status == 0  # the answer to an unknown operation
    assert booted.output == "".join(
        (
            "real mode\n",
            f"{OUTSIDE_SEGMENT}\n{NO_MEMORY}\n{TOO_LONG}\n{TOO_SHORT}\n",
            "8\n",  # the length that the job needs
            f"buffers{NAME}\n{NAME}\n",
            f"{NO_MEMORY}\nto flat\n{OUTSIDE_SEGMENT}\n",
            "virtual mode\n",
            "\0",  # the byte before the absent page, which nothing has written
            f"{PAGE}\n{PAGE}\n{PAGE}\n",
            f"buffers{PAGE}\n",
        )
    )
    (note,) = booted.events.notes
    assert (note["what"], note["name"], note["count"]) == ("phase-name", "real mode", 1)
    # A marker with a buffer adds no counts: four instructions load its registers, four those of
    # the end marker, and none of them accesses memory.
    for phase in (1, 3):
        assert booted.totals(phase, "instructions") == [8]
        assert booted.totals(phase, "data_reads") == [0]
        assert booted.totals(phase, "data_writes") == [0]
