# SPDX-License-Identifier: MIT
"""What a person sees while work goes on: a live line on a terminal, plain lines anywhere else."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status


class Progress:
    """Messages go to stderr, so that stdout holds results only."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True, highlight=False)
        self._lock = threading.Lock()

    def say(self, text: str) -> None:
        with self._lock:
            self.console.print(escape(text), soft_wrap=True)

    @contextmanager
    def activity(self, name: str) -> Iterator[Callable[[str], None]]:
        """One long step with changing detail. Without a terminal only every 30th second is told."""
        start = time.monotonic()
        told = start

        def text(detail: str) -> str:
            room = max(self.console.width - len(name) - 16, 20)
            return f"{name} {time.monotonic() - start:.0f} s: {detail[:room]}"

        if self.console.is_terminal:
            with self.console.status(escape(text("starting"))) as status:
                yield lambda detail: status.update(escape(text(detail)))
            return

        def plain(detail: str) -> None:
            nonlocal told
            if detail and time.monotonic() - told >= 30:
                told = time.monotonic()
                self.say(text(detail))

        yield plain

    @contextmanager
    def runs(self, total: int) -> Iterator["RunProgress"]:
        """Progress over runs."""
        tracker = RunProgress(self, total)
        if not self.console.is_terminal:
            yield tracker
            return
        with self.console.status("") as status:
            tracker.show(status)
            try:
                yield tracker
            finally:
                tracker.hide()


class RunProgress:
    """Counts runs; safe to call from several threads."""

    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.done = 0
        self._lock = threading.Lock()
        self._active: dict[str, float] = {}
        self._status: Status | None = None
        self._ended = threading.Event()
        self._clock: threading.Thread | None = None

    def show(self, status: Status) -> None:
        self._status = status
        self._clock = threading.Thread(target=self._tick, daemon=True)
        self._clock.start()

    def hide(self) -> None:
        self._ended.set()
        if self._clock:
            self._clock.join()

    def started(self, label: str) -> None:
        with self._lock:
            self._active[label] = time.monotonic()

    def finished(self, label: str, message: str) -> None:
        with self._lock:
            self._active.pop(label, None)
            self.done += 1
            number = self.done
        self.progress.say(f"[{number}/{self.total}] {label}: {message}")

    def _tick(self) -> None:
        while not self._ended.wait(0.5):
            with self._lock:
                now = time.monotonic()
                active = [f"{label} {now - start:.0f} s" for label, start in self._active.items()]
                text = f"{self.done}/{self.total} done; running: {'; '.join(active) or '-'}"
            if self._status:
                self._status.update(escape(text[: max(self.progress.console.width - 4, 20)]))
