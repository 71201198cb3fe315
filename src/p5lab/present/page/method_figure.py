# SPDX-License-Identifier: MIT
"""chen95's method beside what the engine counted, as a figure."""

from collections.abc import Mapping, Sequence

from p5lab.evidence.counter_method import EVENTS
from p5lab.present.page.figure import WIDE_RANGE, Figure, frame, mark
from p5stats import method


def of(rows: Mapping[str, Sequence[method.Row]], runs: Sequence[str]) -> Figure:
    """What chen95's method gives for each operation, what the engine counted of the same
    executions, and what it counts where no counter is touched; a panel for each event. rows: by
    operation, as `p5lab.evidence.counter_method.rows` has them; runs: their ids."""
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
        "One operation each. By the method: the mean counter reading less that around nothing, what"
        " the paper would print. By the engine: its brackets in the same executions. Undisturbed:"
        " its brackets where no counter is touched. The axis is logarithmic where the values span"
        f" more than a factor of {WIDE_RANGE}; then what is not above zero is in the table only.",
    )
    return Figure(
        "method",
        "The method of chen95, and what the engine counted",
        "dots",
        frame(marks),
        caption,
        runs=tuple(runs),
    )
