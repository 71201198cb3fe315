# SPDX-License-Identifier: MIT
"""Clocks of a processor without clocks of its own: `--clocks nominal`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.target import Target
from p5lab.errors import UserError, unknown

NOMINAL = "nominal"


@dataclass(frozen=True)
class NominalClocks(Kind):
    """Gives the instructions of an x86-64 guest nominal clocks (docs/concepts/nominal-clocks.md).
    The guest's timers follow these clocks."""

    option = "--clocks"
    options: ClassVar = {
        option: {
            "choices": (NOMINAL,),
            "help": "count nominal cycles of x86-64 guests: the Pentium's pipes and the machine's"
            " memory, and an estimate for each instruction that no Pentium has. They are no cycles"
            " of a Pentium and are never compared with them (docs/concepts/nominal-clocks.md)",
        }
    }
    unasked: ClassVar = {"clocks": ""}
    apart = ("run.clocks",)
    with_nominal = True
    label = "nominal clocks"

    @classmethod
    def of(cls, name: str) -> Self | None:
        """The clocks with this name; None for an empty name. Raises UserError for another name."""
        if name not in ("", NOMINAL):
            raise unknown("clocks", name, [NOMINAL], where=cls.option)
        return cls() if name else None

    def recorded(self) -> dict[str, object]:
        """`clocks`: the name of the clocks."""
        return {"clocks": NOMINAL}

    def check(self, run: Target) -> None:
        """Raises UserError if the engine models the clocks of the run's processor itself, or if the
        run has no pipes or no waits for memory."""
        isa = str(run.machine.values["cpu.isa"])
        if isa not in run.without_clocks:
            expected = " or ".join(run.without_clocks)
            raise UserError(
                f"--clocks nominal: expected a guest for {expected}; guest {run.guest.name} is for"
                f" {isa}, whose clocks the engine models"
            )
        if not (run.model and run.feedback):
            off = "--feedback off" if run.model else "--model off"
            raise UserError(
                f"--clocks nominal: expected without {off}: nominal clocks contain the clocks of"
                " instructions and the waits for memory"
            )

    def boot(self) -> Conf:
        """The name of the clocks."""
        return {"run.clocks": NOMINAL}


def is_nominal(record: Mapping[str, Any]) -> bool:
    """Whether a recorded run has nominal clocks."""
    return bool(record.get("request", {}).get("clocks") == NOMINAL)
