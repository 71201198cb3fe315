# SPDX-License-Identifier: MIT
"""The answer of a page in three sentences: which system, how many times, and because of what."""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from statistics import geometric_mean

from p5lab.errors import UserError, listed
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import breakdown, cpi_stack, explanation
from p5lab.present.comparison import Cell, Comparison, Question
from p5lab.present.several_systems import COSTS
from p5lab.present.tables import times
from p5stats import declared

# Where a component can be, and the least share that makes a place worth naming.
PLACES, LARGE = ("function", "crossing", "module"), 0.25
FEW = 4  # ratios in a sentence; of more, the lowest and the highest
Ratios = Mapping[Question, tuple[Cell, Cell, float]]


def of(compared: Comparison, stacked: Sequence[Stored]) -> list[str]:
    """Returns the answer of a page that compares systems: the ratios to the first system, the
    benchmark with the largest ratio, and its largest cause. `stacked`: runs with a CPI stack, for
    the cause of a difference that is not small. Empty for one system, and if nothing can be
    compared."""
    if len(compared.systems) < 2 or compared.has_shadows or not compared.questions:
        return []
    names = [name.replace("\n", ", ") for name in compared.names().values()]
    by_name = {name: ratios(compared, at) for at, name in enumerate(names) if at}
    by_name = {name: own for name, own in by_name.items() if own}
    if not by_name:
        return []
    means = {
        name: geometric_mean(ratio for *_, ratio in own.values()) for name, own in by_name.items()
    }
    count = max(map(len, by_name.values()))
    over = f", as geometric means over {count} benchmarks" if count > 1 else ""
    said = [f"{_takes(compared, names[0], means)}{over}.", *_not_compared(compared, names[0])]
    name = max(means, key=lambda name: abs(math.log(means[name])))
    question = max(by_name[name], key=lambda question: abs(math.log(by_name[name][question][2])))
    first, other, ratio = by_name[name][question]
    if count > 1:
        said.append(
            f"The largest difference of {name} is in {compared.label(question)}: {times(ratio)}"
            " times."
        )
    return said + _cause(stacked, first, other, question, (names[0], name))


def _takes(compared: Comparison, first: str, means: Mapping[str, float]) -> str:
    """How many times the cost of the first system the others take, without the point."""
    of = f"the {COSTS[compared.cost][0].lower()} of {first}"
    if len(means) > FEW:
        low, high = (choose(means, key=lambda name: means[name]) for choose in (min, max))
        lowest, highest = f"{times(means[low])} ({low})", f"{times(means[high])} times ({high})"
        return f"One operation takes {lowest} to {highest} {of} on {len(means)} other systems"
    (second, mean), *others = means.items()
    if compared.compares_versions:
        parts = [f"{name} {times(each)} times" for name, each in others]
        return f"{listed([f'{second} takes {times(mean)} times', *parts], 'and', str)} {of}"
    parts = [f"{times(each)} times on {name}" for name, each in others]
    parts.insert(0, f"{times(mean)} times {of} on {second}")
    return f"One operation takes {listed(parts, 'and', str)}"


def _not_compared(compared: Comparison, first: str) -> list[str]:
    """A sentence about the benchmarks that the first system has not run."""
    cells = {
        question: compared.cell(question, compared.systems[0]) for question in compared.questions
    }
    names = list(dict.fromkeys(question.what for question, cell in cells.items() if cell is None))
    if not names:
        return []
    has = f"{names[0]} has" if len(names) == 1 else f"{listed(names, 'and', str)} have"
    labels = any(system.version for system in compared.systems)
    why = " (a label makes a system of its own)" if labels else ""
    return [f"{has} no ratio, because {first} has no run of it{why}."]


def ratios(compared: Comparison, at: int) -> Ratios:
    """The cells of the first system and of the system `at`, with their ratio, for each benchmark
    that both have."""
    result = {}
    for question in compared.last_points:
        first, other = (compared.cell(question, compared.systems[place]) for place in (0, at))
        if first and other and first.has(compared.cost) and other.has(compared.cost):
            before, after = first.mean(compared.cost), other.mean(compared.cost)
            if before > 0 and after > 0:
                result[question] = first, other, after / before
    return result


def explained(
    stacked: Sequence[Stored],
    first: Cell,
    other: Cell,
    question: Question,
    names: tuple[str, str],
    by: Sequence[str] = (),
) -> explanation.Explanation | None:
    """The explanation of the difference between two cells, if both are among the runs with a CPI
    stack, `stacked` (and have counts `by` these dimensions)."""
    wanted = [_same(cell.seeds[0].stored) for cell in (first, other)]
    runs = [[run for run in stacked if _same(run) == same] for same in wanted]
    asked = breakdown.BreakdownQuestion((*by, cpi_stack.RING)) if by else None
    if not all(runs) or (asked and not all(breakdown.has(run, asked) for run in chain(*runs))):
        return None
    with suppress(UserError):  # other clocks, or no counts by these dimensions
        for difference in explanation.between(runs[0], runs[1], names, asked):
            if difference.first[0].phase == question.phase:
                return difference
    return None


def _cause(
    stacked: Sequence[Stored],
    first: Cell,
    other: Cell,
    question: Question,
    names: tuple[str, str],
) -> list[str]:
    """The component with the largest part of the difference of a benchmark, in the direction of the
    difference, and the first of PLACES with a large part of this component, if both systems have
    counted them."""
    difference = explained(stacked, first, other, question, names)
    if difference is None or difference.is_small or difference.largest is None:
        return []
    cause, (before, after) = difference.largest, difference.cycles
    share = 100 * cause.difference / (after - before)
    counts = declared.events()[cause.component].counts.partition(";")[0]
    where = ""
    for dimension in PLACES:
        placed = explained(stacked, first, other, question, names, (dimension,))
        every = placed.causes if placed else ()
        parts = [
            (inner.difference / cause.difference, inner.where)
            for inner in every
            if inner.component == cause.component
        ]
        part, place = max(parts, default=(0, ""))
        if part >= LARGE:
            where = f"; {100 * min(part, 1):.0f} % of it in {place}"
            break
    return [
        f"The largest part of the difference of {names[1]}, {share:.0f} %, belongs to the component"
        f" {explanation.short(cause)}: {counts}{where}."
    ]


def _same(stored: Stored) -> tuple[object, ...]:
    record, machine = stored.record, stored.record["machine"]
    name = selection.called(record), record["guest"]["name"], machine["name"], machine["geometry"]
    return (selection.subject(record), *name, record["seed"])
