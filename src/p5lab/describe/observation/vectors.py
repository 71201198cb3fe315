# SPDX-License-Identifier: MIT
"""SimPoint's basic-block vectors: `--bbv`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive

VECTORS = outputs.file("vectors")


@dataclass(frozen=True)
class Vectors(Kind):
    """Writes SimPoint's basic-block vectors. `interval`: the length of an interval in
    instructions. `events`: events.jsonl has the counts of the interval of each vector, too."""

    option = "--bbv"
    unasked: ClassVar = {"vectors": 0, "vector_events": False}
    outputs = (VECTORS,)
    apart = ("run.vectors",)

    interval: int
    events: bool = False

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds --bbv N."""
        parser.add_argument(
            "--bbv",
            type=positive("--bbv"),
            default=0,
            metavar="N",
            help="also write SimPoint's basic-block vectors, one vector for every N"
            " instructions inside the brackets",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The length that --bbv gives; None if the option is missing."""
        return cls(args.bbv) if args.bbv else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The interval of a record's request, in instructions; None if the entry is 0 or
        missing."""
        interval = record["request"].get("vectors", 0)
        events = record["request"].get("vector_events", False)
        return cls(interval, events) if interval else None

    def recorded(self) -> dict[str, object]:
        """`vectors`: the length of an interval in instructions; `vector_events`, if asked for."""
        events: dict[str, object] = {"vector_events": True} if self.events else {}
        return {"vectors": self.interval, **events}

    @property
    def label(self) -> str:
        """The length of an interval, such as "block vectors of 1000000"."""
        return f"block vectors{' and events' * self.events} of {self.interval}"

    def job(self) -> Conf:
        """The file of the vectors and the length of an interval in instructions."""
        events = {"run.vector_events": "true"} if self.events else {}
        return {"run.vectors": VECTORS, "run.vector_interval": str(self.interval)} | events

    def remarks(self, run: str, place: str) -> list[str]:
        """The path of the vectors' file."""
        return [f"Vectors: {place}/{VECTORS}"]
