# SPDX-License-Identifier: MIT
"""Which two systems a user wants to have explained, for `explain` and `p5lab.explain`."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from p5lab.describe import guest
from p5lab.describe import machine as machines
from p5lab.errors import UserError, few, nearest, unknown
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import breakdown, cpi_stack, explanation
from p5lab.present.breakdown import BreakdownQuestion
from p5lab.present.comparison import System, differing, repeated, system_of
from p5lab.present.explanation import Explanation
from p5stats.dimensions import COMPONENT, OBSERVERS

SEEDS = 5  # the smallest number of placement seeds of a difference with a range
PAIR = 2  # systems
EARLIER, LATER = "the earlier run", "the later run"  # the names of two runs of one system


def of(
    lab: Lab,
    words: Sequence[str],
    asked: BreakdownQuestion | None = None,
    only: str = "",
    top: int | None = None,
    *,
    single: bool = False,
) -> list[Explanation]:
    """The explanation of each operation that two systems have in common.

    `words`: two runs, or two labels of runs that differ only in their seeds and workloads, or an
    experiment and two of its systems. `asked`: further dimensions, with counts that all runs must
    have. `only`: selects the runs with this text in their names. `top`: as in
    `explanation.between`. `single`: accept fewer than SEEDS seeds. Raises UserError if the words do
    not name two systems with CPI stacks.
    """
    first, second, names = _systems(lab, words, only, single=single)
    explanations = list(explanation.between(first, second, names, _with_ring(asked), top))
    if not explanations:
        a, b = (few(dict.fromkeys(explanation.measured(own))) for own in (first, second))
        raise UserError(
            f"{names[0]} and {names[1]} have no operation in common: {a}, and {b}; expected two"
            " runs of one workload, or of programs"
        )
    fewest = min(min(explained.seeds) for explained in explanations)
    if fewest < SEEDS and not single:
        raise UserError(
            f"expected {SEEDS} or more placement seeds for each system, found {fewest}; make the"
            f" runs with --cpi --seed 0-{SEEDS - 1}, or use --single"
        )
    return explanations


def _with_ring(asked: BreakdownQuestion | None) -> BreakdownQuestion | None:
    """The dimensions of a question, and the ring."""
    if asked is None:
        return None
    if COMPONENT in asked.dimensions:
        raise UserError(f"explain --by {COMPONENT}: every explanation is by component already")
    for name in asked.dimensions:
        if not any(observer.has((name, COMPONENT)) for observer in OBSERVERS):
            raise UserError(
                f"explain --by {name}: clocks are not divided by {name}; expected a dimension of"
                f" clocks, such as function, or `compare RUN RUN --by {name}`"
            )
    where = [f"{name}={','.join(values)}" for name, values in asked.where.items()]
    breakdown.ask([*asked.by, COMPONENT, cpi_stack.RING], where)  # no dimension excludes these
    return replace(asked, by=tuple(dict.fromkeys((*asked.by, cpi_stack.RING))))


def _systems(
    lab: Lab, words: Sequence[str], only: str, *, single: bool
) -> tuple[list[Stored], list[Stored], tuple[str, str]]:
    """The runs of the two systems, and their names."""
    what, *names = words
    if not selection.is_group(lab, what):
        if len(words) != PAIR and not selection.is_label(lab, what):
            selection.find(lab, what, "--cpi")  # the message says what is wrong with this word
        return _two_runs(lab, words, only)
    groups = selection.groups(lab, [what], only)
    runs = [run for same in groups if (run := cpi_stack.first_in(same))]
    if not runs:
        _check_names(lab, what, names, {word for same in groups for word in _words(same[0])})
        raise UserError(
            f"{what} has no run with a CPI stack: run `{_command(lab, what, names, single)}` first"
        )
    if not names:
        names = list(dict.fromkeys(_name(run) for run in runs))
        if len(names) != PAIR:
            raise UserError(
                f"{what} has {len(names)} systems with a CPI stack: expected the names of two:"
                f" {', '.join(names)}"
            )
    if len(set(names)) != PAIR or len(names) != PAIR:
        every = ", ".join(dict.fromkeys(map(_name, runs)))
        raise UserError(
            f"{' '.join(names)}: expected the names of two different systems of {what}: {every}"
        )
    chosen = [[run for run in runs if name in _words(run)] for name in names]
    for name, own in zip(names, chosen, strict=True):
        if not own:
            known = {word for run in runs for word in _words(run)}
            raise unknown("system", name, known, where=what)
        if len(systems := dict.fromkeys(_name(run) for run in own)) > 1:
            raise UserError(f"{name}: several systems have this name: {', '.join(systems)}")
    return chosen[0], chosen[1], (names[0], names[1])


def _check_names(lab: Lab, what: str, names: Sequence[str], stored: Collection[str]) -> None:
    """Raises UserError for the name of a system that no run can have. `stored`: the names of the
    systems of stored runs."""
    known = {*stored, *guest.names(lab), *machines.names(lab)}
    for name in names:
        if name not in known and "=" not in name:
            near = nearest(name, known)
            raise unknown("system", name, known if near else stored, where=what)


def _command(lab: Lab, what: str, names: Sequence[str], single: bool) -> str:
    """The command that makes the runs of the systems of an experiment."""
    known = {"--guest": guest.names(lab), "--machine": machines.names(lab)}
    wanted = [
        f"{option} {name}"
        for option in known
        for name in dict.fromkeys(names)
        if name in known[option]
    ]
    values: dict[str, list[str]] = {}
    for key, equals, value in (name.partition("=") for name in dict.fromkeys(names)):
        values.setdefault(key, []).extend([value] if equals else [])
    swept = [f"--sweep {key}={','.join(own)}" for key, own in values.items() if own]
    seeds = [] if single else [f"--seed 0-{SEEDS - 1}"]
    return " ".join([f"./p5lab run {what} --cpi", *wanted, *swept, *seeds])


def _two_runs(
    lab: Lab, words: Sequence[str], only: str
) -> tuple[list[Stored], list[Stored], tuple[str, str]]:
    """The runs of two words, each an id or a label of runs of one system."""
    if len(words) != PAIR:
        raise UserError(
            f"{' '.join(words)}: expected two runs or labels, or an experiment and two of its"
            " systems"
        )
    for word in words:
        if selection.is_group(lab, word):
            raise UserError(
                f"{word} is an experiment: expected two runs or labels, or an experiment before"
                " two of its systems"
            )
    ours, theirs = (_of_word(lab, word, only) for word in words)
    if {own.id for own in ours} == {own.id for own in theirs}:
        raise UserError(f"{' '.join(words)}: expected two different runs, found one run twice")
    versions = selection.as_versions([*ours, *theirs])
    first, second = versions[: len(ours)], versions[len(ours) :]
    for word, own in zip(words, (first, second), strict=True):
        _check_one_system(word, own)
    return first, second, _names(first[0], second[0])


def _of_word(lab: Lab, word: str, only: str) -> list[Stored]:
    """The runs that an id or a label names, those with a CPI stack. Without any, the newest runs,
    which the message about the missing stack then names."""
    groups = selection.groups(lab, [word], only)
    stacks = [run for same in groups if (run := cpi_stack.first_in(same))]
    return stacks or [selection.finished(same[0]) for same in groups]


def _check_one_system(word: str, runs: Sequence[Stored]) -> None:
    """Raises UserError if a label names runs of several systems, versions or operations with one
    seed, whose mean would be a number of none of them."""
    systems = {System.of(run.record): run for run in runs}
    same = [own[:2] for own in repeated(runs)]
    if len(systems) > 1 or same:
        listed = selection.listed_runs(systems.values() if len(systems) > 1 else same[0])
        raise UserError(
            f"{word}: {len(runs)} runs of several systems or versions have this label: {listed};"
            " expected a label of one system, the id of one run, or --only TEXT"
        )


def _names(first: Stored, second: Stored) -> tuple[str, str]:
    """The names of two systems: the versions and parts that differ, or their order in time."""
    whole = [(selection.called(run.record), *system_of(run.record)) for run in (first, second)]
    a, b = (" ".join(filter(None, own)) for own in differing(whole))
    if not a or not b:
        a, b = (" ".join(filter(None, own)) for own in whole)
    if a == b:
        a, b = (EARLIER, LATER) if first.started < second.started else (LATER, EARLIER)
    return a, b


def _words(stored: Stored) -> set[str]:
    """The names of a run's system: as a whole, and each of its parts."""
    parts = system_of(stored.record)
    return {_name(stored), *parts, *parts[-1].split()} - {""}


def _name(stored: Stored) -> str:
    """The guest, the machine and the overlay of a run."""
    return " ".join(filter(None, system_of(stored.record)))
