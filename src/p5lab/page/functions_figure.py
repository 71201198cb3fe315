# SPDX-License-Identifier: MIT
"""A figure of the functions that took the most cycles of a run."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from p5lab.describe.markers import EMPTY_PHASE, WHOLE_PHASE
from p5lab.page.figure import UNITS, Figure, frame, identifier, mark
from p5lab.present import by_function
from p5lab.present.comparison import CYCLES

CYCLES_EVENT, TOP_FUNCTIONS = "cycles.busy", 20


def of(label: str, run: str, counts: pd.DataFrame) -> Figure:
    """Returns a figure of the functions that took the most cycles.

    `label`: the name of the run. `run`: the identifier of the run. `counts`: the table of
    `p5lab.present.by_function.of_run`.
    """
    inside = measured(counts)
    top = by_function.top(inside, ("function", "module", "ring"), CYCLES_EVENT, TOP_FUNCTIONS)
    marks = [
        mark(
            benchmark=label,
            series=_function(row),
            metric=CYCLES,
            unit=UNITS[CYCLES],
            value=float(row["count"]),
            runs=run,
        )
        for row in top.to_dict("records")
    ]
    which = "all functions of guest and programs that ran"
    if len(top) > TOP_FUNCTIONS:  # the last row sums all other functions
        which = f"the {TOP_FUNCTIONS} functions of guest and programs that took the most cycles"
    caption = (
        f"The figure shows {which}, with their module and ring. The counts are sums over all"
        " brackets, and nothing is subtracted. The sum over all functions equals the cycles that"
        " the counters count.",
    )
    name = identifier(f"functions-{label}-{run[:10]}")
    return Figure(name, f"Functions of {label}", "bars", frame(marks), caption, runs=(run,))


def measured(counts: pd.DataFrame) -> pd.DataFrame:
    """Returns the counts of all brackets except the empty bracket. The brackets of a program lie
    inside the bracket of the whole program. If there is such a bracket, only its counts remain."""
    if (counts["phase"] == WHOLE_PHASE).any():
        return counts[counts["phase"] == WHOLE_PHASE]
    return counts[counts["phase"] != EMPTY_PHASE]


def _function(row: Mapping[Hashable, Any]) -> str:
    if not row["module"]:
        return str(row["function"])  # the last row sums all other functions
    return f"{row['function']} ({row['module']}, ring {row['ring']})"
