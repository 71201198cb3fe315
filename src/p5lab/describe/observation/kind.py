# SPDX-License-Identifier: MIT
"""The base class of all kinds of observation. The other modules of this package define the
kinds."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Self, TypeAlias

from p5lab.describe.observation.target import Target
from p5lab.errors import UserError
from p5lab.lab import Lab

Conf: TypeAlias = dict[str, str]  # lines of boot.conf or job.conf
SAMPLED = "simpoint"  # the option of a run that simulates only some intervals in detail


class Kind:
    """A kind of observation: something to record about a run, or an action on the machine. An
    instance contains the user's settings of the kind, as fields.

    Class attributes: `option` is the kind's option on the command line. `options` contains the
    arguments of argparse for each option. `unasked` contains the entries that a run without this
    kind writes to `request` in run.json. The first fields have the values of `options` and of
    `unasked`, in this order; a kind is requested if the first value is not empty. `outputs` lists
    the files that the kind leaves in the run directory. `apart` lists the keys of boot.conf and
    job.conf that distinguish a run with this kind from a plain run of the same workload. `./p5lab
    gc` does not treat one of these two runs as a replacement for the other run. `lines`: the lines
    of job.conf that do not depend on the settings. `with_media`: the kind is possible for a guest
    that boots from its own media. `excludes`: the options of kinds that cannot share a run with
    this kind. To print after the end of runs:
    `command` is the line about the command that shows their counts, with {runs} for its words;
    `shows_several`: the command takes several runs. `remark` is the line about a file of a run,
    with {place} for its directory.
    """

    option: ClassVar[str]
    options: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    unasked: ClassVar[Mapping[str, Any]] = {}
    outputs: ClassVar[tuple[str, ...]] = ()
    apart: ClassVar[tuple[str, ...]] = ()
    lines: ClassVar[Mapping[str, str]] = {}
    with_media: ClassVar[bool] = False
    excludes: ClassVar[tuple[str, ...]] = ()
    command: ClassVar[str] = ""
    shows_several: ClassVar[bool] = False
    remark: ClassVar[str] = ""

    @classmethod
    def add_options(cls, parser: argparse.ArgumentParser) -> None:
        """Adds the options of this kind to a command."""
        for option, arguments in cls.options.items():
            parser.add_argument(option, **arguments)

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The settings in the parsed options; None if the options do not request this kind."""
        names = (option[2:].replace("-", "_") for option in cls.options)
        return cls._of([getattr(args, name) for name in names])

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self | None:
        """The settings in a record (run.json); None if the run was made without this kind. Records
        of older versions lack the entries of newer kinds."""
        asked = record["request"]
        return cls._of([asked.get(name, value) for name, value in cls.unasked.items()])

    @classmethod
    def _of(cls, values: list[Any]) -> Self | None:
        if not values or not values[0]:
            return None
        own = (
            tuple(dict.fromkeys(value)) if isinstance(value, list) else value for value in values
        )
        return cls(*list(own)[: len(fields(cls))])  # type: ignore[arg-type]

    def recorded(self) -> dict[str, object]:
        """The kind's entries for `request` in run.json: the keys of `unasked`, with the values of
        this run."""
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        shown = (list(value) if isinstance(value, tuple) else value for value in values)
        return dict(zip(self.unasked, shown, strict=False))

    @property
    def needs_clocks(self) -> bool:
        """Whether this kind needs an engine that models the timing of the processor's caches. A
        kind that needs a report of every access does."""
        return bool(self.every_access)

    @property
    def with_nominal(self) -> bool:
        """Whether this kind is possible with nominal clocks (--clocks nominal)."""
        return False

    @property
    def every_access(self) -> str:
        """The name of this kind if it needs a report of every access to L1, else empty. An engine
        reports the accesses to only one kind in a run."""
        return ""

    @property
    def label(self) -> str:
        """The text about this kind in the name of a run; empty if the name does not mention this
        kind."""
        return ""

    def check(self, run: Target) -> None:
        """Raises UserError if this kind needs something that the run's machine lacks."""

    def boot(self) -> Conf:
        """The kind's lines of boot.conf. They have an effect already during the boot."""
        return {}

    def job(self) -> Conf:
        """The kind's lines of job.conf. They have an effect only after the guest's ready marker, so
        runs that differ only in them can share a boot. A guest that boots from its own media is
        observed from reset: for it, these are lines of boot.conf, too."""
        return dict(self.lines)

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """The files that the engine reads from the run directory, by name."""
        return {}

    def commands(self, runs: str) -> list[str]:
        """The lines about commands. `runs`: an id, or with `shows_several` any words for runs."""
        return [self.command.format(runs=runs)] if self.command else []

    def remarks(self, place: str) -> list[str]:
        """The lines about files. `place`: the directory of the run, as messages show it."""
        return [self.remark.format(place=place)] if self.remark else []


def positive(option: str) -> Callable[[str], int]:
    """A parser of whole numbers of at least 1. The parser raises UserError with the name of the
    option."""

    def parse(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise UserError(f"{option}: expected a whole number, at least 1; found {text!r}")
        return int(text)

    return parse
