# SPDX-License-Identifier: MIT
"""Counts after each interval of a run: `--interval`."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import outputs
from p5lab.describe.observation.kind import SAMPLED, Conf, Kind, positive

INTERVALS = outputs.file("intervals")


@dataclass(frozen=True)
class IntervalCounts(Kind):
    """Writes all counts after each interval. `length`: the length of an interval in core clocks."""

    option = "--interval"
    options: ClassVar = {
        option: {
            "type": positive(option),
            "default": 0,
            "metavar": "CLOCKS",
            "help": "also write all counts after each interval of this number of core clocks, from"
            " the end of the boot to the end of the run. `show --intervals` shows them",
        }
    }
    unasked: ClassVar = {"interval": 0}
    outputs = (INTERVALS,)
    apart = ("run.intervals", "run.interval")
    with_media = True
    excludes = (SAMPLED,)  # most of its time is not simulated
    command = "Counts of each interval: `./p5lab show {runs} --intervals`"

    length: int

    @property
    def label(self) -> str:
        """The length of an interval, such as "intervals of 1000000 clocks"."""
        return f"intervals of {self.length} clocks"

    def job(self) -> Conf:
        """The output file and the length of an interval."""
        return {"run.intervals": INTERVALS, "run.interval": str(self.length)}
