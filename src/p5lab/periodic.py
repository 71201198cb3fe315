# SPDX-License-Identifier: MIT
"""Repeats an action while other work runs.

This module uses only the standard library, because p5lab.packages uses it before any package is
installed.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LIVE_SECONDS = 0.5  # on a terminal or in a notebook: the time between two changes of a line
PLAIN_SECONDS = 30  # without a terminal: the time between two lines about one step


@contextmanager
def every(seconds: float, action: Callable[[], object]) -> Iterator[None]:
    """Calls `action` in another thread while the block runs, each time after a pause of `seconds`.
    After the block, no call of `action` runs or begins."""
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
