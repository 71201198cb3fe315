# SPDX-License-Identifier: MIT
"""A capture of the network's frames: `--pcap`."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe import outputs
from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.target import Target
from p5lab.errors import UserError

CAPTURE = outputs.file("capture")


@dataclass(frozen=True)
class Capture(Flag):
    """Writes to a pcap file all frames that the machine's network card sends and receives."""

    name = "pcap"
    help = (
        "also write a file for tcpdump and Wireshark with the frames that the machine's"
        " network card sends and receives"
    )
    outputs = (CAPTURE,)
    apart = ("run.pcap",)
    lines: ClassVar = {"run.pcap": CAPTURE}  # has an effect only after the boot

    label = "captured"
    remark = f"Captured: {{place}}/{CAPTURE}"

    def check(self, run: Target) -> None:
        """Raises UserError for a machine without a network card."""
        if run.machine.values["net.card"] == "none":
            raise UserError("--pcap: expected a machine with a network card: net.card is none")
