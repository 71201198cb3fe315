# SPDX-License-Identifier: MIT
"""Figures of the difference between two systems: a step for each cause, from the busy cycles of the
first system to the busy cycles of the second system (a waterfall). Below the step of a component
stand its parts, such as the functions or calls in it."""

from collections.abc import Iterator, Sequence

from p5lab.page.figure import PART, UNITS, Figure, frame, identifier, mark
from p5lab.present import cpi_stack, explanation
from p5lab.present.comparison import CYCLES, NOMINAL
from p5lab.present.explanation import NAMED, Cause, Explanation

WHOLE, MORE, FEWER = "busy cycles", "more cycles", "fewer cycles"
COMPONENTS, PARTS = 8, 3  # of an explanation by place: steps, and parts below each step
LISTED = 0.1  # a part has at least this share of its step
SEEN = 0.1  # if no step has this share of the busy cycles, the figure begins at 0
DIFFERENCE = "the difference"


def of(why: Explanation) -> Figure:
    """Returns the figure of an explanation.

    The first and the last mark are the busy cycles of the two systems. If they would hide the
    steps, the figure has the steps alone, and the last mark is the sum. Each step between them
    begins at `point`, where the step before it ends, and `value` is the difference in cycles. A
    step is a named cause. If the causes have places, a step is a component, and the marks of the
    series PART after it are its largest places and the sum of the others. The last step contains
    all other causes.
    """
    first, second = why.cycles
    is_seen = any(abs(_change(own)) >= SEEN * first for own in _steps(why))
    marks = [_mark(why.names[0], WHOLE, 0.0, first)] if is_seen else []
    at, end = (first, second) if is_seen else (0.0, second - first)
    for causes in _steps(why):
        name = explanation.short(causes[0])
        change = _change(causes)
        marks.append(_step(name, at, change, _range(why, causes)))
        if any(cause.place for cause in causes):
            marks += _parts(why, name, at, causes)
        at += change
    if at != end:
        others = sum(1 for cause in why.causes if cause.difference) - sum(map(len, _steps(why)))
        marks.append(_step(f"({others} others)", at, end - at))
    marks.append(_mark(why.names[1] if is_seen else DIFFERENCE, WHOLE, 0.0, end))
    metric = NOMINAL if why.unit == cpi_stack.NOMINAL_CYCLES else CYCLES
    marks = [{**own, "metric": metric, "unit": UNITS[metric]} for own in marks]
    link = identifier(f"explain-{why.what}-{'-'.join(why.names)}")
    title = f"{why.what}: the difference between {' and '.join(why.names)}"
    runs = tuple(stack.stored.id for stack in (*why.first, *why.second))
    caption = (explanation.in_words(why),)
    return Figure(link, title, "waterfall", frame(marks), caption, runs=runs)


def _change(causes: Sequence[Cause]) -> float:
    return sum(cause.difference for cause in causes)


def _steps(why: Explanation) -> list[list[Cause]]:
    """The causes of each step. With places: of the components with the largest differences, up to
    the part NAMED of all changes; those whose range includes zero are left out."""
    if not any(cause.place for cause in why.causes):
        return [[cause] for cause in why.named]
    by_component: dict[str, list[Cause]] = {}
    for cause in why.causes:
        if cause.difference:
            by_component.setdefault(cause.component, []).append(cause)
    changes = {name: abs(_change(own)) for name, own in by_component.items()}
    wanted = NAMED * sum(changes.values())
    steps: list[list[Cause]] = []
    for name in sorted(changes, key=lambda name: -changes[name]):
        low, high = _range(why, by_component[name])
        if wanted > 0 and len(steps) < COMPONENTS and (low > 0 or high < 0):
            steps.append(by_component[name])
            wanted -= changes[name]
    return steps


def _parts(
    why: Explanation, component: str, at: float, causes: Sequence[Cause]
) -> Iterator[dict[str, object]]:
    """The largest places of a component, and the sum of the others."""
    least = LISTED * abs(_change(causes))
    certain = [cause for cause in causes if cause.is_certain and abs(cause.difference) >= least]
    named = certain[:PARTS]
    if not named:
        return
    for cause in named:
        own = _step(f"{component}: {cause.where}", at, cause.difference, _range(why, [cause]))
        yield own | {"series": PART}
        at += cause.difference
    if rest := [cause for cause in causes if cause not in named]:
        name = f"{component}: ({len(rest)} others)"
        yield _mark(name, PART, at, _change(rest))


def _range(why: Explanation, causes: Sequence[Cause]) -> tuple[float, float]:
    """The lowest and the highest sum of the differences over all pairs of seeds."""
    keys = {(cause.component, cause.place) for cause in causes}
    a, b = (
        [
            sum(
                n for (component, _, place), n in stack.cycles.items() if (component, place) in keys
            )
            for stack in stacks
        ]
        for stacks in (why.first, why.second)
    )
    return min(b) - max(a), max(b) - min(a)


def _step(
    name: str, at: float, difference: float, spread: tuple[float, float] = (0.0, 0.0)
) -> dict[str, object]:
    row = _mark(name, MORE if difference >= 0 else FEWER, at, difference)
    low, high = spread
    return row | ({"lowest seed": low, "highest seed": high} if low < high else {})


def _mark(name: str, series: str, at: float, value: float) -> dict[str, object]:
    return mark(benchmark=name, series=series, point=at, value=value)
