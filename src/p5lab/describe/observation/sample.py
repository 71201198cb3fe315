# SPDX-License-Identifier: MIT
"""A few intervals of a run in place of all of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from p5lab.describe.observation.kind import Conf, Kind
from p5lab.lab import Lab

if TYPE_CHECKING:  # a run has an observation
    from p5lab.describe.run import Run

SIMPOINTS, WEIGHTS = "simpoint.simpoints", "simpoint.weights"


@dataclass(frozen=True)
class Interval:
    """A part of a run: instructions inside the brackets, counted from the first of them. `weight`:
    the number of instructions of the whole run that it stands for."""

    number: int
    begin: int
    end: int
    weight: int


@dataclass(frozen=True)
class Sample(Kind):
    """Simulates only some intervals in detail, in the order of time. Before each, `warm_up`
    instructions warm caches, TLBs and branch target buffer. `simpoints` and `weights` are the texts
    of the files that chose the intervals (p5stats.simpoint)."""

    option = "simpoint"
    unasked: ClassVar = {"sample": None}

    intervals: tuple[Interval, ...]
    warm_up: int
    simpoints: str
    weights: str

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        asked = record["request"].get("sample")
        if asked is None:
            return None
        intervals = tuple(Interval(**one) for one in asked["intervals"])
        return cls(intervals, asked["warm_up"], asked["simpoints"], asked["weights"])

    def recorded(self) -> dict[str, object]:
        return {"sample": asdict(self)}

    @property
    def needs_clocks(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return f"{len(self.intervals)} intervals"

    def conf(self) -> Conf:
        intervals = (f"{one.number}:{one.begin}:{one.end}:{one.weight}" for one in self.intervals)
        return {"run.sample": " ".join(intervals), "run.warm_up": str(self.warm_up)}

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        return {SIMPOINTS: self.simpoints.encode(), WEIGHTS: self.weights.encode()}
