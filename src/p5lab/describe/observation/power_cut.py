# SPDX-License-Identifier: MIT
"""Switches the power of the machine off during the run: `--power-cut`."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.target import Target
from p5lab.errors import UserError

DISK_IMAGE = outputs.file("disk_image")


@dataclass(frozen=True)
class PowerCut(Kind):
    """Ends the run at a given time after the guest's ready marker. Saves the content of the first
    SCSI disk at that time."""

    option = "--power-cut"
    unasked: ClassVar = {"power_cut": 0}
    outputs = (DISK_IMAGE,)
    apart = ("run.power_cut_us",)

    microseconds: int  # modelled, after the ready marker

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds --power-cut SECONDS."""
        parser.add_argument(
            "--power-cut",
            type=_microseconds,
            default=0,
            metavar="SECONDS",
            help="when the guest is ready, wait SECONDS of modelled time and cut the power. Save"
            f" partition 1 of the first SCSI disk as {DISK_IMAGE}",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The time of --power-cut; None if the option is missing."""
        return cls(args.power_cut) if args.power_cut else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The time of the power cut, from the record's request. None if the entry `power_cut` is 0
        or missing."""
        microseconds = record["request"].get("power_cut", 0)
        return cls(microseconds) if microseconds else None

    def recorded(self) -> dict[str, object]:
        """`power_cut` in microseconds of modelled time."""
        return {"power_cut": self.microseconds}

    @property
    def label(self) -> str:
        """The time of the cut in seconds."""
        return f"power cut at {self.microseconds / 1e6:g} s"

    def check(self, run: Target) -> None:
        """Raises UserError for a machine without SCSI disks."""
        if not run.machine.values["disk.count"]:
            raise UserError("--power-cut: expected a machine with disks: disk.count is 0")

    def job(self) -> Conf:
        """The time of the cut in microseconds and the name of the disk's image."""
        return {
            "run.power_cut_us": str(self.microseconds),
            "run.power_cut_image": DISK_IMAGE,
        }

    def remarks(self, run: str, place: str) -> list[str]:
        """The path of the disk's image."""
        return [f"Content of the disk at the power cut: {place}/{DISK_IMAGE}"]


def _microseconds(text: str) -> int:
    """The argument of --power-cut in microseconds. Raises UserError if the argument is not a number
    of seconds above 0."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise UserError(f"--power-cut: expected a number of seconds, such as 1.25; found {text!r}")
    return round(float(text) * 1_000_000)
