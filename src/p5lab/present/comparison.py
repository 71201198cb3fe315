# SPDX-License-Identifier: MIT
"""Compares the measurements of an experiment's runs.

A comparison has one cell for each question (a phase of a workload) and each system (a guest on a
machine). A cell contains the measurements of all placement seeds.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from p5lab.describe import engine
from p5lab.describe.engine import DEVIATIONS, UNCOUNTED
from p5lab.describe.experiment import PROGRAM, Cannot
from p5lab.describe.keys import readable
from p5lab.describe.observation.clocks import NominalClocks, is_nominal
from p5lab.describe.observation.region import Region
from p5lab.describe.workload import EMPTY_NAME, WHOLE_NAME
from p5lab.keep import swept_keys
from p5lab.keep.selection import called, head, subject
from p5lab.keep.store import Stored
from p5lab.present.tables import number, plain, ratio
from p5stats import StatsError, compare, tidy
from p5stats.lazy import np, pd

CYCLES, TIME, INSTRUCTIONS = "busy cycles", "microseconds", "instructions"
NEWER, NEWER_CYCLES = "newer instructions", "clocks of newer instructions"
NOMINAL = "nominal busy cycles"
SPREAD = (CYCLES, TIME, NOMINAL)  # a lowest and a highest iteration are shown for each
LOWEST, HIGHEST = ", lowest", ", highest"  # of SPREAD: the lowest and the highest iteration
DEVIATION = "gem5 differs from the machine"
SCHEMA_VERSION = 1
BATCH = 50  # number of runs that are evaluated as one table


@dataclass(frozen=True)
class Measured:
    """One phase of one run, on the run's machine or on one of its shadow geometries.

    `values`: the metrics of one operation, and the cycles and time of the lowest and highest
    iteration. `corrected`: whether an empty bracket was subtracted. `events`: the counts of one
    operation by event; NaN if the engine did not count the event.
    """

    stored: Stored
    system: System
    phase: str
    iterations: int
    values: dict[str, float]
    corrected: bool
    events: dict[str, float] = field(default_factory=dict)


def operation_of(record: Mapping[str, Any], phase: str) -> str:
    """What one operation of a phase is, such as `call`: of the user's own program, the whole run,
    a call of the function of --region, or a bracket of markers."""
    if record.get("experiment") != PROGRAM or phase in ("", WHOLE_NAME):
        return str(record["workload"]["operation"])
    region = Region.of_record(record)
    return "call" if region and region.function == phase else "bracket"


def measure(runs: Sequence[Stored]) -> Iterator[list[Measured]]:
    """Yields the phases of each run. The values of a phase are for one operation, and the empty
    bracket is subtracted.

    All runs must have status ok. Raises StatsError for a run without brackets.
    """
    undivided = {
        run.record["engine"] for run in runs if not engine.recorded(run.record["engine"]).rings
    }
    # The runs are processed in batches, because a table operation takes almost the same time for
    # one run and for many runs.
    for batch in _batches(runs):
        tables = [tidy.read_run(stored.directory) for stored in batch]
        for stored, (frame, _) in zip(batch, tables, strict=True):
            if frame.empty:
                raise StatsError(f"{stored.directory}: no brackets: the table is empty")
        table = pd.concat([frame for frame, _ in tables], ignore_index=True)
        counts = compare.without_empty(compare.counts(table, undivided), EMPTY_NAME)
        by_run = dict(iter(counts.groupby(level="run", sort=False)))
        for stored, (frame, clock_hz) in zip(batch, tables, strict=True):
            # The order of the rows is the order in which the phases ended.
            phases = frame["phase"].unique().tolist()
            # A power cut can come when a run has only had empty brackets.
            own = by_run.get(frame["run"].iloc[0], counts.iloc[:0])
            yield _phases(stored, own, phases, clock_hz)


def _batches(runs: Sequence[Stored]) -> Iterator[list[Stored]]:
    """Yields groups of at most BATCH runs, to limit the use of memory. No group contains a run
    twice."""
    batch: dict[str, Stored] = {}
    for stored in runs:
        if len(batch) == BATCH or stored.id in batch:
            yield list(batch.values())
            batch = {}
        batch[stored.id] = stored
    if batch:
        yield list(batch.values())


def _phases(
    stored: Stored, counts: pd.DataFrame, phases: Sequence[str], clock_hz: int
) -> list[Measured]:
    workload = stored.record["workload"]
    operations = workload["operations"]
    moved = workload.get("bytes", 0)  # records of older versions have no `bytes`
    vector = stored.record["guest"]["clock_vector"]
    events = list(counts.columns)
    brackets = counts.to_numpy(float)
    of = {name: counts.index.get_level_values(name) for name in ("phase", "geometry", "feedback")}

    def values(bracket: np.ndarray, wanted: Container[str] | None = None) -> dict[str, float]:
        means = dict(zip(events, bracket.tolist(), strict=True))
        return compare.evaluate(means, operations, clock_hz, vector, moved, wanted)

    systems = System.all_of(stored.record)
    shadows = {system.geometry for system in systems[1:]}
    result = []
    for phase in phases:
        for system in systems:
            # The table of a stored run may contain an overlay with the machine's own values, or not
            # contain it (p5lab.keep.selection.as_asked). All rows that belong to no shadow belong
            # to the run's own system.
            is_own = system is systems[0]
            geometry = of["geometry"]
            rows = brackets[
                (of["phase"] == phase)
                & (~geometry.isin(shadows) if is_own else geometry == system.geometry)
                & (of["feedback"] == system.feedback)
            ]
            if not len(rows):
                continue  # the phase is the empty bracket
            metrics = values(rows.mean(axis=0))
            each = [values(row, SPREAD) for row in rows]
            for name in SPREAD:
                metrics[name + LOWEST] = min(iteration[name] for iteration in each)
                metrics[name + HIGHEST] = max(iteration[name] for iteration in each)
            each_event = (rows.mean(axis=0) / operations).tolist()
            result.append(
                Measured(
                    stored,
                    system,
                    phase,
                    len(rows),
                    metrics,
                    EMPTY_NAME in phases,
                    dict(zip(events, each_event, strict=True)),
                )
            )
    return result


@dataclass(frozen=True)
class System:
    """A column of a comparison: a guest on a machine, with a geometry, feedback and an engine, and
    a version of the program if versions are compared."""

    guest: str
    machine: str
    geometry: str
    feedback: str
    engine: str
    clocks: str = ""  # "nominal clocks" (p5lab.describe.observation.clocks), or empty
    version: str = ""  # the name of the run (p5lab.keep.selection.called), or empty

    @classmethod
    def of(cls, record: dict[str, Any]) -> System:
        """Returns the system of a run, from the run's record."""
        machine = record["machine"]
        feedback = tidy.YES if record["feedback"] == "on" else tidy.NO
        return cls(
            record["guest"]["name"],
            machine["name"],
            machine["geometry"],
            feedback,
            record["engine"],
            NominalClocks().label if is_nominal(record) else "",
            called(record),
        )

    @classmethod
    def all_of(cls, record: dict[str, Any], keys: Sequence[str] = ()) -> list[System]:
        """Returns the system of a run and the systems of its shadow geometries.

        `keys`: swept machine keys. The geometry of the run's system contains the values of all
        these keys, even if a value is the machine's own.
        """
        own = cls.of(record)
        if keys:
            own = replace(own, geometry=swept_keys.geometry(record, keys))
        shadows = record["machine"].get("shadows", {})
        return [own, *(replace(own, geometry=name, feedback=tidy.NO) for name in shadows)]


def repeated(runs: Sequence[Stored]) -> list[list[Stored]]:
    """Runs of one workload, system and seed, of which a comparison has only the newest."""
    same: dict[tuple[str, System, int], list[Stored]] = {}
    for run in runs:
        if run.status == "ok":
            key = subject(run.record), System.of(run.record), run.record["seed"]
            same.setdefault(key, []).append(run)
    return [own for own in same.values() if len(own) > 1]


@dataclass(frozen=True)
class Question:
    """A row of a comparison.

    `what`: the start of the run's label (see `head`). `phase`: the program's name for the bracket.
    A workload may have several phases.
    """

    what: str
    phase: str


@dataclass(frozen=True)
class Cell:
    """The measurements of one system for one question, with one Measured for each seed."""

    seeds: list[Measured]

    @property
    def record(self) -> dict[str, Any]:
        """The record of the first seed's run."""
        return self.seeds[0].stored.record

    def counted(self, event: str) -> list[float]:
        """Returns the counts of an event for one operation, one for each seed: NaN if a seed did
        not count it."""
        return [measured.events.get(event, math.nan) for measured in self.seeds]

    def event(self, name: str) -> float:
        """Returns the mean over the seeds of an event's count, for one operation. Returns NaN if a
        seed did not count the event."""
        counted = self.counted(name)
        return sum(counted) / len(counted)

    @property
    def runs(self) -> str:
        """The ids of the runs, separated by spaces."""
        return " ".join(measured.stored.id for measured in self.seeds)

    @property
    def iterations(self) -> int:
        """The number of iterations in the first seed's run."""
        return self.seeds[0].iterations

    @cached_property
    def metrics(self) -> dict[str, list[float]]:
        """The values of each metric, one for each seed. A value is NaN if the metric was not
        counted, or if its divisor is zero."""
        values: dict[str, list[float]] = {}
        for measured in self.seeds:
            for name, value in measured.values.items():
                values.setdefault(name, []).append(value)
        return values

    def has(self, metric: str) -> bool:
        """Whether any seed has a value of the metric."""
        return not all(map(math.isnan, self.metrics[metric]))

    def mean(self, metric: str) -> float:
        """Returns the mean over the seeds, in the metric's unit. Returns NaN if a seed has no
        value."""
        values = self.metrics[metric]
        return sum(values) / len(values)

    def spread(self, metric: str) -> tuple[float, float]:
        """Returns the lowest and the highest of the seeds' values."""
        values = self.metrics[metric]
        return min(values), max(values)


class Comparison:
    """The runs of an experiment as a table of questions and systems.

    `questions`: the rows, in the order of the runs. `systems`: the columns, in the order of the
    runs. `seeds`: the placement seeds. `failed`: the runs without results. `cannot`: the runs that
    a guest cannot execute. `keys`: the swept keys (p5lab.keep.swept_keys). The geometry of each
    system contains the values of the swept machine keys.
    """

    def __init__(
        self, runs: Sequence[Stored], cannot: Sequence[Cannot] = (), keys: Sequence[str] = ()
    ) -> None:
        self.cannot = list(cannot)
        self.keys = tuple(keys)
        self.failed = [stored for stored in runs if stored.status != "ok"]
        self.systems = list(
            dict.fromkeys(system for stored in runs for system in self._systems(stored))
        )
        by_question: dict[Question, dict[System, dict[int, Measured]]] = {}
        self.seeds: dict[int, None] = {}
        done = [stored for stored in runs if stored.status == "ok"]
        for stored, phases in zip(done, measure(done), strict=True):
            self.seeds[stored.record["seed"]] = None
            columns = dict(zip(System.all_of(stored.record), self._systems(stored), strict=True))
            for measured in phases:
                question = Question(subject(stored.record), measured.phase)
                cells = by_question.setdefault(question, {})
                seeds = cells.setdefault(columns[measured.system], {})
                seed = stored.record["seed"]
                # A run with --region measures the whole program, too. Of runs with the same seed,
                # the cell has the newest.
                if seed not in seeds or seeds[seed].stored.started <= stored.started:
                    seeds[seed] = measured
        # The rows are in the order of the experiment, even if a guest executed its workloads in
        # another order.
        order = list(dict.fromkeys(subject(stored.record) for stored in runs))
        self.questions = sorted(by_question, key=lambda question: order.index(question.what))
        self._cells = {
            (question, system): Cell(list(seeds.values()))
            for question, cells in by_question.items()
            for system, seeds in cells.items()
        }

    def _systems(self, stored: Stored) -> list[System]:
        return System.all_of(stored.record, self.keys)

    @property
    def has_shadows(self) -> bool:
        """Whether the runs had shadow geometries. For a shadow geometry, only misses are
        counted."""
        return any(cell.record["machine"].get("shadows") for cell in self._cells.values())

    @property
    def compares_versions(self) -> bool:
        """Whether the columns are versions of one program."""
        return any(system.version for system in self.systems)

    @property
    def has_empty_bracket(self) -> bool:
        """Whether the empty bracket was subtracted in at least one of the runs."""
        return any(measured.corrected for cell in self._cells.values() for measured in cell.seeds)

    @property
    def has_one_placement(self) -> bool:
        """Whether all numbers come from one placement seed of simulated runs."""
        simulated = [engine.recorded(system.engine).simulates for system in self.systems]
        return len(self.seeds) == 1 and bool(self.questions) and all(simulated)

    @property
    def is_complete(self) -> bool:
        """Whether each value has all seeds."""
        return all(len(cell.seeds) == len(self.seeds) for cell in self._cells.values())

    @property
    def is_single(self) -> bool:
        """Whether each value comes from one iteration."""
        return all(cell.iterations == 1 for cell in self._cells.values())

    @property
    def experiments(self) -> list[str]:
        """The names of the experiments that the runs belong to."""
        return list(dict.fromkeys(str(cell.record["experiment"]) for cell in self._cells.values()))

    @property
    def not_counted(self) -> list[str]:
        """A note for each event that a host did not count, with the reason."""
        notes = ((note["what"].capitalize(), note["reason"]) for note in self._notes(UNCOUNTED))
        return [f"{what} ({reason})" for what, reason in dict.fromkeys(notes)]

    @property
    def deviations(self) -> list[str]:
        """A note for each difference between gem5 and the machine that it models."""
        reasons = dict.fromkeys(note["reason"] for note in self._notes(DEVIATIONS))
        return [f"{DEVIATION}: {reason}" for reason in reasons]

    def _notes(self, what: str) -> Iterator[dict[str, Any]]:
        """The notes of the engines whose notes are of this kind."""
        for cell in self._cells.values():
            if engine.recorded(cell.record["engine"]).notes == what:
                yield from cell.record["notes"]

    @property
    def without_clocks(self) -> list[str]:
        """A note for each guest on a processor that the engine models without clocks, or with
        nominal clocks."""
        notes = []
        for cell in self._cells.values():
            guest, isa = (
                cell.record["guest"]["name"],
                cell.record["machine"]["values"].get("cpu.isa"),
            )
            if is_nominal(cell.record):
                notes.append(
                    f"Guest {guest} ran on a processor of {isa} with nominal clocks. They are the"
                    " clocks of no processor: compare them only with each other"
                    " (docs/concepts/nominal-clocks.md)"
                )
            elif isa in engine.recorded(cell.record["engine"]).without_clocks:
                notes.append(
                    f"Guest {guest} ran on a processor of {isa}. Events of this guest are counted,"
                    " but there are no cycles and times of a Pentium"
                )
        return list(dict.fromkeys(notes))

    @property
    def estimated(self) -> list[str]:
        """A note for each phase that executed instructions that a Pentium does not have."""
        notes = []
        for (question, system), cell in self._cells.items():
            if not cell.has(NEWER) or not cell.mean(NEWER):
                continue
            parts = (cell.mean(name) for name in (NEWER, INSTRUCTIONS, NEWER_CYCLES, CYCLES))
            newer, instructions, clocks, cycles = (number(part) for part in parts)
            name = self.names()[system].replace("\n", ", ")
            notes.append(
                f"{self.label(question)}, {name}: {newer} of {instructions}"
                f" instructions do not exist on a Pentium; their {clocks} of {cycles} busy cycles"
                " are estimates"
            )
        return notes

    @property
    def not_timed(self) -> list[str]:
        """A note for each instruction of a run that has no class in the timing table."""
        counts = {
            (cell.record["run"], note["name"]): note["count"]
            for cell in self._cells.values()
            for note in cell.record["notes"]
            if note["what"] == "unknown-class"
        }
        return [
            f"Run {run}: instruction {name} has no timing class. The instruction was executed"
            f" {count} times and counted as 1 clock each time"
            for (run, name), count in counts.items()
        ]

    def cell(self, question: Question, system: System) -> Cell | None:
        """Returns the cell of a question and a system, or None if there is no result."""
        return self._cells.get((question, system))

    def cells(self, question: Question) -> list[Cell | None]:
        """Returns the row of a question, in the order of `systems`."""
        return [self.cell(question, system) for system in self.systems]

    def operation(self, question: Question) -> str:
        """What one operation of a question is (operation_of)."""
        return operation_of(self.any_cell(question).record, question.phase)

    def any_cell(self, question: Question) -> Cell:
        """Returns the first cell of a question's row. Each question has at least one cell."""
        return next(cell for cell in self.cells(question) if cell)

    @property
    def last_points(self) -> list[Question]:
        """Every question that is not a point of a curve, and the last point of each curve."""
        return [
            question
            for question in self.questions
            if not self.any_cell(question).record["workload"]["curve"]
            or question == self.phases(question.what)[-1]
        ]

    def phases(self, what: str) -> list[Question]:
        """Returns the questions with the same `what`, one for each phase."""
        return [question for question in self.questions if question.what == what]

    def label(self, question: Question) -> str:
        """Returns a name for a question. The name contains the phase if the workload has several
        phases."""
        return question.what + self.phase_of(question)

    def phase_of(self, question: Question) -> str:
        """Returns the end of a question's label: the phase, or nothing if there is only one
        phase."""
        return f", {question.phase}" if len(self.phases(question.what)) > 1 else ""

    @cached_property
    def cost(self) -> str:
        """The metric of ratios: TIME; NOMINAL if all systems have nominal clocks; INSTRUCTIONS if
        no system has a time."""
        cells = self._cells.values()
        if any(cell.has(TIME) for cell in cells):
            return TIME
        nominal = bool(cells) and all(cell.has(NOMINAL) for cell in cells)
        return NOMINAL if nominal else INSTRUCTIONS

    def why_missing(self, question: Question, system: System) -> str:
        """Returns the reason why a cell is missing: `failed`, `cannot`, or `-` if there is no
        run."""
        if any(
            subject(stored.record) == question.what and system in self._systems(stored)
            for stored in self.failed
        ):
            return "failed"
        workload = self.any_cell(question).record["workload"]["name"]
        if (system.guest, workload) in ((cannot.guest, cannot.workload) for cannot in self.cannot):
            return "cannot"
        return "-"

    def names(self) -> dict[System, str]:
        """Returns a short name for each system. The name contains only the parts that differ
        between the systems, with one part on each line.

        If the systems differ only in overlays, the name of the machine without an overlay is the
        name of its file.
        """
        fields = ("version", "guest", "machine", "geometry", "feedback", "clocks", "engine")
        differ = [
            name for name in fields if len({getattr(system, name) for system in self.systems}) > 1
        ] or ["version" if self.compares_versions else "guest"]
        names = {system: [_name(system, name) for name in differ] for system in self.systems}
        return {
            system: "\n".join(filter(None, parts)) or system.machine
            for system, parts in names.items()
        }

    def table(self) -> Iterator[dict[str, Any]]:
        """Yields a row for each question, system and metric, for programs. A missing value is
        None."""
        units = {metric.name: metric.unit for metric in compare.metrics(0)}
        units |= {name + end: units[name] for name in SPREAD for end in (LOWEST, HIGHEST)}
        for question in self.questions:
            first: Cell | None = None
            for system in self.systems:
                cell = self.cell(question, system)
                if cell is None:
                    continue
                first = first or cell
                record = cell.record
                for name in cell.metrics:
                    low, high = cell.spread(name)
                    reference = first.mean(name)
                    yield {
                        "experiment": record["experiment"],
                        "workload": record["workload"]["name"],
                        "parameters": " ".join(f"{k}={v}" for k, v in record["parameters"].items()),
                        "phase": question.phase,
                        "operation": operation_of(record, question.phase),
                        "guest": system.guest,
                        "machine": system.machine,
                        "geometry": system.geometry,
                        "feedback": system.feedback,
                        "engine": system.engine,
                        "seeds": " ".join(str(seed.stored.record["seed"]) for seed in cell.seeds),
                        "runs": cell.runs,
                        "iterations": cell.iterations,
                        "metric": name,
                        "unit": units[name],
                        "value": plain(cell.mean(name)),
                        "seed_min": plain(low),
                        "seed_max": plain(high),
                        "ratio": plain(ratio(cell.mean(name), reference)),
                    }


def name(record: dict[str, Any]) -> str:
    """Returns a short name of a run for people: the label without the observations."""
    seed = f"seed {record['seed']}" if record["seed"] else ""
    return ", ".join(filter(None, (head(record), *system_of(record), seed)))


def system_of(record: dict[str, Any]) -> tuple[str, str, str]:
    """The guest, the machine and the overlay of a run, as people write it."""
    machine = record["machine"]
    return record["guest"]["name"], machine["name"], readable(machine["geometry"])


def differing(
    names: Sequence[Sequence[str]], otherwise: Sequence[int] = ()
) -> list[tuple[str, ...]]:
    """Returns of each name the parts in which the names differ, or those at `otherwise`."""
    differ = [at for at, parts in enumerate(zip(*names, strict=True)) if len(set(parts)) > 1]
    return [tuple(name[at] for at in differ or otherwise) for name in names]


def _name(system: System, field: str) -> str:
    value = getattr(system, field)
    if field == "guest" and not engine.recorded(system.engine).simulates:
        return "host"
    shown = {
        "feedback": f"feedback {value}",
        "geometry": readable(value).replace(" ", "\n"),
        "version": value.replace(" = ", "\n= "),
    }
    return shown.get(field, value)
