# SPDX-License-Identifier: MIT
"""Engines: what turns a run into counts. Adding one is one module with a class like these.

An engine prepares a run (which files it is made of, what to write into the run directory, which
command to start) and collects its outcome (what the exit status and the files say). It never starts
anything itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from p5lab.describe.experiment import Run
from p5lab.errors import unknown
from p5lab.lab import Lab

EVENTS = "events.jsonl"  # every engine writes this file


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
    engine
    that cannot do that leaves `server` empty.
    """

    inputs: Mapping[str, Path]
    settings: Mapping[str, object]
    write: Mapping[str, bytes]
    command: tuple[str, ...]
    environment: Mapping[str, str]
    versions: Mapping[str, str]
    built_from: Mapping[str, Path]
    console: str = "engine.out"
    after_boot: frozenset[str] = frozenset()
    server: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a run ended: ok, failed or timeout, and why in one line."""

    status: str
    reason: str


class Engine(Protocol):
    """What the runner needs of an engine."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files it leaves in the run directory."""
        ...

    @property
    def repeatable(self) -> bool:
        """Whether identical inputs give identical events."""
        ...

    @property
    def portable(self) -> bool:
        """Whether its plan's inputs are all it needs, wherever they are."""
        ...

    def prepare(self, lab: Lab, run: Run, directory: Path) -> Plan: ...

    def collect(self, directory: Path, status: int) -> Outcome: ...

    def last_output(self, directory: Path) -> str:
        """The last line the workload printed, safe to show."""
        ...


def get(name: str) -> Engine:
    from p5lab.engines.bochs import Bochs
    from p5lab.engines.gem5 import Gem5
    from p5lab.engines.native import Native

    engines: dict[str, type[Engine]] = {"bochs": Bochs, "gem5": Gem5, "native": Native}
    if name not in engines:
        raise unknown("engine", name, engines)
    return engines[name]()
