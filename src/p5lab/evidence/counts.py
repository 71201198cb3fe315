# SPDX-License-Identifier: MIT
"""The recorded counts of experiments, which the end-to-end tests compare with new runs.

With the same files and tools each run gives the same bytes on every host, so the comparison is
exact. If the guests were built with other tools, their kernels have other code at other addresses,
and the counts only have to be near (docs/evidence/README.md).
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter, Run
from p5lab.describe.keys import readable
from p5lab.evidence.records import DIGITS, Record, short
from p5lab.keep.result import Execute, succeeded
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present.comparison import Comparison
from p5lab.present.tables import MISSING, Grid, number

SEPARATOR = " | "
METRICS = (
    *("microseconds", "busy cycles", "instructions", "kernel share", "MB/s"),
    *("I-cache misses", "L2 misses", "page faults", "ring crossings"),
)
# The runs whose counts are recorded, by name. The runs of COSTLY take long.
SOURCES = {
    "smoke": ("smoke", Filter()),
    "chen95-core": ("chen95-core", Filter(guests=("linux", "linux-uml"))),
    "linking": ("linking", Filter()),
    "disk": ("disk", Filter(workloads=("raw-read",))),
    "disk-lai96": ("disk", Filter(machines=("p100-plato",), workloads=("raw-seek",))),
}
COSTLY = ("disk", "disk-lai96")
# The largest relative difference between two builds of the guests. Whole numbers from 1 to SMALL
# count crossings, calls or pages and are equal in all builds.
TOLERANCE, SMALL = 0.25, 20


def runs_of(lab: Lab, source: str) -> list[Run]:
    """The runs of a source."""
    name, choice = SOURCES[source]
    return experiment.load(lab, name, choice)


def measured(lab: Lab, execute: Execute) -> Record:
    """The record of all sources: the tools of the guests, and the counts. Raises UserError if a run
    fails."""
    found = {}
    for source in SOURCES:
        runs = succeeded(execute(runs_of(lab, source)))
        found[source] = {"tools": tools_of(runs), "counts": counts_of(runs)}
    return found


def tools_of(runs: Iterable[Stored]) -> str:
    """The tools that determine the bytes of the runs' guests: the compilers, and the
    versions of the guests' kernels, separated by semicolons. (Zig compiles the programs of the
    guests. The version of Zig is fixed.)"""
    found = set()
    for one in runs:
        built = one.record.get("built_from", {}).get("guest", {}).get("inputs", {})
        found.add(built.get("compiler", ""))
        found.add(one.record.get("versions", {}).get("guest kernel", "").partition(" ")[0])
    return "; ".join(sorted(found - {""}))


def counts_of(runs: Iterable[Stored]) -> dict[str, dict[str, float]]:
    """The METRICS of some runs by "GUEST | WORKLOAD" and metric, such as "linux | dup".

    If the machine was changed (`--set`), the changed keys follow the guest: "linux, l2.size=512K".
    If the runs have several values of a workload's parameter, the value follows the workload:
    "mem-read guest". If the workload has several phases, the phase follows too:
    "mem-read guest, 1 MB". A count is the mean over the brackets and the seeds, in the metric's
    unit. A metric without a value has no name.
    """
    rows = list(Comparison(list(runs)).table())
    given: dict[str, list[dict[str, str]]] = {}
    phases: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        given.setdefault(row["workload"], []).append(_parameters(row))
        phases.setdefault((row["workload"], row["parameters"]), set()).add(row["phase"])
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["value"] is None or row["metric"] not in METRICS:
            continue
        several = len(phases[row["workload"], row["parameters"]]) > 1
        what = " ".join([row["workload"], *_different(_parameters(row), given[row["workload"]])])
        name = (
            f"{row['guest']}, {readable(row['geometry'])}" if row["geometry"] else row["guest"],
            f"{what}, {row['phase']}" if several else what,
        )
        found.setdefault(SEPARATOR.join(name), {})[row["metric"]] = short(row["value"])
    return found


def _parameters(row: Mapping[str, Any]) -> dict[str, str]:
    return dict(re.findall(r"(\S+?)=(\S*)", row["parameters"]))


def _different(one: Mapping[str, str], others: Iterable[Mapping[str, str]]) -> list[str]:
    """The values of the parameters that are not the same in all runs of a workload."""
    others = list(others)
    return [value for name, value in one.items() if len({other.get(name) for other in others}) > 1]


def grid(known: Record) -> Grid:
    """The recorded counts of one source: a row for each metric, a column for each workload."""
    found = known["counts"]
    several = len({name.partition(SEPARATOR)[0] for name in found}) > 1
    table = Grid("", ["", *(name if several else name.partition(SEPARATOR)[2] for name in found)])
    for metric in METRICS:
        if any(metric in one for one in found.values()):
            values = (one.get(metric) for one in found.values())
            table.add(metric, *(MISSING if one is None else number(one) for one in values))
    return table


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

    `record`: the result of `measured`.
    """
    runs = list(runs)
    known = record[source]
    exact = tools_of(runs) == known["tools"]
    now = counts_of(runs)
    ran = {_workload(name) for name in now}
    lines = []
    for name, counts in known["counts"].items():
        for metric, value in counts.items() if _workload(name) in ran else ():
            new = now.get(name, {}).get(metric)
            if new is None:
                lines.append(f"{source}: {name}: {metric}: recorded {value}, missing now")
            elif not near(value, new, exact=exact):
                lines.append(f"{source}: {name}: {metric}: recorded {value}, now {new}")
    return lines


def _workload(name: str) -> tuple[str, str]:
    """The guest and the workload of a name, without the values of parameters and the phase."""
    guest, _, what = name.partition(SEPARATOR)
    return guest, re.split("[ ,]", what)[0]
