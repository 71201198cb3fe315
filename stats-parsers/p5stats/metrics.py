# SPDX-License-Identifier: MIT
"""Metrics: the rows of a report about one operation, in the order of the report."""

import functools
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from p5stats import declared
from p5stats.declared import NOMINAL, events
from p5stats.problems import StatsError
from p5stats.tidy import VECTOR

KERNEL = "cycles.busy.ring0"  # added by p5stats.compare.counts: busy cycles in ring 0
PAGE_FAULT = "vector.fault.14"
CROSSINGS = ("crossings.int", "crossings.gate", "crossings.far", "crossings.iret")
MODE_CHANGES = ("mode_changes.real", "mode_changes.v86", "mode_changes.16bit", "mode_changes.32bit")
LONG_MODE_CHANGES = "mode_changes.64bit"  # only of engines with 64-bit code


# The events of misses, by the names of tables about instructions and steps.
MISSES = {
    "L1I": "code_misses",
    "L1D read": "data_read_misses",
    "L1D write": "data_write_misses",
    "L2 read": "l2_read_misses",
    "L2 write": "l2_write_misses",
    "ITLB": "itlb_misses",
    "DTLB": "dtlb_misses",
}


class View(StrEnum):
    """A table or a figure that shows only some metrics."""

    HEADLINE = "the table of one system in a terminal, which drops the last columns if it is narrow"
    SUMMARY = "the table of one system on a page"
    CURVE = "the table of a curve of one system"
    CURVES_COMPARED = "the table of a curve of several systems"
    MISSES = "the table of misses"
    OWN_TABLE = "a table of its own, with the head as title"
    SWEEP = "the table of a sweep"
    BARS = "the bars of a benchmark"
    MISS_BARS = "the bars of a benchmark with shadow geometries"
    KEY_PANELS = "the curves over a machine key"
    OVERVIEW = "the figure of all benchmarks"
    RATES = "the figure of all benchmarks of one system, behind OVERVIEW"
    CURVE_PANELS = "the curves over a parameter"
    LEVELS = "the levels of a memory curve"
    PARTS = "the table of counts by dimension"


@dataclass(frozen=True)
class Shown:
    """How and where a metric is shown. This is the only declaration: each view asks `shown_in`.

    `head`: of a column, with line breaks. `title`: of a figure. `short`: further names for
    --metric. `places`: for each view, the place of the metric among the metrics of the view (the
    most important has 1, and 2.5 is between 2 and 3), also with another head.
    """

    head: str = ""
    title: str = ""
    short: tuple[str, ...] = ()
    places: Mapping[View, float | tuple[float, str]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Metric:
    """A derived number. `value` computes the number from the mean counts of one operation, and from
    the clock in Hz."""

    name: str
    unit: str
    doc: str
    value: Callable[["Counts", int], float]
    shown: Shown = Shown()


@dataclass(frozen=True)
class EventMetric:
    """The metric that an event declares (`report` in its events.toml)."""

    name: str
    shown: Shown = Shown()


class Counts:
    """Mean counts of one operation.

    An event that the engine does not count is NaN. An event that did not happen is zero.
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values

    def __getitem__(self, event: str) -> float:
        if event.startswith(VECTOR) and event not in self._values:
            # If no interrupt of a vector occurred, there is no column for this vector.
            return 0 * self["hw_interrupts"] + self._values.get(VECTOR, 0)
        return float(self._values.get(event, float("nan")))

    def has(self, event: str) -> bool:
        """Whether the engine counts an event."""
        return not math.isnan(self._values.get(event, math.nan))

    def total(self, *events: str) -> float:
        """The sum of several events. NaN if the engine does not count one of these events."""
        return sum(self[event] for event in events)

    def ratio(self, above: float, below: float) -> float:
        """above / below. NaN if `below` is zero, because there is no ratio then."""
        return above / below if below else float("nan")

    @property
    def references(self) -> float:
        """chen95's denominator for data misses: data reads and writes together."""
        return self.total("data_reads", "data_writes")


class Dividends(Counts):
    """Counts with the dividend in the place of each ratio, such as the busy cycles of the CPI: how
    much a part weighs in the ratio of the whole."""

    def ratio(self, above: float, below: float) -> float:
        """The dividend."""
        return above


def _microseconds(c: Counts, hz: int) -> float:
    if c.has("time.wall"):
        return c["time.wall"] / 1e3
    return c.total("cycles.busy", "cycles.idle") * 1e6 / hz


def at(**places: float | tuple[float, str]) -> Mapping[View, float | tuple[float, str]]:
    """Returns `places` of a declaration. The keywords are the names of views, in small letters."""
    return {View[name.upper()]: place for name, place in places.items()}


# Rows in the order of the report. In these tuples, the name of an event means the row that the
# event declares, which no view singles out.
_CYCLES = (
    EventMetric(
        "cycles.busy",
        Shown(
            head="cycles",
            title="busy cycles",
            short=("cycles",),
            places=at(
                headline=2,
                summary=2,
                curve=2,
                curves_compared=1,
                misses=1,
                sweep=2,
                bars=1,
                key_panels=2,
                overview=2,
                curve_panels=2,
                levels=1,
                parts=1,
            ),
        ),
    ),
    "cycles.idle",
    EventMetric(
        NOMINAL + "cycles.busy",
        Shown(
            head="nominal\ncycles",
            title="nominal busy cycles",
            short=("nominal cycles",),
            places=at(
                headline=3,
                summary=3,
                curve=3,
                curves_compared=2,
                sweep=3,
                bars=2,
                key_panels=3,
                overview=3,
                curve_panels=3,
                parts=2,
            ),
        ),
    ),
    NOMINAL + "cycles.idle",
    Metric(
        "microseconds",
        "us",
        "busy and idle time by the machine's clock, or by the host's clock for a run on the host",
        _microseconds,
        Shown(
            head="us",
            title="time",
            short=("us", "time"),
            places=at(headline=1, summary=1, curve=13, sweep=1, key_panels=1, overview=1),
        ),
    ),
)
_INSTRUCTIONS = (
    Metric(
        "processor time",
        "us",
        "time of the program and its children, as the host reports it",
        lambda c, hz: c["time.cpu"] / 1e3,
    ),
    EventMetric(
        "instructions",
        Shown(
            head="instruc-\ntions",
            places=at(headline=4, summary=4, sweep=5, bars=3, key_panels=4, overview=4, parts=3),
        ),
    ),
    Metric(
        "CPI (busy)",
        "cycles/instruction",
        "busy cycles per instruction",
        lambda c, hz: c.ratio(c["cycles.busy"], c["instructions"]),
        Shown(
            head="CPI",
            title="busy cycles per instruction",
            short=("cpi",),
            places=at(headline=5, summary=5, curve=4, sweep=6, rates=1, parts=4),
        ),
    ),
    Metric(
        "nominal CPI (busy)",
        "nominal cycles/instruction",
        "busy nominal cycles per instruction",
        lambda c, hz: c.ratio(c[NOMINAL + "cycles.busy"], c["instructions"]),
        Shown(
            head="nominal\nCPI",
            title="nominal busy cycles per instruction",
            places=at(headline=6, summary=6, curve=5, sweep=7, rates=2),
        ),
    ),
)
_MEMORY = (
    EventMetric(
        "data_reads", Shown(places=at(curve=(12, "reads"), bars=4, key_panels=5, overview=5))
    ),
    EventMetric("data_writes", Shown(places=at(bars=5, key_panels=6, overview=6))),
    Metric(
        "read misses/reference",
        "misses/access",
        "L1D read misses per data reference (reads and writes)",
        lambda c, hz: c.ratio(c["data_read_misses"], c.references),
        Shown(
            head="read\nmisses/ref",
            title="L1D read misses per data reference",
            places=at(
                headline=9,
                curve=(6, "L1D/ref"),
                curves_compared=4,
                misses=(2, "L1D read\n/ref"),
                sweep=10,
                bars=6,
                miss_bars=1,
                key_panels=7,
                rates=3,
                curve_panels=4,
            ),
        ),
    ),
    Metric(
        "write misses/reference",
        "misses/access",
        "L1D write misses per data reference. A write miss does not fill a line, so each of several"
        " writes to an absent line is a miss",
        lambda c, hz: c.ratio(c["data_write_misses"], c.references),
        Shown(
            head="write\nmisses/ref",
            title="L1D write misses per data reference",
            places=at(
                misses=(3, "L1D write\n/ref"), sweep=11, bars=7, miss_bars=2, key_panels=8, rates=4
            ),
        ),
    ),
    EventMetric(
        "code_misses",
        Shown(
            head="I-cache\nmisses",
            short=("l1i misses",),
            places=at(headline=8, curve=(9, "L1I"), misses=(4, "L1I"), sweep=9),
        ),
    ),
    Metric(
        "I-cache misses/instr",
        "misses/instruction",
        "",
        lambda c, hz: c.ratio(c["code_misses"], c["instructions"]),
        Shown(
            title="I-cache misses per instruction",
            places=at(misses=(5, "L1I\n/instr"), bars=8, miss_bars=3, key_panels=9, rates=5),
        ),
    ),
    EventMetric(
        "itlb_misses",
        Shown(
            head="ITLB\nmisses",
            places=at(misses=(6, "ITLB"), sweep=13, bars=9, miss_bars=4, key_panels=10),
        ),
    ),
    EventMetric(
        "dtlb_misses",
        Shown(
            head="DTLB\nmisses",
            places=at(
                headline=12,
                curve=(8, "DTLB"),
                curves_compared=6,
                misses=(7, "DTLB"),
                sweep=12,
                bars=10,
                miss_bars=5,
                key_panels=11,
                curve_panels=6,
            ),
        ),
    ),
    Metric(
        "L2 misses",
        "misses",
        "reads and writes that miss in the board cache",
        lambda c, hz: c.total("l2_read_misses", "l2_write_misses"),
        Shown(
            head="L2\nmisses",
            places=at(
                headline=7,
                summary=7,
                curve=(7, "L2"),
                curves_compared=5,
                misses=(8, "L2"),
                sweep=8,
                miss_bars=6,
                key_panels=12,
                curve_panels=5,
            ),
        ),
    ),
    EventMetric(
        "segment_loads", Shown(places=at(own_table=(2, "Segment register loads (chen95 table 7)")))
    ),
)
_EVENTS = (
    Metric(
        "disk requests",
        "requests",
        "reads and writes of the modelled disks",
        lambda c, hz: c.total("disk.reads", "disk.writes"),
    ),
    Metric(
        "disk busy",
        "us",
        "time with at least one disk request under way",
        lambda c, hz: c["disk.busy"] * 1e6 / hz,
    ),
    "exceptions",
    Metric(
        "page faults",
        "faults",
        "exceptions that the paging hardware raised",
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
        Shown(
            head="kernel\nshare",
            title="share of busy cycles in ring 0",
            places=at(headline=10, curve=(10, "kernel"), rates=6),
        ),
    ),
)
_PROTECTION = (
    Metric(
        "ring crossings",
        "crossings",
        "ring changes by an instruction: INT, gate, far transfer, IRET",
        lambda c, hz: c.total(*CROSSINGS),
        Shown(
            head="ring\ncrossings",
            places=at(
                headline=11,
                summary=8,
                own_table=(3, "Protection boundary crossings (chen95 section 4.1)"),
            ),
        ),
    ),
    "crossings.async",
    EventMetric("cr3_loads.changed", Shown(places=at(own_table=(4, "Address space switches")))),
    "cr3_loads.unchanged",
    Metric(
        "mode changes",
        "changes",
        "changes to real, V86, 16-bit, 32-bit or 64-bit code",
        lambda c, hz: (
            c.total(*MODE_CHANGES) + (c[LONG_MODE_CHANGES] if c.has(LONG_MODE_CHANGES) else 0)
        ),
    ),
)


def _bandwidth(operation_bytes: int) -> Metric:
    return Metric(
        "MB/s",
        "MB/s",
        "millions of bytes that a workload moves in a second",
        lambda c, hz: (
            c.ratio(operation_bytes, _microseconds(c, hz)) if operation_bytes else math.nan
        ),
        Shown(
            title="bandwidth",
            short=("bandwidth",),
            places=at(curve=1, curves_compared=3, sweep=4, curve_panels=1),
        ),
    )


def _interrupts(clock_vector: int | None) -> tuple[Metric, Metric]:
    def clock(c: Counts) -> float:
        return math.nan if clock_vector is None else c[f"vector.irq.{clock_vector}"]

    def other(c: Counts) -> float:
        return c["hw_interrupts"] - (0 if clock_vector is None else clock(c))

    return (
        Metric(
            "interrupts, clock",
            "interrupts",
            "hardware interrupts of the guest's clock",
            lambda c, hz: clock(c),
            Shown(places=at(curve=(11, "clock"))),
        ),
        Metric(
            "interrupts, other",
            "interrupts",
            "all other hardware interrupts",
            lambda c, hz: other(c),
            Shown(places=at(own_table=(1, "Non-clock interrupts (chen95 tables 4, 5 and 8)"))),
        ),
    )


@functools.cache
def metrics(clock_vector: int | None, operation_bytes: int = 0) -> tuple[Metric, ...]:
    """The rows of the report, in the order of the report.

    clock_vector: interrupt vector of the guest's clock. operation_bytes: bytes that one operation
    moves. If the tuples above do not contain the row of an event, this row comes last.
    """
    order: tuple[str | EventMetric | Metric, ...] = (
        *_CYCLES,
        _bandwidth(operation_bytes),
        *_INSTRUCTIONS,
        *_MEMORY,
        *_interrupts(clock_vector),
        *_EVENTS,
        *_PROTECTION,
    )
    rows = tuple(row if isinstance(row, Metric) else _row_of(row) for row in order)
    placed = {row.name for row in rows}
    others = (_row_of(name) for name, event in events().items() if event.report)
    return rows + tuple(row for row in others if row.name not in placed)


class _Noted(Counts):
    """Counts of an engine that counts each event once, and that remember which events were read."""

    def __init__(self) -> None:
        super().__init__({})
        self.read: set[str] = set()
        self.divided = False

    def __getitem__(self, event: str) -> float:
        self.read.add(event)
        return 1.0

    def ratio(self, above: float, below: float) -> float:
        self.divided = True
        return super().ratio(above, below)


@functools.cache
def reported() -> frozenset[str]:
    """The events that the rows of the report count. Events that have no row and are in no sum are
    details of other events, such as the clocks of one kind of stall."""
    counts = _Noted()
    for metric in metrics(None):
        metric.value(counts, 1)
    return frozenset(counts.read)


@functools.cache
def ratios() -> frozenset[str]:
    """The metrics that divide one number by another. The values of parts do not add up."""
    names = set()
    for metric in metrics(None, 1):
        counts = _Noted()
        metric.value(counts, 1)
        if counts.divided:
            names.add(metric.name)
    return frozenset(names)


def _row_of(row: str | EventMetric) -> Metric:
    """The row that an event declares."""
    name, shown = (row, Shown()) if isinstance(row, str) else (row.name, row.shown)
    event = (declared.nominal() if name.startswith(NOMINAL) else events())[name]
    return Metric(event.report, event.report_unit, event.counts, lambda c, hz: c[name], shown)


@functools.cache
def shown_in(view: View) -> dict[str, str]:
    """The names of the metrics of a view, the most important first, each with its head. Without a
    head of its own, a metric has its name."""
    places = []
    for metric in metrics(0):
        if view in metric.shown.places:
            place = metric.shown.places[view]
            number, head = place if isinstance(place, tuple) else (place, metric.shown.head)
            places.append((number, metric.name, head or metric.name))
    return {name: head for _, name, head in sorted(places)}


def evaluate(
    means: Mapping[str, float],
    operations: int,
    clock_hz: int,
    clock_vector: int | None,
    operation_bytes: int = 0,
    wanted: Container[str] | None = None,
) -> dict[str, float]:
    """All metrics of one operation by name, or only the metrics in `wanted`.

    means: mean counts of one bracket. operations: the number of operations in a bracket.
    operation_bytes: the bytes that each operation moves, or 0 if it moves none. StatsError if
    `operations` is less than 1.
    """
    if operations < 1:
        raise StatsError(f"operations: expected at least 1, found {operations}")
    per_operation = Counts({event: value / operations for event, value in means.items()})
    return {
        metric.name: metric.value(per_operation, clock_hz)
        for metric in metrics(clock_vector, operation_bytes)
        if wanted is None or metric.name in wanted
    }
