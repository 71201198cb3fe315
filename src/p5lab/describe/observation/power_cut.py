# SPDX-License-Identifier: MIT
"""Switches the power of the machine off during the run: `--power-cut`."""

import re
from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.target import Target
from p5lab.errors import UserError

DISK_IMAGE = outputs.file("disk_image")


def _microseconds(text: str) -> int:
    """The argument of --power-cut in microseconds. Raises UserError if the argument is not a number
    of seconds above 0."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text) or not float(text):
        raise UserError(f"--power-cut: expected a number of seconds, such as 1.25; found {text!r}")
    return round(float(text) * 1_000_000)


@dataclass(frozen=True)
class PowerCut(Kind):
    """Ends the run at a given time after the guest's ready marker. Saves the content of the first
    SCSI disk at that time."""

    option = "--power-cut"
    options: ClassVar = {
        option: {
            "type": _microseconds,
            "default": 0,
            "metavar": "SECONDS",
            "help": "when the guest is ready, wait SECONDS of modelled time and cut the power. Save"
            f" partition 1 of the first SCSI disk as {DISK_IMAGE}",
        }
    }
    unasked: ClassVar = {"power_cut": 0}
    outputs = (DISK_IMAGE,)
    apart = ("run.power_cut_us",)
    remark = f"Content of the disk at the power cut: {{place}}/{DISK_IMAGE}"

    microseconds: int  # modelled, after the ready marker

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
