# SPDX-License-Identifier: MIT
"""From the tidy table to the numbers the papers print.

What a bracket costs beside what it brackets, and who takes it out:

* chen95 brackets with start() and stop() on a counter device, two system calls that are themselves
  counted. Its Null benchmark measures a bracket around nothing, and that mean is removed from every
  other result. Counts read through the device (/dev/p5ctr) need the same: `correct` with the counts
  of the `null` workload.
* Our markers cost no cycles and count as nothing, so a count between two markers holds no call of
  the device and needs no Null correction. What remains is the handful of ordinary instructions that
  load a marker's registers. Each workload measures them by an empty bracket (phase `empty`), and
  `correct` with that phase removes them. What is left is comparable with a Null-corrected result
  of chen95: both hold the bracketed operation and nothing else.

The formula is the same: subtract the baseline from each iteration. A corrected count can be
slightly negative (the caches are in another state in the empty bracket); that is kept.
"""

import functools
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from p5stats.declared import events
from p5stats.problems import StatsError
from p5stats.tidy import VECTOR

KEYS = [
    "experiment",
    "run",
    "engine",
    "machine",
    "geometry",
    "feedback",
    "guest",
    "seed",
    "workload",
    "parameters",
    "phase",
]
KERNEL = "cycles.busy.ring0"  # added by `counts`: busy cycles in ring 0
PAGE_FAULT = "vector.fault.14"
SOURCE = ["run", "geometry", "feedback"]  # of KEYS: what has counted
CROSSINGS = ("crossings.int", "crossings.gate", "crossings.far", "crossings.iret")
# Engines that tell neither the vectors of interrupts nor the ring of a cycle.
UNDIVIDED = ("gem5",)
MODE_CHANGES = ("mode_changes.real", "mode_changes.v86", "mode_changes.16bit", "mode_changes.32bit")
LONG_MODE_CHANGES = "mode_changes.64bit"  # of engines whose processor has 64-bit code


def counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Counts per bracket over all rings and address spaces.

    Index: KEYS and iteration. Columns: events. chen95 reports all rings together, because what runs
    in ring 0 differs between systems; the column KERNEL keeps the busy cycles of ring 0. What an
    engine does not count is missing in its runs (NaN), never zero; the column VECTOR is NaN for
    runs of an engine that tells no vectors.
    """
    keys = [*KEYS, "iteration"]
    if frame.empty:
        raise StatsError("no brackets: the table is empty")
    # Most of the twelve have one value in a run, and each costs as much as any other.
    same = {key: frame[key].iloc[0] for key in keys if (frame[key] == frame[key].iloc[0]).all()}
    differ = [key for key in keys if key not in same] or ["iteration"]
    wide = frame.pivot_table(index=differ, columns="event", values="value", aggfunc="sum")
    wide.columns.name = None
    busy = frame[(frame["event"] == "cycles.busy") & (frame["ring"] == 0)]
    wide[KERNEL] = busy.groupby(differ, observed=True)["value"].sum().reindex(wide.index)
    index = wide.index.to_frame(index=False).assign(**{k: same[k] for k in keys if k not in differ})
    wide.index = pd.MultiIndex.from_frame(index[keys])
    vectors = [event for event in wide.columns if event.startswith(VECTOR)]
    undivided = wide.index.get_level_values("engine").isin(UNDIVIDED)
    wide.loc[undivided, KERNEL] = math.nan
    if undivided.any():
        wide[VECTOR] = np.where(undivided, math.nan, 0)
    by_source = frame.groupby(SOURCE)["event"].unique()
    parts = []
    for source, rows in wide.groupby(level=SOURCE, sort=False):
        events = set(by_source[source])
        if rows.index.get_level_values("engine")[0] not in UNDIVIDED:
            events |= {KERNEL} if "cycles.busy" in events else set()
            # A vector has rows only where it was taken.
            events |= set(vectors) if "hw_interrupts" in events else set()
        missing = [event for event in rows.columns[rows.isna().any()] if event in events]
        parts.append(rows.fillna(dict.fromkeys(missing, 0)) if missing else rows)
    return pd.concat(parts)


def correct(values: pd.DataFrame, cost: pd.Series) -> pd.DataFrame:
    """Each iteration of `values`, as `counts` gives them, less a cost per event.

    chen95's Null correction is `correct(values, null.mean())`.
    """
    return values.sub(cost.reindex(values.columns, fill_value=0), axis="columns")


def without_empty(values: pd.DataFrame, empty: str = "empty") -> pd.DataFrame:
    """All other phases less the same source's empty bracket; runs without one as they are.

    The median of the empty brackets is what counts: the first one runs on cold caches and the
    clock may tick in another, and neither belongs to the cost of a marker.
    """
    parts = []
    for _, run in values.groupby(level=SOURCE, sort=False):
        is_empty = run.index.get_level_values("phase") == empty
        parts.append(correct(run[~is_empty], run[is_empty].median()) if is_empty.any() else run)
    return pd.concat(parts)


def parameter(values: pd.DataFrame, name: str) -> pd.Series:
    """A numeric workload parameter of each row, taken from the `parameters` column of its index."""

    def value(text: str) -> float:
        settings = dict(part.split("=", 1) for part in text.split())
        if name not in settings:
            raise StatsError(f"no parameter {name!r} in {text!r}")
        return float(settings[name])

    texts = values.index.get_level_values("parameters")
    return pd.Series([value(text) for text in texts], index=values.index, name=name)


def summary(values: pd.DataFrame) -> pd.DataFrame:
    """Mean, minimum and maximum over the iterations of each phase. Columns: (event, statistic)."""
    return values.groupby(level=KEYS, sort=False).agg(["mean", "min", "max"])


@dataclass(frozen=True)
class Metric:
    """A derived number. `value` takes the mean counts of one operation and the clock in Hz."""

    name: str
    unit: str
    doc: str
    value: Callable[["Counts", int], float]


class Counts:
    """Mean counts of one operation. What the engine does not count is NaN; what never happened in
    these brackets is zero."""

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def __getitem__(self, event: str) -> float:
        if event.startswith(VECTOR) and event not in self._values:
            # Vectors have a column only where one was taken.
            return 0 * self["hw_interrupts"] + self._values.get(VECTOR, 0)
        return float(self._values.get(event, float("nan")))

    def has(self, event: str) -> bool:
        return not math.isnan(self._values.get(event, math.nan))

    def total(self, *events: str) -> float:
        return sum(self[event] for event in events)

    def ratio(self, above: float, below: float) -> float:
        """NaN where there is nothing to divide by: no such ratio is not a ratio of zero."""
        return above / below if below else float("nan")

    @property
    def references(self) -> float:
        """chen95's denominator of the data side: data reads and writes together."""
        return self.total("data_reads", "data_writes")


@functools.cache
def metrics(clock_vector: int | None, operation_bytes: int = 0) -> tuple[Metric, ...]:
    """The rows of the report, in its order. `clock_vector`: interrupt of the guest's clock;
    `operation_bytes`: bytes that one operation moves. Rows that events declare for themselves and
    that have no place here come last."""
    clock = f"vector.irq.{clock_vector}"

    def microseconds(c: Counts, hz: int) -> float:
        if c.has("time.wall"):
            return c["time.wall"] / 1e3
        return c.total("cycles.busy", "cycles.idle") * 1e6 / hz

    def rest(c: Counts) -> float:
        return c["hw_interrupts"] - (c[clock] if clock_vector is not None else 0)

    rows = (
        _row_of("cycles.busy"),
        _row_of("cycles.idle"),
        Metric(
            "microseconds",
            "us",
            "busy and idle by the machine's clock; of a host, by its own",
            microseconds,
        ),
        Metric(
            "MB/s",
            "MB/s",
            "millions of bytes that a workload moves, by those microseconds",
            lambda c, hz: (
                c.ratio(operation_bytes, microseconds(c, hz)) if operation_bytes else math.nan
            ),
        ),
        Metric(
            "processor time",
            "us",
            "of the program and its children, as the host reports it",
            lambda c, hz: c["time.cpu"] / 1e3,
        ),
        _row_of("instructions"),
        Metric(
            "CPI (busy)",
            "cycles/instruction",
            "busy cycles per instruction",
            lambda c, hz: c.ratio(c["cycles.busy"], c["instructions"]),
        ),
        _row_of("data_reads"),
        _row_of("data_writes"),
        Metric(
            "read misses/reference",
            "misses/access",
            "L1D read misses per data reference (reads and writes)",
            lambda c, hz: c.ratio(c["data_read_misses"], c.references),
        ),
        Metric(
            "write misses/reference",
            "misses/access",
            "L1D write misses per data reference; a write miss fills no line, so a run of writes"
            " to one absent line misses each time",
            lambda c, hz: c.ratio(c["data_write_misses"], c.references),
        ),
        _row_of("code_misses"),
        Metric(
            "I-cache misses/instr",
            "misses/instruction",
            "",
            lambda c, hz: c.ratio(c["code_misses"], c["instructions"]),
        ),
        _row_of("itlb_misses"),
        _row_of("dtlb_misses"),
        Metric(
            "L2 misses",
            "misses",
            "reads and writes that the board cache did not hold",
            lambda c, hz: c.total("l2_read_misses", "l2_write_misses"),
        ),
        _row_of("segment_loads"),
        Metric(
            "interrupts, clock",
            "interrupts",
            "hardware interrupts of the guest's clock",
            lambda c, hz: c[clock] if clock_vector is not None else float("nan"),
        ),
        Metric(
            "interrupts, other",
            "interrupts",
            "all other hardware interrupts",
            lambda c, hz: rest(c),
        ),
        Metric(
            "disk requests",
            "requests",
            "reads and writes of the modelled disks",
            lambda c, hz: c.total("disk.reads", "disk.writes"),
        ),
        Metric(
            "disk busy",
            "us",
            "while at least one of them was under way",
            lambda c, hz: c["disk.busy"] * 1e6 / hz,
        ),
        _row_of("exceptions"),
        Metric(
            "page faults",
            "faults",
            "those among them that the paging hardware raised",
            lambda c, hz: c["page_faults" if c.has("page_faults") else PAGE_FAULT],
        ),
        Metric(
            "context switches",
            "switches",
            "as the host reports them",
            lambda c, hz: c["context_switches"],
        ),
        Metric(
            "kernel share",
            "1",
            "busy cycles in ring 0 / busy cycles",
            lambda c, hz: c.ratio(c[KERNEL], c["cycles.busy"]),
        ),
        Metric(
            "ring crossings",
            "crossings",
            "by instruction: INT, gate, far transfer, IRET",
            lambda c, hz: c.total(*CROSSINGS),
        ),
        _row_of("crossings.async"),
        _row_of("cr3_loads.changed"),
        _row_of("cr3_loads.unchanged"),
        Metric(
            "mode changes",
            "changes",
            "to real, V86, 16-bit, 32-bit or 64-bit code",
            lambda c, hz: (
                c.total(*MODE_CHANGES) + (c[LONG_MODE_CHANGES] if c.has(LONG_MODE_CHANGES) else 0)
            ),
        ),
    )
    placed = {row.name for row in rows}
    declared_rows = (_row_of(name) for name, event in events().items() if event.report)
    return rows + tuple(row for row in declared_rows if row.name not in placed)


def _row_of(name: str) -> Metric:
    """The row of one event, as its declaration has it."""
    event = events()[name]
    return Metric(event.report, event.report_unit, event.counts, lambda c, hz: c[name])


def evaluate(
    means: Mapping[str, float],
    operations: int,
    clock_hz: int,
    clock_vector: int | None,
    operation_bytes: int = 0,
    wanted: Container[str] | None = None,
) -> dict[str, float]:
    """All metrics of one operation, or those `wanted`. `means`: mean counts of one bracket;
    `operations`: how many operations a bracket holds; `operation_bytes`: how many bytes each moves,
    0 for none."""
    if operations < 1:
        raise StatsError(f"operations: expected at least 1, found {operations}")
    per_operation = Counts({event: value / operations for event, value in means.items()})
    return {
        metric.name: metric.value(per_operation, clock_hz)
        for metric in metrics(clock_vector, operation_bytes)
        if wanted is None or metric.name in wanted
    }
