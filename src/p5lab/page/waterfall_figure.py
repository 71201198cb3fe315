# SPDX-License-Identifier: MIT
"""Figures of the difference between two systems: a step for each cause, from the busy cycles of the
first system to the busy cycles of the second system (a waterfall)."""

from p5lab.page.figure import UNITS, Figure, frame, identifier, mark
from p5lab.present import cpi_stack, explanation
from p5lab.present.comparison import CYCLES, NOMINAL
from p5lab.present.explanation import Cause, Explanation

WHOLE, MORE, FEWER = "busy cycles", "more cycles", "fewer cycles"


def of(one: Explanation) -> Figure:
    """Returns the figure of an explanation.

    The first and the last mark are the busy cycles of the two systems. Each mark between them is a
    named cause: it begins at `point`, where the mark before it ends, and `value` is the difference
    in cycles. The last of these marks contains all other causes.
    """
    first, second = one.cycles
    marks = [_mark(one.names[0], WHOLE, 0.0, first)]
    at = first
    for cause in one.named:
        low, high = (cause.low, cause.high) if cause.low < cause.high else (None, None)
        marks.append(_step(_name(cause), at, cause.difference, low, high))
        at += cause.difference
    if one.rest:
        marks.append(_step(f"({len(one.rest)} others)", at, second - at))
    marks.append(_mark(one.names[1], WHOLE, 0.0, second))
    metric = NOMINAL if one.unit == cpi_stack.NOMINAL_CYCLES else CYCLES
    marks = [{**own, "metric": metric, "unit": UNITS[metric]} for own in marks]
    names = " and ".join(one.names)
    link = identifier(f"explain-{one.what}-{'-'.join(one.names)}")
    title = f"{one.what}: the difference between {names}"
    runs = tuple(stack.stored.id for stack in (*one.first, *one.second))
    caption = (explanation.in_words(one),)
    return Figure(link, title, "waterfall", frame(marks), caption, runs=runs)


def _step(
    name: str, at: float, difference: float, low: float | None = None, high: float | None = None
) -> dict[str, object]:
    series = MORE if difference >= 0 else FEWER
    row = _mark(name, series, at, difference)
    if low is not None and high is not None:
        row |= {"lowest seed": low, "highest seed": high}
    return row


def _mark(name: str, series: str, at: float, value: float) -> dict[str, object]:
    return mark(benchmark=name, series=series, point=at, value=value)


def _name(cause: Cause) -> str:
    return ", ".join(filter(None, (explanation.short(cause), cause.place)))
