# SPDX-License-Identifier: MIT
"""Makes the comparisons of the papers. Input and output are tidy tables.

    table = tidy.load("results/chen95-core")
    each = papers.measured(table)          # one row for each run, phase and metric
    papers.against(papers.spread(each), guest="linux")

This module needs only the directories of results, not p5lab. docs/start/analysis.md contains
examples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from p5stats import compare, tidy
from p5stats import terms as run_terms
from p5stats.compare import KEYS
from p5stats.lazy import np, pd
from p5stats.problems import StatsError
from p5stats.terms import Terms as Terms

# The columns that identify the measured system. Comparisons compare such systems.
SYSTEM = ["engine", "machine", "geometry", "feedback", "guest"]
# ousterhout90 compares with a Microvax II. Table 1 of the paper rates the Microvax II at 0.9 MIPS
# (VAX-11/780: about 1).
MVAX2_MIPS = 0.9


@dataclass(frozen=True)
class Base:
    """A result of ousterhout90 on the Microvax II under Ultrix, with a local disk.

    value: microseconds, or MB/s with `bandwidth`. phase: the phase of our workload. table: the
    number of the table in the paper.
    """

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
# Microseconds of an operation on a Microvax II under Ultrix (tables 2 and 3).
MVAX2 = {base.workload: base.value for base in MVAX2_BASES if base.table in (2, 3)}
# An estimate. Intel rated the Pentium of 66 MHz at 112 MIPS. We scale this value by the clock.
PENTIUM_MIPS_PER_HZ = 112 / 66e6
MICROSECONDS = "microseconds"
NUMBERS = ("iterations", "metric", "unit", "value", "deviation")  # the last columns of `measured`
Number = TypeVar("Number", float, "pd.Series")


def measured(
    table: pd.DataFrame, terms: Mapping[str, Terms] | None = None, *, empty: str = "empty"
) -> pd.DataFrame:
    """Every metric of `compare.metrics` for one operation, after subtraction of the empty bracket.

    Columns: KEYS, the settings of the table (`tidy.settings`), and NUMBERS. There is one row for
    each run, phase, geometry and metric, in the order of the table. `value` is computed from the
    mean counts over the iterations. A ratio is therefore a ratio of means. `value` is NaN if the
    engine does not count an event, or if the divisor is zero. `deviation` is the standard deviation
    of the sample over the iterations; it is NaN for one iteration. terms: the
    terms of each run, if the table does not contain them (`tidy.load` adds them). StatsError for a
    run without terms.
    """
    if terms is None:
        terms = run_terms.of_table(table)
    counts = compare.without_empty(compare.counts(table), empty)
    groups = dict(iter(counts.groupby(level=KEYS, sort=False)))
    # In the order of the table: sorted by name, the size 1 MB would precede 1.5 KB.
    order = table.drop_duplicates([*compare.SOURCE, "phase"])[KEYS].itertuples(index=False)
    rows: list[dict[str, object]] = []
    for keys in filter(groups.__contains__, order):  # without the empty brackets
        brackets, where = groups[keys], dict(zip(KEYS, keys, strict=True))
        if where["run"] not in terms:
            raise StatsError(f"run {where['run']}: no terms for this run")
        of = terms[str(where["run"])]
        events = list(brackets)
        mean = _evaluated(of, events, brackets.mean())
        deviation = _deviations([_evaluated(of, events, row) for row in brackets.to_numpy()])
        rows += [
            {
                **where,
                "iterations": len(brackets),
                "metric": metric.name,
                "unit": metric.unit,
                "value": mean[metric.name],
                "deviation": deviation[metric.name],
            }
            for metric in compare.metrics(of.clock_vector, of.operation_bytes)
        ]
    numbers = pd.DataFrame(rows)
    names = tidy.settings(table)
    if not names:
        return numbers
    values = table.drop_duplicates(compare.SOURCE)[[*compare.SOURCE, *names]]
    merged = numbers.merge(values, on=compare.SOURCE, how="left")
    order = [name for name in numbers if name not in NUMBERS]
    return merged[[*order, *names, *NUMBERS]]


def _evaluated(of: Terms, events: Sequence[str], values: Iterable[float]) -> dict[str, float]:
    """Every metric of one operation, from the counts of a bracket: `values`, one for each event."""
    counts = dict(zip(events, map(float, values), strict=True))
    return compare.evaluate(counts, of.operations, of.clock_hz, of.clock_vector, of.operation_bytes)


def _deviations(iterations: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The standard deviation of the sample of each metric. NaN for one iteration."""
    values = np.array([list(metrics.values()) for metrics in iterations])
    deviation = (
        values.std(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], math.nan)
    )
    return dict(zip(iterations[0], deviation.tolist(), strict=True))


def null_corrected(values: pd.DataFrame, null: pd.DataFrame) -> pd.DataFrame:
    """chen95's Null correction: subtracts the mean bracket of Null from each bracket of `values`.

    Both tables come from `compare.counts`. `null` must contain each SYSTEM and seed that `values`
    contains. All brackets contain a start and a stop of the counter device, and the brackets of
    `values` also contain an operation. If the code between two markers does not call the device,
    the counts of this code need another correction (`compare.without_empty`). The paper does not
    print the formula of the correction. The use of means is our interpretation. Negative results
    stay negative. StatsError if a Null is missing.
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


# chen95's denominators. For data, references are reads and writes together. For code, the paper
# prints only "per reference". We count each access to code as one instruction.
_DATA, _CODE = ("data_reads", "data_writes"), ("instructions",)
_MISSES = {
    "read misses/reference": ("data_read_misses", _DATA),
    "write misses/reference": ("data_write_misses", _DATA),
    "DTLB misses/reference": ("dtlb_misses", _DATA),
    "I-cache misses/instruction": ("code_misses", _CODE),
    "ITLB misses/instruction": ("itlb_misses", _CODE),
}


def misses_per_reference(values: pd.DataFrame) -> pd.DataFrame:
    """The miss ratios of chen95's figures, from the counts of `compare.counts`.

    Columns: KEYS, metric, value, misses, references. There is one row for each run, phase and
    ratio. `value` is all misses of a phase / all references of the phase. A long iteration
    therefore has more weight than a short iteration. A write miss does not fill a line, so each of
    several writes to an absent line is a miss. Therefore, do not compute a waiting time from the
    sum of the two data ratios, or from a ratio and the cost of a miss.
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
    """The spread of each number over the placement seeds.

    each: rows with `seed` and `value`, such as the rows of `measured`. Returns the columns that
    identify a row (except `run` and `seed`), and also these columns: `seeds`, the number of seeds;
    `value`, the mean; `deviation`, the standard deviation of the sample (NaN for one seed);
    `lowest`; `highest`; `width`, which is (highest - lowest) / mean. StatsError if one number has
    two values with the same seed. To avoid this error, select the runs first.
    """
    same = [
        name
        for name in [*KEYS, *tidy.settings(each), "metric", "unit"]
        if name in each and name not in ("run", "seed")
    ]
    twice = each[each.duplicated([*same, "seed"])]
    if len(twice):
        raise StatsError(f"seed {twice['seed'].iloc[0]} occurs twice for one number")
    spread = each.groupby(same, sort=False, dropna=False)["value"].agg(
        seeds="count", value="mean", deviation="std", lowest="min", highest="max"
    )
    spread["width"] = (spread["highest"] - spread["lowest"]) / spread["value"].abs()
    return spread.reset_index()


def against(numbers: pd.DataFrame, **reference: object) -> pd.DataFrame:
    """Adds a reference to each number, as in `against(table, guest="linux")`.

    numbers: rows of `measured`, `misses_per_reference` or `spread`. reference: the columns and
    values that select the reference rows. A row and its reference row must agree in `metric`, in
    the other settings (`tidy.settings`) and in all other columns of KEYS except `run`. If the
    reference is a setting, such as `{"l2.size": 262144}`, the rows may also differ in the column
    `geometry` or `parameters`, which contains the setting as text. If the reference is a name that
    the user gave to runs, such as a label, the rows may also differ in what the name stands for: in
    each column with one value for each name, except workload and phase. Adds the columns
    `reference` and `ratio` (value / reference). The ratio is NaN if the reference is missing or
    zero. StatsError for an unknown column or an ambiguous reference.
    """
    unknown = [name for name in reference if name not in numbers]
    if unknown or not reference:
        raise StatsError(f"against: expected columns of the table, found {unknown}")
    free = {"run", *reference}
    for name in reference:
        if "." in name:
            free.add("parameters" if name.startswith(tidy.PARAMETERS) else "geometry")
        elif name not in KEYS:
            values = numbers.groupby(name)[[*KEYS, *tidy.settings(numbers)]].nunique(dropna=False)
            free |= {"geometry", *values.columns[(values <= 1).all()]} - {"workload", "phase"}
    same = [
        name
        for name in [*KEYS, *tidy.settings(numbers), "metric"]
        if name in numbers and name not in free
    ]
    chosen = numbers[(numbers[list(reference)] == pd.Series(reference)).all(axis="columns")]
    twice = chosen[chosen.duplicated(same, keep=False)]
    for _, rows in twice.groupby(same, dropna=False, sort=False):
        wanted = ", ".join(f"{name}={value}" for name, value in reference.items())
        which = f": runs {', '.join(rows['run'])}" if "run" in rows else ""
        raise StatsError(
            f"against: more than one row is the reference {wanted}{which}; keep one of them"
        )
    ratios = numbers.merge(
        chosen[[*same, "value"]].rename(columns={"value": "reference"}), on=same, how="left"
    )
    ratios["ratio"] = ratios["value"] / ratios["reference"].replace(0, math.nan)
    return ratios


def mips_relative(
    value: Number, mips: Number | float, base: Number | float, *, bandwidth: bool = False
) -> Number:
    """ousterhout90's MIPS-relative speed: the speed of an operation relative to the processor's
    speed.

    The value of a Microvax II is 1. value, base: the time on this machine and the time on the
    Microvax II, in the same unit. With `bandwidth`, both values are bandwidths. mips: the machine's
    rating on the paper's scale (VAX-11/780: about 1), which is an estimate.
    """
    speed = value / base if bandwidth else base / value
    return speed / (mips / MVAX2_MIPS)


def pentium_mips(clock_hz: float) -> float:
    """A rough estimate of the MIPS rating of a Pentium, proportional to its clock."""
    return clock_hz * PENTIUM_MIPS_PER_HZ


def relative_speeds(
    each: pd.DataFrame, mips: Mapping[str, float], base: Mapping[str, float] = MVAX2
) -> pd.DataFrame:
    """The MIPS-relative speed of every time in a table.

    each: rows of `measured` or `spread`. mips: the rating of each machine. base: microseconds on
    the Microvax II for each workload. Workloads without a base are omitted. Returns the rows of the
    metric `microseconds` with the columns `mips`, `base` and `relative`. The ratio of `relative`
    between two systems on the same machine does not depend on the machine's rating. StatsError if a
    machine has no rating.
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


def crossing(curve: pd.Series, other: pd.Series) -> float:
    """The size beyond which `curve` is always below the curve `other`.

    Both curves must have values at the same sizes, in any order. Between two sizes, the curves are
    interpolated linearly. NaN if `curve` is below `other` at all sizes, or if `curve` is at or
    above `other` at the last size. StatsError if the sizes differ.
    """
    if not curve.index.equals(other.index) and set(curve.index) != set(other.index):
        raise StatsError("crossing: expected two curves over the same sizes")
    above = (curve.sort_index() - other.sort_index()).dropna()
    sizes, heights = above.index.to_numpy(dtype=float), above.to_numpy(dtype=float)
    not_below = np.flatnonzero(heights >= 0)
    if not len(not_below) or not_below[-1] == len(heights) - 1:
        return math.nan
    last = int(not_below[-1])
    share = heights[last] / (heights[last] - heights[last + 1])
    return float(sizes[last] + share * (sizes[last + 1] - sizes[last]))
