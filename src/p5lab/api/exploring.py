# SPDX-License-Identifier: MIT
"""`p5lab.explore` and `p5lab.profile`: pages about stored runs in a notebook, in which the reader
chooses what is shown."""

from collections.abc import Sequence

import pandas as pd

from p5lab.api import checkout, tables
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.page import explorer, flame
from p5lab.page.explorer import Explorer
from p5lab.page.flame import Profile
from p5lab.present import breakdown


def explore(runs: str | Sequence[str] | pd.DataFrame, *, title: str = "") -> Explorer:
    """A figure of stored runs, with a choice of benchmark, dimension, event, system and kind of
    value (absolute, ratio, difference). Below the figure stands the Python line that makes it.

    runs: the result of `run` or `load`, the name of an experiment, or one or several ids of runs.
    title: of the page. A notebook displays the result; `save("page.html")` writes it as a page for
    a browser, which needs no network. The choice has the dimensions by which the runs have counted
    (docs/concepts/dimensions.md). UserError if a name is wrong, and if no run has counts.
    """
    groups = tables.grouped(checkout.here(), runs, "explore")
    return explorer.of(groups, title or explorer.title_of(groups))


def profile(runs: str | Sequence[str] | pd.DataFrame) -> Profile:
    """The flame graph of a stored run, or of the difference of two, with a choice of phase and
    event: functions below their callers, as `./p5lab profile` writes it.

    runs: as `explore` takes them, one run or two with counts by function or caller (`run(...,
    by="caller")`). A notebook displays the result; `save("page.html")` writes it as a page for a
    browser, which needs no network. UserError for another number of runs, and for runs without such
    counts.
    """
    stored = [same[0] for same in tables.grouped(checkout.here(), runs, "profile")]
    if len(stored) not in (1, 2):
        raise UserError(
            f"profile: expected one run, or two for their difference; found {len(stored)}"
        )
    return flame.of(breakdown.side_by_side(selection.as_versions(stored)))
