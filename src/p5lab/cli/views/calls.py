# SPDX-License-Identifier: MIT
"""`show --calls`: the system calls of a run."""

from p5lab.present import breakdown
from p5stats.dimensions import PER_CALL

OPTION = """
--calls  the calls with the most cycles, and with --all-tables their other counts: short for --by
    call
"""
BY = ("call",)
ALL_TABLES = ("cycles", "calls", breakdown.NO_RETURN, *PER_CALL)
