# SPDX-License-Identifier: MIT
"""p5stats: what an engine recorded -> one tidy table -> the comparisons people make with it.

declared     the events that the engine's sources declare
events       events.jsonl of one run, checked line by line
tidy         one row per run, phase, iteration, ring, address space and event
compare      counts per operation, corrections, and the metrics of the reports
papers       comparisons as the papers make them, tidy in and tidy out
gem5         statistics of gem5 in any of its formats, by themselves
gem5_events  those of a run of configs/gem5 as events
crosscheck   the same brackets as two engines counted them
"""

from p5stats.problems import StatsError

__all__ = ["StatsError"]
