# SPDX-License-Identifier: MIT
"""What an experiment comes to before it runs: its runs, which of them are there, and how long the
others will take on this host, judged by what runs like them took."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from p5lab.describe.run import Run
from p5lab.execute.runner import TO_RUN, Known
from p5lab.keep import index
from p5lab.keep.store import Stored
from p5lab.lab import Lab


class Estimate:
    """Host seconds of a run: what the same workload took with the same parameters, failing that
    with others, failing that on other guests, failing that any run of the engine. None: nothing was
    ever run. The machine's geometry changes what a guest does by little. `past` is asked when the
    first estimate is wanted: where everything is there, nobody wants one."""

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
        for likeness in _likenesses(_of(run)):
            if likeness in self._means:
                return self._means[likeness]
        return None


def _likenesses(what: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """From the most alike to the least: engine, workload, guest, parameters."""
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
class Row:
    """One run. `run` is its id, empty before everything is built; `status` is that of its record,
    or `to run`; `seconds` is the estimate of a run that is still to do."""

    run: str
    label: str
    status: str
    seconds: float | None


@dataclass(frozen=True)
class Plan:
    rows: list[Row]
    jobs: int

    @property
    def left(self) -> list[Row]:
        return [row for row in self.rows if row.status != "ok"]

    @property
    def seconds(self) -> float | None:
        """Of host time for what is left, `jobs` at a time; None: nothing is known."""
        known = [row.seconds for row in self.left if row.seconds is not None]
        if self.left and not known:
            return None
        # A run like none before takes what the others take.
        each = [row.seconds if row.seconds is not None else fmean(known) for row in self.left]
        return max(sum(each) / self.jobs, max(each, default=0.0))


class Countdown:
    """The host time that is left of runs under way, `jobs` at a time; called, it says so."""

    def __init__(
        self, runs: Sequence[Run], estimate: Callable[[Run], float | None], jobs: int
    ) -> None:
        self._jobs = jobs
        self._estimate = estimate
        self._runs = {run.label: run for run in runs}
        self._seconds: dict[str, float | None] = {}  # those that were asked for
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def started(self, label: str) -> None:
        with self._lock:
            self._begun[label] = time.monotonic()

    def finished(self, label: str) -> None:
        with self._lock:
            self._runs.pop(label, None)

    def __call__(self) -> str:
        """Empty: nothing like these runs was ever run, or none is left."""
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
        return duration(max(sum(each) / self._jobs, max(each)))


def make(lab: Lab, runs: Sequence[Run], known: Callable[[Run], Known] | None, jobs: int) -> Plan:
    """The plan of these runs; `known` says what is there, None before everything is built."""
    estimate = Estimate(lambda: index.runs(lab))
    rows: dict[str, Row] = {}
    for run in runs:
        found = known(run) if known else None
        status = found.status if found else TO_RUN
        seconds = None if status == "ok" else estimate(run)
        row = Row(found.id if found else "", run.label, status, seconds)
        rows.setdefault(row.run or row.label, row)
    return Plan(list(rows.values()), jobs)


def summary(plan: Plan) -> str:
    there = len(plan.rows) - len(plan.left)
    text = f"{len(plan.rows)} runs: {there} there, {len(plan.left)} to run"
    if not plan.left:
        return text + "."
    if plan.seconds is None:
        return text + "; nothing like them has been run here, so there is no estimate."
    return f"{text}, about {duration(plan.seconds)} with {plan.jobs} at a time."


def duration(seconds: float) -> str:
    """For people: 4.2 s, 3 min, 2 h 5 min."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
