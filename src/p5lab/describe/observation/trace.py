# SPDX-License-Identifier: MIT
"""Traces: each crossing of a protection boundary, or each access to L1 and L2."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind, positive

TRACES = {name: outputs.file(name) for name in ("crossings", "accesses")}
CROSSINGS = TRACES["crossings"]
ACCESSES = 10_000_000  # accesses to L1 after which their trace ends


@dataclass(frozen=True)
class Trace(Kind):
    """Records each crossing of a protection boundary, or each access to L1 and L2."""

    option = "--trace"
    unasked: ClassVar = {"trace": [], "accesses": ACCESSES}
    outputs = tuple(TRACES.values())
    apart = ("run.crossings", "run.accesses")

    what: tuple[str, ...]  # of TRACES
    accesses: int = ACCESSES  # of a trace of accesses, at most

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--trace",
            action="append",
            default=[],
            choices=TRACES,
            help="also record each change of ring or address space, or what L1 and"
            " L2 were asked and answered",
        )
        parser.add_argument(
            "--accesses",
            type=positive("--accesses"),
            default=ACCESSES,
            metavar="N",
            help="of --trace accesses, at most (default: %(default)s)",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        return cls(tuple(dict.fromkeys(args.trace)), args.accesses) if args.trace else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        asked = record["request"]
        return cls(tuple(asked["trace"]), asked["accesses"]) if asked["trace"] else None

    def recorded(self) -> dict[str, object]:
        return {"trace": list(self.what), "accesses": self.accesses}

    @property
    def needs_clocks(self) -> bool:
        return "accesses" in self.what

    @property
    def every_access(self) -> str:
        return "--trace accesses" if "accesses" in self.what else ""

    def conf(self) -> Conf:
        lines = {f"run.{kind}": TRACES[kind] for kind in self.what}
        if "accesses" in self.what:
            lines["run.access_limit"] = str(self.accesses)
        return lines

    def remarks(self, run: str, place: str) -> list[str]:
        return [f"Traced: {place}/{TRACES[kind]}" for kind in self.what]
