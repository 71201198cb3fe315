# SPDX-License-Identifier: MIT
"""Progress in a notebook cell: one line of text that changes, below the cell."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from p5lab.periodic import LIVE_SECONDS, every
from p5lab.progress import Activity, Progress, RunProgress

WIDTH = 100  # letters in the line; a notebook reports no width


def progress() -> Progress:
    """Returns the progress for the place where the code runs: a notebook cell or a terminal."""
    return CellProgress() if in_cell() else Progress()


def in_cell() -> bool:
    """Whether the code runs in the kernel of a notebook. IPython in a terminal is not a
    notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class CellProgress(Progress):
    """Shows progress in the output of a cell. The output is plain text, so every program for
    notebooks shows it."""

    def __init__(self) -> None:
        super().__init__(Console(file=sys.stdout, width=WIDTH, force_jupyter=False, no_color=True))

    @property
    def is_shown(self) -> bool:
        """True, because a cell always has a reader."""
        return True

    @contextmanager
    def activity(
        self, name: str, state: Callable[[], str] | None = None
    ) -> Iterator[Callable[[str], None]]:
        """Shows one long step while the block runs. Yields a function, to which the caller passes
        the current action. If `state` is given, its result is shown instead of the action."""
        work = Activity(name, state)
        with _line(lambda: work.text()[:WIDTH], lambda: f"{name}: {work.seconds:.0f} s"):
            yield work.step

    @contextmanager
    def runs(self, total: int, left: Callable[[], str] = str) -> Iterator[RunProgress]:
        """Shows the progress of `total` runs while the block runs. The last text is the number of
        runs and the time."""
        start = time.monotonic()
        tracker = RunProgress(_Silent(self.console), total, left)

        def end() -> str:
            return f"{tracker.done}/{total} runs in {time.monotonic() - start:.1f} s"

        with _line(tracker.text, end):
            yield tracker


class _Silent(Progress):
    """Prints no line for each run, because a sweep has many runs and a cell has little space."""

    @property
    def is_shown(self) -> bool:
        return False


@contextmanager
def _line(text: Callable[[], str], end: Callable[[], str]) -> Iterator[None]:
    """Shows a changing text in the cell while the block runs, and then the text of `end`."""
    from IPython.display import display

    def content(what: str) -> dict[str, str]:
        return {"text/plain": what}

    handle = display(content(text()), raw=True, display_id=True)
    try:
        with every(LIVE_SECONDS, lambda: handle.update(content(text()), raw=True)):
            yield
    finally:
        handle.update(content(end()), raw=True)
