# SPDX-License-Identifier: MIT
"""A capture of the network's frames: `--pcap`."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.errors import UserError

if TYPE_CHECKING:  # describe.run imports this package
    from p5lab.describe.run import Run

CAPTURE = outputs.file("capture")


@dataclass(frozen=True)
class Capture(Kind):
    """Writes to a pcap file all frames that the machine's network card sends and receives."""

    option = "--pcap"
    unasked: ClassVar = {"pcap": False}
    outputs = (CAPTURE,)
    apart = ("run.pcap",)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the switch --pcap."""
        parser.add_argument(
            "--pcap",
            action="store_true",
            help="also write a file for tcpdump and Wireshark with the frames that the machine's"
            " network card sends and receives",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The capture if --pcap is given, else None."""
        return cls() if args.pcap else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The capture if `pcap` of the record's request is true, else None."""
        return cls() if record["request"].get("pcap", False) else None

    def recorded(self) -> dict[str, object]:
        """`pcap`: true."""
        return {"pcap": True}

    @property
    def label(self) -> str:
        """The word "captured"."""
        return "captured"

    def check(self, run: "Run") -> None:
        """Raises UserError for a machine without a network card."""
        if run.machine.values["net.card"] == "none":
            raise UserError("--pcap: expected a machine with a network card: net.card is none")

    def job(self) -> Conf:
        """The name of the capture file. This line has an effect only after the boot."""
        return {"run.pcap": CAPTURE}

    def remarks(self, run: str, place: str) -> list[str]:
        """The path of the capture file."""
        return [f"Captured: {place}/{CAPTURE}"]
