# SPDX-License-Identifier: MIT
"""p5stats converts the files that an engine wrote to one tidy table, and compares such tables.

declared     the events that the engine's sources declare
events       reads events.jsonl of one run and checks it line by line
tidy         the table: one row per run, phase, iteration, ring, address space and event
terms        the numbers that convert the counts of a run to numbers for one operation
compare      counts per operation, corrections, and the metrics of the reports
papers       makes the comparisons of the papers from tidy tables
gem5         reads the statistics of gem5 in any of gem5's formats
gem5_events  converts the statistics of a run of configs/gem5 to events
crosscheck   compares the counts of two engines for the same brackets
"""

from p5stats.problems import StatsError

__all__ = ["StatsError"]
