# SPDX-License-Identifier: MIT
"""Compares the counts of two engines for the same brackets.

A program and its kernel make the same accesses on every correct engine. Interrupts differ, because
they depend on time, and each engine models time in its own way. The comparison therefore selects
those brackets of a phase that have the fewest interrupts, and uses the median of their counts. The
counts of the empty bracket are subtracted, as in the reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from p5stats import compare
from p5stats.lazy import pd

ARCHITECTURAL, L1, MODELLED = "architectural", "L1", "modelled"
# The allowed difference, relative to the larger count. MODELLED counts have no limit, because the
# engines model them in different ways.
ALLOWED = {ARCHITECTURAL: 0.01, L1: 0.05, MODELLED: math.nan}
AGREES, DIFFERS, UNBOUND, ABSENT = "agrees", "differs", "no bound", "absent"
INTERRUPTS, EMPTY = "hw_interrupts", "empty"
ASKED = ["workload", "parameters", "phase"]
ENGINES = ("first", "second")
COLUMNS = [*ASKED, "quantity", "kind", "first", "second", "difference", "allowed", "verdict"]
EVENTS = [*ASKED, "event", "first", "second", "interrupts"]


@dataclass(frozen=True)
class Quantity:
    """A sum of events to compare. `kind` determines the allowed difference (ALLOWED)."""

    name: str
    kind: str
    events: tuple[str, ...]


def _of(kind: str, *names: str) -> list[Quantity]:
    return [Quantity(name.replace("_", " "), kind, (name,)) for name in names]


QUANTITIES = (
    *_of(ARCHITECTURAL, "instructions", "data_reads", "data_writes", "segment_loads"),
    Quantity("ring crossings", ARCHITECTURAL, compare.CROSSINGS),
    Quantity("asynchronous crossings", ARCHITECTURAL, ("crossings.async",)),
    *_of(ARCHITECTURAL, "exceptions", "soft_interrupts"),
    Quantity("CR3 loads", ARCHITECTURAL, ("cr3_loads.changed", "cr3_loads.unchanged")),
    *_of(ARCHITECTURAL, "io_reads", "io_writes"),
    Quantity("L1D read misses", L1, ("data_read_misses",)),
    Quantity("L1D write misses", L1, ("data_write_misses",)),
    Quantity("L1I misses", L1, ("code_misses",)),
    Quantity("ITLB misses", MODELLED, ("itlb_misses",)),
    Quantity("DTLB misses", MODELLED, ("dtlb_misses",)),
    Quantity("page-table reads", MODELLED, ("walk_reads",)),
    Quantity("L1D write-backs", MODELLED, ("l1d_writebacks",)),
    Quantity("L2 reads", MODELLED, ("l2_reads",)),
    Quantity("L2 read misses", MODELLED, ("l2_read_misses",)),
    Quantity("L2 writes", MODELLED, ("l2_writes",)),
    Quantity("nominal cycles", MODELLED, ("nominal.cycles.busy",)),
    *_of(MODELLED, "branches", "locked_cycles", INTERRUPTS),
)


def _typical(counts: pd.DataFrame) -> pd.DataFrame:
    """The medians of a table of `compare.counts` over those brackets of a phase that have the
    fewest interrupts; over all, if the engine does not count interrupts. Index: ASKED."""

    def median(brackets: pd.DataFrame) -> pd.Series:
        if INTERRUPTS not in brackets or brackets[INTERRUPTS].isna().any():
            return brackets.median()
        return brackets[brackets[INTERRUPTS] == brackets[INTERRUPTS].min()].median()

    return counts.groupby(level=ASKED, sort=False).apply(median)


def _pairs(
    first: pd.DataFrame, second: pd.DataFrame
) -> Iterator[tuple[tuple[str, ...], str, float, float]]:
    """Yields each phase and column that both tables have, with the two values."""
    for asked in first.index.intersection(second.index, sort=False):
        for name in first.columns.intersection(second.columns, sort=False):
            yield asked, name, float(first.at[asked, name]), float(second.at[asked, name])


def every_event(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """A row for each event that both engines count, in each phase but the empty one.

    Columns: EVENTS. `first` and `second` are the medians over the brackets with the fewest
    interrupts, of all rings. `interrupts`: the larger number of them in such a bracket. Interrupts
    by vector are left out.
    """
    typical = (_typical(compare.counts(table)) for table in (first, second))
    pairs = pd.DataFrame(
        [(*asked, *pair) for asked, *pair in _pairs(*typical) if asked[-1] != EMPTY],
        columns=EVENTS[:-1],
    ).dropna()
    is_detail = pairs["event"].eq(compare.KERNEL) | pairs["event"].str.startswith(compare.VECTOR)
    disturbed = pairs[pairs["event"] == INTERRUPTS].set_index(ASKED)[list(ENGINES)].max(axis=1)
    return pairs[~is_detail].join(disturbed.rename("interrupts"), on=ASKED).reset_index(drop=True)


def differences(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """A row for each quantity of each phase. Phases that are missing in one table are omitted.

    Columns: COLUMNS. `difference` is (second - first) / the larger count. If an engine does not
    count a quantity, its value is NaN.
    """
    sums = []
    for table in (first, second):
        events = _typical(compare.without_empty(compare.counts(table)))
        parts = {
            quantity.name: events.reindex(columns=list(quantity.events)) for quantity in QUANTITIES
        }
        sums.append(pd.DataFrame({k: part.sum(axis=1, skipna=False) for k, part in parts.items()}))
    kinds = {quantity.name: quantity.kind for quantity in QUANTITIES}
    rows = [
        (*asked, name, kinds[name], *pair, *judge(kinds[name], *pair))
        for asked, name, *pair in _pairs(*sums)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def against(unchanged: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """The rows of `other`, with differences relative to the larger count of both tables.

    `unchanged` is the table of the unchanged machine, and `other` the table of an experiment, both
    from `differences`. An experiment can make a count small on both engines. The question is then
    how much of the original difference is left. `other` has one more column: `share` is the share
    of the operations of a bracket that the experiment makes. The counts of `unchanged` are
    multiplied by it.
    """
    sizes = unchanged.set_index([*ASKED, "quantity"])[list(ENGINES)].abs().max(axis=1)
    rows = other.copy()
    for index, row in rows.iterrows():
        before = row["share"] * sizes.get(tuple(row[name] for name in (*ASKED, "quantity")), 0.0)
        pair = row["first"], row["second"]
        judged = judge(row["kind"], *pair, max(before, *map(abs, pair)))
        rows.at[index, "difference"], _, rows.at[index, "verdict"] = judged
    return rows


def judge(
    kind: str, first: float, second: float, largest: float | None = None
) -> tuple[float, float, str]:
    """The relative difference of two counts, the allowed difference, and the verdict.

    The difference is relative to `largest`, or to the larger of the two counts. Counts may be
    slightly negative after the correction by the empty bracket.
    """
    allowed = ALLOWED[kind]
    if math.isnan(first) or math.isnan(second):
        return math.nan, allowed, ABSENT
    if largest is None:
        largest = max(abs(first), abs(second))
    difference = (second - first) / largest if largest else 0.0
    if math.isnan(allowed):
        return difference, allowed, UNBOUND
    return difference, allowed, AGREES if abs(difference) <= allowed else DIFFERS
