# SPDX-License-Identifier: MIT
"""The plan of an experiment shows its runs, the runs that already have results, and the estimated
host time of the remaining runs. The estimates come from earlier runs."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from p5lab.describe.run import Run
from p5lab.duration import duration
from p5lab.execute.runner import TO_RUN, KnownRun
from p5lab.keep import index
from p5lab.keep.store import Stored
from p5lab.lab import Lab


class Estimate:
    """Estimates the host seconds of a run as the mean of similar earlier runs. Similar runs have
    the same engine, workload, guest, number of shadow geometries and parameters. If there are no
    such runs, the estimate uses runs with other parameters. If there are no such runs either, the
    estimate uses runs with another number of shadow geometries, then runs on another guest, and
    then runs of another workload. The geometry of the machine is not compared, because a guest
    executes nearly the same instructions on every geometry. `past` is called only for the first
    estimate."""

    def __init__(self, past: Callable[[], Iterable[Stored]]) -> None:
        self._past = past

    @cached_property
    def _means(self) -> dict[tuple[str, ...], float]:
        taken: dict[tuple[str, ...], list[float]] = {}
        for stored in self._past():
            if stored.status != "ok":
                continue
            for likeness in _likenesses(_known(stored.record)):
                taken.setdefault(likeness, []).append(stored.record["wall_seconds"])
        return {likeness: fmean(seconds) for likeness, seconds in taken.items()}

    def __call__(self, run: Run) -> float | None:
        """Returns the estimate in seconds, or None if this engine has no earlier runs."""
        for likeness in _likenesses(_of(run)):
            if likeness in self._means:
                return self._means[likeness]
        return None


def _likenesses(what: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Yields all entries of `what`, then all entries except the last, then all except the last two,
    and so on. The entries are engine, workload, guest, number of shadow geometries and
    parameters."""
    return (what[:length] for length in range(len(what), 0, -1))


def _known(record: dict[str, Any]) -> tuple[str, ...]:
    parameters = " ".join(f"{name}={value}" for name, value in record["parameters"].items())
    shadows = str(len(record["machine"].get("shadows", {})))
    workload = record["workload"]["name"]
    return record["engine"], workload, record["guest"]["name"], shadows, parameters


def _of(run: Run) -> tuple[str, ...]:
    shadows = str(len(run.shadows))
    return run.engine, run.workload.name, run.guest.name, shadows, run.parameter_text


@dataclass(frozen=True)
class PlanRow:
    """One run. `run` is the run's id, or empty if an input is not built yet. `status` is the status
    of the run's record, or `to run`. `seconds` is the estimated host time if the run has no good
    result."""

    run: str
    label: str
    status: str
    seconds: float | None


@dataclass(frozen=True)
class ExperimentPlan:
    """The runs of an experiment. `jobs`: the number of runs that are executed at the same time."""

    rows: list[PlanRow]
    jobs: int

    @property
    def left(self) -> list[PlanRow]:
        """The runs without a good result."""
        return [row for row in self.rows if row.status != "ok"]

    @property
    def seconds(self) -> float | None:
        """The estimated host seconds for the remaining runs, with `jobs` runs at a time. None if no
        run has an estimate."""
        known = [row.seconds for row in self.left if row.seconds is not None]
        if self.left and not known:
            return None
        # A run without an estimate gets the mean estimate of the other runs.
        each = [row.seconds if row.seconds is not None else fmean(known) for row in self.left]
        return max(sum(each) / self.jobs, max(each, default=0.0))


class Countdown:
    """The remaining host time of a command that executes `jobs` runs at the same time. A call
    returns the time as a text such as "3 min"."""

    def __init__(
        self, runs: Sequence[Run], estimate: Callable[[Run], float | None], jobs: int
    ) -> None:
        self._jobs = jobs
        self._estimate = estimate
        self._runs = {run.label: run for run in runs}
        self._seconds: dict[str, float | None] = {}  # estimates so far
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def started(self, label: str) -> None:
        """Records that a run has started. The remaining time of the run decreases from this
        moment."""
        with self._lock:
            self._begun[label] = time.monotonic()

    def finished(self, label: str) -> None:
        """Records that a run has ended."""
        with self._lock:
            self._runs.pop(label, None)

    def __call__(self) -> str:
        """Returns the remaining time as a text. The text is empty if there is no estimate, if the
        runs take longer than it, or if no run remains."""
        with self._lock:
            for label in self._runs.keys() - self._seconds.keys():
                self._seconds[label] = self._estimate(self._runs[label])
            left = {label: self._seconds[label] for label in self._runs}
            known = [seconds for seconds in left.values() if seconds is not None]
            if not known:
                return ""
            now, usual = time.monotonic(), fmean(known)
            each = [
                max((usual if seconds is None else seconds) - now + self._begun.get(label, now), 0)
                for label, seconds in left.items()
            ]
        seconds = max(sum(each) / self._jobs, max(each))
        return duration(seconds) if seconds else ""


def make(
    lab: Lab, runs: Sequence[Run], known: Callable[[Run], KnownRun] | None, jobs: int
) -> ExperimentPlan:
    """Returns the plan of these runs. `known` returns the id and status of a run. The caller passes
    None for `known` if an input is not built yet."""
    estimate = Estimate(lambda: index.runs(lab))
    rows: dict[str, PlanRow] = {}
    for run in runs:
        recorded = known(run) if known else None
        status = recorded.status if recorded else TO_RUN
        seconds = None if status == "ok" else estimate(run)
        row = PlanRow(recorded.id if recorded else "", run.label, status, seconds)
        rows.setdefault(row.run or row.label, row)
    return ExperimentPlan(list(rows.values()), jobs)


def summary(plan: ExperimentPlan) -> str:
    """Returns a text about a plan: the number of all runs, the number of runs with results, the
    number of runs to execute, and the estimated time."""
    there = len(plan.rows) - len(plan.left)
    runs = "1 run" if len(plan.rows) == 1 else f"{len(plan.rows)} runs"
    text = f"{runs}: {there} with results, {len(plan.left)} to run"
    if not plan.left:
        return text + "."
    if plan.seconds is None:
        return text + ". There is no estimate, because no similar run has been executed here."
    return f"{text}, about {duration(plan.seconds)} with {plan.jobs} runs at a time."
