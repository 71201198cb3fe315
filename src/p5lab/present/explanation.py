# SPDX-License-Identifier: MIT
"""Why does one system need more cycles than another? For `./p5lab explain`.

The difference in cycles between two systems is the sum of the differences of all components of
their CPI stacks, in each ring. The components with the largest differences are the causes. With
several placement seeds, each difference has a range: the lowest and the highest over all pairs of a
run of the first system and a run of the second system. If the range includes zero, the component is
not named as a cause.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console

from p5lab.host.terminal import for_terminal, markup
from p5lab.keep.store import Stored
from p5lab.present import comparison, cpi_stack
from p5lab.present.cpi_stack import Stack
from p5lab.present.tables import MISSING, Grid, clocks, rows_as, times
from p5stats import cpi

SCHEMA_VERSION = 1
SPREAD = "±"  # the head of the column of Cause.spread
NAMED = 0.9  # the named causes explain at least this part of the changes, if their ranges allow it


@dataclass(frozen=True)
class Cause:
    """A component in a ring, and in a place if the runs are compared by place
    (p5lab.present.cpi_stack.Stack). `first`, `second`: the mean cycles of one operation. `low`,
    `high`: the range of the difference over all pairs of seeds."""

    component: str
    ring: int
    place: str
    first: float
    second: float
    low: float
    high: float

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
    """The difference between two systems for one phase of one workload. `causes`: all components
    and rings, the largest difference first. `named`: the number of causes that are named."""

    what: str
    names: tuple[str, str]
    first: tuple[Stack, ...]
    second: tuple[Stack, ...]
    causes: tuple[Cause, ...]
    named: tuple[Cause, ...]

    @property
    def rest(self) -> list[Cause]:
        """The causes with a difference that are not named."""
        return [cause for cause in self.causes if cause not in self.named and cause.difference]

    @property
    def cycles(self) -> tuple[float, float]:
        """The mean busy cycles of one operation of both systems."""
        return _mean(self.first, "busy"), _mean(self.second, "busy")

    @property
    def instructions(self) -> tuple[float, float]:
        """The mean instructions of one operation of both systems."""
        return _mean(self.first, "instructions"), _mean(self.second, "instructions")


def between(
    first: Sequence[Stored], second: Sequence[Stored], names: tuple[str, str], by: str = ""
) -> Iterator[Explanation]:
    """Explains each phase that both systems have. `first`, `second`: the runs of each system, with
    one run for each workload and seed. `by`: empty, or the place of p5lab.present.cpi_stack
    .of_places. Raises UserError for a run without a CPI stack, or without counts by place."""
    one, other = _by_phase(first, by), _by_phase(second, by)
    for (what, phase), stacks in one.items():
        if (what, phase) in other:
            several = sum(known == what for known, _ in one) > 1
            title = f"{what}, {phase}" if several else what
            yield _explained(title, names, tuple(stacks), tuple(other[what, phase]))


def _by_phase(runs: Sequence[Stored], by: str) -> dict[tuple[str, str], list[Stack]]:
    found: dict[tuple[str, str], list[Stack]] = {}
    for stored in runs:
        for stack in cpi_stack.of_places(stored, by) if by else cpi_stack.of_run(stored):
            found.setdefault((comparison.head(stored.record), stack.phase), []).append(stack)
    return found


def _explained(
    what: str, names: tuple[str, str], first: tuple[Stack, ...], second: tuple[Stack, ...]
) -> Explanation:
    keys = dict.fromkeys(key for stack in (*first, *second) for key in stack.cycles)
    causes = []
    for key in keys:
        a = [stack.cycles.get(key, 0.0) for stack in first]
        b = [stack.cycles.get(key, 0.0) for stack in second]
        low, high = min(b) - max(a), max(b) - min(a)
        causes.append(Cause(*key, sum(a) / len(a), sum(b) / len(b), low, high))
    causes.sort(key=lambda cause: -abs(cause.difference))
    return Explanation(what, names, first, second, tuple(causes), _named(causes))


def _named(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """The causes with the largest differences. Their sum is at least the part NAMED of all changes,
    unless the ranges of too many causes include zero."""
    every = sum(abs(cause.difference) for cause in causes)
    named: list[Cause] = []
    for cause in causes:
        if sum(abs(one.difference) for one in named) >= NAMED * every:
            break
        if cause.is_certain:
            named.append(cause)
    return tuple(named)


def _mean(stacks: Sequence[Stack], name: str) -> float:
    return sum(float(getattr(stack, name)) for stack in stacks) / len(stacks)


# --- in words and tables ------------------------------------------------------------------------


def show(console: Console, found: Sequence[Explanation], form: str) -> None:
    """Prints explanations as table, markdown, csv or json. csv and json contain all components."""
    rows = [row for one in found for row in _rows(one)]
    if text := rows_as(form, rows, SCHEMA_VERSION):
        console.file.write(text)
    else:
        for one in found:
            if form == "markdown":
                console.file.write(f"{in_words(one)}\n\n{_grid(one).markdown()}\n\n")
            else:
                console.print(markup(for_terminal(in_words(one))), highlight=False)
                _grid(one).print(console)


def in_words(one: Explanation) -> str:
    """The difference in a few sentences: the cycles, the part that more or fewer instructions
    explain, and the largest cause."""
    (a, b), (first, second) = one.names, one.cycles
    change = second - first
    verb = "more" if change > 0 else "fewer"
    said = [
        f"{one.what}: {b} takes {clocks(abs(change))} cycles {verb} than {a}"
        f" ({_times(second, first)})."
    ]
    retired, others = one.instructions
    if retired and others:
        said.append(
            f"It executes {_times(others, retired)} the instructions, and needs"
            f" {second / others:.2f} cycles for each instead of {first / retired:.2f}."
        )
        extra = (others - retired) * first / retired
        if extra * change > 0:
            what = "additional" if extra > 0 else "missing"
            said.append(
                f"At {first / retired:.2f} cycles each, the {what} instructions explain"
                f" {100 * extra / change:.0f} % of the difference."
            )
    if one.named:
        largest = one.named[0]
        said.append(
            f"The largest cause is {short(largest)} in {largest.place or f'ring {largest.ring}'}:"
            f" {_signed(largest.difference)} cycles."
        )
    else:
        said.append("No component differs for certain: each range includes zero.")
    return " ".join(said)


def _grid(one: Explanation) -> Grid:
    a, b = one.names
    change = one.cycles[1] - one.cycles[0]
    ranged = len(one.first) * len(one.second) > 1
    placed = any(cause.place for cause in one.causes)
    heads = [
        "cause",
        *(["where"] if placed else []),
        "ring",
        f"{a}\ncycles",
        f"{b}\ncycles",
        "difference",
        "%",
    ]
    grid = Grid("", [*heads, *([SPREAD] if ranged else [])], left={1} if placed else set())
    blank = [""] * (2 if placed else 1)
    for cause in one.named:
        spread = [clocks(cause.spread)] if ranged else []
        grid.add(
            short(cause),
            *([cause.place] if placed else []),
            str(cause.ring),
            clocks(cause.first),
            clocks(cause.second),
            _signed(cause.difference),
            _share(cause.difference, change),
            *spread,
        )
    if rest := one.rest:
        first, second = sum(cause.first for cause in rest), sum(cause.second for cause in rest)
        own = _signed(second - first), _share(second - first, change)
        grid.add(f"({len(rest)} others)", *blank, clocks(first), clocks(second), *own)
    first, second = one.cycles
    grid.add("busy cycles", *blank, clocks(first), clocks(second), _signed(change), _share(1, 1))
    retired, others = one.instructions
    grid.add("instructions", *blank, clocks(retired), clocks(others), _signed(others - retired))
    return grid


def _rows(one: Explanation) -> list[dict[str, object]]:
    return [
        {
            "benchmark": one.what,
            "component": cause.component,
            "ring": cause.ring,
            "place": cause.place,
            "first": cause.first,
            "second": cause.second,
            "difference": cause.difference,
            "lowest": cause.low,
            "highest": cause.high,
            "named": cause in one.named,
        }
        for cause in one.causes
    ]


def short(cause: Cause) -> str:
    """The name of a cause's component without the prefix `cpi.`."""
    return cause.component.removeprefix(cpi.PREFIX)


def _signed(value: float) -> str:
    return ("+" if value > 0 else "") + clocks(value)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}" if whole else MISSING


def _times(value: float, base: float) -> str:
    return f"{times(value / base)} times" if base else "from zero"
