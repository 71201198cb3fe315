# SPDX-License-Identifier: MIT
"""What the runs of an experiment measured, side by side: one cell for each question (a workload's
phase) and system (a guest on a machine), over all placement seeds."""

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from p5lab.describe import engine
from p5lab.describe.engine import DEVIATIONS, UNCOUNTED
from p5lab.describe.experiment import Cannot
from p5lab.describe.keys import readable
from p5lab.describe.workload import EMPTY_NAME
from p5lab.keep.store import Stored
from p5stats import StatsError, compare, tidy

CYCLES, TIME = "busy cycles", "microseconds"
LOWEST, HIGHEST = ", lowest", ", highest"  # iteration of a phase, of CYCLES and of TIME
DEVIATION = "gem5 differs from the machine"
SCHEMA_VERSION = 1
BATCH = 50  # runs that are read and counted as one table


@dataclass(frozen=True)
class Measured:
    """One phase of one run, for its machine or a shadow of it: the metrics of one operation, and
    how far its iterations spread in cycles and time. corrected: whether an empty bracket was
    subtracted."""

    stored: Stored
    system: "System"
    phase: str
    iterations: int
    values: dict[str, float]
    corrected: bool


def measure(runs: Sequence[Stored]) -> Iterator[list[Measured]]:
    """For each ok run all its phases, corrected for the empty bracket, per operation."""
    undivided = {
        one.record["engine"] for one in runs if not engine.recorded(one.record["engine"]).rings
    }
    # What a table operation costs, it costs for one run as for many.
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
            yield _phases(stored, by_run[frame["run"].iloc[0]], phases, clock_hz)


def _batches(runs: Sequence[Stored]) -> Iterator[list[Stored]]:
    """Not too many at a time for the memory, and none of them twice."""
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
    moved = workload.get("bytes", 0)  # records of older versions do not have it
    vector = stored.record["guest"]["clock_vector"]
    events = list(counts.columns)
    brackets = counts.to_numpy(float)
    of = {name: counts.index.get_level_values(name) for name in ("phase", "geometry", "feedback")}

    def values(bracket: np.ndarray, wanted: Container[str] | None = None) -> dict[str, float]:
        means = dict(zip(events, bracket.tolist(), strict=True))
        return compare.evaluate(means, operations, clock_hz, vector, moved, wanted)

    result = []
    for phase in phases:
        for system in System.all_of(stored.record):
            rows = brackets[
                (of["phase"] == phase)
                & (of["geometry"] == system.geometry)
                & (of["feedback"] == system.feedback)
            ]
            if not len(rows):
                continue  # the empty bracket
            found = values(rows.mean(axis=0))
            each = [values(row, (CYCLES, TIME)) for row in rows]
            for name in (CYCLES, TIME):
                found[name + LOWEST] = min(one[name] for one in each)
                found[name + HIGHEST] = max(one[name] for one in each)
            result.append(Measured(stored, system, phase, len(rows), found, EMPTY_NAME in phases))
    return result


@dataclass(frozen=True)
class System:
    """What the columns of a comparison are."""

    guest: str
    machine: str
    geometry: str
    feedback: str
    engine: str

    @classmethod
    def of(cls, record: dict[str, Any]) -> "System":
        machine = record["machine"]
        feedback = tidy.YES if record["feedback"] == "on" else tidy.NO
        return cls(
            record["guest"]["name"],
            machine["name"],
            machine["geometry"],
            feedback,
            record["engine"],
        )

    @classmethod
    def all_of(cls, record: dict[str, Any]) -> "list[System]":
        """The run's own, and its shadows'."""
        own = cls.of(record)
        shadows = record["machine"].get("shadows", {})
        return [own, *(replace(own, geometry=name, feedback=tidy.NO) for name in shadows)]


@dataclass(frozen=True)
class Question:
    """What the rows are. `phase` is what the program calls it; a workload may have several."""

    what: str
    phase: str


@dataclass(frozen=True)
class Cell:
    """The answer of one system to one question; a Measured for each seed."""

    seeds: list[Measured]

    @property
    def record(self) -> dict[str, Any]:
        return self.seeds[0].stored.record

    @property
    def iterations(self) -> int:
        return self.seeds[0].iterations

    @cached_property
    def metrics(self) -> dict[str, list[float]]:
        """Every metric, a value for each seed."""
        values: dict[str, list[float]] = {}
        for measured in self.seeds:
            for name, value in measured.values.items():
                values.setdefault(name, []).append(value)
        return values

    def has(self, metric: str) -> bool:
        """Whether the engine counts it, and there was something to divide by."""
        return not all(map(math.isnan, self.metrics[metric]))

    def mean(self, metric: str) -> float:
        values = self.metrics[metric]
        return sum(values) / len(values)

    def spread(self, metric: str) -> tuple[float, float]:
        """The lowest and the highest seed."""
        values = self.metrics[metric]
        return min(values), max(values)


class Comparison:
    """The runs of an experiment in order; `cannot` are those that a guest cannot do."""

    def __init__(self, runs: Sequence[Stored], cannot: Sequence[Cannot] = ()) -> None:
        self.cannot = list(cannot)
        self.failed = [stored for stored in runs if stored.status != "ok"]
        self.systems = list(
            dict.fromkeys(system for stored in runs for system in System.all_of(stored.record))
        )
        found: dict[Question, dict[System, list[Measured]]] = {}
        self.seeds: dict[int, None] = {}
        done = [stored for stored in runs if stored.status == "ok"]
        for stored, phases in zip(done, measure(done), strict=True):
            self.seeds[stored.record["seed"]] = None
            for measured in phases:
                question = Question(head(stored.record), measured.phase)
                cells = found.setdefault(question, {})
                cells.setdefault(measured.system, []).append(measured)
        # A guest that began with other workloads must not change the order of the rows.
        order = list(dict.fromkeys(head(stored.record) for stored in runs))
        self.questions = sorted(found, key=lambda question: order.index(question.what))
        self._cells = {
            (question, system): Cell(seeds)
            for question, cells in found.items()
            for system, seeds in cells.items()
        }

    @property
    def has_shadows(self) -> bool:
        """Whether there are geometries that have misses and nothing else."""
        return any(cell.record["machine"].get("shadows") for cell in self._cells.values())

    @property
    def not_counted(self) -> list[str]:
        """What a host did not count and why, each once."""
        found = (
            f"{note['what'].capitalize()} ({note['reason']})"
            for cell in self._cells.values()
            if engine.recorded(cell.record["engine"]).notes == UNCOUNTED
            for note in cell.record["notes"]
        )
        return list(dict.fromkeys(found))

    @property
    def deviations(self) -> list[str]:
        """In what a gem5 differs from the machine it is to be, each once."""
        found = (
            note["reason"]
            for cell in self._cells.values()
            if engine.recorded(cell.record["engine"]).notes == DEVIATIONS
            for note in cell.record["notes"]
        )
        return list(dict.fromkeys(f"{DEVIATION}: {reason}" for reason in found))

    @property
    def without_clocks(self) -> list[str]:
        """Guests whose processor has no clocks to show, each once."""
        found = []
        for cell in self._cells.values():
            guest, isa = (
                cell.record["guest"]["name"],
                cell.record["machine"]["values"].get("cpu.isa"),
            )
            if isa in engine.recorded(cell.record["engine"]).without_clocks:
                found.append(
                    f"Guest {guest} ran on a processor of {isa}: its events are counted, a"
                    " Pentium's cycles and times it has none"
                )
        return list(dict.fromkeys(found))

    @property
    def not_timed(self) -> list[str]:
        """Instructions that the timing table has no class for, each once for a run."""
        found = {
            (cell.record["run"], note["name"]): note["count"]
            for cell in self._cells.values()
            for note in cell.record["notes"]
            if note["what"] == "unknown-class"
        }
        return [
            f"Run {run}: instruction {name} has no timing class, taken for 1 clock {count} times"
            for (run, name), count in found.items()
        ]

    def cell(self, question: Question, system: System) -> Cell | None:
        return self._cells.get((question, system))

    def cells(self, question: Question) -> list[Cell | None]:
        return [self.cell(question, system) for system in self.systems]

    def any_cell(self, question: Question) -> Cell:
        return next(cell for cell in self.cells(question) if cell)

    def phases(self, what: str) -> list[Question]:
        return [question for question in self.questions if question.what == what]

    def why_missing(self, question: Question, system: System) -> str:
        """A word for a cell that is not there."""
        if any(
            head(stored.record) == question.what and system in System.all_of(stored.record)
            for stored in self.failed
        ):
            return "failed"
        workload = self.any_cell(question).record["workload"]["name"]
        if any(one.guest == system.guest and one.workload == workload for one in self.cannot):
            return "cannot"
        return "-"

    def names(self) -> dict[System, str]:
        """The systems by what tells them apart, in lines. Where that is an overlay, the machine as
        its file has it goes by its own name."""
        fields = ("guest", "machine", "geometry", "feedback", "engine")
        differ = [
            name for name in fields if len({getattr(one, name) for one in self.systems}) > 1
        ] or ["guest"]
        return {
            one: "\n".join(_name(one, name) for name in differ if _name(one, name)) or one.machine
            for one in self.systems
        }

    def table(self) -> Iterator[dict[str, Any]]:
        """One row for each question, system and metric: what programs read. Missing is None."""
        units = {metric.name: metric.unit for metric in compare.metrics(0)}
        units |= {name + end: units[name] for name in (CYCLES, TIME) for end in (LOWEST, HIGHEST)}
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
                        "operation": record["workload"]["operation"],
                        "guest": system.guest,
                        "machine": system.machine,
                        "geometry": system.geometry,
                        "feedback": system.feedback,
                        "engine": system.engine,
                        "seeds": " ".join(str(one.stored.record["seed"]) for one in cell.seeds),
                        "runs": " ".join(one.stored.id for one in cell.seeds),
                        "iterations": cell.iterations,
                        "metric": name,
                        "unit": units[name],
                        "value": _or_none(cell.mean(name)),
                        "seed_min": _or_none(low),
                        "seed_max": _or_none(high),
                        "ratio": _or_none(cell.mean(name) / reference if reference else math.nan),
                    }


def head(record: dict[str, Any]) -> str:
    """The run's label without what is the same everywhere in a small experiment."""
    return str(record["label"]).split(", ")[0]


def _name(system: System, field: str) -> str:
    value = getattr(system, field)
    if field == "guest" and not engine.recorded(system.engine).simulates:
        return "host"
    shown = {"feedback": f"feedback {value}", "geometry": readable(value).replace(" ", "\n")}
    return shown.get(field, value)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
