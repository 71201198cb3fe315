# SPDX-License-Identifier: MIT
"""The recorded counts of experiments, which the end-to-end tests compare with new runs
(tests/recorded_counts.py)."""

from collections.abc import Iterable

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter, Run
from p5lab.describe.keys import readable
from p5lab.evidence.records import Record, short
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
# The runs whose counts are recorded, by name.
SOURCES = {
    "smoke": ("smoke", Filter()),
    "chen95-core": ("chen95-core", Filter(guests=("linux", "linux-uml"))),
    "linking": ("linking", Filter()),
    "disk": ("disk", Filter(workloads=("raw-read",))),
    "disk-lai96": ("disk", Filter(machines=("p100-plato",), workloads=("raw-seek",))),
}


def runs_of(lab: Lab, source: str) -> list[Run]:
    """The runs of a source."""
    name, choice = SOURCES[source]
    return experiment.load(lab, name, choice)


def measured(lab: Lab, execute: Execute) -> Record:
    """The record of all sources: the tools of the guests, and the counts. Raises UserError if a run
    fails."""
    record = {}
    for source in SOURCES:
        runs = succeeded(execute(runs_of(lab, source)))
        record[source] = {"tools": tools_of(runs), "counts": counts_of(runs)}
    return record


def tools_of(runs: Iterable[Stored]) -> str:
    """The tools that determine the bytes of the runs' guests: the compilers, and the
    versions of the guests' kernels, separated by semicolons. (Zig compiles the programs of the
    guests. The version of Zig is fixed.)"""
    tools = set()
    for stored in runs:
        built = stored.record.get("built_from", {}).get("guest", {}).get("inputs", {})
        tools.add(built.get("compiler", ""))
        tools.add(stored.record.get("versions", {}).get("guest kernel", "").partition(" ")[0])
    return "; ".join(sorted(tools - {""}))


def counts_of(runs: Iterable[Stored]) -> dict[str, dict[str, float]]:
    """The METRICS of some runs by "GUEST | WORKLOAD" and metric, such as "linux | dup".

    If the machine was changed (`--set`), the changed keys follow the guest: "linux, l2.size=512K".
    If the runs have several values of a workload's parameter, the value follows the workload:
    "mem-read guest". If the workload has several phases, the phase follows too:
    "mem-read guest, 1 MB". A count is the mean over the brackets and the seeds, in the metric's
    unit. A metric without a value has no name.
    """
    rows = list(Comparison(list(runs)).table())
    common: dict[str, set[str]] = {}  # the parameters that all runs of a workload have
    phases: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        words = set(row["parameters"].split())
        common[row["workload"]] = common.get(row["workload"], words) & words
        phases.setdefault((row["workload"], row["parameters"]), set()).add(row["phase"])
    counts: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["value"] is None or row["metric"] not in METRICS:
            continue
        several = len(phases[row["workload"], row["parameters"]]) > 1
        own = [word for word in row["parameters"].split() if word not in common[row["workload"]]]
        what = " ".join([row["workload"], *(word.partition("=")[2] for word in own)])
        name = (
            f"{row['guest']}, {readable(row['geometry'])}" if row["geometry"] else row["guest"],
            f"{what}, {row['phase']}" if several else what,
        )
        counts.setdefault(SEPARATOR.join(name), {})[row["metric"]] = short(row["value"])
    return counts


def grid(known: Record) -> Grid:
    """The recorded counts of one source: a row for each metric, a column for each workload."""
    counts = known["counts"]
    several = len({name.partition(SEPARATOR)[0] for name in counts}) > 1
    table = Grid("", ["", *(name if several else name.partition(SEPARATOR)[2] for name in counts)])
    for metric in METRICS:
        if any(metric in workload for workload in counts.values()):
            values = (workload.get(metric) for workload in counts.values())
            table.add(metric, *(MISSING if value is None else number(value) for value in values))
    return table
