# SPDX-License-Identifier: MIT
"""A bus master: its reads and writes make inquire cycles in the caches."""

from pathlib import Path

SOURCE = Path(__file__).parent / "dma.S"
SECTORS, SECTOR, LINE = 4, 512, 32


def test_the_caches_see_what_the_disk_controller_writes(boot, bare_program):
    booted = boot("dma", bare=bare_program(SOURCE), limit_seconds=10)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.guest_status == 0  # the data has come

    # There is one inquire cycle for each line of the sectors. (The emulator's controller reads its
    # descriptor by another path, and the engine does not count this read.)
    assert booted.totals(1, "snoops") == [SECTORS * SECTOR // LINE]
    assert booted.totals(1, "snoop_hits") == [3]
    # The processor wrote the modified line back before the controller wrote to this line.
    assert booted.totals(1, "l1d_writebacks") == [1]
    # The program had to read all three lines again. The board cache did not contain these lines.
    # The code was also missing in the board cache, because it runs for the first time.
    assert booted.totals(2, "data_read_misses") == [3]
    [code] = booted.totals(2, "code_misses")
    assert booted.totals(2, "l2_read_misses") == [3 + code]
