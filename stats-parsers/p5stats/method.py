# SPDX-License-Identifier: MIT
"""Compares the method of chen95 with the counts of the engine, for runs of the workload `counted`.

The method of the paper takes the mean of the counter readings around an operation, and subtracts
the mean of the readings around an empty operation (Null). In the same executions, the engine counts
the bracket. The bracket lies between the calls of start and stop, and contains only the operation.
The counters count the operation and also the access. The access is the code from the instruction
that starts the counters to the instruction that freezes the counters, without the operation. R is
the mean reading. B is the mean of the engine's brackets in the same iterations. A = R - B is the
access. The correction with Null leaves this error:

    method - engine = (R - R of Null) - (B - B of Null) = A - A of Null

This error is the sum of four parts:

    miscounts   errors of the counters (the reference is the same run without miscounts)
    first       the part of the first iteration of a pass, which runs with cold caches
    interrupts  the part of iterations with an interrupt during the access
    access      the part of all other iterations: the cost of start and stop around an operation
                differs from their cost around an empty operation

A run of the same operation without calls of the device shows how the device disturbs the operation.
The calls replace data in the caches, the TLBs and the branch target buffer.
"""

from __future__ import annotations

from dataclasses import dataclass

from p5stats import compare
from p5stats.lazy import np, pd
from p5stats.problems import StatsError

# The events of chen95's table 2. Each pass counts two events (workloads/micro/counted.c).
PASSES = (
    ("data_reads", "data_writes"),
    ("dtlb_misses", "data_read_misses"),
    ("data_write_misses", "itlb_misses"),
    ("code_misses", "segment_loads"),
    ("instructions", "hw_interrupts"),
)
CYCLES = "cycles"
EVENTS = (CYCLES, *(event for events in PASSES for event in events))
OPERATION, WITH_COUNTERS = "operation", "with the counters"  # phases


@dataclass(frozen=True)
class MethodRow:
    """The mean values of one event for one operation. `left` = miscounts + first + interrupts +
    access."""

    event: str
    reading: float  # of the counter
    null: float  # of the counter for Null
    engine: float  # the bracket of the same executions, minus the bracket of Null
    miscounts: float
    first: float
    interrupts: float
    access: float
    undisturbed: float  # like `engine`, from runs that do not use the counters

    @property
    def method(self) -> float:
        """The number that chen95 would print."""
        return self.reading - self.null

    @property
    def left(self) -> float:
        """The error of the method: method - engine."""
        return self.method - self.engine

    @property
    def disturbance(self) -> float:
        """The difference between the operation's counts with and without calls of the device."""
        return self.engine - self.undisturbed


@dataclass(frozen=True)
class CounterRun:
    """A run with counters: one row for each iteration of all passes.

    readings: the numbers that the guest printed. A reading is NaN for an event of another pass.
    operation, with_counters: the counts of the engine in these two phases.
    """

    readings: pd.DataFrame
    operation: pd.DataFrame
    with_counters: pd.DataFrame
    per_pass: int

    @property
    def first(self) -> pd.Series:
        """Whether an iteration is the first of its pass."""
        return pd.Series(self.readings.index % self.per_pass == 0, self.readings.index)

    @property
    def interrupted(self) -> pd.Series:
        """Whether an iteration has an interrupt outside the operation."""
        return self.with_counters["hw_interrupts"] > self.operation["hw_interrupts"]

    def access(self, event: str) -> pd.Series:
        """The counter reading minus the engine's count of the operation, by iteration."""
        return (self.readings[event] - self.operation[event]).dropna()


def measured(output: str, table: pd.DataFrame) -> CounterRun:
    """Returns the data of a run, from the output of the program and from the tidy table. StatsError
    if the output does not match the table."""
    readings, per_pass = _readings(output)
    counts = compare.without_empty(compare.counts(table))
    operation, around = (_of_phase(counts, phase) for phase in (OPERATION, WITH_COUNTERS))
    if not len(readings) == len(operation) == len(around):
        raise StatsError(
            f"counted: {len(readings)} lines of output for {len(operation)} and {len(around)}"
            " brackets"
        )
    return CounterRun(readings, operation, around, per_pass)


def engine_counts(table: pd.DataFrame) -> pd.DataFrame:
    """The engine's counts in each bracket of the operation of one run. Columns: EVENTS."""
    return _of_phase(compare.without_empty(compare.counts(table)), OPERATION)


def _of_phase(counts: pd.DataFrame, phase: str) -> pd.DataFrame:
    counts = counts.xs(phase, level="phase")
    counts = counts.assign(**{CYCLES: counts["cycles.busy"] + counts["cycles.idle"]})
    return counts[list(EVENTS)].sort_index(level="iteration").reset_index(drop=True)


def rows(
    operation: CounterRun,
    null: CounterRun,
    undisturbed: pd.DataFrame,
    undisturbed_null: pd.DataFrame,
    exact: CounterRun | None = None,
    exact_null: CounterRun | None = None,
) -> list[MethodRow]:
    """A row for each event.

    undisturbed, undisturbed_null: `engine_counts` of runs that do not use the counters. exact,
    exact_null: repetitions of the runs `operation` and `null`, with counters that do not miscount.
    If these two runs are not given, `miscounts` is zero, and the miscounts are part of `access`.
    """
    result = []
    for event in EVENTS:
        split = _parts(operation, event, exact) - _parts(null, event, exact_null)
        miscounts, first, interrupts, access = split.tolist()
        result.append(
            MethodRow(
                event,
                operation.readings[event].mean(),
                null.readings[event].mean(),
                _bracket(operation, event) - _bracket(null, event),
                miscounts,
                first,
                interrupts,
                access,
                undisturbed[event].mean() - undisturbed_null[event].mean(),
            )
        )
    return result


def _bracket(run: CounterRun, event: str) -> float:
    """The engine's mean count. The mean includes only those iterations in which the guest reads a
    counter of this event."""
    return float(run.operation[event][run.readings[event].notna()].mean())


def _parts(run: CounterRun, event: str, exact: CounterRun | None) -> np.ndarray:
    """The four parts of the mean access: miscounts, first, interrupts, access."""
    access = run.access(event)
    miscounts = 0.0
    if exact is not None:
        right = exact.access(event)
        miscounts, access = float((access - right).mean()), right
    first, interrupted = (flags[access.index] for flags in (run.first, run.interrupted))
    quiet = access[~first & ~interrupted]
    if quiet.empty:
        raise StatsError(f"counted: {event}: expected a later iteration without an interrupt")
    excess = (access - quiet.mean()) / len(access)
    parts = excess[first & ~interrupted].sum(), excess[interrupted].sum(), quiet.mean()
    return np.array([miscounts, *parts])


def _readings(output: str) -> tuple[pd.DataFrame, int]:
    """Parses the program's lines: pass, iteration, two counters, cycles."""
    readings, per_pass = [], 0
    for number, line in enumerate(output.splitlines(), 1):
        try:
            index, iteration, *values = map(int, line.split())
            pair = PASSES[index]
            first, second, cycles = values
        except (ValueError, IndexError):
            raise StatsError(
                f"counted: line {number} of its output: expected pass, iteration, two counters and"
                f" cycles; found {line[:60]!r}"
            ) from None
        per_pass = max(per_pass, iteration + 1)
        readings.append({CYCLES: cycles, pair[0]: first, pair[1]: second})
    if not readings or len(readings) != len(PASSES) * per_pass:
        raise StatsError(f"counted: {len(readings)} lines of output are not {len(PASSES)} passes")
    return pd.DataFrame(readings, columns=list(EVENTS)), per_pass
