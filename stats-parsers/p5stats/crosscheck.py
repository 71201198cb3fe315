# SPDX-License-Identifier: MIT
"""The same brackets as two engines counted them: which of their events agree.

What a program and its kernel ask of the machine is the same under every correct engine. Interrupts
are not: they come by time, of which each engine has its own idea. So of each phase only the
brackets with the fewest interrupts count, and of these the median. The empty bracket is subtracted
as in the reports.
"""

import math
from dataclasses import dataclass

import pandas as pd

from p5stats import compare, tidy

ARCHITECTURAL, L1, MODELLED = "architectural", "L1", "modelled"
# What counts may differ by, of the larger one. Modelled: what the engines model differently.
ALLOWED = {ARCHITECTURAL: 0.01, L1: 0.05, MODELLED: math.nan}
AGREES, DIFFERS, UNBOUND, ABSENT = "agrees", "differs", "no bound", "absent"
INTERRUPTS = "hw_interrupts"
INTERRUPT_COUNT = INTERRUPTS.replace("_", " ")  # as a quantity
ASKED = ["workload", "parameters", "phase"]
COLUMNS = [*ASKED, "quantity", "kind", "first", "second", "difference", "allowed", "verdict"]


@dataclass(frozen=True)
class Quantity:
    """A sum of events that is compared; `kind` says how far it may differ."""

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
    *_of(MODELLED, "branches", "locked_cycles", INTERRUPTS),
)


def typical(frame: pd.DataFrame) -> pd.DataFrame:
    """Of one engine's runs each phase's bracket with the fewest interrupts, the median of all that
    have as few. Index: ASKED; columns: the names of QUANTITIES and `brackets`, how many there are.
    What the engine does not count is NaN."""
    counts = compare.without_empty(compare.counts(frame))
    rows = {}
    for asked, brackets in counts.groupby(level=ASKED, sort=False):
        quiet = brackets
        if INTERRUPTS in brackets and brackets[INTERRUPTS].notna().all():
            quiet = brackets[brackets[INTERRUPTS] == brackets[INTERRUPTS].min()]
        median = quiet.median()
        rows[asked] = {
            quantity.name: sum(float(median.get(event, math.nan)) for event in quantity.events)
            for quantity in QUANTITIES
        } | {"brackets": len(quiet)}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(index=ASKED)


def differences(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """A row for each phase that both tables have and each quantity: both counts of a bracket, the
    difference of the second in parts of the larger one, and the verdict."""
    one, other = typical(first), typical(second)
    rows = []
    for asked in one.index:
        if asked not in other.index:
            continue
        for quantity in QUANTITIES:
            pair = one.at[asked, quantity.name], other.at[asked, quantity.name]
            rows.append((*asked, quantity.name, quantity.kind, *pair, *judge(quantity.kind, *pair)))
    return pd.DataFrame(rows, columns=COLUMNS)


def without_interrupts(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Two tables of `differences`, of the same programs with more and with fewer interrupts: what
    is left of each count at none, on the line through the two. An engine that had as many both
    times takes what the other pays for one: it is the same code. A phase that had none stays as it
    is in `one`; where interrupts are not counted, there is nothing to go by. The difference is in
    parts of the larger count before, because what was taken away is no more exact."""
    key = [*ASKED, "quantity"]
    both = one.merge(other, on=key, suffixes=("", " again"))
    interrupts = both[both["quantity"] == INTERRUPT_COUNT].set_index(ASKED)
    rows = []
    for row in both.to_dict("records"):
        asked = tuple(row[name] for name in ASKED)
        if asked not in interrupts.index:
            continue
        of = interrupts.loc[asked]
        costs = {
            engine: _slope(row[engine], row[f"{engine} again"], of[engine], of[f"{engine} again"])
            for engine in ("first", "second")
        }
        known = [cost for cost in costs.values() if not math.isnan(cost)]
        left = {}
        for engine, cost in costs.items():
            own = known[0] if math.isnan(cost) and known else cost
            left[engine] = row[engine] - (own * of[engine] if of[engine] else 0)
        largest = max(abs(row["first"]), abs(row["second"]))
        _, allowed, verdict = judge(row["kind"], *left.values())
        difference = (left["second"] - left["first"]) / largest if largest else 0.0
        if verdict not in (ABSENT, UNBOUND):
            verdict = AGREES if abs(difference) <= allowed else DIFFERS
        rows.append((*asked, row["quantity"], row["kind"], *left.values(), difference, allowed,
                     verdict))  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def _slope(one: float, other: float, at_one: float, at_other: float) -> float:
    return (one - other) / (at_one - at_other) if at_one != at_other else math.nan


def judge(kind: str, first: float, second: float) -> tuple[float, float, str]:
    """The relative difference, what is allowed, and the verdict. A correction by the empty bracket
    can leave a count of zero slightly negative."""
    allowed = ALLOWED[kind]
    if math.isnan(first) or math.isnan(second):
        return math.nan, allowed, ABSENT
    largest = max(abs(first), abs(second))
    difference = (second - first) / largest if largest else 0.0
    if math.isnan(allowed):
        return difference, allowed, UNBOUND
    return difference, allowed, AGREES if abs(difference) <= allowed else DIFFERS


def table(runs: list[pd.DataFrame]) -> pd.DataFrame:
    """The tidy tables of several runs as one."""
    return pd.concat(runs, ignore_index=True) if runs else pd.DataFrame(columns=tidy.COLUMNS)
