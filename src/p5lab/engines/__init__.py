# SPDX-License-Identifier: MIT
"""Engines: what turns a run into counts.

An engine prepares a run (the files it is made of, what to write into the run directory, which
command to start) and collects its outcome (what the exit status and the files say). It never starts
anything itself.

To add an engine, add a module here, or to `engines/` of a directory that P5LAB_PATH names. Its
class derives from Engine and declares in `can` what it is able to do; the last line of the module
is `ENGINE = ` that class. The module's name is the engine's. An engine of several modules is a
package, with all this in its module `engine`.

gem5's own interpreter imports this package for p5lab.engines.gem5: what is here needs the standard
library alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from p5lab.describe import engine
from p5lab.describe import outputs as files
from p5lab.describe.engine import Capabilities
from p5lab.errors import UserError

if TYPE_CHECKING:  # a run asks its engine what it can do
    from p5lab.describe.guest import Guest
    from p5lab.describe.run import Run
    from p5lab.lab import Lab

EVENTS = files.file("events")  # every engine writes this file


@dataclass(frozen=True)
class Plan:
    """A run, ready to start.

    inputs: every file whose content can change the result, by role. settings: everything else that
    can, without paths. write: files of the run directory. The command runs in that directory; what
    it prints goes to `console`. built_from: what the build recorded about the engine and the guest,
    where it did.

    after_boot: the inputs and settings that matter only from the guest's ready marker on. Runs that
    agree in all others can share one boot: the same command, with `server` in place of the files of
    that name, boots in a directory beside theirs and forks each run (p5lab.execute.forkserver). An
    engine that cannot do that leaves `server` empty.
    """

    inputs: Mapping[str, Path]
    settings: Mapping[str, object]
    write: Mapping[str, bytes]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    versions: Mapping[str, str]
    built_from: Mapping[str, Path]
    console: str = files.file("console")
    after_boot: frozenset[str] = frozenset()
    server: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ok, failed or timeout, and why in one line."""

    status: str
    reason: str


class Engine(ABC):
    """What p5lab needs of an engine. outputs: the files it leaves in the run directory."""

    can: ClassVar[Capabilities]
    outputs: ClassVar[tuple[str, ...]]

    def targets(self, lab: "Lab", guests: "Collection[Guest]") -> tuple[str, ...]:
        """What has to be built (SConstruct's targets) for runs on these guests: here the guests
        and their workloads."""
        places = {lab.short(path.parent) for guest in guests for path in guest.files.values()}
        places = {place for place in places if not Path(place).is_absolute()}  # not of P5LAB_PATH
        places |= {f"build/workloads/{guest.programs}" for guest in guests}
        return tuple(sorted(places))

    def examine(self, lab: "Lab", runs: "Sequence[Run]") -> list[str]:
        """Looks at runs before anything is built. Raises UserError for what the engine cannot do;
        returns remarks that people should read."""
        for run in runs:
            if self.can.guests and run.guest.isa not in self.can.guests:
                raise UserError(
                    f"--engine {run.engine}: guest {run.guest.name} is built for {run.guest.isa};"
                    f" expected {' or '.join(self.can.guests)}"
                )
            engine.check(run.engine, run.observation)
            if self.can.simulates and not (self.can.feedback or run.feedback):
                raise engine.refused(run.engine, "--feedback off")
            if self.can.simulates and not (self.can.model or run.model):
                raise engine.refused(run.engine, "--model off")
        return []

    @abstractmethod
    def prepare(self, lab: "Lab", run: "Run", directory: Path) -> Plan:
        """The plan of a run in a directory, which need not be there yet. Raises UserError for a
        missing file and for what the run cannot be."""

    @abstractmethod
    def collect(self, directory: Path, status: int) -> Outcome:
        """How a run in a directory has ended, whose command ended with a status; negative: the
        number of the signal that killed it."""

    @abstractmethod
    def last_output(self, directory: Path) -> str:
        """The last line the workload printed, safe to show."""


def get(name: str) -> Engine:
    """An engine by its name. Raises UserError for a name that no engine has."""
    return cast(Engine, engine.plugged_in(name)())


def targets(lab: "Lab", runs: "Collection[Run]") -> tuple[str, ...]:
    """What has to be built for runs, of whatever engines, each once."""
    guests: dict[str, list[Guest]] = {}
    for run in runs:
        guests.setdefault(run.engine, []).append(run.guest)
    found = (target for name, ones in guests.items() for target in get(name).targets(lab, ones))
    return tuple(dict.fromkeys(found))
