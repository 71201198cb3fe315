# SPDX-License-Identifier: MIT
"""Metrics: the rows of a report about one operation, in the order of the report."""

import functools
import math
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

from p5stats import declared
from p5stats.declared import NOMINAL, events
from p5stats.problems import StatsError
from p5stats.tidy import VECTOR

KERNEL = "cycles.busy.ring0"  # added by p5stats.compare.counts: busy cycles in ring 0
PAGE_FAULT = "vector.fault.14"
CROSSINGS = ("crossings.int", "crossings.gate", "crossings.far", "crossings.iret")
MODE_CHANGES = ("mode_changes.real", "mode_changes.v86", "mode_changes.16bit", "mode_changes.32bit")
LONG_MODE_CHANGES = "mode_changes.64bit"  # only of engines with 64-bit code


@dataclass(frozen=True)
class Metric:
    """A derived number. `value` computes the number from the mean counts of one operation, and from
    the clock in Hz."""

    name: str
    unit: str
    doc: str
    value: Callable[["Counts", int], float]


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


def _microseconds(c: Counts, hz: int) -> float:
    if c.has("time.wall"):
        return c["time.wall"] / 1e3
    return c.total("cycles.busy", "cycles.idle") * 1e6 / hz


# Rows in the order of the report. In these tuples, the name of an event means the row that the
# event declares.
_CYCLES = (
    "cycles.busy",
    "cycles.idle",
    NOMINAL + "cycles.busy",
    NOMINAL + "cycles.idle",
    Metric(
        "microseconds",
        "us",
        "busy and idle time by the machine's clock, or by the host's clock for a run on the host",
        _microseconds,
    ),
)
_INSTRUCTIONS = (
    Metric(
        "processor time",
        "us",
        "time of the program and its children, as the host reports it",
        lambda c, hz: c["time.cpu"] / 1e3,
    ),
    "instructions",
    Metric(
        "CPI (busy)",
        "cycles/instruction",
        "busy cycles per instruction",
        lambda c, hz: c.ratio(c["cycles.busy"], c["instructions"]),
    ),
    Metric(
        "nominal CPI (busy)",
        "nominal cycles/instruction",
        "busy nominal cycles per instruction",
        lambda c, hz: c.ratio(c[NOMINAL + "cycles.busy"], c["instructions"]),
    ),
)
_MEMORY = (
    "data_reads",
    "data_writes",
    Metric(
        "read misses/reference",
        "misses/access",
        "L1D read misses per data reference (reads and writes)",
        lambda c, hz: c.ratio(c["data_read_misses"], c.references),
    ),
    Metric(
        "write misses/reference",
        "misses/access",
        "L1D write misses per data reference. A write miss does not fill a line, so each of several"
        " writes to an absent line is a miss",
        lambda c, hz: c.ratio(c["data_write_misses"], c.references),
    ),
    "code_misses",
    Metric(
        "I-cache misses/instr",
        "misses/instruction",
        "",
        lambda c, hz: c.ratio(c["code_misses"], c["instructions"]),
    ),
    "itlb_misses",
    "dtlb_misses",
    Metric(
        "L2 misses",
        "misses",
        "reads and writes that miss in the board cache",
        lambda c, hz: c.total("l2_read_misses", "l2_write_misses"),
    ),
    "segment_loads",
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
    ),
)
_PROTECTION = (
    Metric(
        "ring crossings",
        "crossings",
        "ring changes by an instruction: INT, gate, far transfer, IRET",
        lambda c, hz: c.total(*CROSSINGS),
    ),
    "crossings.async",
    "cr3_loads.changed",
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
        ),
        Metric(
            "interrupts, other",
            "interrupts",
            "all other hardware interrupts",
            lambda c, hz: other(c),
        ),
    )


@functools.cache
def metrics(clock_vector: int | None, operation_bytes: int = 0) -> tuple[Metric, ...]:
    """The rows of the report, in the order of the report.

    clock_vector: interrupt vector of the guest's clock. operation_bytes: bytes that one operation
    moves. If the tuples above do not contain the row of an event, this row comes last.
    """
    order: tuple[str | Metric, ...] = (
        *_CYCLES,
        _bandwidth(operation_bytes),
        *_INSTRUCTIONS,
        *_MEMORY,
        *_interrupts(clock_vector),
        *_EVENTS,
        *_PROTECTION,
    )
    rows = tuple(_row_of(one) if isinstance(one, str) else one for one in order)
    placed = {row.name for row in rows}
    others = (_row_of(name) for name, event in events().items() if event.report)
    return rows + tuple(row for row in others if row.name not in placed)


class _Noted(Counts):
    """Counts of an engine that counts each event once, and that remember which events were read."""

    def __init__(self) -> None:
        super().__init__({})
        self.read: set[str] = set()

    def __getitem__(self, event: str) -> float:
        self.read.add(event)
        return 1.0


@functools.cache
def reported() -> frozenset[str]:
    """The events that the rows of the report count. Events that have no row and are in no sum are
    details of other events, such as the clocks of one kind of stall."""
    counts = _Noted()
    for metric in metrics(None):
        metric.value(counts, 1)
    return frozenset(counts.read)


def _row_of(name: str) -> Metric:
    """The row that an event declares."""
    event = (declared.nominal() if name.startswith(NOMINAL) else events())[name]
    return Metric(event.report, event.report_unit, event.counts, lambda c, hz: c[name])


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
