# SPDX-License-Identifier: MIT
"""Makes the runs of the records (p5lab.evidence.records)."""

from collections.abc import Callable
from dataclasses import dataclass

from p5lab.engines.gem5 import engine as gem5
from p5lab.errors import unknown
from p5lab.evidence import (
    agreement,
    applications,
    calls,
    counter_method,
    counts,
    gallery,
    gem5_programs,
    lower_bound,
    period,
    records,
    topbench,
    validate,
)
from p5lab.evidence.records import RUNS, Record
from p5lab.keep.result import Execute, succeeded
from p5lab.lab import Lab


@dataclass(frozen=True)
class Means:
    """What makes runs: `execute` several at a time, and `one_by_one` for comparable host times."""

    lab: Lab
    execute: Execute
    one_by_one: Execute


def _claims(use: Means) -> Record:
    validation = validate.run(use.lab, validate.select(use.lab, None), use.execute)
    succeeded(validation.failed)
    return validate.record(validation.results)


def _cross_check(use: Means) -> Record:
    experiments = agreement.choose(agreement.ON_ONE_CHIP)
    checked = agreement.check(use.lab, agreement.Ask(chip=True), use.one_by_one, experiments)
    succeeded(checked.failed)
    return agreement.record(checked)


# The parts of runs.json, each with its runs; each can also be made alone.
PARTS: dict[str, Callable[[Means], Record]] = {
    "counts": lambda use: counts.measured(use.lab, use.execute),
    "calls": lambda use: calls.measured(use.lab, use.execute),
    "method": lambda use: counter_method.measured(use.lab, use.execute),
    "lower bound": lambda use: lower_bound.measured(use.lab, use.execute),
    "claims": _claims,
}
# The records beside runs.json. The runs of most need what this host may lack.
OTHERS: dict[str, Callable[[Means, Record], Record]] = {
    "period": lambda use, before: period.measured(use.lab, before, use.execute),
    "applications": lambda use, before: applications.measured(use.lab, before, use.execute),
    "cross-check": lambda use, before: _cross_check(use),
    gem5_programs.NAME: lambda use, before: gem5_programs.measured(use.lab, use.execute),
    gallery.NAME: lambda use, before: gallery.measured(use.lab, use.execute),
    "topbench": lambda use, before: topbench.measured(use.lab, use.execute),
}
NEEDS = {
    "period": "the user's media in P5LAB_MEDIA",
    "applications": "a disk with programs of Debian",
    "cross-check": f"gem5 in {gem5.VARIABLE}",
    gem5_programs.NAME: f"gem5 with P5CPU in {gem5.VARIABLE}",
    gallery.NAME: "only what p5lab builds, and some minutes",
    "topbench": "the user's media in P5LAB_MEDIA",
}
NAMES = (RUNS, *OTHERS)


def choose(names: list[str]) -> list[str]:
    """The records to make: without names, only RUNS. Raises UserError for an unknown name."""
    for name in names:
        if name not in (known := (*NAMES, *PARTS)):
            raise unknown("record", name, known, where="docs")
    return list(dict.fromkeys(names)) or [RUNS]


def record(use: Means, name: str) -> tuple[str, Record]:
    """The new record with this name, or with this new part, and the name of its file. Raises
    UserError if a run fails or if something that the runs need is missing."""
    if name == RUNS:
        return RUNS, {part: make(use) for part, make in PARTS.items()}
    if name in PARTS:
        return RUNS, records.load(use.lab.root, RUNS) | {name: PARTS[name](use)}
    return name, OTHERS[name](use, records.load(use.lab.root, name))
