# SPDX-License-Identifier: MIT
"""A template of an engine. Its output is a file of events in the checkout."""

from p5lab.describe.engine import Capabilities
from p5lab.describe.observation import BlockVectors
from p5lab.engines import EVENTS, Engine, Outcome, Plan, PlanPart
from p5stats import events


class Counter(Engine):
    """Copies the events of a prepared file."""

    can = Capabilities(
        guests=("pentium",), without_clocks=("pentium",), observations=(BlockVectors,)
    )
    outputs = (EVENTS,)

    def prepare(self, lab, run, directory):
        """The prepared file is in the root of the checkout."""
        prepared = lab.root / "prepared.jsonl"
        return Plan(
            boot=PlanPart({"prepared": prepared}, {"job": run.job}),
            command=("cp", str(prepared), EVENTS),
            environment={},
            versions={"counter": "1"},
            built_from={},
        )

    def collect(self, directory, status):
        return Outcome(*events.end_line(directory / EVENTS))

    def last_output(self, directory):
        return "nothing"


ENGINE = Counter
