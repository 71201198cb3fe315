# SPDX-License-Identifier: MIT
"""The clocks of a fragment of code, for `./p5lab cycles`: of an iteration in the steady state, and
of each instruction."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from rich.console import Console

from p5lab.describe.fragment import FIRST, Fragment, Issue
from p5lab.present import pipes, tables
from p5lab.present.pipes import Instruction
from p5lab.present.tables import Grid

LOOP, CALL, COPY = "iteration", "call", "copy"


@dataclass(frozen=True)
class Loop:
    """A loop that the fragment executed, from its first to its last instruction. `iterations`: all
    of them. `clocks`: of each iteration that begins and ends with the jump back, in core clocks."""

    first: int
    last: int
    iterations: int
    clocks: tuple[int, ...]

    @property
    def steady(self) -> float:
        """The mean clocks of the second half of the iterations."""
        half = self.clocks[len(self.clocks) // 2 :]
        return sum(half) / len(half)


@dataclass(frozen=True)
class Clocks:
    """The clocks of a fragment. `unit`: what an iteration is, one of LOOP, CALL, COPY. `measured`:
    the clocks of each measured iteration. `rows`: the instructions in the order of their addresses,
    each with means of one iteration. `loops`: all loops, the one with the most iterations first.
    `call`: clocks of the whole fragment."""

    fragment: Fragment
    unit: str
    measured: tuple[int, ...]
    iterations: int
    rows: tuple[Instruction, ...]
    loops: tuple[Loop, ...]
    call: int

    @property
    def clocks(self) -> float:
        """The mean clocks of an iteration."""
        return sum(self.measured) / len(self.measured)

    @property
    def instructions(self) -> float:
        """The mean number of instructions of an iteration."""
        return sum(row.times for row in self.rows)


def of(fragment: Fragment, issues: Sequence[Issue]) -> Clocks:
    """The clocks of a fragment, from the instructions of its last call (execute.fragment)."""
    places = [i for i, issue in enumerate(issues) if fragment.contains(issue.address)]
    # Functions of the C library that the fragment calls are between the first and the last.
    first, last = places[0], places[-1]
    call = (first, last + 1)
    loops = _loops(fragment, issues[: last + 2])
    if fragment.copies > 1:
        unit, every = COPY, _copies(fragment, issues)
    elif loops and not fragment.is_return(issues[last].address):
        unit, every = LOOP, _rounds(issues, loops[0].first, loops[0].last)
    else:
        unit, every = CALL, [call]
    steady = every[len(every) // 2 :]
    return Clocks(
        fragment,
        unit,
        tuple(issues[end].clock - issues[begin].clock for begin, end in steady),
        loops[0].iterations if unit == LOOP else len(every),
        _rows(fragment, [issues[begin:end] for begin, end in steady]),
        tuple(loops),
        issues[last + 1].clock - issues[first].clock,
    )


def _copies(fragment: Fragment, issues: Sequence[Issue]) -> list[tuple[int, int]]:
    starts = [
        i
        for i, issue in enumerate(issues)
        if fragment.contains(issue.address) and (issue.address - FIRST) % fragment.size == 0
    ]
    return list(pairwise(starts))


def _rounds(issues: Sequence[Issue], first: int, last: int) -> list[tuple[int, int]]:
    """From each jump back to the next one, if the loop is not left between them."""
    rounds = []
    begin: int | None = None
    for i, (a, b) in enumerate(pairwise(issues)):
        if a.address != last:
            continue
        if b.address != first:
            begin = None
            continue
        if begin is not None:
            rounds.append((begin, i + 1))
        begin = i + 1
    return rounds


def _loops(fragment: Fragment, issues: Sequence[Issue]) -> list[Loop]:
    """The loops: jumps back, taken several times."""
    pairs = list(pairwise(issues))
    jumps = Counter(
        (b.address, a.address)
        for a, b in pairs
        if b.address <= a.address
        and fragment.contains(a.address)
        and fragment.contains(b.address)
        and a.counts.get("branches")
    )
    loops = []
    for (first, last), times in jumps.items():
        if times < 3 or not fragment.is_jump(last):
            continue
        ends = _rounds(issues, first, last)
        clocks = tuple(issues[end].clock - issues[begin].clock for begin, end in ends)
        iterations = sum(issue.address == last for issue in issues)
        if clocks:
            loops.append(Loop(first, last, iterations, clocks))
    return sorted(loops, key=lambda loop: (-len(loop.clocks), loop.first))


def _rows(fragment: Fragment, iterations: Sequence[Sequence[Issue]]) -> tuple[Instruction, ...]:
    times: Counter[int] = Counter()
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for issue in chain.from_iterable(iterations):
        inside = fragment.contains(issue.address)
        address = fragment.place(issue.address) if inside else issue.address
        times[address] += 1
        counts[address].update(issue.counts)
    each = len(iterations)
    return tuple(
        Instruction(
            address,
            fragment.label(address),
            fragment.line(address),
            fragment.text(address),
            times[address] / each,
            {name: value / each for name, value in counts[address].items()},
        )
        for address in sorted(times)
    )


# --- as text ------------------------------------------------------------------------------------


def show(console: Console, timing: Clocks, machine: str, form: str) -> None:
    """Prints the clocks as table, markdown, csv or json."""
    grid = _grid(timing, headline(timing, machine))
    tables.show(console, form, [grid], _remarks(timing), as_rows(timing))


def headline(timing: Clocks, machine: str) -> str:
    """The clocks of an iteration in one sentence."""
    article = "an" if timing.unit == LOOP else "a"
    clocks, retired = timing.clocks, timing.instructions
    in_v = sum(row.counts.get(pipes.IN_V, 0) for row in timing.rows)
    text = (
        f"{timing.fragment.name} on {machine}: {_counted(clocks, 'clock')} {article} {timing.unit},"
        f" {_counted(retired, 'instruction')} ({pipes.amount(in_v)} in V)"
    )
    if len(timing.measured) > 1:
        last = len(timing.measured)
        plural = "copies" if timing.unit == COPY else f"{timing.unit}s"
        text += f", in the last {last} of {timing.iterations} {plural}"
    if min(timing.measured) != max(timing.measured):
        text += f" (from {min(timing.measured)} to {max(timing.measured)} clocks)"
    return text + "."


def _counted(value: float, what: str) -> str:
    return f"{pipes.amount(value)} {what}{'' if value == 1 else 's'}"


def as_rows(timing: Clocks) -> list[dict[str, object]]:
    """A row for each instruction, for programs."""
    return [{"address": row.address, "place": row.place, **row.row()} for row in timing.rows]


def _grid(timing: Clocks, title: str) -> Grid:
    heads = ["place", "instruction", "times", "pipe", "clocks", "why not in V; further clocks"]
    repeated = any(row.times != 1 for row in timing.rows)
    kept = [i for i, head in enumerate(heads) if repeated or head != "times"]
    left = {place for place, i in enumerate(kept) if heads[i] not in ("times", "clocks")}
    grid = Grid(title, [heads[i] for i in kept], left=left)
    for row in timing.rows:
        times, clocks = map(pipes.amount, (row.times, row.clocks))
        cells = row.place, row.text, times, row.pipe, clocks, row.why
        grid.add(*(cells[i] for i in kept))
    return grid


def _remarks(timing: Clocks) -> list[str]:
    lines = []
    # The first and the last iteration are not complete.
    for loop in timing.loops if timing.unit != LOOP else timing.loops[1:]:
        place = timing.fragment.label(loop.first)
        end = timing.fragment.label(loop.last)
        lines.append(
            f"Loop from {place} to {end}: {_counted(loop.steady, 'clock')} an iteration,"
            f" {loop.iterations} iterations."
        )
    if timing.unit == LOOP:
        lines.append(f"The whole fragment: {timing.call:,} clocks.")
    return lines
