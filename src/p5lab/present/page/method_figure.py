# SPDX-License-Identifier: MIT
"""A figure that compares chen95's method with the counts of the engine."""

from collections.abc import Mapping, Sequence

from p5lab.evidence.counter_method import EVENTS
from p5lab.present.page.figure import WIDE_RANGE, Figure, frame, mark
from p5stats import method


def of(rows: Mapping[str, Sequence[method.Row]], runs: Sequence[str]) -> Figure:
    """Returns a figure with a panel for each event and three values for each operation.

    The values are the result of chen95's method, the engine's counts of the same executions, and
    the engine's counts without reading any counter.

    rows: those of `p5lab.evidence.counter_method.rows`. runs: the identifiers of the runs.
    """
    ways = {
        "by the method": "method",
        "by the engine": "engine",
        "undisturbed": "undisturbed",
    }
    marks = [
        mark(
            benchmark=operation,
            series=series,
            metric=EVENTS[row.event],
            unit="cycles" if row.event == method.CYCLES else "events",
            value=getattr(row, way),
            runs=" ".join(runs),
        )
        for number in range(len(EVENTS))
        for operation, of_events in rows.items()
        for row in of_events[number : number + 1]
        for series, way in ways.items()
    ]
    caption = (
        "Values of one operation. By the method: the mean counter reading minus that of an empty"
        " operation, as the paper would print it. By the engine: the engine's counts of the same"
        " executions. Undisturbed: the engine's counts without reading any counter. The axis is"
        f" logarithmic if the values span more than a factor of {WIDE_RANGE}; the table then has"
        " the values that are not above zero.",
    )
    return Figure(
        "method",
        "The method of chen95 and the counts of the engine",
        "dots",
        frame(marks),
        caption,
        runs=tuple(runs),
    )
