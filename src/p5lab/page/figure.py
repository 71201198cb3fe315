# SPDX-License-Identifier: MIT
"""A figure as data, before it is drawn."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from p5lab.present.tables import number
from p5lab.terminal import for_terminal
from p5stats import compare, cpi

BANDWIDTH = "MB/s"
TITLES = {metric.name: metric.shown.title or metric.name for metric in compare.metrics(0)}
UNITS = {metric.name: metric.unit for metric in compare.metrics(0)}
TIMES = "times"  # the unit of ratios
MODELLED, PUBLISHED = "modelled", "published"
COLUMNS = (
    "benchmark",
    "phase",
    "point",
    "series",
    "metric",
    "unit",
    "value",
    "lowest seed",
    "highest seed",
    "kind",
    "claim",
    "why",
    "runs",
)
NAMES = ("benchmark", "phase", "series", "claim")  # COLUMNS with texts that may come from a user
PART = "a part of the step above"  # the series of a waterfall's marks below a step
WIDE_RANGE = 32  # an axis is logarithmic from this ratio of the largest to the smallest value
FEW_SIZES = 4  # the same for an axis of sizes


@dataclass(frozen=True)
class Figure:
    """A figure as data.

    `form`: bars (a bar for each series), groups (a group of such bars for each benchmark), ratios
    (a bar from 1 for each benchmark), dots (a line for each benchmark, a colour for each series),
    curve (`point` is on the horizontal axis), areas (the same, with a part for each series; a mark
    lasts until the next point, so the last point only ends the marks before), timeline (a row for
    each benchmark; each mark is a bar of the length `value` that begins at `point`), waterfall (the
    same, with a row for each mark) or stack (a bar for each benchmark, with a part for each
    series). `frame`: a table of COLUMNS with a row for each mark. A missing value is NaN, and `why`
    contains the reason. For a published value, `kind` is PUBLISHED, `claim` contains the source,
    and `why` contains the precision. A published level has a row for each phase to which the level
    applies. A published size has one row with a `point` and no value. `axis`: the name of the
    horizontal axis. `is_size`: whether the axis is in bytes. `log`: whether the axis is
    logarithmic.
    """

    id: str
    title: str
    form: str
    frame: pd.DataFrame
    caption: tuple[str, ...]
    axis: str = ""
    is_size: bool = False
    log: bool = False
    runs: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """The metrics in the order of the marks. Each metric has a panel."""
        return list(dict.fromkeys(self.frame["metric"]))

    @property
    def series(self) -> list[str]:
        """The names of the modelled series, in the order of the marks."""
        modelled = self.frame[self.frame["kind"] == MODELLED]
        return list(dict.fromkeys(modelled["series"]))

    @property
    def colors(self) -> dict[str, int]:
        """The number of the colour of each series. A group of components has the same colour in
        all figures."""
        groups = {name: at for at, name in enumerate(cpi.GROUPS)}
        taken = {groups[name] for name in self.series if name in groups}
        free = (at for at in itertools.count() if at not in taken)
        return {name: groups[name] if name in groups else next(free) for name in self.series}

    def place(self, point: float) -> str:
        """A point of the axis as a text, such as `128 KB`."""
        return size(point) if self.is_size else number(point)


def title_of(metric: str) -> str:
    """Returns the title of a metric's or an event's panel. The name of an event keeps its small
    letters, so it does not begin a title."""
    is_event = re.fullmatch(r"[a-z0-9]+([._][a-z0-9]+)+", metric)
    return f"event {metric}" if is_event else TITLES.get(metric, metric)


def with_unit(metric: str, unit: str) -> str:
    """Returns the title of a panel, with the unit if the title does not contain it."""
    title = title_of(metric)
    return title if unit in ("1", TIMES) or unit.split("/")[0] in title else f"{title} ({unit})"


def size(number: float) -> str:
    """Returns a number of bytes as text, such as `128 KB`."""
    for unit, factor in (("MB", 1 << 20), ("KB", 1 << 10)):
        if number >= factor:
            return f"{number / factor:g} {unit}"
    return f"{number:g} B"


def identifier(text: str) -> str:
    """Returns a text as a part of links and names of files."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def mark(**given: object) -> dict[str, Any]:
    """Returns a row of COLUMNS. `given`: the columns with a value. In the names of the columns, `_`
    replaces a space."""
    empty: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    empty |= dict.fromkeys(("point", "value", "lowest seed", "highest seed"), math.nan)
    empty |= {"kind": MODELLED}
    return empty | {name.replace("_", " "): value for name, value in given.items()}


def of_marks(
    name: str,
    title: str,
    form: str,
    marks: Sequence[dict[str, Any]],
    *caption: str,
    axis: str = "",
    is_size: bool = False,
    log: bool = False,
) -> Figure:
    """Returns a figure with these marks. `name`: becomes its id. Its runs are those of the
    marks."""
    runs = dict.fromkeys(run for row in marks for run in row["runs"].split())
    table, link = frame(marks), identifier(name)
    return Figure(link, title, form, table, caption, axis, is_size, log, tuple(runs))


def of_seeds(
    data: pd.DataFrame, metric: str, unit: str, axis: str = "", *, is_size: bool = False
) -> Figure:
    """Returns a figure of means over seeds: a curve, groups of bars, or dots. `data`: the columns
    benchmark, series, point, value, lowest_seed and highest_seed. `axis`: the name of a curve's
    axis; empty for bars."""
    low, high = data["lowest_seed"].min(), data["highest_seed"].max()
    # A bar has a length only on an axis that begins at zero. Other axes need points.
    as_points = unit == TIMES or (low > 0 and high / low > WIDE_RANGE)
    form = "curve" if axis else "dots" if as_points else "groups"
    first, last = data["point"].min(), data["point"].max()
    log = is_size and first > 0 and last / first >= FEW_SIZES
    marks = [mark(**row, metric=metric, unit=unit) for row in data.to_dict("records")]
    return of_marks("", "", form, marks, axis=axis, is_size=is_size, log=log)


def frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Returns rows as a table of COLUMNS.

    Removes control characters from NAMES, because these texts may come from a guest or a user's
    file.
    """
    clean = [
        {key: for_terminal(value) if key in NAMES else value for key, value in row.items()}
        for row in rows
    ]
    return pd.DataFrame(clean, columns=list(COLUMNS))
