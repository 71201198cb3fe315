# SPDX-License-Identifier: MIT
"""A figure of the source lines that took the most cycles of a run."""

from collections.abc import Mapping

import pandas as pd

from p5lab.keep.store import Stored
from p5lab.page.figure import UNITS, Figure, frame, identifier, mark
from p5lab.page.functions_figure import CYCLES_EVENT, measured
from p5lab.present import by_function, comparison
from p5lab.present.comparison import CYCLES

LINE = "line"  # the column of p5stats.attribution with FILE:LINE; empty for code without a line
TOP_LINES = 20
CODE_LETTERS = 40  # a longer line of source is cut


def of(stored: Stored, counts: pd.DataFrame, sources: Mapping[str, str]) -> list[Figure]:
    """Returns a figure of the source lines that took the most cycles, or [] if the run did not
    count by source line.

    `counts`: the table of `p5lab.present.by_function.of_run`. `sources`: the text of each source
    file by its path; a file may be missing.
    """
    if LINE not in counts:
        return []
    inside = measured(counts)
    own = inside[inside[LINE] != ""]
    if own[own["event"] == CYCLES_EVENT].empty:
        return []
    label = comparison.name(stored.record)
    top = by_function.top(own, (LINE,), CYCLES_EVENT, TOP_LINES)
    marks = [
        mark(
            benchmark=label,
            series=_named(str(row[LINE]), sources),
            metric=CYCLES,
            unit=UNITS[CYCLES],
            value=float(row["count"]),
            runs=stored.id,
        )
        for row in top.to_dict("records")
    ]
    everything = inside[inside["event"] == CYCLES_EVENT]["count"].sum()
    share = top["count"].sum() / everything if everything else 0
    which = "all source lines of the program that ran"
    if len(top) > TOP_LINES:  # the last row sums all other lines
        which = f"the {TOP_LINES} source lines of the program that took the most cycles"
    caption = (
        f"The figure shows {which}. The counts are sums over all brackets, and nothing is"
        f" subtracted. All source lines together have {100 * share:.1f} % of the cycles. The other"
        " cycles belong to code without source lines, such as the kernel.",
    )
    name = identifier(f"lines-{label}-{stored.id[:10]}")
    title = f"Source lines of {label}"
    return [Figure(name, title, "bars", frame(marks), caption, runs=(stored.id,))]


def _named(place: str, sources: Mapping[str, str]) -> str:
    """Returns the place of a line and its text, such as `a.c:7: i++;`."""
    file, _, number = place.rpartition(":")
    for path, text in sources.items():
        lines = text.split("\n")
        if f"/{path}".endswith(f"/{file}") and number.isdecimal() and 0 < int(number) <= len(lines):
            code = " ".join(lines[int(number) - 1].split())
            return f"{place}: {code[:CODE_LETTERS]}{'...' if len(code) > CODE_LETTERS else ''}"
    return place
