# SPDX-License-Identifier: MIT
"""Figures of the counts of each interval: how the behaviour of a run changes over time."""

from collections.abc import Sequence

import pandas as pd

from p5lab.keep.store import Stored
from p5lab.page.figure import Figure, mark, of_marks
from p5lab.present import by_interval, comparison
from p5stats import cpi

PLACE = 4
AXIS = "ms since the end of the boot"
POINTS = 100  # a figure has at most this number of points; more intervals are joined
SHARE = "share of the clocks"


def has(run: Stored) -> bool:
    """Whether a run has counts by interval."""
    return by_interval.has(run)


def of(runs: Sequence[Stored]) -> list[Figure]:
    """Returns the figures of each run: the CPI stack over time, if the run has one, and curves of
    the cycles per instruction and of misses. Raises StatsError if the counts are damaged."""
    return [figure for stored in runs for figure in _figures(stored)]


def _figures(stored: Stored) -> list[Figure]:
    counts = by_interval.read(stored)
    if not counts.intervals:
        return []
    spans = by_interval.spans(counts, -(-len(counts.intervals) // POINTS))
    spans[["begin", "end"]] -= spans["begin"].iloc[0]
    name = comparison.name(stored.record)
    link = f"intervals-{name}-{stored.id[:10]}"
    said = (
        f"A run with intervals of {counts.length:,} clocks, from the end of the boot to the end of"
        f" the run. The command ./p5lab show {stored.id[:10]} --intervals prints the numbers."
    )
    idle = "Where the processor was idle, there is no point: the line goes on to the next point."
    curves = of_marks(
        link,
        f"Cycles and misses of {name} over time",
        "curve",
        _curves(stored, name, spans),
        *([said] if spans["retired"].all() else [said, idle]),
        axis=AXIS,
    )
    if not cpi.is_in(counts.events):
        return [curves]
    areas = of_marks(
        f"{link}-stack",
        f"CPI stack of {name} over time",
        "areas",
        _areas(stored, spans),
        said,
        "The colours show what the clocks of each interval are spent on. Idle clocks have no"
        " colour. docs/concepts/cpi-stack.md explains the components.",
        axis=AXIS,
    )
    return [areas, curves]


def _areas(stored: Stored, spans: pd.DataFrame) -> list[dict[str, object]]:
    """The marks of the CPI stack. A mark begins at its point and ends at the next point, so the
    last part has a second mark at its end."""
    used = [group for group in cpi.GROUPS if spans[group].any()]
    last = spans.iloc[[-1]]
    ends = pd.concat([spans, last.assign(begin=last["end"])])
    shares = 100 * ends[used].div(ends["clocks"].where(ends["clocks"] > 0), axis="index").fillna(0)
    return [
        mark(series=group, point=at, metric=SHARE, unit="%", value=share, runs=stored.id)
        for at, row in zip(ends["begin"], shares.to_dict("records"), strict=True)
        for group, share in row.items()
    ]


def _curves(stored: Stored, name: str, spans: pd.DataFrame) -> list[dict[str, object]]:
    """The marks of the curves, at the end of each part. Without instructions, a part has no
    mark."""
    titles = {"CPI": ("cycles per instruction", "CPI")} | {
        title: (title, "per 1000 instructions") for _, title in by_interval.MISSES.values()
    }
    return [
        mark(
            series=name,
            point=row["end"],
            metric=metric,
            unit=unit,
            value=row[column],
            runs=stored.id,
        )
        for row in spans[spans["retired"] > 0].to_dict("records")
        for column, (metric, unit) in titles.items()
    ]
