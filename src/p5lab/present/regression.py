# SPDX-License-Identifier: MIT
"""Finds the numbers of stored runs that moved further than a limit, and why.

A repeated run gives exactly the same counts, so a limit can be zero.
"""

from __future__ import annotations

import glob
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from p5lab.describe import experiment
from p5lab.describe.keys import readable
from p5lab.errors import UserError
from p5lab.keep import selection, store
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import breakdown, breakdown_table, column
from p5lab.present.breakdown import BreakdownQuestion
from p5lab.present.column import Column
from p5lab.terminal import for_terminal
from p5stats import StatsError, compare, tidy
from p5stats import terms as run_terms
from p5stats.compare import KEYS
from p5stats.lazy import pd

DEFAULT = "cycles=0"
# The columns that identify an operation, except the phase. If each side has one value of a column
# of FREE, the column does not count: two guests, or two versions of a program, can be compared.
FREE = ("engine", "machine", "geometry", "feedback", "guest", "parameters", "seed")
EXPLAINED, CAUSES = 10, 3  # the largest moves are explained, each by its largest causes
DIVIDED_BY = ("component", "function", "call")
Key = tuple[str, ...]
Parts = Sequence[tuple[str, float, str]]  # names with their differences, and NEW or GONE


@dataclass(frozen=True)
class Limit:
    """How far a number may move. `allowed`: a part of the number if `relative`, else in its unit.
    `only_up`: whether the number may become smaller without a limit. `text`: as the user wrote
    it."""

    what: Column
    allowed: float
    relative: bool
    only_up: bool
    text: str

    @classmethod
    def parse(cls, option: str) -> Limit:
        """Reads NAME=0.5%, NAME=+0.5% (only an increase is a move), NAME=10 or NAME=0. Raises
        UserError for anything else."""
        name, _, text = option.rpartition("=")
        match = re.fullmatch(r"(\+?)([0-9]+(?:\.[0-9]+)?)(%?)", text.strip())
        if not name or not match:
            raise UserError(
                f"--limit {option}: expected NAME=NUMBER or NAME=NUMBER%, such as cycles=0.5% or"
                " cycles=+0.5% (only an increase)"
            )
        try:
            (what,) = column.parse([name])
        except ValueError:
            raise UserError(f"--limit {option}: expected one name") from None
        except UserError as error:
            reason = str(error).removeprefix(f"{column.OPTION}: ")
            raise UserError(f"--limit {option}: {reason}") from None
        allowed = float(match[2]) / (100 if match[3] else 1)
        return cls(what, allowed, bool(match[3]), bool(match[1]), text.strip())

    def is_passed(self, before: float, after: float) -> bool:
        """Whether a number moved further. A number that only one side has also did."""
        if math.isnan(before) or math.isnan(after):
            return math.isnan(before) != math.isnan(after)
        change = after - before if self.only_up else abs(after - before)
        return change > (self.allowed * abs(before) if self.relative else self.allowed)


@dataclass(frozen=True)
class Operation:
    """The values of one phase of one run, for one operation, without the empty bracket. `runs`: the
    id of the run."""

    name: str
    phase: str
    run: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Moved:
    """A number before and now, NaN if a side lacks it. `causes`: for each dimension that both runs
    counted by, the parts with the largest differences, if it moved further than its limit."""

    name: str
    phase: str
    limit: Limit
    before: float
    after: float
    runs: tuple[str, str]
    causes: Mapping[str, Parts] = field(default_factory=dict)


@dataclass(frozen=True)
class Checked:
    """The result. `compared`: the number of numbers. `moved`, `within`: those beyond their limits,
    and the others; each with the largest change first. `gone`, `new`: operations that only the
    baseline or only the new results have. `failed`: runs of the new results that have failed."""

    compared: int
    moved: list[Moved]
    within: list[Moved]
    gone: list[str]
    new: list[str]
    failed: list[str]
    names: list[str]

    @property
    def is_good(self) -> bool:
        """Whether all operations of the baseline are there and within the limits."""
        return not (self.moved or self.gone or self.failed)


@dataclass(frozen=True)
class Side:
    """Results. `table`: the tidy table. `runs`: the stored runs, as far as they are stored."""

    word: str
    table: pd.DataFrame
    runs: Mapping[str, Stored]
    failed: Sequence[str] = ()


def load(lab: Lab, word: str) -> Side:
    """The results that a word names: a run, an experiment, a directory with results, or a file of
    `p5stats.tidy.save`. Raises UserError if there are none."""
    path = Path(word)
    if "/" in word or path.suffix == ".parquet":
        if not path.exists():
            raise UserError(f"{word}: expected a directory with results, or a file of tidy.save")
        try:
            table = tidy.load(path)
        except StatsError as error:
            raise UserError(str(error)) from None
        records = {
            file.parent.name: store.stored(file.parent) for file in path.glob(f"**/{store.RECORD}")
        }
        return Side(
            word, table, {run: records[run] for run in table["run"].unique() if run in records}
        )
    chosen = [same[0] for same in selection.groups(lab, [word])]
    good = {run.id: run for run in chosen if run.status == "ok"}
    failed = [
        f"{run.record['label']}: {run.record['reason']}" for run in chosen if run.id not in good
    ]
    if not good:
        raise UserError(f"{word}: no run has status ok: {failed[0]}")
    return Side(word, tidy.of_runs([run.directory for run in good.values()]), good, failed)


def check(baseline: Side, new: Side, limits: Sequence[Limit]) -> Checked:
    """Compares each operation of the baseline with the same operation of the new results. Raises
    UserError if they have no operation in common, and if no operation has the number of a limit."""
    before, after = _operations(baseline, new, limits), _operations(new, baseline, limits)
    common = [key for key in before if key in after]
    if not common:
        raise UserError(
            f"{baseline.word} and {new.word} have no operation in common:"
            f" {next(iter(before.values())).name}, and {next(iter(after.values())).name}"
        )
    moved: list[Moved] = []
    within: list[Moved] = []
    compared = 0
    for place, limit in enumerate(limits):
        counted = 0
        for key in common:
            old, own = before[key], after[key]
            a, b = old.values[place], own.values[place]
            if math.isnan(a) and math.isnan(b):
                continue
            counted += 1
            side = moved if limit.is_passed(a, b) else within
            side.append(Moved(_both(old, own), old.phase, limit, a, b, (old.run, own.run)))
        if not counted:
            raise UserError(f"--limit {limit.what.name}: none of these runs has this number")
        compared += counted
    for numbers in (moved, within):
        numbers.sort(key=lambda move: -_far(move))
    explained = [_explained(move, baseline, new, place) for place, move in enumerate(moved)]
    return Checked(
        compared,
        explained,
        within,
        [before[key].name for key in before if key not in after],
        [after[key].name for key in after if key not in before],
        list(new.failed),
        [_both(before[key], after[key]) for key in common],
    )


def _both(before: Operation, after: Operation) -> str:
    """The name of an operation of the new results, and that of the baseline if it differs."""
    return after.name if before.name == after.name else f"{after.name}, against {before.name}"


def _far(move: Moved) -> float:
    """How far a number moved, as a part of itself."""
    change = abs(move.after - move.before)
    return math.inf if math.isnan(change) or not move.before else change / abs(move.before)


def _operations(side: Side, other: Side, limits: Sequence[Limit]) -> dict[Key, Operation]:
    """The operations of a side. The keys have the columns in which the operations of the two sides
    are to agree."""
    table, theirs = side.table, other.table
    pinned = [
        name for name in FREE if not (table[name].nunique() == 1 and theirs[name].nunique() == 1)
    ]
    names = ["workload", *pinned, "phase"]
    told = [name for name in FREE if name != "parameters"]
    varied = [
        name
        for name in told
        if (table if name in pinned else pd.concat([table, theirs]))[name].nunique() > 1
    ]
    variants = table.groupby("workload")["parameters"].nunique()
    parametrised = {experiment.PROGRAM, *variants[variants > 1].index}
    terms = run_terms.of_table(table)
    counts = compare.without_empty(compare.counts(table))
    operations: dict[Key, Operation] = {}
    for values, brackets in counts.groupby(level=KEYS, sort=False):
        where = {name: str(value) for name, value in zip(KEYS, values, strict=True)}
        key = tuple(where[name] for name in names)
        shown = where["parameters"] if where["workload"] in parametrised else ""
        systems = [
            f"seed {where[name]}" if name == "seed" else readable(where[name]) for name in varied
        ]
        parts = (where["workload"], shown, where["phase"], *systems)
        title = for_terminal(", ".join(filter(None, parts)))
        if key in operations:
            raise UserError(
                f"{side.word}: runs {operations[key].run[:8]} and {where['run'][:8]} measure the"
                f" same operation, {title}; expected one of them"
            )
        means = {str(event): float(mean) for event, mean in brackets.mean().items()}
        each = tuple(_value(limit.what, means, terms[where["run"]]) for limit in limits)
        operations[key] = Operation(title, where["phase"], where["run"], each)
    return operations


def _value(what: Column, means: Mapping[str, float], of: run_terms.Terms) -> float:
    if what.is_event:
        return means.get(what.name, math.nan) / of.operations
    values = compare.evaluate(
        means, of.operations, of.clock_hz, of.clock_vector, of.operation_bytes, {what.name}
    )
    return values.get(what.name, math.nan)


def _explained(move: Moved, baseline: Side, new: Side, place: int) -> Moved:
    """Adds the causes of one of the first EXPLAINED moves."""
    first, second = baseline.runs.get(move.runs[0]), new.runs.get(move.runs[1])
    if place >= EXPLAINED or first is None or second is None:
        return move
    question = BreakdownQuestion((), {"phase": (glob.escape(move.phase),)}, (move.limit.what,))
    causes = {by: list(_causes(first, second, replace(question, by=(by,)))) for by in DIVIDED_BY}
    return replace(move, causes={by: parts for by, parts in causes.items() if parts})


def _causes(
    first: Stored, second: Stored, question: BreakdownQuestion
) -> Iterator[tuple[str, float, str]]:
    """The parts of a dimension with the largest differences. Nothing if a run did not count by it,
    or if the parts do not add up to the number: the parts of a ratio explain nothing."""
    try:
        tables = breakdown.between(first, second, question)
    except UserError:
        return
    (wanted,) = question.metrics
    for table in tables:
        every = [table.values(row, wanted) for row in table.rows]
        for place, total in enumerate(table.values(table.total, wanted)):
            if not math.isclose(
                sum(own[place] for own in every), total, rel_tol=1e-6, abs_tol=1e-6
            ):
                return
        for row, (a, b) in list(zip(table.rows, every, strict=True))[:CAUSES]:
            if a != b:
                yield row.key[0], b - a, breakdown_table.state(row, 1, (a, b))
