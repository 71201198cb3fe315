# SPDX-License-Identifier: MIT
"""Figures of the functions and of the source lines that took the most cycles of a run."""

from collections.abc import Mapping, Sequence

import pandas as pd

from p5lab.describe.workload import EMPTY_NAME, WHOLE_NAME
from p5lab.keep.store import Stored
from p5lab.page.figure import UNITS, Figure, frame, identifier, mark
from p5lab.present import comparison
from p5lab.present.comparison import CYCLES
from p5stats import dimensions
from p5stats.dimensions import BUSY, Counted

MOST = 20  # bars, without the one for the rest
CODE_LETTERS = 40  # a longer line of source is cut
SUMS = "The counts are sums over all brackets, and nothing is subtracted."


def of(stored: Stored, counted: Counted, sources: Mapping[str, str]) -> list[Figure]:
    """Returns a figure of the functions that took the most cycles, and one of the source lines if
    the run counted by line. `counted`: the run's counts by function (`dimensions.read`).
    `sources`: the text of each source file by its path; a file may be missing."""
    label = comparison.name(stored.record)
    functions = _cycles(counted, ("function", "module", "ring"))
    names = [f"{name} ({module}, ring {ring})" for name, module, ring in functions.index]
    said = (
        f"The figure shows {_which(functions, 'functions of guest and programs')}, with their"
        f" module and ring. {SUMS} The sum over all functions equals the cycles that the counters"
        " count."
    )
    found = [_figure(stored, "functions", f"Functions of {label}", functions, names, said)]
    if "line" in counted.frame:
        every = _cycles(counted, ("line",))
        lines = every[every.index.get_level_values(0) != ""]
        if len(lines):
            names = [_named(str(place), sources) for (place,) in lines.index]
            said = (
                f"The figure shows {_which(lines, 'source lines of the program')}. {SUMS} All"
                f" source lines together have {100 * lines.sum() / every.sum():.1f} % of the"
                " cycles. The other cycles belong to code without source lines, such as the"
                " kernel."
            )
            found.append(_figure(stored, "lines", f"Source lines of {label}", lines, names, said))
    return found


def _cycles(counted: Counted, by: tuple[str, ...]) -> "pd.Series[int]":
    """The cycles by these dimensions, the largest first, in all brackets except the empty one. The
    brackets of a program lie inside the bracket of the whole program, so only this one counts."""
    rows = dimensions.divided(counted, by).frame
    inside = rows["phase"] == WHOLE_NAME
    rows = rows[(inside if inside.any() else rows["phase"] != EMPTY_NAME) & (rows["event"] == BUSY)]
    sums = rows.groupby(list(by))["count"].sum().sort_values(ascending=False, kind="stable")
    sums.index = pd.MultiIndex.from_tuples(
        [key if isinstance(key, tuple) else (key,) for key in sums.index], names=by
    )
    return sums


def _which(sums: "pd.Series[int]", what: str) -> str:
    if len(sums) > MOST:
        return f"the {MOST} {what} that took the most cycles"
    return f"all {what} that ran"


def _figure(
    stored: Stored, kind: str, title: str, sums: "pd.Series[int]", names: Sequence[str], said: str
) -> Figure:
    label = comparison.name(stored.record)
    bars = list(zip(names, sums, strict=True))
    if rest := bars[MOST:]:
        bars = [*bars[:MOST], ("(others)", sum(value for _, value in rest))]
    marks = [
        mark(
            benchmark=label,
            series=name,
            metric=CYCLES,
            unit=UNITS[CYCLES],
            value=float(value),
            runs=stored.id,
        )
        for name, value in bars
    ]
    link = identifier(f"{kind}-{label}-{stored.id[:10]}")
    return Figure(link, title, "bars", frame(marks), (said,), runs=(stored.id,))


def _named(place: str, sources: Mapping[str, str]) -> str:
    """Returns the place of a line and its text, such as `a.c:7: i++;`."""
    file, _, number = place.rpartition(":")
    for path, text in sources.items():
        lines = text.split("\n")
        if f"/{path}".endswith(f"/{file}") and number.isdecimal() and 0 < int(number) <= len(lines):
            code = " ".join(lines[int(number) - 1].split())
            return f"{place}: {code[:CODE_LETTERS]}{'...' if len(code) > CODE_LETTERS else ''}"
    return place
