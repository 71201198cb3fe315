# SPDX-License-Identifier: MIT
"""What an observation may know of a run. describe.run.Run has all of this; the run contains its
observation, so an observation cannot import the run."""

from collections.abc import Collection
from typing import Protocol

from p5lab.describe.guest import Guest
from p5lab.describe.machine import Machine
from p5lab.describe.program import Program
from p5lab.describe.workload import Workload


class Target(Protocol):
    """The run that is observed. The fields are those of describe.run.Run."""

    @property
    def machine(self) -> Machine: ...  # noqa: D102
    @property
    def guest(self) -> Guest: ...  # noqa: D102
    @property
    def workload(self) -> Workload: ...  # noqa: D102
    @property
    def program(self) -> Program | None: ...  # noqa: D102
    @property
    def model(self) -> bool: ...  # noqa: D102
    @property
    def feedback(self) -> bool: ...  # noqa: D102
    @property
    def has_clocks(self) -> bool: ...  # noqa: D102
    @property
    def has_nominal_clocks(self) -> bool: ...  # noqa: D102
    @property
    def without_clocks(self) -> Collection[str]: ...  # noqa: D102
