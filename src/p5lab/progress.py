# SPDX-License-Identifier: MIT
"""What a person sees while work goes on: a live line on a terminal, plain lines anywhere else."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from p5lab.untrusted import markup

PLAIN_SECONDS = 30  # between two lines about one step where there is no terminal


class Progress:
    """Messages go to stderr, so that stdout holds results only."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        with self._lock:
            self.console.print(markup(text, lines=True), soft_wrap=True)

    @contextmanager
    def activity(self, name: str) -> Iterator[Callable[[str], None]]:
        """One long step; the caller says what it is at. Without a terminal that is told twice a
        minute, so that a long silence is never mistaken for a hang."""
        start = time.monotonic()
        detail = "starting"

        def text() -> str:
            room = max(self.console.width - len(name) - 16, 20)
            return f"{name} {time.monotonic() - start:.0f} s: {detail[:room]}"

        def step(what: str) -> None:
            nonlocal detail
            detail = what or detail

        if self.console.is_terminal:
            status = self.console.status(markup(text()))
            with status, _every(0.5, lambda: status.update(markup(text()))):
                yield step
        else:
            with _every(PLAIN_SECONDS, lambda: self.say(text())):
                yield step

    @contextmanager
    def runs(self, total: int) -> Iterator["RunProgress"]:
        """Progress over runs."""
        tracker = RunProgress(self, total)
        if not self.console.is_terminal:
            yield tracker
            return
        status = self.console.status("")
        with status, _every(0.5, lambda: status.update(markup(tracker.text()))):
            yield tracker


class RunProgress:
    """Counts runs; safe to call from several threads."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0
        self._lock = threading.Lock()
        self._active: dict[str, float] = {}

    def started(self, label: str) -> None:
        with self._lock:
            self._active[label] = time.monotonic()

    def finished(self, label: str, message: str) -> None:
        with self._lock:
            self._active.pop(label, None)
            self.done += 1
            number = self.done
        self.progress.say(f"[{number}/{self.total}] {label}: {message}")

    def text(self) -> str:
        """What is going on, cut to the terminal's width."""
        with self._lock:
            now = time.monotonic()
            active = [f"{label} {now - start:.0f} s" for label, start in self._active.items()]
            text = f"{self.done}/{self.total} done; running: {'; '.join(active) or '-'}"
        return text[: max(self.progress.console.width - 4, 20)]


@contextmanager
def _every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Does something again and again beside the block."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
