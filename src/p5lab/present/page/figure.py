# SPDX-License-Identifier: MIT
"""A figure as data: what is drawn, before anything is drawn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from p5lab.host.terminal import for_terminal
from p5lab.present.comparison import CYCLES, TIME
from p5stats import compare

BANDWIDTH = "MB/s"
TITLES = {
    CYCLES: "busy cycles",
    TIME: "time",
    BANDWIDTH: "bandwidth",
    "CPI (busy)": "busy cycles per instruction",
    "read misses/reference": "L1D read misses per data reference",
    "write misses/reference": "L1D write misses per data reference",
    "I-cache misses/instr": "I-cache misses per instruction",
    "kernel share": "share of busy cycles in ring 0",
}
UNITS = {metric.name: metric.unit for metric in compare.metrics(0)}
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
NAMES = ("benchmark", "phase", "series", "claim")  # of COLUMNS
WIDE_RANGE = 32  # of the values of an axis: from there on it is logarithmic


@dataclass(frozen=True)
class Figure:
    """What is drawn, as data.

    form: bars (series down), dots (benchmarks down, series by colour) or curve (`point` across).
    frame: COLUMNS, a row for each mark; a value that is not there is NaN and has a word in `why`.
    Published values are rows of their own, `kind` PUBLISHED, `claim` their source and `why` how
    firmly they are printed: one for each phase for which they hold, or with a `point` and no value.
    axis: what `point` is; is_size: in bytes; log: drawn so.
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
        """The metrics of its marks, in their order; each has a panel."""
        return list(dict.fromkeys(self.frame["metric"]))

    @property
    def series(self) -> list[str]:
        """The names of what is compared, in the order of the marks."""
        modelled = self.frame[self.frame["kind"] == MODELLED]
        return list(dict.fromkeys(modelled["series"]))


def title_of(metric: str) -> str:
    """What a metric is called above its panel."""
    return TITLES.get(metric, metric)


def mark(**given: object) -> dict[str, Any]:
    """A row of COLUMNS, with these columns filled in (their names with `_` for a space)."""
    empty: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    empty |= dict.fromkeys(("point", "value", "lowest seed", "highest seed"), math.nan)
    empty |= {"kind": MODELLED}
    return empty | {name.replace("_", " "): value for name, value in given.items()}


def frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows of COLUMNS. Names may come from a guest or from a user's file."""
    clean = [
        {key: for_terminal(value) if key in NAMES else value for key, value in row.items()}
        for row in rows
    ]
    return pd.DataFrame(clean, columns=list(COLUMNS))
