# SPDX-License-Identifier: MIT
"""What a run gives to those who asked for it: how it ended, and where it is stored."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe.run import Run
from p5lab.errors import UserError
from p5lab.keep import store


@dataclass(frozen=True)
class Result:
    """How one run ended. `directory`: where the files of this attempt are. `reused`: an earlier
    result was used, so the run was not executed. `wall_seconds`: host time."""

    run: Run
    id: str
    directory: Path
    status: str
    reason: str
    reused: bool
    wall_seconds: float

    @property
    def home(self) -> Path:
        """The run directory. After a failed repeat of a good run, it has the earlier result, and
        `directory` is a directory in it."""
        return self.directory if self.directory.name == self.id else self.directory.parent


Execute = Callable[[list[Run]], list[Result]]  # makes runs


def succeeded(results: Iterable[Result]) -> list[store.Stored]:
    """The stored runs of these results. Raises UserError for the first run that is not ok."""
    runs = []
    for result in results:
        record = store.read(result.directory)
        if result.status != "ok" or record is None:
            raise UserError(f"{result.run.label}: {result.status}: {result.reason}", status=1)
        runs.append(store.Stored(result.directory, record))
    return runs
