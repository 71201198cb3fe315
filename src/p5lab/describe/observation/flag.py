# SPDX-License-Identifier: MIT
"""The base class of kinds of observation that are only on or off, such as --calls."""

from typing import ClassVar

from p5lab.describe.observation.kind import Kind


class Flag(Kind):
    """A kind without settings. Class attributes: `name` is the option without its dashes, and the
    kind's entry in `request` of run.json. `help` explains the option."""

    name: ClassVar[str]
    help: ClassVar[str]

    def __init_subclass__(cls) -> None:
        if hasattr(cls, "name"):  # a base class of several kinds has none
            cls.option = f"--{cls.name}"
            cls.options = {cls.option: {"action": "store_true", "help": cls.help}}
            cls.unasked = {cls.name: False}

    def recorded(self) -> dict[str, object]:
        """The entry, which is true."""
        return {self.name: True}
