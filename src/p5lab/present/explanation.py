# SPDX-License-Identifier: MIT
"""Why does one system need more cycles than another? For `./p5lab explain`.

The difference in busy cycles between two systems is the sum of the differences of all components of
their CPI stacks, in each ring. The components with the largest differences are the causes. With
several placement seeds, each difference has a range: the lowest and the highest over all pairs of a
run of the first system and a run of the second system. If the range includes zero, the component is
not named as a cause.
"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rich.console import Console

from p5lab.describe.observation.clocks import is_nominal
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import breakdown, cpi_stack, tables
from p5lab.present.breakdown import BreakdownQuestion
from p5lab.present.breakdown_table import GONE, NEW
from p5lab.present.comparison import differing, system_of
from p5lab.present.cpi_stack import Stack
from p5lab.present.tables import (
    LATEX,
    MARKDOWN,
    MISSING,
    Grid,
    clocks,
    number,
    safe,
    signed,
    times,
)
from p5lab.terminal import for_terminal, markup
from p5stats import cpi, declared
from p5stats.declared import NOMINAL

ByRing = dict[int, float]  # cycles
SPREAD = "±"  # the head of the column of Cause.spread
NAMED = 0.9  # the named causes explain at least this part of the changes, if their ranges allow it
SMALL = 0.02  # the causes of a smaller relative difference are not listed
NOT_LISTED = f"This is less than {100 * SMALL:.0f} %, so the causes are not listed"
BRIEF = 3  # causes
LISTED = 0.05  # the summary leaves out groups and rings with a smaller part of the difference
NOTE = (
    "Each number is the mean of one operation over the iterations and seeds{}. The components are"
    " those of docs/concepts/cpi-stack.md. % is the part of the whole difference. The column of a"
    " ring is the part in this ring; the rest is in the outer ring."
)
WITHOUT, WITH = ", without the empty bracket", "; nothing is subtracted"
RANGES = f" {SPREAD}: the largest distance from the mean over all pairs of seeds."
SINGLE = " One seed: there are no ranges, and a small difference can be chance."


@dataclass(frozen=True)
class Cause:
    """A component, and a place if the runs are compared by place (p5lab.present.cpi_stack.Stack).
    `first`, `second`: the mean cycles of one operation. `low`, `high`: the range of the difference
    over all pairs of seeds. `rings`: the mean difference in each ring. `state`: NEW if only the
    second system has the place, GONE if only the first one has it, otherwise empty."""

    component: str
    place: str
    first: float
    second: float
    low: float
    high: float
    rings: ByRing
    state: str = ""

    @property
    def where(self) -> str:
        """The place, with its state."""
        return f"{self.place} ({self.state})" if self.state else self.place

    @property
    def difference(self) -> float:
        """The mean of the second system minus the mean of the first system."""
        return self.second - self.first

    @property
    def spread(self) -> float:
        """The largest distance of the difference between two seeds from the mean difference."""
        return max(self.high - self.difference, self.difference - self.low)

    @property
    def is_certain(self) -> bool:
        """Whether the range of the difference does not include zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Explanation:
    """The difference between two systems for one phase of one workload. `causes`: all components,
    the largest difference first. `named`: the causes that are named."""

    what: str
    names: tuple[str, str]
    first: tuple[Stack, ...]
    second: tuple[Stack, ...]
    causes: tuple[Cause, ...]
    named: tuple[Cause, ...]

    @property
    def rest(self) -> list[Cause]:
        """The causes that are not named, also those without a difference: all causes add up to
        the busy cycles."""
        others = (cause for cause in self.causes if not self.is_named(cause))
        return [cause for cause in others if cause.first or cause.second]

    def is_named(self, cause: Cause) -> bool:
        """Whether a cause is one of those that are named."""
        return (cause.component, cause.place) in self._named_keys

    @cached_property
    def _named_keys(self) -> set[tuple[str, str]]:
        return {(cause.component, cause.place) for cause in self.named}

    @property
    def largest(self) -> Cause | None:
        """The largest cause in the direction of the difference, of those that are certain."""
        return self._largest(1)

    @property
    def largest_against(self) -> Cause | None:
        """The largest cause in the other direction, of those that are certain."""
        return self._largest(-1)

    def _largest(self, sign: int) -> Cause | None:
        wanted = sign * (self.cycles[1] - self.cycles[0])
        certain = (cause for cause in self.causes if cause.is_certain)
        return next((cause for cause in certain if cause.difference * wanted > 0), None)

    @property
    def rings(self) -> list[int]:
        """The rings in which a component differs."""
        return sorted(
            {ring for cause in self.causes for ring, value in cause.rings.items() if value}
        )

    @property
    def unit(self) -> str:
        """The unit of all cycles: cycles or nominal cycles."""
        return self.first[0].unit

    @property
    def cycles(self) -> tuple[float, float]:
        """The mean busy cycles of one operation of both systems."""
        return self._means(lambda stack: stack.busy)

    @property
    def idle(self) -> tuple[float, float]:
        """The mean idle cycles of one operation of both systems."""
        return self._means(lambda stack: stack.idle)

    @property
    def instructions(self) -> tuple[float, float]:
        """The mean instructions of one operation of both systems."""
        return self._means(lambda stack: stack.instructions)

    @property
    def is_small(self) -> bool:
        """Whether the relative difference is too small to list its causes."""
        first, second = self.cycles
        return abs(second - first) < SMALL * first

    @property
    def seeds(self) -> tuple[int, int]:
        """The number of placement seeds of both systems. Runs with different labels can have one
        seed."""
        first, second = (
            len({stack.stored.record["seed"] for stack in own}) for own in (self.first, self.second)
        )
        return first, second

    @property
    def is_ranged(self) -> bool:
        """Whether a system has several seeds, so that the differences have ranges."""
        return max(self.seeds) > 1

    @property
    def busy(self) -> tuple[list[float], list[float]]:
        """The busy cycles of each run of both systems."""
        return [stack.busy for stack in self.first], [stack.busy for stack in self.second]

    def _means(self, of: Callable[[Stack], float]) -> tuple[float, float]:
        first, second = (sum(map(of, own)) / len(own) for own in (self.first, self.second))
        return first, second


def between(
    first: Sequence[Stored],
    second: Sequence[Stored],
    names: tuple[str, str],
    question: BreakdownQuestion | None = None,
    top: int | None = None,
) -> Iterator[Explanation]:
    """Explains each phase that both systems have. `first`, `second`: the runs of each system, with
    one run for each workload and seed. `question`: divides each component further, as in
    p5lab.present.cpi_stack.of_places. `top`: how many causes are named, at most; without it, as
    many as NAMED asks for. Raises UserError for a run without a CPI stack, for a run without counts
    by place, for a name of the question that no run has, and if only one system has nominal
    clocks."""
    if len({is_nominal(stored.record) for stored in (*first, *second)}) > 1:
        raise UserError(
            f"{names[0]} and {names[1]}: one has nominal cycles, and the other has cycles of a"
            " Pentium; expected two systems with the same clocks"
        )
    if question:
        question = breakdown.of_versions([*first, *second], question)
        breakdown.check_names([*first, *second], question)
    before, after = _by_phase(first, question), _by_phase(second, question)
    for (what, phase), stacks in before.items():
        if (what, phase) in after:
            several = sum(known == what for known, _ in before) > 1
            title = f"{what}, {phase}" if several else what
            yield _explained(title, names, tuple(stacks), tuple(after[what, phase]), top)


def _by_phase(
    runs: Sequence[Stored], question: BreakdownQuestion | None
) -> dict[tuple[str, str], list[Stack]]:
    by_phase: dict[tuple[str, str], list[Stack]] = {}
    for stored in runs:
        for stack in _stacks(stored, question):
            by_phase.setdefault((selection.subject(stored.record), stack.phase), []).append(stack)
    return by_phase


def _stacks(stored: Stored, question: BreakdownQuestion | None) -> list[Stack]:
    return cpi_stack.of_places(stored, question) if question else cpi_stack.of_run(stored)


def _explained(
    what: str,
    names: tuple[str, str],
    first: tuple[Stack, ...],
    second: tuple[Stack, ...],
    top: int | None = None,
) -> Explanation:
    ours, theirs = [_by_ring(stack) for stack in first], [_by_ring(stack) for stack in second]
    before, after = ({place for run in runs for _, place in run} for runs in (ours, theirs))
    causes = [
        replace(
            _cause(*key, [own.get(key, {}) for own in ours], [own.get(key, {}) for own in theirs]),
            state="" if key[1] in before & after else NEW if key[1] in after else GONE,
        )
        for key in dict.fromkeys(key for own in (*ours, *theirs) for key in own)
    ]
    causes.sort(key=lambda cause: -abs(cause.difference))
    return Explanation(what, names, first, second, tuple(causes), _named(causes, top))


def _by_ring(stack: Stack) -> dict[tuple[str, str], ByRing]:
    """The cycles of each component and place."""
    by_ring: dict[tuple[str, str], ByRing] = {}
    for (component, ring, place), value in stack.cycles.items():
        by_ring.setdefault((component, place), {})[ring] = value
    return by_ring


def _cause(component: str, place: str, ours: Sequence[ByRing], theirs: Sequence[ByRing]) -> Cause:
    """The cause from the cycles of one component and place in each run of both systems."""
    a, b = ([sum(own.values()) for own in runs] for runs in (ours, theirs))
    rings = {
        ring: sum(own.get(ring, 0.0) for own in theirs) / len(theirs)
        - sum(own.get(ring, 0.0) for own in ours) / len(ours)
        for ring in sorted({ring for own in (*ours, *theirs) for ring in own})
    }
    low, high = min(b) - max(a), max(b) - min(a)
    return Cause(component, place, sum(a) / len(a), sum(b) / len(b), low, high, rings)


def _named(causes: Sequence[Cause], top: int | None = None) -> tuple[Cause, ...]:
    """The causes with the largest differences. Their sum is at least the part NAMED of all changes,
    unless the ranges of too many causes include zero. `top`: the number of causes instead."""
    if top is not None:
        return tuple([cause for cause in causes if cause.is_certain][:top])
    wanted = NAMED * sum(abs(cause.difference) for cause in causes)
    named: list[Cause] = []
    for cause in causes:
        if wanted <= 0:
            break
        if cause.is_certain:
            named.append(cause)
            wanted -= abs(cause.difference)
    return tuple(named)


def has_causes(first: Stored, second: Stored) -> bool:
    """Whether the causes of a difference between two runs with CPI stacks are listed."""
    return any(not explanation.is_small for explanation in between([first], [second], ("", "")))


def in_brief(explanation: Explanation) -> list[str]:
    """The difference, and its BRIEF largest causes if it is not small."""
    (a, b), (first, second), unit = explanation.names, explanation.cycles, explanation.unit
    change = second - first
    if not change:
        return [f"{b} takes the same number of busy {unit} as {a}."]
    lines = [
        f"{b} takes {_times(second, first)} the busy {unit} of {a}: {_amount(change)}"
        f" {_more(change)}{_certainty(explanation)}."
    ]
    if explanation.is_small:
        return [f"{lines[0]} {NOT_LISTED}."]
    known = declared.events()
    for cause in explanation.causes[:BRIEF]:
        if cause.difference:
            what = known[cause.component].counts.partition(";")[0].partition(", such as")[0]
            lines.append(
                f"{signed(cause.difference, _cycles)} ({_share(cause.difference, change)} %)"
                f" {short(cause)}: {what}"
            )
    return lines


IN_WORDS = ("table", "markdown")  # formats in which causes are sentences
DESCRIBED = "the machine as described"  # without an overlay


def show_versions(console: Console, runs: Sequence[Stored]) -> None:
    """Prints why each version of a program needs other cycles than the first version on the same
    system, if the runs are of several versions and have CPI stacks."""
    systems: dict[tuple[str, ...], dict[str, list[Stored]]] = {}
    for run in filter(cpi_stack.is_in, runs):
        if name := selection.called(run.record):
            versions = systems.setdefault(system_of(run.record), {})
            versions.setdefault(name, []).append(run)
    for system, versions in systems.items():
        where = f"{', '.join(filter(None, system))}: " if len(systems) > 1 else ""
        _show_brief(console, versions, where)


def show_causes(console: Console, runs: Sequence[Stored]) -> None:
    """Prints why each system or version needs other cycles than the first one, for all runs that
    have CPI stacks."""
    columns: dict[tuple[str, ...], list[Stored]] = {}
    for run in filter(cpi_stack.is_in, runs):
        name = selection.called(run.record), *system_of(run.record)
        columns.setdefault(name, []).append(run)
    if columns:
        names = [" ".join(filter(None, texts)) or DESCRIBED for texts in differing(list(columns))]
        _show_brief(console, dict(zip(names, columns.values(), strict=True)))


def _show_brief(console: Console, versions: dict[str, list[Stored]], where: str = "") -> None:
    """Prints the largest causes of the differences from the first version."""
    if not versions:
        return
    (name, first), *others = versions.items()
    for other, runs_of_it in others:
        for explanation in between(first, runs_of_it, (name, other)):
            phase = f"{explanation.what.rpartition(', ')[2]}: " if ", " in explanation.what else ""
            first_line, *causes = in_brief(explanation)
            console.print(markup(where + phase + first_line), highlight=False)
            for cause in causes:
                text = textwrap.fill(
                    cause, console.width, initial_indent="  ", subsequent_indent="    "
                )
                console.print(markup(text, lines=True), highlight=False)


def measured(runs: Sequence[Stored]) -> list[str]:
    """What runs measure, and in which phases, for a message."""
    return [f"{what} ({phase})" for what, phase in _by_phase(runs, None)]


def _certainty(explanation: Explanation) -> str:
    """Whether the ranges of the busy cycles over the seeds overlap; empty with one seed each."""
    if not explanation.is_ranged:
        return ""
    first, second = explanation.busy
    overlap = min(first) <= max(second) and min(second) <= max(first)
    return f"; the ranges over the seeds {'overlap' if overlap else 'do not overlap'}"


# --- in words and tables ------------------------------------------------------------------------


def show(
    console: Console,
    explanations: Sequence[Explanation],
    form: str,
    question: BreakdownQuestion | None = None,
) -> None:
    """Prints explanations as table, markdown, csv or json. csv and json contain all components.
    `question`: that of `between`."""
    if form in ("csv", "json"):
        tables.show(console, form, [], [], rows(explanations))
        return
    is_placed = any(cause.place for explanation in explanations for cause in explanation.causes)
    note = NOTE.format(WITH if is_placed else WITHOUT)
    note += RANGES if any(explanation.is_ranged for explanation in explanations) else SINGLE
    if question and explanations:
        runs = [stack.stored for stack in (*explanations[0].first, *explanations[0].second)]
        note = " ".join([note, *breakdown.notes(runs, question)])
    said = [in_words(explanation) for explanation in explanations]
    grids = [[] if explanation.is_small else [_grid(explanation)] for explanation in explanations]
    notes, pairs = [note] if any(grids) else [], list(zip(said, grids, strict=True))
    if form == LATEX:
        tables.show(console, form, [grid for own in grids for grid in own], [*said, note])
    elif form == MARKDOWN:
        parts = [part for words, own in pairs for part in (safe(words), *map(Grid.markdown, own))]
        console.file.write("\n\n".join([*parts, *map(safe, notes)]) + "\n")
    else:
        for words, own in pairs:
            console.print(markup(for_terminal(words)), highlight=False)
            tables.print_all(console, own, [] if own else [""])
        tables.print_all(console, [], notes)


def in_words(explanation: Explanation) -> str:
    """The difference in a few sentences: the cycles, the part that more or fewer instructions
    explain, the groups of components and the rings, and the largest cause."""
    what, unit, (a, b) = explanation.what, explanation.unit, explanation.names
    first, second = explanation.cycles
    change = second - first
    if not change:
        return f"{what}: {b} takes the same number of busy {unit} as {a}: {_amount(first)}."
    said = [
        f"{what}: {b} takes {_amount(change)} busy {unit} {_more(change)} than {a}:"
        f" {_amount(second)} instead of {_amount(first)} ({_times(second, first)})."
    ]
    if explanation.is_small:
        return f"{said[0]} {NOT_LISTED}; --format csv contains them."
    idle_before, idle_after = explanation.idle
    if abs(idle := idle_after - idle_before) > SMALL * first:
        said.append(
            f"It also is idle for {_amount(idle)} {unit} {_more(idle)}; with the idle cycles,"
            f" it takes {_times(second + idle_after, first + idle_before)} the time."
        )
    said += _of_instructions(explanation)
    causes = explanation.causes
    groups = {
        group: sum(cause.difference for cause in causes if cause.component in components)
        for group, components in cpi.GROUPS.items()
    }
    rings = {
        f"ring {ring}": sum(cause.rings.get(ring, 0.0) for cause in causes)
        for ring in explanation.rings
    }
    said.append(f"By kind: {_parts(groups, change)}. By ring: {_parts(rings, change)}.")
    return " ".join([*said, *_of_largest(explanation)])


def _of_largest(explanation: Explanation) -> list[str]:
    """The largest cause in the direction of the difference, and one that goes against it if it is
    larger."""

    def told(cause: Cause) -> str:
        where = f" in {cause.place}" if cause.place else ""
        share = _share(cause.difference, explanation.cycles[1] - explanation.cycles[0])
        amount = f"{signed(cause.difference, _cycles)} {explanation.unit} ({share} %)"
        return f"{short(cause)}{where}: {amount}."

    largest, against = explanation.largest, explanation.largest_against
    if largest is None and against is None:
        return ["No component differs for certain: each range includes zero."]
    said = [f"The largest cause is {told(largest)}"] if largest else []
    if against and (largest is None or abs(against.difference) > abs(largest.difference)):
        said.append(f"The largest change in the other direction is {told(against)}")
    return said


def _of_instructions(explanation: Explanation) -> list[str]:
    (first, second), (retired, others) = explanation.cycles, explanation.instructions
    if not retired or not others:
        return []
    change = second - first
    said = [
        f"It executes {_times(others, retired)} the instructions, and needs {second / others:.2f}"
        f" {explanation.unit} for each instead of {first / retired:.2f}."
    ]
    extra = (others - retired) * first / retired
    if extra * change > 0:
        what = "additional" if extra > 0 else "missing"
        part = f"{100 * extra / change:.0f} % of the difference"
        part = "more than the difference" if extra / change > 1 else part
        said.append(
            f"At {first / retired:.2f} {explanation.unit} each, the {what} instructions are"
            f" {_amount(extra)} {explanation.unit}, {part}."
        )
    return said


def _parts(values: dict[str, float], whole: float) -> str:
    """The largest parts of a difference, in percent."""
    order = sorted(values, key=lambda name: -abs(values[name]))
    large = [name for name in order if abs(values[name]) >= LISTED * abs(whole)]
    return ", ".join(f"{name} {_share(values[name], whole)} %" for name in large)


def _grid(explanation: Explanation) -> Grid:
    """The table: a row for each named cause, for all others, and for the sums."""
    (a, b), unit = explanation.names, explanation.unit
    placed = any(cause.place for cause in explanation.causes)
    ranged = explanation.is_ranged
    rings = explanation.rings[:-1]  # the part of the last ring is the rest
    heads = ["component", *(["where"] if placed else []), f"{a}\n{unit}", f"{b}\n{unit}"]
    heads += ["difference", *([SPREAD] if ranged else []), "%", *(f"ring {at}\n%" for at in rings)]
    grid = Grid("", heads, left={1} if placed else set(), keys=2 if placed else 1)
    change = explanation.cycles[1] - explanation.cycles[0]

    def add(name: str, place: str, causes: Sequence[Cause], spread: str = "") -> None:
        first = sum(cause.first for cause in causes)
        second = sum(cause.second for cause in causes)
        cells = [clocks(first), clocks(second), signed(second - first, _cycles)]
        cells += [*([spread] if ranged else []), _share(second - first, change)]
        parts = (sum(cause.rings.get(ring, 0.0) for cause in causes) for ring in rings)
        cells += [_share(part, change) for part in parts]
        grid.add(name, *([place] if placed else []), *cells)

    for cause in explanation.named:
        add(short(cause), cause.where, [cause], clocks(cause.spread))
    if explanation.rest:
        add(f"({len(explanation.rest)} others)", "", explanation.rest)
    add(f"busy {unit}", "", explanation.causes, clocks(_spread(explanation)))
    retired, others = explanation.instructions
    cells = clocks(retired), clocks(others), signed(others - retired, _cycles)
    grid.add(cpi.INSTRUCTIONS, *([""] if placed else []), *cells)
    return grid


def rows(explanations: Sequence[Explanation]) -> list[dict[str, object]]:
    """The rows of explanations for csv, json and Python."""
    rings = sorted({ring for explanation in explanations for ring in explanation.rings})
    return [row for explanation in explanations for row in _rows(explanation, rings)]


def _rows(explanation: Explanation, rings: Sequence[int]) -> list[dict[str, object]]:
    """A row for each component, and rows for the busy cycles, idle cycles and instructions. With
    one seed, there are no lowest and highest differences."""
    what = explanation.what
    prefix = NOMINAL if explanation.unit == cpi_stack.NOMINAL_CYCLES else ""
    totals = {
        prefix + cpi.BUSY: explanation.cycles,
        prefix + cpi.IDLE: explanation.idle,
        cpi.INSTRUCTIONS: explanation.instructions,
    }
    rows: list[dict[str, object]] = []
    for cause in explanation.causes:
        rows.append(_row(what, prefix + cause.component, cause.place, cause.first, cause.second))
        low, high = (cause.low, cause.high) if explanation.is_ranged else (None, None)
        rows[-1] |= {"lowest": low, "highest": high, "named": explanation.is_named(cause)}
        rows[-1] |= {f"ring {ring}": cause.rings.get(ring, 0.0) for ring in rings}
        rows[-1] |= {"state": cause.state}
    empty = dict.fromkeys(["lowest", "highest", "named", *(f"ring {at}" for at in rings)], "")
    empty |= {"state": ""}
    rows += [_row(what, name, "", *values) | empty for name, values in totals.items()]
    return rows


def _row(what: str, name: str, place: str, first: float, second: float) -> dict[str, object]:
    return {
        "benchmark": what,
        "component": name,
        "place": place,
        "first": first,
        "second": second,
        "difference": second - first,
    }


def _spread(explanation: Explanation) -> float:
    """The same as Cause.spread, for the busy cycles."""
    a, b = explanation.busy
    change = explanation.cycles[1] - explanation.cycles[0]
    return max(max(b) - min(a) - change, change - (min(b) - max(a)))


def short(cause: Cause) -> str:
    """The name of a cause's component without the prefix `cpi.`."""
    return cause.component.removeprefix(cpi.PREFIX)


def _cycles(value: float) -> str:
    """A number of cycles in a table. A part of a cycle keeps its significant digits."""
    return (number if value < 1 else clocks)(value)


def _more(change: float) -> str:
    return "more" if change > 0 else "fewer"


def _amount(value: float) -> str:
    """A number of cycles without its sign. A small number keeps its significant digits."""
    return number(abs(value)) if abs(value) < 10 else clocks(abs(value))


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}".replace("-0", "0") if whole else MISSING


def _times(value: float, base: float) -> str:
    return f"{times(value / base)} times" if base else "from zero"
