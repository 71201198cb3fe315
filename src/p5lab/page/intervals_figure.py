# SPDX-License-Identifier: MIT
"""Figures of the counts of each interval: how the behaviour of a run changes over time."""

from p5lab.keep.store import Stored
from p5lab.page.figure import Figure, frame, identifier, mark
from p5lab.present import by_interval, comparison
from p5lab.present.by_interval import THOUSAND, Span
from p5stats import cpi

AXIS = "ms since the end of the boot"
POINTS = 100  # a figure has at most this number of points; more intervals are joined
SHARE = "share of the clocks"


def of(stored: Stored) -> list[Figure]:
    """Returns the figures of a run with --interval: the CPI stack over time, if the run has one,
    and curves of the cycles per instruction and of misses. Raises StatsError if the counts are
    damaged."""
    found = by_interval.read(stored)
    parts = by_interval.parts(found, max(1, -(-len(found.intervals) // POINTS)))
    if not parts:
        return []
    name = comparison.name(stored.record)
    link = identifier(f"intervals-{name}-{stored.id[:10]}")
    said = (
        f"A run with intervals of {found.length:,} clocks, from the end of the boot to the end of"
        f" the run. The command ./p5lab show {stored.id[:10]} --intervals prints the numbers."
    )
    idle = "Where the processor was idle, there is no point: the line goes on to the next point."
    has_idle = not all(one.of(cpi.INSTRUCTIONS) for one in parts)
    curves = Figure(
        link,
        f"Cycles and misses of {name} over time",
        "curve",
        frame(_curves(stored, name, parts)),
        (said, idle) if has_idle else (said,),
        axis=AXIS,
        runs=(stored.id,),
    )
    if not cpi.is_in(found.events):
        return [curves]
    areas = Figure(
        f"{link}-stack",
        f"CPI stack of {name} over time",
        "areas",
        frame(_areas(stored, parts)),
        (
            said,
            "The colours show what the clocks of each interval are spent on. Idle clocks have no"
            " colour. docs/concepts/cpi-stack.md explains the components.",
        ),
        axis=AXIS,
        runs=(stored.id,),
    )
    return [areas, curves]


def _areas(stored: Stored, parts: list[Span]) -> list[dict[str, object]]:
    """The marks of the CPI stack. A mark begins at its point and ends at the next point, so the
    last part has a second mark at its end."""
    used = [group for group, names in cpi.GROUPS.items() if any(one.of(*names) for one in parts)]
    points = [(one.begin, one) for one in parts] + [(parts[-1].end, parts[-1])]
    return [
        mark(
            series=group,
            point=at - parts[0].begin,
            metric=SHARE,
            unit="%",
            value=100 * part.of(*cpi.GROUPS[group]) / part.clocks if part.clocks else 0.0,
            runs=stored.id,
        )
        for at, part in points
        for group in used
    ]


def _curves(stored: Stored, name: str, parts: list[Span]) -> list[dict[str, object]]:
    """The marks of the curves, at the end of each part. Without instructions, a part has no
    mark."""
    rows = []
    for part in parts:
        if not (retired := part.of(cpi.INSTRUCTIONS)):
            continue
        values = {"cycles per instruction": (part.of(cpi.BUSY) / retired, "CPI")}
        values |= {
            title: (THOUSAND * part.of(event) / retired, "per 1000 instructions")
            for event, title in by_interval.MISSES.values()
        }
        rows += [
            mark(
                series=name,
                point=part.end - parts[0].begin,
                metric=metric,
                unit=unit,
                value=value,
                runs=stored.id,
            )
            for metric, (value, unit) in values.items()
        ]
    return rows
