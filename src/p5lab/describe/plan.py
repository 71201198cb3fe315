# SPDX-License-Identifier: MIT
"""A run, ready to start: what an engine prepares and p5lab.execute starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from p5lab.describe import outputs as files


@dataclass(frozen=True)
class PlanPart:
    """What a part of a run is made of.

    `inputs`: every file with an effect on the result, by role.
    `settings`: all other data that affect the result. These data contain no paths.
    `write`: the files to write into the run directory.
    """

    inputs: Mapping[str, Path] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    write: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A run, ready to start.

    `boot`: what has an effect from the start. Runs with equal inputs and settings of the boot can
        share one boot.
    `job`: what has an effect only after the guest's ready marker, or the ready point of its script.
    `command`: the command to run in the run directory. The output of the command is
        written to the file `console`.
    `built_from`: the build's records about the engine and the guest, if these records exist.
    `server`: the files of the job of a shared boot. The engine boots with the same command in a
        separate directory, which contains these files and those of `boot`. The booted engine then
        forks each run (p5lab.execute.forkserver). `server` is empty if the engine cannot share a
        boot.
    `shared`: further data that runs of one boot have in common. These data have no effect on the
        events.
    `live`: files that replace those of `write` if a person drives the machine.
    `state`: the role of the input with a saved state that the command continues; empty for none.
    """

    boot: PlanPart
    command: tuple[str, ...]
    environment: Mapping[str, str]
    versions: Mapping[str, str]
    built_from: Mapping[str, Path]
    console: str = files.file("console")
    job: PlanPart = PlanPart()
    server: Mapping[str, bytes] = field(default_factory=dict)
    shared: Mapping[str, object] = field(default_factory=dict)
    state: str = ""
    live: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, Path]:
        """The inputs of both parts."""
        return {**self.boot.inputs, **self.job.inputs}

    @property
    def settings(self) -> dict[str, object]:
        """The settings of both parts."""
        return {**self.boot.settings, **self.job.settings}

    @property
    def write(self) -> dict[str, bytes]:
        """The files of both parts."""
        return {**self.boot.write, **self.job.write}
