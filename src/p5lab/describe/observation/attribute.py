# SPDX-License-Identifier: MIT
"""Counts by function: `--attribute`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from p5lab.describe import functions, outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.lab import Lab

if TYPE_CHECKING:  # describe.run imports this package
    from p5lab.describe.run import Run

ATTRIBUTION, FUNCTIONS = outputs.file("attribution"), "functions.txt"
# `functions`: counts by function. `stacks`: also counts by the chain of callers. `misses`: also
# counts by the class of cache miss.
ATTRIBUTIONS = ("functions", "stacks", "misses")


@dataclass(frozen=True)
class Attribution(Kind):
    """Counts by function, ring, address space and reason for entering the kernel."""

    option = "--attribute"
    unasked: ClassVar = {"attribute": []}
    outputs = (ATTRIBUTION,)
    apart = ("run.attribution", "run.attribution_stacks", "run.attribution_misses")

    by: tuple[str, ...]  # of ATTRIBUTIONS, sorted

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds --attribute, which may be repeated."""
        parser.add_argument(
            "--attribute",
            action="append",
            default=[],
            choices=ATTRIBUTIONS,
            help="functions: also count by function, ring, address space and reason for entering"
            " the kernel. stacks: also count by caller. misses: also count by reason of each cache"
            " miss. `show --attribution` shows the counts. May be repeated",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The values of --attribute without repetitions; None if the option is missing."""
        return cls(tuple(sorted(set(args.attribute)))) if args.attribute else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The list `attribute` of the record's request; None if the list is empty or missing."""
        by = tuple(record["request"].get("attribute", ()))
        return cls(by) if by else None

    def recorded(self) -> dict[str, object]:
        """The list `attribute`: functions, stacks, misses."""
        return {"attribute": list(self.by)}

    @property
    def needs_clocks(self) -> bool:
        """True if the misses are classified, because the engine then follows each cache line."""
        return "misses" in self.by

    @property
    def every_access(self) -> str:
        """The text `--attribute misses` if the user gave this option, else empty. No other setting
        needs a report of every access to L1."""
        return "--attribute misses" if "misses" in self.by else ""

    @property
    def label(self) -> str:
        """The values of --attribute, such as "by functions, stacks"."""
        return f"by {', '.join(self.by)}"

    def conf(self) -> Conf:
        """The output file, the table of functions, and whether stacks and misses are counted."""
        return {
            "run.attribution": ATTRIBUTION,
            "run.functions": FUNCTIONS,
            "run.attribution_stacks": "on" if "stacks" in self.by else "off",
            "run.attribution_misses": "on" if "misses" in self.by else "off",
        }

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        """functions.txt: the functions of the kernel and of the guest's programs, by address and
        page. Raises UserError if the kernel's symbols are missing."""
        return {FUNCTIONS: functions.table(lab, run).encode()}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the counts."""
        return [f"Counts by function: `./p5lab show {run[:8]} --attribution`"]
