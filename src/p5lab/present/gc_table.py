# SPDX-License-Identifier: MIT
"""Prints the results and cached files that `./p5lab gc` can remove."""

from collections.abc import Sequence

from rich.console import Console

from p5lab.keep.gc import Item, human
from p5lab.present.tables import Grid
from p5lab.terminal import for_terminal


def show(console: Console, items: Sequence[Item], *, each: bool) -> None:
    """Prints a line for each kind of item, or with `each` a line for each item."""
    grid = Grid("", ["what", "size"] if each else ["what", "number", "size"])
    for why in dict.fromkeys(item.why for item in items):
        kind = [item for item in items if item.why == why]
        for item in kind if each else ():
            grid.add(f"{why}: {for_terminal(item.what)[:80]}", human(item.bytes))
        if not each:
            grid.add(why, str(len(kind)), human(sum(item.bytes for item in kind)))
    if items:
        grid.print(console)
