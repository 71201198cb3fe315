# SPDX-License-Identifier: MIT
"""Where are runs executed? An Executor executes runs. The class Here uses engines of this process.
The class Cluster (p5lab.execute.cluster) uses the workers of a Dask cluster. Both classes call
p5lab.execute.one_run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from p5lab.errors import UserError
from p5lab.execute import one_run
from p5lab.execute.forkserver import Servers
from p5lab.execute.one_run import Done, Task


class Executor(Protocol):
    """An executor of runs. The methods of a place are called from several threads."""

    @property
    def at_a_time(self) -> int:
        """The number of runs that the place executes at the same time."""
        ...

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        """Returns groups of runs. The place executes the runs of a group one after another. `boots`
        contains the boots of all runs. The groups contain indices into `boots`."""
        ...

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        """Executes a run. Afterwards, `directory` contains either all files of the run or no files.
        Calls `began` when the run starts. Returns None if `stopped` returned true before the start.
        Raises Lost if the place can execute no more runs."""
        ...

    def ended(self, boot: str) -> None:
        """Records that a run with this boot has ended or was skipped."""
        ...


class Lost(UserError):
    """The place can execute no more runs."""


class Here:
    """Executes runs with engines that this process starts, directly in the run directories."""

    def __init__(self, at_a_time: int, boots: Sequence[str]) -> None:
        self.at_a_time = at_a_time
        self._servers = Servers(boots)

    def together(self, boots: Sequence[str]) -> list[list[int]]:
        """Returns one group for each run, because runs that share a boot can be forked from one
        server in any order."""
        return [[number] for number in range(len(boots))]

    def run(
        self,
        task: Task,
        directory: Path,
        lock: int,
        began: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> Done | None:
        """Executes a run in this thread. The run is forked if it shares its boot with other
        runs."""
        began()
        return one_run.perform(
            task,
            directory,
            lock,
            lambda: self._servers.get(task.boot, task.plan, directory),
            stopped,
        )

    def ended(self, boot: str) -> None:
        """Ends the server of a boot after the last run of this boot."""
        self._servers.done(boot)

    def close(self) -> None:
        """Ends all servers."""
        self._servers.close()
