# SPDX-License-Identifier: MIT
"""Counts by function."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from p5lab.describe import functions, outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.lab import Lab

if TYPE_CHECKING:  # a run has an observation
    from p5lab.describe.run import Run

ATTRIBUTION, FUNCTIONS = outputs.file("attribution"), "functions.txt"
# Counts by function, and beside them by the calls that led there, or with the classes of misses.
ATTRIBUTIONS = ("functions", "stacks", "misses")


@dataclass(frozen=True)
class Attribution(Kind):
    """Counts by function, ring, address space and what the kernel was entered for."""

    option = "--attribute"
    unasked: ClassVar = {"attribute": []}
    outputs = (ATTRIBUTION,)
    apart = ("run.attribution", "run.attribution_stacks", "run.attribution_misses")

    by: tuple[str, ...]  # of ATTRIBUTIONS, sorted

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--attribute",
            action="append",
            default=[],
            choices=ATTRIBUTIONS,
            help="also count by function, ring, address space and what the kernel was"
            " entered for; stacks: and by who called; misses: and why caches missed"
            " (see `show --attribution`); may be repeated",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        return cls(tuple(sorted(set(args.attribute)))) if args.attribute else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        by = tuple(record["request"].get("attribute", ()))
        return cls(by) if by else None

    def recorded(self) -> dict[str, object]:
        return {"attribute": list(self.by)}

    @property
    def needs_clocks(self) -> bool:
        return "misses" in self.by

    @property
    def every_access(self) -> str:
        return "--attribute misses" if "misses" in self.by else ""

    @property
    def label(self) -> str:
        return f"by {', '.join(self.by)}"

    def conf(self) -> Conf:
        return {
            "run.attribution": ATTRIBUTION,
            "run.functions": FUNCTIONS,
            "run.attribution_stacks": "on" if "stacks" in self.by else "off",
            "run.attribution_misses": "on" if "misses" in self.by else "off",
        }

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        return {FUNCTIONS: functions.table(lab, run).encode()}

    def remarks(self, run: str, place: str) -> list[str]:
        return [f"Attributed: `./p5lab show {run[:8]} --attribution`"]
