# SPDX-License-Identifier: MIT
"""Compares the recorded counts of experiments (p5lab.evidence.counts) with new runs.

With the same files and tools each run gives the same bytes on every host, so the comparison is
exact. If the guests were built with other tools, their kernels have other code at other addresses,
and the counts only have to be near (docs/evidence/README.md).
"""

import math
import re
from collections.abc import Iterable

from p5lab.evidence import counts
from p5lab.evidence.records import DIGITS, Record
from p5lab.keep.store import Stored

COSTLY = ("disk", "disk-lai96")  # sources whose runs take long
# The largest relative difference between two builds of the guests. Whole numbers from 1 to SMALL
# count crossings, calls or pages and are equal in all builds.
TOLERANCE, SMALL = 0.25, 20


def near(recorded: float, now: float, *, exact: bool) -> bool:
    """Whether a new count agrees with the recorded count.

    `exact`: the guests were built with the same tools, so the counts must be equal. Otherwise the
    counts may differ by TOLERANCE, except whole numbers up to SMALL.
    """
    if exact or (recorded == int(recorded) and 1 <= recorded <= SMALL):
        return math.isclose(recorded, now, rel_tol=10 ** (1 - DIGITS), abs_tol=1e-9)
    return abs(recorded - now) <= max(0.05, TOLERANCE * max(abs(recorded), abs(now)))


def differences(record: Record, source: str, runs: Iterable[Stored]) -> list[str]:
    """Compares the recorded counts of a source with new runs. Returns one line for each count that
    differs or is missing. A workload that is not among the runs is not compared.

    `record`: the result of p5lab.evidence.counts.measured.
    """
    runs = list(runs)
    known = record[source]
    exact = counts.tools_of(runs) == known["tools"]
    now = counts.counts_of(runs)
    ran = {_workload(name) for name in now}
    lines = []
    for name, own in known["counts"].items():
        for metric, value in own.items() if _workload(name) in ran else ():
            new = now.get(name, {}).get(metric)
            if new is None:
                lines.append(f"{source}: {name}: {metric}: recorded {value}, missing now")
            elif not near(value, new, exact=exact):
                lines.append(f"{source}: {name}: {metric}: recorded {value}, now {new}")
    return lines


def _workload(name: str) -> tuple[str, str]:
    """The guest and the workload of a name, without the values of parameters and the phase."""
    guest, _, what = name.partition(counts.SEPARATOR)
    return guest, re.split("[ ,]", what)[0]
