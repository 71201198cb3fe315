# SPDX-License-Identifier: MIT
"""Figures of the steps of a call: which part of the system runs, and for how many clocks. With
--cpi, the figure also shows what the clocks are spent on."""

from collections.abc import Iterator, Sequence

from p5lab.keep.store import Stored
from p5lab.page.figure import Figure, mark, of_marks
from p5lab.present import comparison, timeline
from p5stats import cpi, phase_names

PLACE = 3
METRIC, UNIT = "clocks since the start of the bracket", "clocks"
STEPS = 200  # a figure shows at most this number of steps
PHASES = 3  # a page shows at most this number of phases of a run


def has(run: Stored) -> bool:
    """Whether a run with status ok has a trace of crossings."""
    return run.status == "ok" and timeline.has(run)


def of(runs: Sequence[Stored]) -> list[Figure]:
    """Returns a figure for each of the first PHASES phases of each run.

    A mark is one step: `point` is the clock at which the step begins, `value` is the number of its
    clocks, and `why` is the event that ends the step. If the run has CPI stacks, a mark is one
    group of components in a step, and `series` is the group. Raises StatsError if the trace is
    damaged.
    """
    return [
        _figure(stored, phase, steps)
        for stored in runs
        for phase, steps in list(timeline.phases(stored).items())[:PHASES]
    ]


def _figure(stored: Stored, phase: int, steps: list[timeline.Row]) -> Figure:
    label = comparison.name(stored.record)
    name = phase_names.of(stored.record).get(phase, f"phase {phase}")
    marks = [
        mark(
            benchmark=step["runs"],
            phase=name,
            point=float(begin),
            series=series,
            metric=METRIC,
            unit=UNIT,
            value=float(length),
            why=step["until"],
            runs=stored.id,
        )
        for step in steps[:STEPS]
        for series, begin, length in _parts(step)
    ]
    said = (
        "The figure shows the steps of one typical bracket, from left to right. Each bar is the"
        " time in which one part of the system runs without interruption. The command ./p5lab show"
        f" {stored.id[:10]} --timeline prints all steps with their misses."
    )
    if timeline.has_stacks(steps):
        said += (
            " The colours show what the clocks of a step are spent on. The parts of a step are in a"
            " fixed order, which is not the order in time. Idle clocks have no colour."
        )
    if len(steps) > STEPS:
        said += f" The figure shows the first {STEPS} of {len(steps)} steps."
    link = f"timeline-{label}-{stored.id[:10]}-{phase}"
    return of_marks(link, f"Timeline of {label}: {name}", "timeline", marks, said)


def _parts(step: timeline.Row) -> Iterator[tuple[str, int, int]]:
    """The series, the begin and the length of each mark of a step."""
    if timeline.IDLE not in step:
        yield step["runs"], step["at"], step["clocks"]
        return
    at = step["at"]
    for column, group in cpi.SHORT.items():
        if step[column]:
            yield group, at, step[column]
            at += step[column]
