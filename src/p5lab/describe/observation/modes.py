# SPDX-License-Identifier: MIT
"""Counts by machine mode: `--modes`."""

from dataclasses import dataclass

from p5lab.describe import outputs
from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import Conf

MODES = outputs.file("modes")


@dataclass(frozen=True)
class Modes(Flag):
    """Divides the counts of each ring and address space by machine mode: real, virtual-8086, 16-bit
    and 32-bit protected."""

    name = "modes"
    help = (
        "also count by machine mode (real, virtual-8086, 16-bit and 32-bit protected),"
        " ring and address space, with the vectors of all interrupts and exceptions. `show"
        " --modes` shows the counts"
    )
    outputs = (MODES,)
    apart = ("run.modes",)
    with_media = True

    @property
    def label(self) -> str:
        """The text "by mode"."""
        return "by mode"

    def job(self) -> Conf:
        """The output file."""
        return {"run.modes": MODES}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the counts."""
        return [f"Counts by machine mode: `./p5lab show {run[:8]} --modes`"]
