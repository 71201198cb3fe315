# SPDX-License-Identifier: MIT
"""A run that simulates only a few of its intervals in detail."""

from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from typing import Any, ClassVar, Self

from p5lab.describe.observation.kind import SAMPLED, Conf, Kind
from p5lab.describe.observation.target import Target
from p5lab.lab import Lab

SIMPOINTS, WEIGHTS = "simpoint.simpoints", "simpoint.weights"


@dataclass(frozen=True)
class SampledInterval:
    """A part of a run. `begin` and `end` are positions. A position is the number of instructions
    that the run has executed inside its brackets so far. `weight`: the number of instructions of
    the whole run that this interval represents."""

    number: int
    begin: int
    end: int
    weight: int


@dataclass(frozen=True)
class Sample(Kind):
    """Simulates only some intervals in detail. `intervals`: sorted by time. `warm_up`: the
    length of the warm-up before each interval, in instructions. The warm-up fills the caches, the
    TLBs and the branch target buffer. `simpoints`, `weights`: the texts of the two files with the
    chosen intervals (p5stats.simpoint)."""

    option = SAMPLED
    unasked: ClassVar = {"sample": None}
    needs_clocks = True  # an estimate of cycles needs the processor's timing

    intervals: tuple[SampledInterval, ...]
    warm_up: int
    simpoints: str
    weights: str

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The sample in the record's request; None if the whole run was simulated in detail."""
        asked = record["request"].get("sample")
        if asked is None:
            return None
        intervals = tuple(SampledInterval(**interval) for interval in asked["intervals"])
        return cls(intervals, asked["warm_up"], asked["simpoints"], asked["weights"])

    def recorded(self) -> dict[str, object]:
        """The intervals, the warm-up and the texts of both files."""
        return {"sample": asdict(self)}

    @property
    def label(self) -> str:
        """The number of intervals."""
        return f"{len(self.intervals)} intervals"

    def job(self) -> Conf:
        """The bounds and weights of the intervals, and the warm-up in instructions."""
        intervals = (":".join(map(str, astuple(interval))) for interval in self.intervals)
        return {"run.sample": " ".join(intervals), "run.warm_up": str(self.warm_up)}

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """The two files with the chosen intervals and their weights, in SimPoint's form."""
        return {SIMPOINTS: self.simpoints.encode(), WEIGHTS: self.weights.encode()}
