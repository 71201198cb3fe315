# SPDX-License-Identifier: MIT
"""Comparisons as the papers make them: tidy tables in, tidy tables out.

    table, terms = papers.load(Path("results/chen95-core"))
    each = papers.measured(table, terms)          # one row for each run, phase and metric
    papers.against(papers.spread(each), guest="linux")

Nothing here needs p5lab, only the directories it leaves. docs/start/analysis.md has examples.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from p5stats import compare, record, tidy
from p5stats.compare import KEYS
from p5stats.problems import StatsError

# What a measurement was made with, apart from what is measured: the systems that are compared.
SYSTEM = ["engine", "machine", "geometry", "feedback", "guest"]
# ousterhout90 scales to a Microvax II, which its table 1 rates at 0.9 MIPS (VAX-11/780: about 1).
MVAX2_MIPS = 0.9
# Microseconds of an operation on it under Ultrix (tables 2 and 3).
MVAX2 = {"getpid": 207.0, "cswitch": 3660.0}


@dataclass(frozen=True)
class Base:
    """What ousterhout90 measured on the Microvax II under Ultrix, on a local disk: microseconds, or
    MB/s where it moves data. phase: of our workload; table: of the paper."""

    workload: str
    phase: str
    value: float
    table: int
    bandwidth: bool = False


MVAX2_BASES = (
    Base("getpid", "call", 207, 2),
    Base("cswitch", "round trip", 3660, 3),
    Base("select", "10 full", 1820, 4),
    Base("file-read", "blocks", 2.3, 6, bandwidth=True),
    Base("open-close", "foo", 2900, 9),
    Base("create-delete", "no data", 100_000, 10),
)
# An estimate like those: Intel rated the Pentium of 66 MHz at 112 MIPS; others by their clock.
PENTIUM_MIPS_PER_HZ = 112 / 66e6
MICROSECONDS = "microseconds"
Number = TypeVar("Number", float, pd.Series)


@dataclass(frozen=True)
class Terms:
    """What the counts of a run are divided by and converted with: operations in a bracket, clock in
    Hz, interrupt vector of the guest's clock (None: it has none), bytes that an operation moves (0:
    it moves none)."""

    operations: int
    clock_hz: int
    clock_vector: int | None = None
    operation_bytes: int = 0


def load(directory: Path, *, all_runs: bool = False) -> tuple[pd.DataFrame, dict[str, Terms]]:
    """`tidy.load`, and for each run its terms, from the record run.json beside its table.

    StatsError: there is no table, or a record does not have what is needed.
    """
    table, clocks = tidy.load(directory, all_runs=all_runs)
    records = {path.parent.name: path for path in directory.glob("**/run.json")}
    return table, {run: _terms(run, records.get(run), clock) for run, clock in clocks.items()}


def _terms(run: str, path: Path | None, clock_hz: int) -> Terms:
    if path is None:
        raise StatsError(f"run {run}: no run.json beside its table")
    found = record.read(path)
    try:
        workload, vector = found["workload"], found["guest"]["clock_vector"]
        operations, moved = workload["operations"], workload.get("bytes", 0)
    except (KeyError, TypeError, AttributeError):
        raise StatsError(f"{path}: not the record of a run") from None
    numbers = (operations, moved, 0 if vector is None else vector)
    if any(type(number) is not int or number < 0 for number in numbers):
        raise StatsError(f"{path}: operations, bytes, clock_vector: expected zero or more")
    return Terms(operations, clock_hz, vector, moved)


def measured(
    table: pd.DataFrame, terms: Mapping[str, Terms], *, empty: str = "empty"
) -> pd.DataFrame:
    """Every metric of `compare.metrics`, of one operation, less the empty bracket.

    Columns: KEYS, iterations, metric, unit, value: one row for each run, phase, geometry and
    metric. `value` is of the mean counts over the iterations (a ratio is that of the means); NaN
    where the engine does not count it or there is nothing to divide by.
    """
    counts = compare.without_empty(compare.counts(table), empty)
    rows: list[dict[str, object]] = []
    for keys, brackets in counts.groupby(level=KEYS, sort=False):
        where = dict(zip(KEYS, keys, strict=True))
        if where["run"] not in terms:
            raise StatsError(f"run {where['run']}: no terms for it")
        of = terms[str(where["run"])]
        values = compare.evaluate(
            brackets.mean().to_dict(),
            of.operations,
            of.clock_hz,
            of.clock_vector,
            of.operation_bytes,
        )
        rows += [
            {
                **where,
                "iterations": len(brackets),
                "metric": metric.name,
                "unit": metric.unit,
                "value": values[metric.name],
            }
            for metric in compare.metrics(of.clock_vector, of.operation_bytes)
        ]
    return pd.DataFrame(rows)


def null_corrected(values: pd.DataFrame, null: pd.DataFrame) -> pd.DataFrame:
    """chen95's Null correction: each bracket of `values` less the mean bracket of Null in the same
    SYSTEM and with the same seed.

    Both are as `compare.counts` gives them, and both brackets hold a start and a stop of the
    counter device: Null's nothing else, the others an operation between them. A count between two
    markers without the device needs no such correction (`compare.without_empty`). The paper does
    not print its formula; means are the obvious reading. A result can be negative and is kept.
    """
    same = [*SYSTEM, "seed"]
    costs = {keys: rows.mean() for keys, rows in null.groupby(level=same)}
    parts = []
    for keys, rows in values.groupby(level=same, sort=False):
        if keys not in costs:
            named = ", ".join(f"{k} {v}" for k, v in zip(same, keys, strict=True) if v != "")
            raise StatsError(f"no Null of {named}")
        parts.append(compare.correct(rows, costs[keys]))
    return pd.concat(parts)


# chen95's denominators. It gives the data side's (references are reads and writes together); for
# code it says "per reference" only, and instructions are the obvious reading.
_DATA, _CODE = ("data_reads", "data_writes"), ("instructions",)
_MISSES = {
    "read misses/reference": ("data_read_misses", _DATA),
    "write misses/reference": ("data_write_misses", _DATA),
    "DTLB misses/reference": ("dtlb_misses", _DATA),
    "I-cache misses/instruction": ("code_misses", _CODE),
    "ITLB misses/instruction": ("itlb_misses", _CODE),
}


def misses_per_reference(values: pd.DataFrame) -> pd.DataFrame:
    """The miss ratios of chen95's figures, from counts as `compare.counts` gives them.

    Columns: KEYS, metric, value, misses, references: one row for each run, phase and ratio. `value`
    is all misses by all references of a phase, so that a long iteration weighs more. A write miss
    fills no line: a run of writes to one absent line misses each time, and neither the sum of the
    two data ratios nor a product with a miss's cost says how long anything waited.
    """
    totals = values.groupby(level=KEYS, sort=False).sum(min_count=1)
    parts = []
    for metric, (above, below) in _MISSES.items():
        misses = totals.get(above, pd.Series(math.nan, totals.index))
        references = totals.reindex(columns=list(below)).sum(axis="columns", skipna=False)
        ratio = misses / references.replace(0, math.nan)
        parts.append(
            pd.DataFrame(
                {"metric": metric, "value": ratio, "misses": misses, "references": references}
            ).reset_index()
        )
    return pd.concat(parts, ignore_index=True)


def spread(each: pd.DataFrame) -> pd.DataFrame:
    """What the placement seeds make of a number.

    each: rows with `seed` and `value`, such as those of `measured`. Columns: those that identify a
    row but `run` and `seed`, then `seeds` (how many), `value` (their mean), `deviation` (standard,
    of the sample; NaN for one seed), `lowest`, `highest`, `width` (highest less lowest, by the
    mean). A seed that is there twice for one number is an error: say first which run is meant.
    """
    same = [
        name for name in [*KEYS, "metric", "unit"] if name in each and name not in ("run", "seed")
    ]
    twice = each[each.duplicated([*same, "seed"])]
    if len(twice):
        raise StatsError(f"seed {twice['seed'].iloc[0]} is there twice for one number")
    found = each.groupby(same, sort=False)["value"].agg(
        seeds="count", value="mean", deviation="std", lowest="min", highest="max"
    )
    found["width"] = (found["highest"] - found["lowest"]) / found["value"].abs()
    return found.reset_index()


def against(numbers: pd.DataFrame, **reference: object) -> pd.DataFrame:
    """Each number beside that of a reference: `against(table, guest="linux")`.

    numbers: rows of `measured`, `misses_per_reference` or `spread`. reference: columns and the
    value that the reference has there; all other columns of KEYS but `run`, and `metric`, must
    agree. Adds `reference` and `ratio` (`value` by it); NaN where there is no reference, or it is
    zero.
    """
    unknown = [name for name in reference if name not in numbers]
    if unknown or not reference:
        raise StatsError(f"against: expected columns of the table, found {unknown}")
    same = [
        name
        for name in [*KEYS, "metric"]
        if name in numbers and name != "run" and name not in reference
    ]
    chosen = numbers[(numbers[list(reference)] == pd.Series(reference)).all(axis="columns")]
    if chosen.duplicated(same).any():
        raise StatsError(f"against: more than one row is the reference {reference}")
    found = numbers.merge(
        chosen[[*same, "value"]].rename(columns={"value": "reference"}), on=same, how="left"
    )
    found["ratio"] = found["value"] / found["reference"].replace(0, math.nan)
    return found


def mips_relative(
    value: Number, mips: Number | float, base: Number | float, *, bandwidth: bool = False
) -> Number:
    """ousterhout90's MIPS-relative speed: how fast something is for the speed of its processor; 1
    is a Microvax II.

    value, base: a time here and on the Microvax II in one unit; with `bandwidth` two bandwidths.
    mips: the machine's rating on the paper's scale (VAX-11/780: about 1), which is an estimate.
    """
    speed = value / base if bandwidth else base / value
    return speed / (mips / MVAX2_MIPS)


def pentium_mips(clock_hz: float) -> float:
    """A Pentium's rating by its clock: the weakest number of what is made of it."""
    return clock_hz * PENTIUM_MIPS_PER_HZ


def relative_speeds(
    each: pd.DataFrame, mips: Mapping[str, float], base: Mapping[str, float] = MVAX2
) -> pd.DataFrame:
    """MIPS-relative speed of every time in a table.

    each: rows of `measured` or `spread`. mips: rating by machine. base: microseconds on the
    Microvax II by workload; workloads that are not in it are left out. The rows of the metric
    `microseconds` come back with `mips`, `base` and `relative`; ratios of `relative` between
    systems of one machine do not depend on its rating.
    """
    times = each[(each["metric"] == MICROSECONDS) & each["workload"].isin(list(base))]
    unrated = sorted(set(times["machine"]) - set(mips))
    if unrated:
        raise StatsError(f"no MIPS rating of {', '.join(unrated)}")
    times = times.assign(
        mips=times["machine"].map(mips).astype(float),
        base=times["workload"].map(base).astype(float),
    )
    times["relative"] = mips_relative(times["value"], times["mips"], times["base"])
    return times.reset_index(drop=True)


def crossing(one: pd.Series, other: pd.Series) -> float:
    """From which size on `one` stays below `other`.

    Both are curves: values by size (ascending or not) at the same sizes. Between two sizes both are
    taken for straight. NaN where `one` is below from the first size on, or not below at the last.
    """
    if not one.index.equals(other.index) and set(one.index) != set(other.index):
        raise StatsError("crossing: expected two curves over the same sizes")
    above = (one.sort_index() - other.sort_index()).dropna()
    sizes, heights = above.index.to_numpy(dtype=float), above.to_numpy(dtype=float)
    not_below = np.flatnonzero(heights >= 0)
    if not len(not_below) or not_below[-1] == len(heights) - 1:
        return math.nan
    last = int(not_below[-1])
    share = heights[last] / (heights[last] - heights[last + 1])
    return float(sizes[last] + share * (sizes[last + 1] - sizes[last]))
