# SPDX-License-Identifier: MIT
"""Counts after each interval of a run: `--interval`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive

INTERVALS = outputs.file("intervals")


@dataclass(frozen=True)
class Intervals(Kind):
    """Writes all counts after each interval. `length`: the length of an interval in core clocks."""

    option = "--interval"
    unasked: ClassVar = {"interval": 0}
    outputs = (INTERVALS,)
    apart = ("run.intervals", "run.interval")
    with_media = True
    with_sample = False  # most of its time is not simulated

    length: int

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds --interval CLOCKS."""
        parser.add_argument(
            "--interval",
            type=positive("--interval"),
            default=0,
            metavar="CLOCKS",
            help="also write all counts after each interval of this number of core clocks, from the"
            " end of the boot to the end of the run. `show --intervals` shows them",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The length that --interval gives; None if the option is missing."""
        return cls(args.interval) if args.interval else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The length of a record's request, in core clocks; None if the entry is 0 or missing."""
        length = record["request"].get("interval", 0)
        return cls(length) if length else None

    def recorded(self) -> dict[str, object]:
        """`interval`: the length of an interval in core clocks."""
        return {"interval": self.length}

    @property
    def label(self) -> str:
        """The length of an interval, such as "intervals of 1000000 clocks"."""
        return f"intervals of {self.length} clocks"

    def job(self) -> Conf:
        """The output file and the length of an interval."""
        return {"run.intervals": INTERVALS, "run.interval": str(self.length)}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the counts."""
        return [f"Counts of each interval: `./p5lab show {run[:8]} --intervals`"]
