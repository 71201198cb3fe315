# SPDX-License-Identifier: MIT
"""The base class of all kinds of observation: the modules beside this one."""

import argparse
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from p5lab.errors import UserError
from p5lab.lab import Lab

if TYPE_CHECKING:  # describe.run imports this package
    from p5lab.describe.run import Run

Conf: TypeAlias = dict[str, str]  # lines of engine.conf


class Kind(ABC):
    """One thing to record of a run or to do to its machine. An instance holds the user's settings
    for it.

    The class attributes: `option` is the option of the command line. `unasked` holds the entries of
    `request` in run.json for a run without this kind. `outputs` are the files that it leaves in the
    run directory. `apart` are the keys of engine.conf that distinguish the run from a plain run of
    the same workload; neither of the two replaces the other.
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
        """The settings in the parsed options; None if they do not request this kind."""
        return None

    @classmethod
    @abstractmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The settings in a record (run.json); None if the run was made without this kind."""

    def recorded(self) -> dict[str, object]:
        """Its entries in `request` of run.json: the keys of `unasked`, with their values."""
        return {}

    @property
    def needs_clocks(self) -> bool:
        """Whether it needs an engine that models the timing of the processor's caches."""
        return False

    @property
    def every_access(self) -> str:
        """Its name if the engine must report every access to L1 to it, else empty. The engine does
        that for one kind at a time."""
        return ""

    @property
    def label(self) -> str:
        """Its part of the run's name; empty if the name does not mention it."""
        return ""

    def check(self, run: "Run") -> None:  # noqa: B027
        """Raises UserError if the run's machine lacks what it needs."""

    def conf(self) -> Conf:
        """Its lines of engine.conf that matter from reset on."""
        return {}

    def job(self) -> Conf:
        """Its lines of engine.conf that matter only after the guest's ready marker. Runs that
        differ only in these can share a boot."""
        return {}

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        """The files that the engine reads from the run directory, by name."""
        return {}

    def remarks(self, run: str, place: str) -> list[str]:
        """Lines to print when a run has ended. `run` is its id, `place` its directory as the user
        sees it."""
        return []


def positive(option: str) -> Callable[[str], int]:
    """A parser of whole numbers from 1 on. Its UserError names the option."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UserError(f"{option}: expected a whole number, at least 1; found {text!r}")
        return int(text)

    return parse
