# SPDX-License-Identifier: MIT
"""SimPoint's basic-block vectors: `--bbv`."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive

VECTORS = outputs.file("vectors")


@dataclass(frozen=True)
class BlockVectors(Kind):
    """Writes SimPoint's basic-block vectors. `interval`: the length of an interval in
    instructions. `events`: events.jsonl has the counts of the interval of each vector, too."""

    option = "--bbv"
    options: ClassVar = {
        option: {
            "type": positive(option),
            "default": 0,
            "metavar": "N",
            "help": "also write SimPoint's basic-block vectors, one vector for every N"
            " instructions inside the brackets",
        }
    }
    unasked: ClassVar = {"vectors": 0, "vector_events": False}
    outputs = (VECTORS,)
    apart = ("run.vectors",)
    remark = f"Vectors: {{place}}/{VECTORS}"

    interval: int
    events: bool = False

    @property
    def label(self) -> str:
        """The length of an interval, such as "block vectors of 1000000"."""
        return f"block vectors{' and events' * self.events} of {self.interval}"

    def job(self) -> Conf:
        """The file of the vectors and the length of an interval in instructions."""
        events = {"run.vector_events": "true"} if self.events else {}
        return {"run.vectors": VECTORS, "run.vector_interval": str(self.interval)} | events
