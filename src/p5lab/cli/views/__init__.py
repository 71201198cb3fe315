# SPDX-License-Identifier: MIT
"""The views of `show`: one module for each, with the name of its option.

A module has:

    OPTION           the option with its help text, as p5lab.cli.arguments.add takes it
    GIVEN            optional: the keywords of argparse for an option that does not follow from it
    WITH_BY          optional: True if --by may be given beside the option, and counts
    ALSO             optional: names of other views that may be given beside the option
    TAKES_EVENT      optional: True for a view that shows the counts of --event

and one of these:

    BY               the option is short for --by: the dimensions of each table; optional, with
                     ALL_TABLES, the metrics that --all-tables shows
    show(run, args)  prints the view of one run
    show_all(lab, words, args)  prints the view of all runs that the words name

No other file names a view.
"""

import functools
import importlib
import pkgutil
from types import ModuleType


@functools.cache
def all_views() -> dict[str, ModuleType]:
    """Returns the modules of all views, by the name of their option, in alphabetical order."""
    return {
        module.name: importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    }
