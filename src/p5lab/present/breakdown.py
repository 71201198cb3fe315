# SPDX-License-Identifier: MIT
"""Divides the counts of runs by dimensions, one or several systems side by side.

`p5stats.dimensions` reads what the runs counted. Here the counts become values of one operation, or
of 1000 instructions, and rows of the same name stand beside each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePath

from p5lab.describe import tomlfile
from p5lab.describe.experiment import PROGRAM
from p5lab.describe.workload import WHOLE_NAME
from p5lab.errors import UserError, listed, unknown
from p5lab.keep import selection, swept_keys
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.present import by_source, column, same_lines
from p5lab.present.column import Column
from p5lab.present.comparison import CYCLES, NOMINAL, differing, operation_of, system_of
from p5stats import StatsError, compare, cpi, declared, dimensions, tidy
from p5stats.dimensions import (
    ALL_BRACKETS,
    CAUSES,
    COMPONENT,
    DIMENSIONS,
    OWN_EVENTS,
    PER_CALL,
    SEED,
    WHOLE_RUN,
    NotCounted,
)
from p5stats.lazy import pd
from p5stats.metrics import View, shown_in
from p5stats.observed import Counted

EMPTY = cpi.EMPTY
OPERATION, INSTRUCTIONS, ALL = "operation", "1000", "all"
PER = (OPERATION, INSTRUCTIONS, ALL)
ORDERED = (
    "iteration",
    "interval",
    SEED,
)  # dimensions whose values are numbers in the order of time
OF_RUNS = {*compare.KEYS, "label"}  # what tells runs apart; a dimension divides one run
CHOOSE = "choose runs by their ids or labels; show, compare, explain and query also have --only"
LINE = "line"
NAMED_BLANK = (LINE, "caller")  # an empty value has a name, also beside other dimensions
PLAIN = "as described"  # the name of a machine without an overlay
Key = tuple[str, ...]
Events = Mapping[str, float]  # counts by event
NO_RETURN = "no return"  # calls that did not return
OWN = {**OWN_EVENTS, NO_RETURN: "calls", **{name: unit for name, (unit, _) in PER_CALL.items()}}
# The columns of observers that a table of one system shows without a wish, beside the metrics.
OWN_SHOWN = (
    *(dimensions.CLOCKS, dimensions.DELIVERIES, dimensions.EVICTIONS),
    *("calls", NO_RETURN, "total/call", "waited/call"),
)
_UNITS = {**OWN, **{metric.name: metric.unit for metric in compare.metrics(0)}}
_KNOWN = [Column(name, _UNITS[name], name in OWN) for name in (*shown_in(View.PARTS), *OWN_SHOWN)]


@dataclass(frozen=True)
class BreakdownQuestion:
    """What a user wants to see. `by`: the dimensions of a row. `where`: for a dimension, the values
    that count (* matches any text). `metrics`: the columns; without any, those of View.PARTS.
    `per`: OPERATION, INSTRUCTIONS, or ALL for the sums over all brackets. `names`: for a dimension,
    other names of values, so that two systems have the same name for one thing. `first`: the
    version of a program whose source lines name those of the other versions (`of_versions`)."""

    by: tuple[str, ...]
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: tuple[Column, ...] = ()
    per: str = OPERATION
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    first: Stored | None = None

    @property
    def dimensions(self) -> tuple[str, ...]:
        """All dimensions of the question."""
        return tuple(dict.fromkeys((*self.by, *self.where)))


def ask(
    by: Sequence[str],
    where: Iterable[str] = (),
    metrics: Iterable[str] = (),
    per: str = OPERATION,
    names: Path | None = None,
) -> BreakdownQuestion:
    """Returns the question of a command line. `by`, `where` and `metrics` are the values of the
    options: NAME,NAME and NAME=VALUE,VALUE. Raises UserError for an unknown name, for dimensions
    that exclude each other, and for a wrong file of names."""
    wanted = tuple(dict.fromkeys(name for value in by for name in value.split(",")))
    chosen: dict[str, tuple[str, ...]] = {}
    for value in where:
        name, equals, texts = value.partition("=")
        if not equals or not texts:
            raise UserError(f"--where {value}: expected DIMENSION=VALUE,..., such as ring=0")
        chosen[name] = (*chosen.get(name, ()), *texts.split(","))
    for name in (*wanted, *chosen):
        if name not in DIMENSIONS:
            error = unknown("dimension", name, DIMENSIONS)
            raise UserError(f"{error}; {CHOOSE}") if name in OF_RUNS else error
    if per not in PER:
        raise unknown("per", per, PER)
    columns = tuple(dict.fromkeys(metric for option in metrics for metric in _columns(option)))
    question = BreakdownQuestion(wanted, chosen, columns, per, _names(names) if names else {})
    try:
        dimensions.observers_of(question.dimensions)
    except StatsError as error:
        raise UserError(str(error)) from None
    others = {metric.name for metric in columns} - {CYCLES, NOMINAL}
    if others and COMPONENT in question.dimensions:
        raise UserError(f"{COMPONENT}: only busy cycles have components; expected --metric cycles")
    return question


def unused(question: BreakdownQuestion) -> str:
    """The end of a sentence about the file of names, if no name of it can be used, because its
    dimensions are not those of the rows; otherwise empty."""
    named = [name for name, own in question.names.items() if own]
    if not question.names or set(named) & set(question.by):
        return ""
    has = f"it has names of {', '.join(named)}" if named else "it has no names"
    return f"changes nothing: {has}, and the rows are by {', '.join(question.by)}"


def _columns(option: str) -> Sequence[Column]:
    """The columns of one --metric. The events of observers have no declaration in events.toml."""
    own = [metric for name in option.split(",") if (metric := _own(name))]
    others = ",".join(name for name in option.split(",") if not _own(name))
    return [*(column.parse([others]) if others else ()), *own]


def _own(name: str) -> Column | None:
    """The column of an observer's event: the misses of one cause, a ratio for each call that
    returned, or an event of OWN."""
    if ratio := dimensions.per_call(name):
        return Column(name, ratio[0], True)
    event, _, cause = name.rpartition(".")
    if name in OWN or (cause in CAUSES and event in declared.events()):
        return Column(name, OWN.get(name, "events"), True)
    return None


def _names(path: Path) -> dict[str, dict[str, str]]:
    """Reads a file of names: for each dimension, a table NAME = "OTHER NAME"."""
    table = tomlfile.load(path, DIMENSIONS)
    return {name: table.table(name, {}).pairs() for name in DIMENSIONS}


# --- what the runs counted ------------------------------------------------------------------------


@dataclass(frozen=True)
class SeedGroup:
    """Runs of one benchmark that differ only in their seeds. Their numbers become a mean. `name`:
    what distinguishes the system from the others, with line breaks."""

    name: str
    stored: tuple[Stored, ...]


@dataclass(frozen=True)
class BreakdownRow:
    """A combination of values of the dimensions. `counts`: of each system; None if the system has
    no count at all."""

    key: Key
    counts: tuple[Events | None, ...]


@dataclass(frozen=True)
class BreakdownTable:
    """The counts of one phase of one benchmark. The rows with the largest difference come first,
    or with one system those with the largest value. The counts of all rows add up to `total`."""

    benchmark: str
    phase: str
    question: BreakdownQuestion
    systems: tuple[SeedGroup, ...]
    columns: tuple[Column, ...]
    rows: tuple[BreakdownRow, ...]

    @property
    def title(self) -> str:
        """The benchmark and the phase."""
        same = self.phase in ("", self.benchmark)
        return self.benchmark if same else f"{self.benchmark}, {self.phase}"

    @property
    def divided(self) -> str:
        """The title, with the dimensions of a row and what the values are for."""
        return f"{self.title} by {', '.join(self.question.by)}, for {self.per}"

    @property
    def is_of_curve(self) -> bool:
        """Whether the phase is a point of a curve."""
        return bool(self.systems[0].stored[0].record["workload"].get("curve"))

    @property
    def per(self) -> str:
        """What the values are for: one operation by its name, 1000 instructions, or the run."""
        if self.question.per == INSTRUCTIONS:
            return "1000 instructions"
        if self.phase in (WHOLE_RUN, ALL_BRACKETS):
            return "one interval" if "interval" in self.question.by else self.phase
        if self.question.per == ALL:
            return ALL_BRACKETS
        return f"one {operation_of(self.systems[0].stored[0].record, self.phase)}"

    @cached_property
    def total(self) -> BreakdownRow:
        """The sum of all rows. The phase of a whole program contains the others."""
        return self.sum("all", self.whole or self.rows)

    @property
    def whole(self) -> list[BreakdownRow]:
        """With a row for each phase: the rows of the whole program; empty if it has no phases."""
        if "phase" not in self.question.by:
            return []
        place = self.question.by.index("phase")
        return [row for row in self.rows if row.key[place] == WHOLE_NAME]

    def sum(self, name: str, rows: Sequence[BreakdownRow]) -> BreakdownRow:
        """One row for several."""
        sums = tuple(
            _sum([counts for row in rows if (counts := row.counts[place]) is not None])
            for place in range(len(self.systems))
        )
        return BreakdownRow((name, *[""] * (len(self.question.by) - 1)), sums)

    @property
    def known(self) -> tuple[Column, ...]:
        """The metrics of View.PARTS and of observers that the systems have."""
        return self.having(_KNOWN)

    @property
    def frequent(self) -> tuple[Column, ...]:
        """The events that the systems have, the most frequent first, without those that none
        counted."""
        sums = _sum([counts for counts in self.total.counts if counts is not None])
        events = sorted(sums, key=lambda event: -sums[event])
        return tuple(_columns(",".join(event for event in events if sums[event]) or events[0]))

    def having(self, columns: Iterable[Column]) -> tuple[Column, ...]:
        """Those of the columns whose events the systems have."""
        events = dict.fromkeys((event for own in self.total.counts for event in own or ()), 1.0)
        values = {metric: _value(events, metric, self.systems[0].stored[0]) for metric in columns}
        return tuple(metric for metric, value in values.items() if value == value)

    def ordered(self, columns: tuple[Column, ...]) -> BreakdownTable:
        """The same rows in their order by the first of these columns, with a dimension in its own
        order before it. The order by a ratio is that of its dividend: a small part of the whole
        does not come first because its ratio is large."""
        table = replace(self, columns=columns)

        def place(row: BreakdownRow) -> tuple[object, ...]:
            number = str(row.key[0]) if self.question.by[0] in ORDERED else ""
            weights = table.values(row, columns[0], compare.Dividends)
            values = [weight if weight == weight else 0.0 for weight in weights]
            is_several = len(values) > 1
            order = max(abs(value - values[0]) for value in values) if is_several else values[0]
            return int(number) if number.isdigit() else math.inf, -order, row.key

        return replace(table, rows=tuple(sorted(self.rows, key=place)))

    def top(self, number: int) -> list[BreakdownRow]:
        """The first rows, and one row for the rest."""
        rest = self.rows[number:]
        more = [self.sum(f"({len(rest)} others)", rest)] if rest else []
        return [*self.rows[:number], *more]

    def value(
        self,
        row: BreakdownRow,
        place: int,
        wanted: Column,
        of: type[compare.Counts] = compare.Counts,
    ) -> float:
        """The value of a column in a row, of the system with this place. What has no count is 0, or
        NaN for a ratio. `of`: Dividends for the dividend of a ratio."""
        stored = self.systems[place].stored[0]
        return _value(row.counts[place] or self._zero(place), wanted, stored, of)

    def _zero(self, place: int) -> Events:
        return dict.fromkeys(self.total.counts[place] or (), 0.0)

    def values(
        self, row: BreakdownRow, wanted: Column, of: type[compare.Counts] = compare.Counts
    ) -> list[float]:
        """The values of all systems."""
        return [self.value(row, place, wanted, of) for place in range(len(self.systems))]


def _sum(counts: Sequence[Events]) -> Events:
    events = counts[0] if counts else ()
    return {event: sum(own[event] for own in counts) for event in events}


def _value(
    counts: Events, wanted: Column, stored: Stored, of: type[compare.Counts] = compare.Counts
) -> float:
    if ratio := dimensions.per_call(wanted.name):
        heads = tuple(f"{head}." for head in ratio[1])
        own = [count for event, count in counts.items() if f"{event}.".startswith(heads)]
        return of(counts).ratio(sum(own) if own else float("nan"), counts.get("returned", 0))
    if wanted.name == NO_RETURN:
        return counts.get("calls", float("nan")) - counts.get("returned", float("nan"))
    if wanted.is_event:
        return float(counts.get(wanted.name, float("nan")))
    vector = stored.record["guest"]["clock_vector"]
    _, clock_hz = tidy.read_run(stored.directory) if wanted.name == "microseconds" else (None, 1)
    metric = next(own for own in compare.metrics(vector) if own.name == wanted.name)
    return metric.value(of(counts), clock_hz)


def of_runs(runs: Sequence[Stored], question: BreakdownQuestion) -> list[BreakdownTable]:
    """Divides the counts of runs. Runs of one benchmark stand side by side, in their order; runs
    that differ only in the seed are one system. Different programs of the user are versions.

    The empty bracket is left out, and not subtracted. Raises UserError if a run did not count by
    one of the dimensions, and if no run has a metric, a value of `where` or a name of `names`.
    """
    runs = selection.as_versions(runs)
    question = of_versions(runs, question)
    tables = _paired(_systems(runs), question)
    # Of a single value that no run has, no counts are found.
    several = any(len(texts) > 1 for texts in question.where.values())
    nowhere = _known_values(runs, question) if several or not tables else ""
    if not tables or nowhere:
        wanted = " ".join(f"--where {name}={','.join(v)}" for name, v in question.where.items())
        nothing = "no run has such counts" if wanted else "all these counts are 0"
        raise UserError(f"{wanted or _meant(question)}: {nothing}{nowhere}")
    check_names(runs, question)
    has = {metric for table in tables for metric in table.having(question.metrics)}
    for lost in (metric for metric in question.metrics if metric not in has):
        events = tables[0].total.counts[0] or ()
        known = listed([metric.name for metric in tables[0].known] or sorted(events), "and", str)
        raise UserError(
            f"--metric {lost.name}: counts by {', '.join(question.by)} do not have it; they have"
            f" {known}"
        )
    return tables


def of_versions(runs: Sequence[Stored], question: BreakdownQuestion) -> BreakdownQuestion:
    """Returns a question about source lines with the first of several versions of a program that
    have their sources. Any other question remains as it is."""
    lined = [run for run in runs if LINE in question.dimensions and _is_version(run)]
    several = len({selection.called(run.record) for run in lined}) > 1
    return replace(question, first=lined[0]) if several else question


def notes(runs: Sequence[Stored], question: BreakdownQuestion) -> list[str]:
    """What a table of these runs says about the names of their lines; nothing if it has none."""
    return [same_lines.note(runs)] if of_versions(runs, question).first else []


def _is_version(stored: Stored) -> bool:
    """Whether a run is of a version of the user's program, and has its sources."""
    is_own = selection.subject(stored.record) == PROGRAM and bool(selection.called(stored.record))
    return is_own and bool(by_source.sources(stored))


def _paired(
    benchmarks: Mapping[str, Sequence[SeedGroup]], question: BreakdownQuestion
) -> list[BreakdownTable]:
    """Puts the systems of each benchmark side by side: phases, and the values of the dimensions,
    with the same name stand together. All comparisons by dimension pair rows here."""
    by_phase: dict[tuple[str, str], list[tuple[SeedGroup, pd.DataFrame]]] = {}
    for benchmark, systems in benchmarks.items():
        for system in systems:
            parts = [_of_run(stored, question) for stored in system.stored]
            for phase, counts in _mean(parts, question).items():
                by_phase.setdefault((benchmark, phase), []).append((system, counts))
    return [_table(*key, question, own) for key, own in by_phase.items()]


def _meant(question: BreakdownQuestion) -> str:
    """The dimensions of a question with their meanings, for a message."""
    return ", ".join(f"{name} ({DIMENSIONS[name].meaning})" for name in question.by)


def between(first: Stored, second: Stored, question: BreakdownQuestion) -> list[BreakdownTable]:
    """Two runs side by side, whatever they measure. Phases of the same name stand together. Raises
    UserError as `of_runs`."""
    systems = SeedGroup("before", (first,)), SeedGroup("after", (second,))
    tables = _paired({selection.subject(second.record): systems}, question)
    return [table for table in tables if len(table.systems) == len(systems)]


def side_by_side(runs: Sequence[Stored]) -> list[SeedGroup]:
    """A system for each run, with a name that distinguishes it from the others."""
    keys = [(*_key(run), run.record["label"], run.id[:8]) for run in runs]
    differ = len({key[:-1] for key in keys}) > 1
    names = _differences([key[:-2] if len(set(keys)) == 1 or differ else key for key in keys])
    return [SeedGroup(name, (run,)) for name, run in zip(names, runs, strict=True)]


def _key(stored: Stored) -> Key:
    """What distinguishes a system from others, apart from the seed."""
    record = stored.record
    return selection.called(record), *system_of(record), record["engine"]


def _systems(runs: Sequence[Stored]) -> dict[str, list[SeedGroup]]:
    """The systems of each benchmark."""
    groups: dict[str, dict[Key, list[Stored]]] = {}
    for stored in runs:
        key = _key(stored)
        same = groups.setdefault(selection.subject(stored.record), {})
        if any(run.record["seed"] == stored.record["seed"] for run in same.get(key, ())):
            key = (*key, stored.id[:8])  # the same system again: a run of another version
        same.setdefault(key, []).append(stored)
    return {
        benchmark: [
            SeedGroup(name, tuple(own))
            for name, own in zip(_differences(list(same)), same.values(), strict=True)
        ]
        for benchmark, same in groups.items()
    }


def _differences(keys: Sequence[Key]) -> list[str]:
    """A name for each key: the parts in which the keys differ, or else the guest."""
    longest = max(map(len, keys))
    padded = [(*key, *[""] * (longest - len(key))) for key in keys]
    return ["\n".join(filter(None, parts)) or PLAIN for parts in differing(padded, [1])]


def _of_run(stored: Stored, question: BreakdownQuestion) -> dict[str, pd.DataFrame]:
    """The counts of each phase of a run: a row for each key, a column for each event. They are for
    one operation or for 1000 instructions."""
    counts = counted(stored, question)
    frame = counts.frame
    if "phase" not in question.dimensions:
        frame = frame[frame["phase"] != EMPTY]
    divisors = _divisors(stored, question, counts)
    frames: dict[str, pd.DataFrame] = {}
    for phase, rows in frame.groupby("phase", sort=False):
        sums = rows.groupby([*question.by, "event"], sort=False)["count"].sum()
        wide = sums.unstack("event", fill_value=0)
        wide = wide.reindex(columns=list(counts.events), fill_value=0).fillna(0)
        wide.index = pd.MultiIndex.from_tuples(
            [key if isinstance(key, tuple) else (key,) for key in wide.index]
        )
        wide = wide[(wide != 0).any(axis="columns")]
        name = "" if "phase" in question.by else str(phase)
        part = wide / divisors.get(str(phase), float("nan"))  # without a bracket: no operations
        frames[name] = pd.concat([frames[name], part]) if name in frames else part
    return frames


def counted(stored: Stored, question: BreakdownQuestion) -> Counted:
    """The counts of a run that a question asks for, with the names of its file. UserError with the
    command that makes such a run if there are none."""
    counts = _observed(stored, question)
    frame = counts.frame
    for name, texts in question.where.items():
        values = frame[name].astype(str)
        frame = frame[values.map(lambda value, t=texts: any(fnmatchcase(value, p) for p in t))]
    own = own_name(stored)
    alone = [name for name in question.by if name != "ring"]
    for name in question.by:
        blank = {"": f"(no {name})"} if alone == [name] or name in NAMED_BLANK else {}
        module = own if name in ("module", "space") else {}
        names = {**blank, **module, **question.names.get(name, {})}
        values = frame[name].astype(str).map(lambda value, names=names: names.get(value, value))
        frame = frame.assign(**{name: values})
    return Counted(frame, counts.events)


def own_name(stored: Stored) -> dict[str, str]:
    """One name for the module of the user's program in all versions that are compared."""
    if selection.subject(stored.record) != PROGRAM or not selection.called(stored.record):
        return {}
    file = stored.record.get("program", {}).get("name", "").partition("@")[0]
    return {PurePath(file).stem: PROGRAM}


def counting(
    groups: Iterable[Sequence[Stored]], question: BreakdownQuestion
) -> list[tuple[Stored, bool]]:
    """Of the runs of each kind, the first that counted by the dimensions of a question, or else the
    first; and whether it counted by them."""
    wanted = question.dimensions
    counted = ((same, next((run for run in same if _read(run, wanted)), None)) for same in groups)
    return [(run or same[0], run is not None) for same, run in counted]


def named(
    lab: Lab, words: Sequence[str], question: BreakdownQuestion, only: str = ""
) -> tuple[list[Stored], str]:
    """Returns the runs that the words name, of each kind the newest that counted by the dimensions
    of a question. If a word names an experiment, the runs stand in the order of their swept keys,
    and those that did not count by the dimensions are left out, unless none did; the second part of
    the result is a sentence about them, or empty."""
    runs = counting(selection.groups(lab, words, only), question)
    counted = [run for run, is_counted in runs if is_counted]
    lost = [run.id[:8] for run, is_counted in runs if not is_counted]
    if not any(selection.is_group(lab, word) for word in words):
        return [run for run, _ in runs], ""
    shown = swept_keys.in_order(counted or [run for run, _ in runs])
    if not counted or not lost:
        return shown, ""
    names = ", ".join(question.dimensions)
    left = f"{len(lost)} of {len(runs)} runs did not count by {names} and are left out"
    return shown, f"{left}: {', '.join(lost)}"


def has(stored: Stored, question: BreakdownQuestion) -> bool:
    """Whether a run with status ok has a file of an observer with these dimensions."""
    files = [observer.file for observer in dimensions.observers_of(question.dimensions)]
    return stored.status == "ok" and any((stored.directory / name).is_file() for name in files)


def _read(stored: Stored, wanted: Sequence[str]) -> Counted | None:
    """The counts of a run with status ok by these dimensions."""
    if stored.status != "ok":
        return None
    for observer in dimensions.observers_of(wanted):
        if (stored.directory / observer.file).is_file():
            with suppress(NotCounted):
                return dimensions.of_run(stored.directory, observer, wanted)
    return None


def _observed(stored: Stored, question: BreakdownQuestion) -> Counted:
    """The counts of a run by the dimensions of a question, before any choice."""
    wanted = question.dimensions
    if stored.status != "ok":
        raise UserError(f"run {stored.id} is {stored.status} and has no counts")
    if counts := _read(stored, wanted):
        return _with_lines(counts, stored, question)
    what, option = f"counts by {', '.join(wanted)}", f"--by {','.join(wanted)}"
    if LINE in wanted and stored.record["experiment"] != PROGRAM:
        raise UserError(
            f"run {stored.id} has no {what}: only a program of your own is counted by line, as"
            f" `./p5lab run --program FILE {option}` does"
        )
    raise selection.without(stored, what, option)


def _with_lines(counts: Counted, stored: Stored, question: BreakdownQuestion) -> Counted:
    """The same counts. Lines of versions have the names of the first version."""
    first, frame = question.first, counts.frame
    if not first or first.id == stored.id or not _is_version(stored):
        return counts
    own = _read(first, [LINE])
    lines = (own.frame if own else frame)[LINE].unique(), frame[LINE].unique()
    names = same_lines.names(first, stored, *lines)
    return Counted(
        frame.assign(line=frame[LINE].map(lambda line: names.get(line, line))), counts.events
    )


def _divisors(stored: Stored, question: BreakdownQuestion, counts: Counted) -> dict[str, float]:
    """For each phase, the number of operations in its brackets, or of 1000 instructions."""
    markers = dimensions.OBSERVERS[0]
    frame = dimensions.of_run(stored.directory, markers, ("iteration",)).frame
    if texts := question.where.get("iteration"):
        frame = frame[frame["iteration"].astype(str).isin(texts)]
    brackets = frame.groupby("phase")["iteration"].nunique()
    if question.per == ALL:
        return {str(phase): 1.0 for phase in counts.frame["phase"].unique()}
    if question.per == INSTRUCTIONS:
        retired = frame[frame["event"] == cpi.INSTRUCTIONS].groupby("phase")["count"].sum()
        divisors = {str(phase): float(count) / 1000 for phase, count in retired.items()}
        own = counts.frame
        run = own[(own["phase"] == WHOLE_RUN) & (own["event"] == cpi.INSTRUCTIONS)]["count"].sum()
        return {**divisors, WHOLE_RUN: float(run) / 1000, ALL_BRACKETS: sum(divisors.values())}
    operations = int(stored.record["workload"]["operations"])
    each = 1 if "iteration" in question.by else brackets
    divisors = {str(phase): float(operations * n) for phase, n in (brackets * 0 + each).items()}
    if "phase" in question.by and WHOLE_NAME in divisors:  # parts of one run
        divisors = dict.fromkeys(divisors, divisors[WHOLE_NAME])
    return {**divisors, WHOLE_RUN: 1.0, ALL_BRACKETS: 1.0}


def _mean(
    runs: Sequence[dict[str, pd.DataFrame]], question: BreakdownQuestion
) -> dict[str, pd.DataFrame]:
    """The means over the seeds of a system that count. With a row for each seed, its own values."""
    counting = [run for run in runs if run] if SEED in question.where else runs
    number = 1 if SEED in question.by else len(counting)
    means = {}
    for phase in dict.fromkeys(phase for run in runs for phase in run):
        parts = [run[phase] for run in runs if phase in run]
        if len(parts) == number == 1:
            means[phase] = parts[0]
            continue
        levels = list(range(parts[0].index.nlevels))
        means[phase] = pd.concat(parts).groupby(level=levels, sort=False).sum() / number
    return means


def _table(
    benchmark: str,
    phase: str,
    question: BreakdownQuestion,
    own: Sequence[tuple[SeedGroup, pd.DataFrame]],
) -> BreakdownTable:
    systems = tuple(system for system, _ in own)
    counts = [_by_key(frame) for _, frame in own]
    keys = list(dict.fromkeys(key for by_key in counts for key in by_key))
    rows = [BreakdownRow(key, tuple(by_key.get(key) for by_key in counts)) for key in keys]
    table = BreakdownTable(benchmark, phase, question, systems, (), tuple(rows))
    several = len(systems) > 1
    shown = question.metrics or table.known or table.frequent
    return table.ordered(shown if question.metrics else shown[: 1 if several else None])


def _by_key(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, float]]:
    """The rows of a table of counts: for each key, the counts by event."""
    # to_numpy is many times faster than to_dict.
    events, rows = list(frame.columns), frame.to_numpy().tolist()
    keys = (tuple(map(str, _tuple(key))) for key in frame.index)
    return {key: dict(zip(events, row, strict=True)) for key, row in zip(keys, rows, strict=True)}


def _tuple(key: object) -> tuple[object, ...]:
    return key if isinstance(key, tuple) else (key,)


def check_names(runs: Sequence[Stored], question: BreakdownQuestion) -> None:
    """Raises UserError for a name in the file of names that no run has."""
    for name, others in question.names.items():
        if not others or name not in question.by:
            continue
        known = _values(runs, question, name)
        for value in others:
            if value not in known:
                raise unknown(name, value, known, where="--map")


def _known_values(runs: Sequence[Stored], question: BreakdownQuestion) -> str:
    """The end of a message about a value of `where` that no run has; empty if there is none."""
    for name, texts in question.where.items():
        known = _values(runs, question, name)
        for text in texts:
            if not any(fnmatchcase(value, text) for value in known):
                return f": {unknown(name, text, known)}"
    return ""


def _values(runs: Sequence[Stored], question: BreakdownQuestion, name: str) -> set[str]:
    """All values of a dimension in runs."""
    return {
        str(value) for stored in runs for value in _observed(stored, question).frame[name].unique()
    }
