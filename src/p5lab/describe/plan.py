# SPDX-License-Identifier: MIT
"""A run, ready to start: what an engine prepares and p5lab.execute starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from p5lab.describe import outputs as files


@dataclass(frozen=True)
class Plan:
    """A run, ready to start.

    `inputs`: every file with an effect on the result, by role.
    `settings`: all other data that affect the result. These data contain no paths.
    `write`: the files to write into the run directory.
    `command`: the command to run in the run directory. The output of the command is
        written to the file `console`.
    `built_from`: the build's records about the engine and the guest, if these records exist.
    `after_boot`: the names of the inputs and settings that have an effect only after the guest's
        ready marker. Runs with equal values of all other inputs and settings can share one boot.
    `server`: the files for a shared boot. The engine boots with the same command in a separate
        directory, which contains the files of `write`. If `server` contains a file of the same
        name, this file replaces the file of `write`. The booted engine then forks each run
        (p5lab.execute.forkserver). `server` is empty if the engine cannot share a boot.
    `shared`: further data that runs of one boot have in common. These data have no effect on the
        events.
    `live`: files that replace those of `write` if a person drives the machine.
    `state`: the role of the input with a saved state that the command continues; empty for none.
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
    shared: Mapping[str, object] = field(default_factory=dict)
    state: str = ""
    live: Mapping[str, bytes] = field(default_factory=dict)
