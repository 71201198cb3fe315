# SPDX-License-Identifier: MIT
"""Event codes 23h to 26h count accesses to the addresses in DR0 to DR3, enabled or not."""

from pathlib import Path

SOURCE = Path(__file__).parent / "breakpoints.S"


def test_debug_registers_count_what_they_watch(boot, bare_program):
    booted = boot("breakpoints", bare=bare_program(SOURCE), limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.totals(1, "exceptions") == [0]  # not enabled
    assert booted.totals(1, "breakpoint_matches.0") == [1]  # one write
    assert booted.totals(1, "breakpoint_matches.1") == [3]  # also two reads
    assert booted.totals(2, "breakpoint_matches.0") == [0]
    assert booted.totals(2, "breakpoint_matches.1") == [0]
