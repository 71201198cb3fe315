# SPDX-License-Identifier: MIT
"""The only exception class of p5stats, for bad files and wrong arguments."""

from pathlib import Path


class StatsError(ValueError):
    """A file is malformed, or a function has no result for its argument.

    The message is one line with the place of the fault and the expected content.
    """

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in the place of the trace."""
        return [f"StatsError: {self}"]


class DamagedTable(StatsError):
    """The file `path` with the table of a run is missing or damaged."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path
