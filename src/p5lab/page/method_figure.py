# SPDX-License-Identifier: MIT
"""A figure that compares chen95's method with the counts of the engine."""

from collections.abc import Mapping, Sequence

from p5lab.evidence.counter_method import EVENTS
from p5lab.page.figure import WIDE_RANGE, Figure, mark, of_marks
from p5stats import method


def of(rows: Mapping[str, Sequence[method.MethodRow]], runs: Sequence[str]) -> Figure:
    """Returns a figure with a panel for each event and three values for each operation.

    The first value is the result of chen95's method. The second value is the engine's count of the
    same executions. The third value is the engine's count when no counter is read.

    `rows`: the result of `p5lab.evidence.counter_method.rows`. `runs`: the identifiers of the runs.
    """
    marks = [
        mark(
            benchmark=operation,
            series=series,
            metric=EVENTS[row.event],
            unit="cycles" if row.event == method.CYCLES else "events",
            value=value,
            runs=" ".join(runs),
        )
        for event in EVENTS
        for operation, of_events in rows.items()
        for row in of_events
        if row.event == event
        for series, value in (
            ("by the method", row.method),
            ("by the engine", row.engine),
            ("undisturbed", row.undisturbed),
        )
    ]
    caption = (
        "The values are for one operation. By the method: the mean counter reading of the operation"
        " minus the mean counter reading of an empty operation, as the paper would print it. By the"
        " engine: the engine's counts of the same executions. Undisturbed: the engine's counts when"
        " no counter is read. The axis is logarithmic if the values span more than a factor of"
        f" {WIDE_RANGE}. A logarithmic axis shows no values of zero or less, but the table contains"
        " them."
    )
    title = "The method of chen95 and the counts of the engine"
    return of_marks("method", title, "dots", marks, caption)
