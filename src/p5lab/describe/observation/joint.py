# SPDX-License-Identifier: MIT
"""Counts by the dimensions of several observers at once: `--joint`."""

import argparse
from dataclasses import dataclass
from typing import ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation import plugged
from p5lab.describe.observation.kind import SAMPLED, Conf, Kind
from p5lab.errors import UserError, unknown

JOINT = outputs.file("joint")
FUNCTIONS = "attribute"
INTERVALS = {"interval": "intervals"}  # the name of this observer in the engine differs
KNOWN = (FUNCTIONS, *INTERVALS, *plugged.KINDS)  # the options of observers that can be joint


@dataclass(frozen=True)
class Joint(Kind):
    """Divides the counts by all combinations of the values of these observers. `of`: their options
    without dashes. With FUNCTIONS, attribution.jsonl has the counts, otherwise JOINT."""

    option = "--joint"
    options: ClassVar = {
        option: {
            "default": "",
            "metavar": "OPTION,...",
            "help": "count by the dimensions of these options at once, such as calls,attribute,"
            " with all events. --by DIMENSION,... sets this option too",
        }
    }
    unasked: ClassVar = {"joint": []}
    outputs = (JOINT,)
    apart = ("run.joint", "run.joint_of", "run.attribution_joint")
    with_media = True
    excludes = (SAMPLED,)
    shows_several = True

    of: tuple[str, ...]

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The options in --joint; None if it is missing. Raises UserError for an unknown option and
        for one that the command line does not have."""
        names = tuple(sorted(set(filter(None, args.joint.split(",")))))
        for name in names:
            if name not in KNOWN:
                raise unknown("option", name, KNOWN, where=cls.option)
            if not getattr(args, name):
                raise UserError(f"{cls.option} {args.joint}: expected also --{name}")
        if names == (FUNCTIONS,):
            raise UserError(f"{cls.option} {FUNCTIONS}: expected a second option, such as calls")
        return cls(names) if names else None

    @property
    def label(self) -> str:
        """The options, such as "jointly by calls and modes"."""
        return f"jointly by {' and '.join(self.of)}"

    def commands(self, runs: str) -> list[str]:
        """The command that shows the counts."""
        from p5stats.observers import dimensions  # gem5's Python has no p5stats

        names = {FUNCTIONS: "function", **dict.fromkeys(INTERVALS, "interval")}
        names |= {name: next(iter(own)) for name, own in dimensions().items()}
        by = ",".join(names[name] for name in self.of)
        return [f"Counts of each combination: `./p5lab show {runs} --by {by}`"]

    def job(self) -> Conf:
        """The names of the observers, and the output file."""
        others = " ".join(INTERVALS.get(name, name) for name in self.of if name != FUNCTIONS)
        if FUNCTIONS in self.of:
            return {"run.attribution_joint": others}
        return {"run.joint": JOINT, "run.joint_of": others}
