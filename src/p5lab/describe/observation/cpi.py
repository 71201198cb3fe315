# SPDX-License-Identifier: MIT
"""The CPI stack: `--cpi`."""

from dataclasses import dataclass

from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import Conf


@dataclass(frozen=True)
class Cpi(Flag):
    """Counts for each busy clock the component of the CPI stack to which it belongs."""

    name = "cpi"
    help = (
        "also count what the processor spends each clock on (CPI stack): pairs, single"
        " instructions, waits for code and data, mispredicted branches and so on, by ring and"
        " address space. `show --cpi` and `explain` show the counts"
    )
    apart = ("run.cpi",)
    with_media = True
    with_sample = False  # its time is not simulated

    @property
    def needs_clocks(self) -> bool:
        """The components are clocks."""
        return True

    @property
    def with_nominal(self) -> bool:
        """The stack of nominal cycles."""
        return True

    @property
    def label(self) -> str:
        """The text "CPI stack"."""
        return "CPI stack"

    def job(self) -> Conf:
        """The flag."""
        return {"run.cpi": "true"}

    def remarks(self, run: str, place: str) -> list[str]:
        """The command that shows the stack."""
        return [f"CPI stack: `./p5lab show {run[:8]} --cpi`"]
