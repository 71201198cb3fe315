# SPDX-License-Identifier: MIT
"""SimPoint's basic-block vectors."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive

VECTORS = outputs.file("vectors")


@dataclass(frozen=True)
class Vectors(Kind):
    """Writes SimPoint's basic-block vectors of intervals of a number of instructions."""

    option = "--bbv"
    unasked: ClassVar = {"vectors": 0}
    outputs = (VECTORS,)
    apart = ("run.vectors",)

    interval: int

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--bbv",
            type=positive("--bbv"),
            default=0,
            metavar="N",
            help="also write SimPoint's basic-block vectors, one for every N"
            " instructions inside the brackets",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        return cls(args.bbv) if args.bbv else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        interval = record["request"].get("vectors", 0)
        return cls(interval) if interval else None

    def recorded(self) -> dict[str, object]:
        return {"vectors": self.interval}

    @property
    def label(self) -> str:
        return f"block vectors of {self.interval}"

    def conf(self) -> Conf:
        return {"run.vectors": VECTORS, "run.vector_interval": str(self.interval)}

    def remarks(self, run: str, place: str) -> list[str]:
        return [f"Vectors: {place}/{VECTORS}"]
