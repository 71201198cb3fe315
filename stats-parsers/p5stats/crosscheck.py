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
ENGINES = ("first", "second")
SAVED = 0.25  # of its interrupts; from fewer a phase cannot tell what one costs
_PAIRS = [*ENGINES, *(f"{engine} again" for engine in ENGINES)]
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
    is left of each count without them, on the line through the two. Where hardly any interrupt was
    saved, one costs what it does in the other phases of the workload, failing that on the other
    engine: it is the same code. A phase that had none stays as it is in `one`; where interrupts are
    not counted, there is nothing to go by. The difference is in parts of the larger count before,
    because what was taken away is no more exact."""
    both = one.merge(other, on=[*ASKED, "quantity"], suffixes=("", " again"))
    interrupts = both[both["quantity"] == INTERRUPT_COUNT]
    both = both.merge(interrupts[[*ASKED, *_PAIRS]], on=ASKED, suffixes=("", " interrupts"))
    rows = []
    for _, group in both.groupby(["workload", "parameters", "quantity"], sort=False):
        costs = pd.DataFrame({engine: _costs(group, engine) for engine in ENGINES})
        costs["first"] = costs["first"].fillna(costs["second"])
        costs["second"] = costs["second"].fillna(costs["first"])
        for index, row in group.iterrows():
            left = []
            for engine in ENGINES:
                taken = row[f"{engine} interrupts"]
                left.append(row[engine] - (costs.at[index, engine] * taken if taken else 0))
            largest = max(abs(row["first"]), abs(row["second"]))
            _, allowed, verdict = judge(row["kind"], *left)
            difference = (left[1] - left[0]) / largest if largest else 0.0
            if verdict not in (ABSENT, UNBOUND):
                verdict = AGREES if abs(difference) <= allowed else DIFFERS
            rows.append(
                (
                    *(row[name] for name in ASKED),
                    row["quantity"],
                    row["kind"],
                    *left,
                    difference,
                    allowed,
                    verdict,
                )
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _costs(phases: pd.DataFrame, engine: str) -> pd.Series:
    """What an interrupt costs in each phase; NaN where nothing says so."""
    interrupts = phases[f"{engine} interrupts"]
    saved = interrupts - phases[f"{engine} again interrupts"]
    saved = saved.where(saved >= SAVED * interrupts).where(saved > 0)
    difference = phases[engine] - phases[f"{engine} again"]
    total = saved.sum()
    pooled = difference[saved.notna()].sum() / total if total else math.nan
    return (difference / saved).fillna(pooled)


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
