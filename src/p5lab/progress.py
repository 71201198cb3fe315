# SPDX-License-Identifier: MIT
"""Shows the progress of work to the user. On a terminal, one line shows the progress. Without a
terminal, for example in a log, p5lab prints a line about long work from time to time.
P5LAB_PROGRESS=plain also prints a line about each run. P5LAB_PROGRESS=none prints nothing."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from p5lab.periodic import LIVE_SECONDS, PLAIN_SECONDS, every
from p5lab.terminal import for_terminal, markup

VARIABLE, PLAIN, NONE = "P5LAB_PROGRESS", "plain", "none"


class Progress:
    """Prints progress on stderr, so that stdout contains only results."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._lock = threading.Lock()

    @property
    def is_silent(self) -> bool:
        """Whether the user wants no progress: P5LAB_PROGRESS=none."""
        return os.environ.get(VARIABLE) == NONE

    @property
    def is_shown(self) -> bool:
        """Whether all progress is shown: on a terminal, or with P5LAB_PROGRESS=plain."""
        asked = os.environ.get(VARIABLE)
        return asked == PLAIN or (self.console.is_terminal and asked != NONE)

    def note(self, text: str) -> None:
        """Prints a line about progress, if all progress is shown."""
        if self.is_shown:
            self.say(text)

    def milestone(self, text: str) -> None:
        """Prints a line about the begin, the state or the end of long work, unless progress is
        silent. A log gets such a line at most every PLAIN_SECONDS for each piece of work."""
        if not self.is_silent:
            self.say(text)

    def say(self, text: str) -> None:
        """Prints a line, even if progress is not shown. A terminal shows a long line as several
        lines of whole words. A log gets one line."""
        with self._lock:
            # A word that is longer than the line stays whole, so that one can copy it.
            fits = max(map(len, text.split()), default=0) <= self.console.width
            whole_lines = not (self.console.is_terminal and fits)
            self.console.print(markup(text, lines=True), soft_wrap=whole_lines)

    @contextmanager
    def activity(
        self, name: str, state: Callable[[], str] | None = None
    ) -> Iterator[Callable[[str], None]]:
        """Shows one long step while the block runs. Yields a function, to which the caller passes
        the current action. If `state` is given, its result is shown instead of the action. Without
        a terminal, p5lab prints two lines a minute to show that the step still runs."""
        work = Activity(name, state)

        def line() -> str:
            return markup(work.text()[: max(self.console.width - 4, 30)])

        if self.console.is_terminal and not self.is_silent:
            status = self.console.status(line())
            with status, every(LIVE_SECONDS, lambda: status.update(line())):
                yield work.step
        else:
            with every(PLAIN_SECONDS, lambda: self.milestone(work.text())):
                yield work.step

    @contextmanager
    def runs(self, total: int, left: Callable[[], str] = str) -> Iterator["RunProgress"]:
        """Shows the progress of `total` runs while the block runs. `left` returns an estimate of
        the remaining time, or an empty text if the time is unknown. Without a terminal, p5lab
        prints two lines a minute, unless it prints a line about each run."""
        tracker = RunProgress(self, total, left)
        if self.console.is_terminal and not self.is_silent:
            with self.console.status(_Now(tracker.text)):
                yield tracker
        elif self.is_shown:
            yield tracker
        else:
            with every(PLAIN_SECONDS, lambda: self.milestone(tracker.text())):
                yield tracker


class Activity:
    """One long step, for `Progress.activity`."""

    def __init__(self, name: str, state: Callable[[], str] | None) -> None:
        self._name, self._state = name, state
        self._start = time.monotonic()
        self._detail = "starting"

    def step(self, what: str) -> None:
        """Records the current action. An empty text changes nothing."""
        self._detail = what or self._detail

    @property
    def seconds(self) -> float:
        """The time since the step began."""
        return time.monotonic() - self._start

    def text(self) -> str:
        """Returns the name of the step, its time, and the state or the current action."""
        shown = self._state() if self._state else self._detail
        return f"{self._name} {self.seconds:.0f} s: {shown}"


class _Now:
    """A text that is made anew each time it is shown, so it is never older than the lines above."""

    def __init__(self, text: Callable[[], str]) -> None:
        self._text = text

    def __rich__(self) -> Text:
        return Text(for_terminal(self._text()))


class RunProgress:
    """Counts runs. Several threads may call the methods at the same time."""

    def __init__(self, progress: Progress, total: int, left: Callable[[], str]) -> None:
        self.progress = progress
        self.total = total
        self._left = left
        self.done = 0
        self._lock = threading.Lock()
        self._active: dict[str, float] = {}

    def started(self, label: str) -> None:
        """Records that a run has started."""
        with self._lock:
            self._active[label] = time.monotonic()

    def finished(self, label: str, message: str) -> None:
        """Records that a run has ended, and prints a line about the run."""
        self._end(label, message, 1)

    def stopped(self, label: str) -> None:
        """Records that the user stopped a run, and prints a line about the run. The run does not
        count as done."""
        self._end(label, "stopped", 0)

    def _end(self, label: str, message: str, done: int) -> None:
        with self._lock:
            self._active.pop(label, None)
            self.done += done
            number = self.done
        self.progress.note(f"[{number}/{self.total}] {label}: {message}")

    def text(self) -> str:
        """Returns the number of finished runs and a list of the current runs. The text is cut to
        the width of the terminal."""
        with self._lock:
            now = time.monotonic()
            active = [f"{label} {now - start:.0f} s" for label, start in self._active.items()]
            left = self._left()
            about = f", about {left} left" if left else ""
            text = f"{self.done}/{self.total} done{about}; running: {'; '.join(active) or '-'}"
        return text[: max(self.progress.console.width - 4, 20)]
