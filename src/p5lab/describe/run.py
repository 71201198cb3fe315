# SPDX-License-Identifier: MIT
"""One run: a workload on a guest on a machine, with everything that can change the result."""

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from p5lab.describe import engine as engines
from p5lab.describe.boot import Boot
from p5lab.describe.guest import Guest, ImageGuest, MediaGuest
from p5lab.describe.keys import readable
from p5lab.describe.machine import Machine
from p5lab.describe.observation import (
    NOTHING,
    Geometries,
    NominalClocks,
    Observation,
    Sample,
    Shadow,
)
from p5lab.describe.program import Program
from p5lab.describe.workload import Workload


@dataclass(frozen=True)
class Run(ABC):
    """One simulation with all names resolved: an ImageRun or a MediaRun.

    `given`: the parameters that the experiment sets. These parameters distinguish the
        runs of the experiment.
    `feedback`: if True, misses in caches and TLBs and transfers on the bus take time.
    `limit_seconds`: a run fails when it exceeds this modelled time.
    `program`: the program that replaces the workload.
    `model`: if False, each instruction takes one clock, and the machine has no caches, no TLBs and
        no stalls.
    `observation`: what the run records in addition to the counts.
    `called`: the name by which a comparison shows the run; empty if nothing but the other
        properties distinguishes it.
    """

    experiment: str
    machine: Machine
    guest: Guest
    workload: Workload
    parameters: dict[str, int | str]
    given: tuple[str, ...]
    seed: int
    feedback: bool
    limit_seconds: int
    engine: str = engines.DEFAULT
    program: Program | None = None
    model: bool = True
    observation: Observation = NOTHING
    called: str = ""

    @property
    def can(self) -> engines.Capabilities:
        """The capabilities of the run's engine."""
        return engines.capabilities(self.engine)

    @property
    def without_clocks(self) -> Collection[str]:
        """The processors whose clocks the run's engine does not model."""
        return self.can.without_clocks

    @property
    def parameter_text(self) -> str:
        """The parameters as one text: `name=value name=value`."""
        return " ".join(f"{name}={value}" for name, value in self.parameters.items())

    @property
    @abstractmethod
    def job(self) -> str:
        """The command line that the guest receives, or the text for programs on media."""

    @property
    def limit_cycles(self) -> int:
        """`limit_seconds` in clocks of the machine."""
        return self.limit_seconds * self.machine.clock_hz

    @property
    def has_clocks(self) -> bool:
        """Whether instructions take clocks in this run: the engine models the clocks of the run's
        processor, or the run has nominal clocks. Some engines model the clocks of only some
        processors."""
        own = self.machine.values["cpu.isa"] not in self.can.without_clocks
        return own or self.has_nominal_clocks

    @property
    def has_nominal_clocks(self) -> bool:
        """Whether the run counts nominal cycles (--clocks nominal)."""
        return self.observation.get(NominalClocks) is not None

    @property
    def has_feedback(self) -> bool:
        """Whether caches, TLBs and bus cost time in this run."""
        return self.feedback and self.model and self.has_clocks

    @property
    def shadows(self) -> tuple[Shadow, ...]:
        """The additional geometries for which the run counts misses."""
        shadows = self.observation.get(Geometries)
        return shadows.geometries if shadows else ()

    @property
    def sample(self) -> Sample | None:
        """The intervals that the run simulates in detail; None if the whole run is simulated in
        detail."""
        return self.observation.get(Sample)

    @property
    def recorded_request(self) -> dict[str, Any]:
        """The entry `request` of a record: what a repetition of the run needs in addition to the
        other entries."""
        return {
            "limit_seconds": self.limit_seconds,
            "given": list(self.given),
            "model": self.model,
            "feedback": self.feedback,
            **self.observation.recorded(),
        }

    @property
    def label(self) -> str:
        """A short name of the run, for people."""
        what = self._what
        if not self.can.simulates:
            return f"{what}, host"
        parts = [what, self.guest.name, self.machine.name]
        if self.machine.geometry:
            parts.append(readable(self.machine.geometry))
        if self.seed:
            parts.append(f"seed {self.seed}")
        parts += [wish.label for wish in self.observation if wish.label]
        return ", ".join(parts)

    @property
    @abstractmethod
    def _what(self) -> str:
        """What runs, as the beginning of the label."""


@dataclass(frozen=True)
class ImageRun(Run):
    """A run of a guest that p5lab has built. It executes its workload or the user's program."""

    guest: ImageGuest

    @property
    def job(self) -> str:
        """The command line of the program."""
        if self.program:
            return self.program.job
        return f"{self.workload.name} {self.parameter_text}".strip()

    @property
    def _what(self) -> str:
        """The program or the workload, with the parameters that the experiment sets."""
        if program := self.program:
            return program.summary
        given = "".join(
            f" {self.parameters[name]}"
            if self.workload.parameters[name].choices
            else f" {name}={self.parameters[name]}"
            for name in self.given
        )
        return self.workload.name + given


@dataclass(frozen=True)
class MediaRun(Run):
    """A run of a guest that boots from the user's media. A script, a text that appears, a person or
    the limit ends it. `boot`: the media that were found, the script, and the end."""

    guest: MediaGuest
    boot: Boot = field(kw_only=True)

    @property
    def job(self) -> str:
        """The text for programs on the media."""
        return self.boot.job

    @property
    def recorded_request(self) -> dict[str, Any]:
        """As for every run, and the end of the boot."""
        boot = self.boot
        return super().recorded_request | {
            "until": boot.until,
            "keep": boot.keep,
            "script": self._own_script,
            "args": boot.job,
            "state": "saved" if boot.save_state else "continued" if boot.state else "",
        }

    @property
    def _what(self) -> str:
        """The script of the command line, and the text that ends the run."""
        until = f" until {self.boot.until!r}" if self.boot.until else ""
        return f"{self._own_script or self.workload.name}{until}"

    @property
    def _own_script(self) -> str:
        """The name of the script, unless it is that of the guest."""
        script = self.boot.script
        return script.name if script and script != self.guest.script else ""


def is_named(label: str, text: str) -> bool:
    """Whether a run's label contains the text of --only. Upper and lower case are equal. In the
    text, `*` matches any text, and `?` matches any character."""
    return fnmatch.fnmatchcase(label.lower(), f"*{text.lower()}*")
