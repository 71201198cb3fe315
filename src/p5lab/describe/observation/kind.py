# SPDX-License-Identifier: MIT
"""What every kind of observation has: the base class of the modules beside this one."""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from p5lab.errors import UserError
from p5lab.lab import Lab

if TYPE_CHECKING:  # a run has an observation
    from p5lab.describe.run import Run

Conf: TypeAlias = dict[str, str]  # lines of engine.conf


class Kind(ABC):
    """One thing to record of a run or to do to it. An instance is the wish for it.

    The class attributes say: `option`, how people ask for it; `unasked`, what `request` of run.json
    holds where nobody asked; `outputs`, the files it leaves in the run directory; `apart`, the keys
    of engine.conf that make a run another one than a plain run of the same, so that neither of the
    two replaces the other.
    """

    option: ClassVar[str]
    unasked: ClassVar[Mapping[str, object]] = {}
    outputs: ClassVar[tuple[str, ...]] = ()
    apart: ClassVar[tuple[str, ...]] = ()

    @classmethod  # noqa: B027
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds its options to those of `run` and `plan`; a kind without options adds none."""

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The wish that the parsed options express; None: they do not ask for it."""
        return None

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The wish that a record (run.json) keeps; None: the run was made without it."""

    def recorded(self) -> dict[str, object]:
        """What `request` of run.json keeps of it: the keys of `unasked`, with their values."""
        return {}

    @property
    def needs_clocks(self) -> bool:
        """Whether it needs an engine that models the processor's caches in time."""
        return False

    @property
    def every_access(self) -> str:
        """Its name where it has the engine report every access to L1, which the engine does for
        one kind at a time; empty where it does not."""
        return ""

    @property
    def label(self) -> str:
        """Its part of the run's name; empty where the name does not mention it."""
        return ""

    def check(self, run: "Run") -> None:  # noqa: B027
        """Raises UserError where the run's machine lacks what it needs."""

    def conf(self) -> Conf:
        """Its lines of engine.conf that matter from reset on."""
        return {}

    def job(self) -> Conf:
        """Its lines of engine.conf that matter only after the guest's ready marker: runs that
        differ in these alone can share a boot."""
        return {}

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        """Files that the engine reads, to be written into the run directory, by name."""
        return {}

    def remarks(self, run: str, place: str) -> list[str]:
        """What to say when a run has ended, by its id and its directory as people see it."""
        return []


def positive(option: str) -> Callable[[str], int]:
    """A parser of whole numbers from 1 on for an option, which its errors name."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UserError(f"{option}: expected a whole number, at least 1; found {text!r}")
        return int(text)

    return parse
