# SPDX-License-Identifier: MIT
"""Engines. An engine determines the counts of a run.

An engine prepares a run: its input files, the files for the run directory, and the command. After
the run, the engine collects the outcome from the exit status and the output files. An engine never
starts a command itself.

To add an engine, add a module to this package, or to `engines/` of a directory that P5LAB_PATH
names. The module contains a class that derives from Engine and declares its capabilities in `can`.
The last line of the module assigns this class to ENGINE. The engine has the name of the module. An
engine of several modules is a package. The module `engine` of this package contains the class and
ENGINE.

gem5's own interpreter imports this package for p5lab.engines.gem5. So this module needs only the
standard library.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

from p5lab.describe import delivery, engine
from p5lab.describe import outputs as files
from p5lab.describe.engine import Capabilities
from p5lab.describe.guest import Guest, ImageGuest
from p5lab.describe.plan import Plan as Plan
from p5lab.describe.plan import PlanPart as PlanPart
from p5lab.describe.program import Shell
from p5lab.describe.run import ImageRun, Run
from p5lab.errors import UserError
from p5lab.lab import Lab, shown

EVENTS = files.file("events")  # every engine writes this file


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `status`: ok, failed or timeout. `reason`: the cause in one line."""

    status: str
    reason: str


class Engine(ABC):
    """The interface of every engine. `outputs`: the files that the engine leaves in the run
    directory."""

    can: ClassVar[Capabilities]
    outputs: ClassVar[tuple[str, ...]]

    def targets(self, lab: Lab, guests: Collection[Guest]) -> tuple[str, ...]:
        """The build targets (of SConstruct) that runs on these guests need. By default, these
        targets are the guests. `targets` of this module adds the programs of the runs."""
        images = [guest for guest in guests if isinstance(guest, ImageGuest)]
        places = {lab.short(path.parent) for guest in images for path in guest.files.values()}
        places = {place for place in places if not Path(place).is_absolute()}  # outside: P5LAB_PATH
        return tuple(sorted(places))

    def instead(self, lab: Lab) -> str:
        """The name of another engine that makes the runs, because this host lacks something that
        only this engine needs. Empty, as by default: this engine makes them."""
        return ""

    def examine(self, lab: Lab, runs: Sequence[Run]) -> list[str]:
        """Checks runs before the build. Raises UserError for a run that the engine cannot make.
        Returns remarks for the user, one line each."""
        for run in runs:
            if self.can.guests and run.guest.isa not in self.can.guests:
                raise UserError(
                    f"--engine {run.engine}: guest {run.guest.name} is built for {run.guest.isa};"
                    f" expected {' or '.join(self.can.guests)}"
                )
            engine.check(run.engine, run.observation)
            if self.can.simulates and isinstance(run, ImageRun):
                delivery.files(lab, run)  # a guest for which no program is compiled is refused
            if self.can.simulates and not (self.can.feedback or run.feedback):
                raise engine.refused(run.engine, "--feedback off", lambda can: can.feedback)
            if self.can.simulates and not (self.can.model or run.model):
                raise engine.refused(run.engine, "--model off", lambda can: can.model)
        return []

    @abstractmethod
    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan:
        """The plan of a run. The directory does not have to exist yet. Raises UserError for a
        missing file and for a run that the engine cannot make."""

    @abstractmethod
    def collect(self, directory: Path, status: int) -> Outcome:
        """The outcome of a run whose command has ended. `status` is the exit status of the
        command. If a signal killed the command, `status` is the negative number of that signal."""

    @abstractmethod
    def last_output(self, directory: Path) -> str:
        """The last line that the workload printed, safe for a terminal."""


def check_inputs(inputs: Mapping[str, Path]) -> None:
    """Raises UserError for an input that is not built. `inputs`: the files by role."""
    for role, path in inputs.items():
        if not path.is_file():
            raise UserError(f"missing {role}: {shown(path)}; run `./p5lab build`", status=1)


def get(name: str) -> Engine:
    """An engine by its name. Raises UserError for an unknown name."""
    return cast(Engine, engine.plugged_in(name)())


def targets(lab: Lab, runs: Collection[Run]) -> tuple[str, ...]:
    """The build targets that these runs and their engines need, each once."""
    guests: dict[str, list[Guest]] = {}
    for run in runs:
        guests.setdefault(run.engine, []).append(run.guest)
    of_engines = (target for name in guests for target in get(name).targets(lab, guests[name]))
    of_programs = (target for run in runs for target in _programs(lab, run))
    return tuple(dict.fromkeys((*of_engines, *of_programs)))


def _programs(lab: Lab, run: Run) -> Iterator[str]:
    """The build targets of the programs that the run executes."""
    if not isinstance(run, ImageRun):
        return
    if isinstance(run.program, Shell):
        yield f"build/workloads/{run.guest.programs}"
    yield from run.workload.headers
    for path, _ in delivery.files(lab, run):
        if path.is_relative_to(lab.root / "build/workloads"):
            yield lab.short(path)
