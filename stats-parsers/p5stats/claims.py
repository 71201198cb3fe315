# SPDX-License-Identifier: MIT
"""Compares published numbers with modelled numbers: `evaluate` converts claims to rows with
verdicts.

A claim contains the source of a published number, the precision of the published statement (tag),
how the model uses the number (role), and how to compute the same quantity from the tidy table
(measure). Validation, reports and tests all use `evaluate`. The claims are data
(configs/claims.toml, docs/evidence/claims.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

from p5stats import compare, papers
from p5stats.lazy import np, pd
from p5stats.problems import StatsError

ROLES = INPUT, FITTED, PREDICTED, SYSTEM, UNTESTABLE = (
    "input",
    "fitted",
    "predicted",
    "system",
    "untestable",
)
# A claim holds if its error, in percent, is at most this value. A claim with the tag "up to" is
# about the peak of a curve.
TOLERANCES = {"exact": 5.0, "about": 10.0, "up to": 10.0}
AT_LEAST, AT_MOST = "at least", "at most"
BOUNDS = (AT_LEAST, AT_MOST)
# The shape of a curve, for papers that give no number. A claim about a shape contains no value. The
# modelled number of a shape is highest / lowest (flat), last / first (rises, falls), or the share
# of the variance that a straight line explains (linear).
FLAT, RISES, FALLS, LINEAR = "flat", "rises", "falls", "linear"
SHAPES = (FLAT, RISES, FALLS, LINEAR)
FLAT_WITHIN, LINEAR_FROM = 0.10, 0.95
TAGS = (*TOLERANCES, *BOUNDS, *SHAPES)
HOLDS, FAILS, NOT_RUN = "holds", "does not hold", "not run"
# How to get one number from several brackets.
STATISTICS: dict[str, Callable[[pd.Series], float]] = {
    "mean": lambda values: float(values.mean()),
    "lowest": lambda values: float(values.min()),
    "highest": lambda values: float(values.max()),
}
PLATEAU_END, PLATEAU_START = "plateau end", "plateau start"
PLATEAU_WITHIN = 0.10  # the largest relative difference to the value at the phase `at`
CROSSING = "crossing"  # the size from which one curve stays below another
MICROSECONDS = "microseconds"  # the name of modelled time as a term of a measure
_BYTES = {"B": 1, "KB": 1 << 10, "MB": 1 << 20}
_COUNTED = {"process": 1, "processes": 1}
COLUMNS = (
    *("claim", "source", "quantity", "machine", "tag", "published", "unit", "role"),
    *("modelled", "error", "verdict", "reason", "note", "runs"),
)


@dataclass(frozen=True)
class Selection:
    """Selects the brackets that a measure uses.

    parameters: the workload parameters of the runs, as texts of the tidy table. phases: the phases
    of the brackets; empty means all phases. geometry: the overlay of the machine, as in the tidy
    table. All other fields are optional. Each given field replaces the same field of the measure.
    The two sides of a ratio can therefore use different workloads, guests, machines and terms.
    """

    parameters: Mapping[str, str] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    geometry: str = ""
    workload: str = ""
    experiment: str = ""
    guest: str = ""
    machine: str = ""
    count: tuple[str, ...] = ()
    per: tuple[str, ...] | None = None
    times: float | None = None


@dataclass(frozen=True)
class Measure:
    """How to get a number from the tidy table.

    For each run and phase, the number is `times` x sum of `count` / sum of `per`. The sums are
    computed from means over the iterations. `statistic` combines these numbers.

    A term of `count` or `per` is an event, MICROSECONDS, or a numeric parameter of the workload.
    `less` selects the brackets of a second number, and this number is subtracted from the first
    number. `over` selects the brackets of the divisor. All three numbers are computed by the same
    formula. The end of a plateau is the largest array for which the number is still within
    PLATEAU_WITHIN of the number at the phase `at`. The start of a plateau is the smallest such
    array. A crossing is the size beyond which the curve is always below the curve of `less`. If
    `base` is given, the number is a time in microseconds, or a rate if `bandwidth` is true. The
    result is then the MIPS-relative speed (papers.mips_relative), relative to the value `base` of a
    Microvax II. `by` names a parameter whose value is a size in KB. The points of the curve are
    then the values of this parameter ("2 MB"), and not the phases.
    """

    experiment: str
    guest: str
    workload: str
    select: Selection
    count: tuple[str, ...]
    per: tuple[str, ...] = ()
    times: float = 1.0
    statistic: str = "mean"
    at: str = ""
    less: Selection | None = None
    over: Selection | None = None
    base: float = 0.0
    bandwidth: bool = False
    by: str = ""

    def of(self, selection: Selection) -> Measure:
        """Returns the measure of one side: a copy of this measure, in which fields of `selection`
        replace the fields with the same names."""
        return replace(
            self,
            select=selection,
            workload=selection.workload or self.workload,
            experiment=selection.experiment or self.experiment,
            guest=selection.guest or self.guest,
            count=selection.count or self.count,
            per=self.per if selection.per is None else selection.per,
            times=self.times if selection.times is None else selection.times,
        )


@dataclass(frozen=True)
class Claim:
    """A published number, or the shape of a curve. The `value` of a shape is NaN.

    keys: machine keys, or rows of the timing table (`timing.CLASS`). If the role is input, these
    keys contain the published number. If the role is fitted, the values of these keys were fitted
    to the published number. If a claim has no measure, the modelled number is the value of the
    claim's first key. reason: the reason why the claim is untestable or does not hold. note: a
    remark for any verdict.
    """

    id: str
    source: str
    quantity: str
    value: float
    tag: str
    unit: str
    role: str
    machine: str
    keys: tuple[str, ...] = ()
    measure: Measure | None = None
    reason: str = ""
    note: str = ""


def evaluate(
    claims: Sequence[Claim],
    table: pd.DataFrame,
    clocks: Mapping[str, int],
    machines: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """One row for each claim, with COLUMNS.

    table: tidy rows; the table may be empty. clocks: the clock of each run in Hz. machines: values
    of the machine keys, by the machine's name. The column `error` is the signed error in percent of
    the published value. If there is no published value, the error is NaN. The column `runs`
    contains the ids of the measured runs. StatsError if a claim does not fit the table.
    """
    measured = {}
    if len(table):
        counts = compare.without_empty(compare.counts(table))
        for claim in claims:
            if claim.measure is not None:
                measured[claim.id] = _measured(claim, claim.measure, counts, clocks)
    return judge(claims, measured, machines)


def judge(
    claims: Sequence[Claim],
    measured: Mapping[str, tuple[float, str]],
    machines: Mapping[str, Mapping[str, object]],
) -> pd.DataFrame:
    """The table of `evaluate` from numbers that are known already. measured: the modelled number
    and the ids of its runs, by the claim's id. A claim without a measure needs no number."""
    rows = [_row(claim, *measured.get(claim.id, (math.nan, "")), machines) for claim in claims]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def headline(results: pd.DataFrame, role: str = PREDICTED) -> dict[str, float]:
    """A summary of the claims of one role.

    `claims`: the number of claims with a verdict. `hold`: the number of claims that hold. `values`:
    the number of claims with a value that is not a bound. `mean_error` and `largest_error`: the
    errors of these values in percent, without sign. `bounds`: the number of claims with a bound.
    `kept`: the number of bounds that hold.
    """
    judged = results[(results["role"] == role) & results["verdict"].isin((HOLDS, FAILS))]
    is_bound = judged["tag"].isin(BOUNDS)
    errors = judged[~is_bound]["error"].abs().dropna()
    return {
        "claims": len(judged),
        "hold": int((judged["verdict"] == HOLDS).sum()),
        "values": len(errors),
        "mean_error": float(errors.mean()),
        "largest_error": float(errors.max()),
        "bounds": int(is_bound.sum()),
        "kept": int((judged[is_bound]["verdict"] == HOLDS).sum()),
    }


def meets(tag: str, published: float, modelled: float) -> bool:
    """Whether a modelled number agrees with the published number, by the tag of the claim.

    A bound must be kept. "about" and "up to" allow an error of 10 %, "exact" allows 5 %. For a
    shape, see SHAPES.
    """
    if tag == AT_LEAST:
        return modelled >= published
    if tag == AT_MOST:
        return modelled <= published
    if tag == FLAT:
        return modelled <= 1 + FLAT_WITHIN
    if tag == LINEAR:
        return modelled >= LINEAR_FROM
    if tag == RISES:
        return modelled > 1 + FLAT_WITHIN
    if tag == FALLS:
        return modelled < 1 / (1 + FLAT_WITHIN)
    return abs(modelled - published) <= abs(published) * TOLERANCES[tag] / 100


_UNITS = _BYTES | _COUNTED
_SIZE = re.compile(rf"([0-9.]+) ({'|'.join(_UNITS)})")


def is_size(phase: str) -> bool:
    """Whether the name of a phase is a size. Such a phase is a point of a curve over sizes."""
    return bool(_SIZE.fullmatch(phase))


def is_bytes(phase: str) -> bool:
    """Whether a phase is a size in bytes, not a number of processes."""
    match = _SIZE.fullmatch(phase)
    return match is not None and match[2] in _BYTES


def size_of(phase: str) -> float:
    """The size that a phase names: bytes ("1.5 KB" is 1536) or processes ("2 processes" is 2).

    StatsError if the phase is not a size.
    """
    match = _SIZE.fullmatch(phase)
    if not match:
        raise StatsError(f"phase {phase!r}: expected a size such as 512 B or 1.5 KB")
    return float(match[1]) * _UNITS[match[2]]


def point_of(kilobytes: float) -> str:
    """The name of a point on a curve over sizes in KB: 1536 is "1.5 MB"."""
    return f"{kilobytes / 1024:g} MB" if kilobytes >= 1024 else f"{kilobytes:g} KB"


def _row(
    claim: Claim, modelled: float, runs: str, machines: Mapping[str, Mapping[str, object]]
) -> dict[str, Any]:
    reason = claim.reason
    if claim.role == UNTESTABLE:
        verdict = UNTESTABLE
    else:
        if claim.measure is None:
            modelled = _key(claim, machines)
        if math.isnan(modelled):
            verdict, reason = NOT_RUN, _what_is_missing(claim, runs)
        else:
            verdict = HOLDS if meets(claim.tag, claim.value, modelled) else FAILS
            reason = claim.reason if verdict == FAILS else ""
    return {
        **vars(claim),
        "claim": claim.id,
        "published": float(claim.value),
        "modelled": modelled,
        "error": (modelled - claim.value) / claim.value * 100 if claim.value else math.nan,
        "verdict": verdict,
        "reason": reason,
        "runs": runs,
    }


def _key(claim: Claim, machines: Mapping[str, Mapping[str, object]]) -> float:
    """The value of the claim's key on the machine, in the claim's unit."""
    value = machines[claim.machine][claim.keys[0]]
    if not isinstance(value, int | float):
        raise StatsError(f"claim {claim.id}: {claim.keys[0]}: expected a number, found {value!r}")
    return float(value) / _BYTES.get(claim.unit, 1)


def _what_is_missing(claim: Claim, runs: str) -> str:
    assert claim.measure is not None
    if runs:
        return f"not counted: {', '.join((*claim.measure.count, *claim.measure.per))}"
    return (
        f"no such run of {claim.measure.workload} in {claim.measure.experiment} on {claim.machine}"
    )


def _measured(
    claim: Claim, measure: Measure, counts: pd.DataFrame, clocks: Mapping[str, int]
) -> tuple[float, str]:
    """The measured number and the ids of the measured runs. The number is NaN if no run matches."""
    selections = {"select": measure.select, "less": measure.less, "over": measure.over}
    sides = {name: measure.of(selection) for name, selection in selections.items() if selection}
    parts = {name: _select(counts, side, claim.machine) for name, side in sides.items()}
    if any(part.empty for part in parts.values()):
        return math.nan, ""
    each = {name: _each(claim, side, parts[name], clocks) for name, side in sides.items()}
    runs = " ".join(pd.concat(list(parts.values())).index.get_level_values("run").unique())
    if measure.statistic == CROSSING:
        first, second = (_curve(each[name]).rename(size_of) for name in ("select", "less"))
        return papers.crossing(first, second) / _BYTES.get(claim.unit, 1), runs
    if claim.tag in SHAPES:
        return _shape(claim, _curve(each["select"]).rename(size_of).sort_index()), runs
    numbers = {name: _statistic(claim, measure, values) for name, values in each.items()}
    return (numbers["select"] - numbers.get("less", 0)) / numbers.get("over", 1), runs


def _shape(claim: Claim, curve: pd.Series) -> float:
    """The number that decides whether a curve has the claimed shape (see SHAPES).

    The number is 1 if the curve should rise but falls at some point, or should fall but rises at
    some point.
    """
    sizes, values = curve.index.to_numpy(dtype=float), curve.to_numpy(dtype=float)
    if len(values) < 2:
        raise StatsError(f"claim {claim.id}: expected a curve, found {len(values)} points")
    if claim.tag == FLAT:
        return float(values.max() / values.min())
    if claim.tag == LINEAR:
        return float(np.corrcoef(sizes, values)[0, 1] ** 2)
    steps = np.diff(values)
    turns = (steps < 0).any() if claim.tag == RISES else (steps > 0).any()
    return 1.0 if turns else float(values[-1] / values[0])


def _select(counts: pd.DataFrame, measure: Measure, machine: str) -> pd.DataFrame:
    selection = measure.select
    where = {
        "experiment": measure.experiment,
        "engine": "bochs",
        "machine": selection.machine or machine,
        "geometry": selection.geometry,
        "feedback": "yes",
        "guest": measure.guest,
        "workload": measure.workload,
    }
    for level, value in where.items():
        counts = counts[counts.index.get_level_values(level) == value]

    def wanted(text: str) -> bool:
        has = dict(part.split("=", 1) for part in text.split())
        return all(has.get(name) == value for name, value in selection.parameters.items())

    texts = counts.index.get_level_values("parameters")
    chosen = counts[texts.isin([text for text in texts.unique() if wanted(text)])]
    if selection.phases:
        chosen = chosen[chosen.index.get_level_values("phase").isin(selection.phases)]
    return chosen


def _each(
    claim: Claim, measure: Measure, chosen: pd.DataFrame, clocks: Mapping[str, int]
) -> pd.Series:
    """The measured number of each run and phase (index: run, phase)."""
    means = chosen.groupby(level=["run", "parameters", "phase"], sort=False).mean()

    def term(name: str) -> pd.Series:
        if name in means.columns:
            return means[name]
        if name == MICROSECONDS:
            hertz = means.index.get_level_values("run").map(clocks).to_numpy(dtype=float)
            return (means["cycles.busy"] + means["cycles.idle"]) * 1e6 / hertz
        try:
            return compare.parameter(means, name)
        except StatsError as error:
            raise StatsError(f"claim {claim.id}: no event and {error}") from None

    values = reduce(add, map(term, measure.count))
    if measure.per:
        values = values / reduce(add, map(term, measure.per))
    values = values * measure.times
    if measure.base:
        ratings = means.index.get_level_values("run").map(clocks).map(papers.pentium_mips)
        mips = pd.Series(ratings.to_numpy(dtype=float), index=means.index)
        values = papers.mips_relative(values, mips, measure.base, bandwidth=measure.bandwidth)
    if measure.by:
        points = compare.parameter(means, measure.by).map(point_of).to_numpy()
        places = values.index.get_level_values("run")
        return values.set_axis(pd.MultiIndex.from_arrays([places, points], names=["run", "phase"]))
    return values.droplevel("parameters")


def _curve(values: pd.Series) -> pd.Series:
    """The mean over the runs, for each phase."""
    return values.groupby(level="phase").mean()


def _statistic(claim: Claim, measure: Measure, values: pd.Series) -> float:
    if measure.statistic in STATISTICS:
        return STATISTICS[measure.statistic](values)
    curve = _curve(values)
    sizes = {phase: size_of(phase) for phase in curve.index}
    if measure.at not in sizes:
        return math.nan
    level, edge = curve[measure.at], math.nan
    ascending = sorted(sizes, key=sizes.__getitem__)
    start = ascending.index(measure.at)
    rest = ascending[start:] if measure.statistic == PLATEAU_END else ascending[start::-1]
    for phase in rest:
        if not abs(curve[phase] - level) <= PLATEAU_WITHIN * abs(level):
            break
        edge = sizes[phase]
    return edge / _BYTES.get(claim.unit, 1)
