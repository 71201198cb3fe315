# SPDX-License-Identifier: MIT
"""The first figure of a page that compares systems: the ratio of each benchmark and system to the
first system, with the colour of the component that has the largest part of the difference."""

from collections.abc import Sequence

from p5lab.keep.store import Stored
from p5lab.page import answer
from p5lab.page.figure import TIMES, WIDE_RANGE, Figure, mark, of_marks, title_of
from p5lab.present import explanation
from p5lab.present.comparison import Comparison
from p5stats import cpi

SMALL = f"a difference below {100 * explanation.SMALL:.0f} %"
UNKNOWN = "component not counted"
UNCERTAIN = "no component for certain"


def of(compared: Comparison, stacked: Sequence[Stored]) -> list[Figure]:
    """Returns the figure, or nothing if no benchmark has two systems. `stacked`: the runs with a
    CPI stack, for the colours; a group of components has one colour."""
    names = [name.replace("\n", ", ") for name in compared.names().values()]
    what = f"{title_of(compared.cost)} relative to {names[0]}"
    by_system = {name: answer.ratios(compared, at) for at, name in enumerate(names) if at}
    marks = []
    for question in compared.last_points:
        for name in (system for system in by_system if question in by_system[system]):
            first, other, ratio = by_system[name][question]
            pair, is_small = (names[0], name), abs(ratio - 1) < explanation.SMALL
            why = None if is_small else answer.explained(stacked, first, other, question, pair)
            label = compared.label(question)
            marks.append(
                mark(
                    benchmark=label if len(by_system) == 1 else f"{label}, {name}",
                    phase=question.phase,
                    point=1.0,
                    series=SMALL if is_small else _series(why),
                    metric=what,
                    unit=TIMES,
                    value=ratio,
                    why=explanation.short(why.largest) if why and why.largest else "",
                    runs=other.runs,
                )
            )
    if not marks:
        return []
    said = (
        "A bar goes from 1, where the systems are equal, to the ratio for one operation. Its colour"
        " is the group of components with the largest part of the difference in busy cycles. The"
        f" axis is logarithmic if the ratios span more than a factor of {WIDE_RANGE}."
    )
    if any(row["series"] == UNKNOWN for row in marks):
        said += " Components need runs with --cpi."
    return [of_marks("ratios", f"Ratios: {what}", "ratios", marks, said)]


def _series(why: explanation.Explanation | None) -> str:
    """The group of the largest cause."""
    if why is None:
        return UNKNOWN
    if not why.largest:
        return UNCERTAIN
    component = why.largest.component
    return next(group for group, parts in cpi.GROUPS.items() if component in parts)
