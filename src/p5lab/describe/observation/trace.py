# SPDX-License-Identifier: MIT
"""Traces of crossings of protection boundaries, of misses, or of accesses to L1 and L2:
`--trace`."""

import argparse
from dataclasses import dataclass
from typing import ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive
from p5lab.errors import UserError

TRACES = {name: outputs.file(name) for name in ("crossings", "accesses", "misses")}
CROSSINGS, MISSES = TRACES["crossings"], TRACES["misses"]
ACCESSES = 10_000_000  # a trace of accesses ends after this number of accesses to L1
MOST_MISSES = 100_000  # a trace of misses contains the first ones


@dataclass(frozen=True)
class Trace(Kind):
    """Records each crossing of a protection boundary, each miss, or each access to L1 and L2."""

    option = "--trace"
    options: ClassVar = {
        option: {
            "action": "append",
            "default": [],
            "choices": TRACES,
            "help": "crossings: also record each change of ring or address space. accesses: also"
            " record each access to L1 and L2, with its outcome. misses: also record each miss of a"
            " cache or TLB, and who took the line or page away (counts as --attribute misses, too)",
        },
        "--accesses": {
            "type": positive("--accesses"),
            "default": ACCESSES,
            "metavar": "N",
            "help": "end --trace accesses after N accesses to L1 (default: %(default)s)",
        },
    }
    unasked: ClassVar = {"trace": [], "accesses": ACCESSES}
    outputs = tuple(TRACES.values())
    apart = ("run.crossings", "run.accesses", "run.misses")

    what: tuple[str, ...]  # names in TRACES
    accesses: int = ACCESSES  # the largest number of L1 accesses in a trace of accesses

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """As for every kind. Raises UserError for --accesses without --trace accesses."""
        if args.accesses != ACCESSES and "accesses" not in args.trace:
            raise UserError("--accesses: expected with --trace accesses")
        return super().parse(args)

    @property
    def every_access(self) -> str:
        """The text `--trace accesses` if the user gave this option, else empty. No other trace
        needs a report of every access to L1."""
        return "--trace accesses" if "accesses" in self.what else ""

    @property
    def label(self) -> str:
        """The kinds of traces, such as "trace of crossings"."""
        return f"trace of {', '.join(self.what)}"

    def job(self) -> Conf:
        """The file of each trace, and the limits of accesses and misses."""
        lines = {f"run.{kind}": TRACES[kind] for kind in self.what}
        if "accesses" in self.what:
            lines["run.access_limit"] = str(self.accesses)
        if "misses" in self.what:
            lines["run.miss_limit"] = str(MOST_MISSES)
        return lines

    def commands(self, runs: str) -> list[str]:
        """The commands that show the crossings and the misses."""
        shown = ("crossings", "misses")
        return [
            f"{name.capitalize()}: `./p5lab show {runs} --{name}`"
            for name in shown
            if name in self.what
        ]

    def remarks(self, place: str) -> list[str]:
        """The path of each trace."""
        return [f"Traced: {place}/{TRACES[kind]}" for kind in self.what]
