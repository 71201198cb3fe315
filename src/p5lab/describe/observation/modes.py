# SPDX-License-Identifier: MIT
"""Counts by machine mode: `--modes`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind

MODES = outputs.file("modes")


@dataclass(frozen=True)
class Modes(Kind):
    """Divides the counts of each ring and address space by machine mode: real, virtual-8086, 16-bit
    and 32-bit protected."""

    option = "--modes"
    unasked: ClassVar = {"modes": False}
    outputs = (MODES,)
    apart = ("run.modes",)
    with_media = True

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds --modes."""
        parser.add_argument(
            "--modes",
            action="store_true",
            help="also count by machine mode (real, virtual-8086, 16-bit and 32-bit protected),"
            " ring and address space, with the vectors of all interrupts and exceptions. `show"
            " --modes` shows the counts",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """An instance if --modes is given, else None."""
        return cls() if args.modes else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """An instance if the record's request has `modes`, else None."""
        return cls() if record["request"].get("modes", False) else None

    def recorded(self) -> dict[str, object]:
        """The entry `modes`."""
        return {"modes": True}

    @property
    def label(self) -> str:
        """The text "by mode"."""
        return "by mode"

    def conf(self) -> Conf:
        """The output file."""
        return {"run.modes": MODES}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the counts."""
        return [f"Counts by machine mode: `./p5lab show {run[:8]} --modes`"]
