# SPDX-License-Identifier: MIT
"""A template of an engine: its output is a file of events that stands in the checkout."""

from p5lab.describe.engine import Capabilities
from p5lab.describe.observation import Vectors
from p5lab.engines import EVENTS, Engine, Outcome, Plan
from p5stats import events


class Counter(Engine):
    """Says what it is told to say."""

    can = Capabilities(guests=("pentium",), without_clocks=("pentium",), observations=(Vectors,))
    outputs = (EVENTS,)

    def prepare(self, lab, run, directory):
        """The text to print is beside the engine."""
        told = lab.root / "told.jsonl"
        return Plan(
            inputs={"told": told},
            settings={"job": run.job},
            write={},
            command=("cp", str(told), EVENTS),
            environment={},
            versions={"counter": "1"},
            built_from={},
        )

    def collect(self, directory, status):
        return Outcome(*events.end_line(directory / EVENTS))

    def last_output(self, directory):
        return "nothing"


ENGINE = Counter
