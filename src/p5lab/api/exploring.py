# SPDX-License-Identifier: MIT
"""`p5lab.explore`: a figure of stored runs whose contents the reader chooses."""

from collections.abc import Sequence

import pandas as pd

from p5lab.api import checkout, tables
from p5lab.page import explorer
from p5lab.page.explorer import Explorer


def explore(runs: str | Sequence[str] | pd.DataFrame, *, title: str = "") -> Explorer:
    """A figure of stored runs, with a choice of benchmark, dimension, event, system and kind of
    value (absolute, ratio, difference). Below the figure stands the Python line that makes it.

    runs: the result of `run` or `load`, the name of an experiment, or one or several ids of runs.
    title: of the page. A notebook displays the result; `save("page.html")` writes it as a page for
    a browser, which needs no network. The choice has the dimensions by which the runs have counted
    (docs/concepts/dimensions.md). UserError if a name is wrong, and if no run has counts.
    """
    groups = tables.grouped(checkout.here(), runs)
    return explorer.of(groups, title or explorer.title_of(groups))
