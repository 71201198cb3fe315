# SPDX-License-Identifier: MIT
"""The figures of a page about the inside of runs: one module for each kind.

A module has:

    PLACE     the place of its figures among those of the other modules
    has(run)  whether a run has what the figures show
    of(runs)  the figures of one or more such runs

No other file names a module.
"""

import importlib
import pkgutil
from collections.abc import Sequence

from p5lab.keep.store import Stored
from p5lab.page.figure import Figure

_MODULES = sorted(
    (importlib.import_module(f"{__name__}.{kind.name}") for kind in pkgutil.iter_modules(__path__)),
    key=lambda module: int(module.PLACE),
)


def of(kinds: Sequence[Sequence[Stored]]) -> tuple[list[Figure], list[Stored]]:
    """Returns all figures, and their runs. `kinds`: runs of the same inputs, of which the first
    that has what a figure needs is shown."""
    figures, shown = [], []
    for module in _MODULES:
        runs = [run for same in kinds if (run := next(filter(module.has, same), None))]
        if runs:
            figures += module.of(runs)
            shown += runs
    return figures, shown
