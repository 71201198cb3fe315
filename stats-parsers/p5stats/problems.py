# SPDX-License-Identifier: MIT
"""The exceptions of p5stats, for bad files and wrong arguments."""

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


class NotCounted(StatsError):
    """The run did not count by a dimension."""

    def __init__(self, dimension: str) -> None:
        super().__init__(f"no counts by {dimension}")
        self.dimension = dimension
