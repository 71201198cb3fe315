# SPDX-License-Identifier: MIT
"""What a run records beside its counts, and what is done to it.

Each kind is a module here with one class: a trace, basic-block vectors, a capture of the network.
The class adds its options to the command line, reads them, keeps itself in run.json and comes back
from there, configures the engine, names its files and checks the machine. Nothing else in p5lab
names a kind to do one of these. To add a kind, add a module with a class that derives from Kind,
and the class to KINDS.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from p5lab.describe.observation.attribute import Attribution
from p5lab.describe.observation.capture import Capture
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.power_cut import PowerCut
from p5lab.describe.observation.sample import Interval, Sample
from p5lab.describe.observation.shadows import Shadow, Shadows
from p5lab.describe.observation.trace import Trace
from p5lab.describe.observation.vectors import Vectors
from p5lab.errors import UserError
from p5lab.lab import Lab

if TYPE_CHECKING:  # a run has an observation
    from p5lab.describe.run import Run

__all__ = [
    "KINDS",
    "NOTHING",
    "Attribution",
    "Capture",
    "Interval",
    "Kind",
    "Observation",
    "PowerCut",
    "Sample",
    "Shadow",
    "Shadows",
    "Trace",
    "Vectors",
]

# In this order they stand in engine.conf and in the names of runs.
KINDS: tuple[type[Kind], ...] = (
    Shadows,
    Trace,
    Vectors,
    Attribution,
    Sample,
    PowerCut,
    Capture,
)
K = TypeVar("K", bound=Kind)


@dataclass(frozen=True)
class Observation:
    """All that is asked of a run beside its counts, at most one wish of each kind."""

    wishes: tuple[Kind, ...] = ()

    @classmethod
    def of(cls, *wishes: Kind | None) -> Self:
        """These wishes, without the Nones, in the order in which this module has the kinds."""
        given = [wish for wish in wishes if wish is not None]
        return cls(tuple(sorted(given, key=lambda wish: KINDS.index(type(wish)))))

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self:
        """What the options of `add_options` ask for."""
        return cls.of(*(kind.parse(args) for kind in KINDS))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """What a record (run.json) says was asked. Raises LookupError, TypeError or ValueError
        where the record lacks it."""
        return cls.of(*(kind.of_record(record) for kind in KINDS))

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.wishes)

    def __bool__(self) -> bool:
        return bool(self.wishes)

    def get(self, kind: type[K]) -> K | None:
        """The wish of a kind; None: nobody asked."""
        return next((wish for wish in self.wishes if isinstance(wish, kind)), None)

    def with_(self, wish: Kind | None) -> Self:
        """These wishes and one more."""
        return type(self).of(*self.wishes, wish)

    def recorded(self) -> dict[str, object]:
        """What `request` of run.json keeps: the keys of all kinds."""
        unasked = {name: value for kind in KINDS for name, value in kind.unasked.items()}
        return unasked | {name: value for one in self for name, value in one.recorded().items()}

    def check(self, run: "Run") -> None:
        """Raises UserError where the machine or the guest of a run lacks what a wish needs."""
        for wish in self:
            if wish.needs_clocks and not run.has_clocks:
                raise UserError(
                    f"{wish.every_access or wish.option}: expected a guest of a processor that has"
                    f" clocks; guest {run.guest.name} is of {run.machine.values['cpu.isa']}"
                )
            wish.check(run)

    def check_together(self, where: str) -> None:
        """Raises UserError where two wishes are not for one run; `where` begins the message."""
        names = [wish.every_access for wish in self if wish.every_access]
        if len(names) > 1:
            raise UserError(f"{where}: {' and '.join(names)} are not for one run")

    def conf(self) -> Conf:
        """All lines of engine.conf that matter from reset on."""
        return {key: value for wish in self for key, value in wish.conf().items()}

    def job(self) -> Conf:
        """All lines of engine.conf that matter only after the ready marker."""
        return {key: value for wish in self for key, value in wish.job().items()}

    def inputs(self, lab: Lab, run: "Run") -> dict[str, bytes]:
        """All files that the engine reads for them, by name."""
        return {name: text for wish in self for name, text in wish.inputs(lab, run).items()}


NOTHING = Observation()  # the counts alone


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of all kinds to a command."""
    for kind in KINDS:
        kind.add_options(parser)


def outputs(kinds: Iterable[type[Kind]]) -> tuple[str, ...]:
    """The files that these kinds leave in a run directory."""
    return tuple(name for kind in kinds for name in kind.outputs)


def apart(record: Mapping[str, Any]) -> dict[str, str]:
    """What makes a run another one than a plain run of the same, from its record (run.json): lines
    of engine.conf."""
    settings = record["identity"].get("settings", {})
    given = settings.get("engine.conf", {}) | settings.get("job", {})
    return {key: given[key] for kind in KINDS for key in kind.apart if key in given}
