# SPDX-License-Identifier: MIT
"""p5lab: describe a Pentium PC once, boot guests on it, compare what the hardware counted.

The functions of this module are for scripts and notebooks (docs/start/python.md):

    import p5lab

    table = p5lab.run("smoke", workload="exec-static", sweep={"l2.size": ["128K", "256K", "512K"]})
    p5lab.plot(table, "L2 misses")

run        make the runs of an experiment or of a program, and return their counts
load       read stored counts
sample     a stored sample of the notebooks
output     the text that the program of a run printed
screen     the screen at the end of a boot from media
measure    counts as numbers for one operation: cycles, microseconds, misses
compare    each number beside a reference, with their ratio
by         counts divided by ring, function, call and other dimensions
explain    why one system needs more cycles than another
explore    a figure with a choice of benchmark, dimension, event, system and kind of value
profile    the flame graph of a run, or of the difference of two
stack      what the processor spends the clocks of one operation on (CPI stack)
intervals  the counts of each interval of a run, over time
whatif     what would make a program faster: parts and machine keys with their gain
annotate   the clocks, pipe and stalls of each instruction of a program
cycles     the clocks of a few instructions, without an operating system
plot       one number as a figure
style      the format of the figures, for your own Altair charts
"""

import importlib
from typing import TYPE_CHECKING

from p5lab.version import __version__ as __version__

if TYPE_CHECKING:
    from p5lab.api.exploring import explore as explore
    from p5lab.api.exploring import profile as profile
    from p5lab.api.figures import plot as plot
    from p5lab.api.figures import style as style
    from p5lab.api.fragments import cycles as cycles
    from p5lab.api.programs import annotate as annotate
    from p5lab.api.programs import whatif as whatif
    from p5lab.api.runs import run as run
    from p5lab.api.samples import sample as sample
    from p5lab.api.tables import by as by
    from p5lab.api.tables import compare as compare
    from p5lab.api.tables import explain as explain
    from p5lab.api.tables import intervals as intervals
    from p5lab.api.tables import load as load
    from p5lab.api.tables import measure as measure
    from p5lab.api.tables import output as output
    from p5lab.api.tables import screen as screen
    from p5lab.api.tables import stack as stack
    from p5lab.errors import UserError as UserError

# The functions of each module. A module is imported when one of its functions is first used. So
# `import p5lab` does not load pandas, and a script without figures needs no Altair.
_MODULES = {
    "p5lab.errors": ("UserError",),
    "p5lab.api.exploring": ("explore", "profile"),
    "p5lab.api.figures": ("plot", "style"),
    "p5lab.api.fragments": ("cycles",),
    "p5lab.api.programs": ("annotate", "whatif"),
    "p5lab.api.runs": ("run",),
    "p5lab.api.samples": ("sample",),
    "p5lab.api.tables": (
        *("by", "compare", "explain", "intervals", "load", "measure", "output", "screen", "stack"),
    ),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_PLACES)  # mypy sees the imports above
# The group of Python packages that a module needs.
_PACKAGES = {"p5lab.api.exploring": "report", "p5lab.api.figures": "report"}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'p5lab' has no attribute {name!r}")
    place = _PLACES[name]
    if place in _PACKAGES:
        from p5lab import packages  # imported here, so that `import p5lab` stays quick

        packages.ensure(_PACKAGES[place])
    member = getattr(importlib.import_module(place), name)
    if isinstance(member, type):
        return member
    return importlib.import_module("p5lab.api.arguments").public(member)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING", "importlib"})
