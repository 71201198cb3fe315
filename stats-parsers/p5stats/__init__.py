# SPDX-License-Identifier: MIT
"""p5stats: what an engine recorded -> one tidy table -> the comparisons people make with it.

events   events.jsonl of one run, checked line by line
tidy     one row per run, phase, iteration, ring, address space and event
compare  counts per operation, corrections, and the ratios of the papers
"""

from p5stats.errors import StatsError

__all__ = ["StatsError"]
