# SPDX-License-Identifier: MIT
"""The base class of kinds of observation that are only on or off, such as --calls."""

import argparse
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from p5lab.describe.observation.kind import Kind


class Flag(Kind):
    """A kind without settings. Class attributes: `name` is the option without its dashes, and the
    kind's entry in `request` of run.json. `help` explains the option."""

    name: ClassVar[str]
    help: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "name"):  # a base class of several kinds has none
            cls.option = f"--{cls.name}"
            cls.unasked = {cls.name: False}

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the option."""
        parser.add_argument(cls.option, action="store_true", help=cls.help)

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """An instance if the option is given, else None."""
        return cls() if getattr(args, cls.name) else None

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """An instance if the record's request has the entry, else None. Records of older versions
        have no entry."""
        return cls() if record["request"].get(cls.name, False) else None

    def recorded(self) -> dict[str, object]:
        """The entry, which is true."""
        return {self.name: True}
