# SPDX-License-Identifier: MIT
"""Observations: what a run records in addition to its counts, and actions on its machine.

Each kind of observation, such as a trace or a capture of the network, has a module in this package,
with one class. The class adds its options to the command line and parses them. The class writes its
settings to run.json and reads these settings from run.json. The class also configures the engine,
names its output files and checks the machine. So the other parts of p5lab need no code for a
particular kind. To add a kind, add a module with a class that derives from Kind, or from Flag if
the kind is only on or off, and add the class to KINDS. An observer of `engine/observe` needs no
module: its observer.toml is enough (docs/extend/observer.md).
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from p5lab.describe.observation import joint, plugged
from p5lab.describe.observation.attribute import AttributedCounts
from p5lab.describe.observation.capture import Capture
from p5lab.describe.observation.clocks import NominalClocks
from p5lab.describe.observation.cpi import Cpi
from p5lab.describe.observation.intervals import IntervalCounts
from p5lab.describe.observation.joint import Joint
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.power_cut import PowerCut
from p5lab.describe.observation.region import Region
from p5lab.describe.observation.sample import Sample, SampledInterval
from p5lab.describe.observation.shadows import Geometries, Shadow
from p5lab.describe.observation.target import Target
from p5lab.describe.observation.trace import Trace
from p5lab.describe.observation.vectors import BlockVectors
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

__all__ = [
    "KINDS",
    "NOTHING",
    "AttributedCounts",
    "BlockVectors",
    "Capture",
    "Cpi",
    "Geometries",
    "IntervalCounts",
    "Joint",
    "Kind",
    "NominalClocks",
    "Observation",
    "PowerCut",
    "Region",
    "Sample",
    "SampledInterval",
    "Shadow",
    "Trace",
]

# The order of the kinds in boot.conf, in job.conf and in the names of runs.
KINDS: tuple[type[Kind], ...] = (
    Geometries,
    Trace,
    BlockVectors,
    AttributedCounts,
    *plugged.KINDS.values(),
    Joint,
    Cpi,
    NominalClocks,
    IntervalCounts,
    Region,
    Sample,
    PowerCut,
    Capture,
)
K = TypeVar("K", bound=Kind)


@dataclass(frozen=True)
class Observation:
    """All observations of a run in addition to its counts, at most one of each kind."""

    wishes: tuple[Kind, ...] = ()

    @classmethod
    def of(cls, *wishes: Kind | None) -> Self:
        """The observation with these kinds, in the order of KINDS. Ignores arguments that are
        None."""
        given = [wish for wish in wishes if wish is not None]
        return cls(tuple(sorted(given, key=lambda wish: KINDS.index(type(wish)))))

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self:
        """The observation that the options of `add_options` request."""
        return cls.of(*(kind.parse(args) for kind in KINDS))

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """The observation of a recorded run (run.json). Raises LookupError, TypeError or ValueError
        if the record lacks an entry or has a wrong entry."""
        return cls.of(*(kind.of_record(record) for kind in KINDS))

    def __iter__(self) -> Iterator[Kind]:
        return iter(self.wishes)

    def __bool__(self) -> bool:
        return bool(self.wishes)

    def get(self, kind: type[K]) -> K | None:
        """The settings of one kind; None if the observation does not contain this kind."""
        return next((wish for wish in self.wishes if isinstance(wish, kind)), None)

    def with_(self, wish: Kind | None) -> Self:
        """This observation with one more kind."""
        return type(self).of(*self.wishes, wish)

    def recorded(self) -> dict[str, object]:
        """The entries of all kinds in `request` of run.json."""
        unasked = {name: value for kind in KINDS for name, value in kind.unasked.items()}
        return unasked | {name: value for wish in self for name, value in wish.recorded().items()}

    def check(self, run: Target) -> None:
        """Raises UserError if a kind needs something that the machine or the guest of a run
        lacks, or if two kinds exclude each other."""
        for wish in self:
            if excluded := [other.option for other in self if other.option in wish.excludes]:
                raise UserError(f"{wish.option} and {excluded[0]} cannot share one run")
            if run.has_nominal_clocks and not wish.with_nominal:
                raise UserError(f"{wish.option}: expected without --clocks nominal")
            if wish.needs_clocks and not run.has_clocks:
                raise UserError(
                    f"{wish.every_access or wish.option}: expected a guest for a processor whose"
                    " clocks the engine models;"
                    f" guest {run.guest.name} is for {run.machine.values['cpu.isa']}"
                )
            wish.check(run)

    def check_together(self, where: str) -> None:
        """Raises UserError if two kinds cannot share one run. `where` begins the message."""
        names = [wish.every_access for wish in self if wish.every_access]
        if len(names) > 1:
            raise UserError(
                f"{where}: {' and '.join(names)} cannot share one run: expected one of them"
            )

    def boot(self) -> Conf:
        """The lines of boot.conf, of all kinds."""
        return {key: value for wish in self for key, value in wish.boot().items()}

    def job(self) -> Conf:
        """The lines of job.conf, of all kinds."""
        return {key: value for wish in self for key, value in wish.job().items()}

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """All files that the engine reads for the observation, by name."""
        return {name: text for wish in self for name, text in wish.inputs(lab, run).items()}


NOTHING = Observation()  # a run that records only its counts


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of all kinds to a command."""
    for kind in KINDS:
        kind.add_options(parser)


def unasked() -> argparse.Namespace:
    """The options of a command line that asks for no observation."""
    return _parser().parse_args([])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    add_options(parser)
    return parser


def count_by(args: argparse.Namespace, dimensions: Iterable[str], where: str) -> None:
    """Sets the options of observations in `args` that count by these dimensions, all at once.
    Raises UserError for an unknown dimension and for two that exclude each other; `where` begins
    its message."""
    from p5stats import StatsError
    from p5stats.dimensions import DIMENSIONS, observers_of  # gem5's Python has no p5stats

    dimensions = list(dimensions)
    parser = _parser()
    plain = vars(parser.parse_args([]))
    counted: set[str] = set()
    for name in dimensions:
        if name not in DIMENSIONS:
            raise unknown("dimension", name, DIMENSIONS, where=where)
        words = DIMENSIONS[name].options.split()
        for key, value in vars(parser.parse_args(words)).items():
            if value != plain[key]:
                own = getattr(args, key)
                both = [*own, *value] if isinstance(value, list) else own or value
                setattr(args, key, both)
                counted.add(key)
    try:
        observers_of(dimensions)
    except StatsError as error:
        raise UserError(f"{where}: {error}") from None
    counted &= set(joint.KNOWN)
    if len(counted) > 1:
        args.joint = args.joint or ",".join(sorted(counted))


def outputs(kinds: Iterable[type[Kind]]) -> tuple[str, ...]:
    """The files that these kinds leave in a run directory."""
    return tuple(name for kind in kinds for name in kind.outputs)


def apart(record: Mapping[str, Any]) -> dict[str, str]:
    """The lines of boot.conf and job.conf that distinguish a run from a plain run of the same
    workload. `record`: the record of the run (run.json)."""
    settings = record["identity"].get("settings", {})
    given = settings.get("engine.conf", {}) | settings.get("job", {})
    return {key: given[key] for kind in KINDS for key in kind.apart if key in given}
