# SPDX-License-Identifier: MIT
"""The network's frames, captured."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from p5lab.describe import outputs
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.errors import UserError

if TYPE_CHECKING:  # a run has an observation
    from p5lab.describe.run import Run

CAPTURE = outputs.file("capture")


@dataclass(frozen=True)
class Capture(Kind):
    """Writes the frames on the wire of the machine's network card."""

    option = "--pcap"
    unasked: ClassVar = {"pcap": False}
    outputs = (CAPTURE,)
    apart = ("run.pcap",)

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--pcap",
            action="store_true",
            help="also write the frames on the wire of the machine's network card, for"
            " tcpdump and Wireshark",
        )

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        return cls() if args.pcap else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        return cls() if record["request"].get("pcap", False) else None

    def recorded(self) -> dict[str, object]:
        return {"pcap": True}

    @property
    def label(self) -> str:
        return "captured"

    def check(self, run: "Run") -> None:
        if run.machine.values["net.card"] == "none":
            raise UserError("--pcap: expected a machine with a network card: net.card is none")

    def job(self) -> Conf:
        return {"run.pcap": CAPTURE}

    def remarks(self, run: str, place: str) -> list[str]:
        return [f"Captured: {place}/{CAPTURE}"]
