# SPDX-License-Identifier: MIT
"""Texts about the marks of figures, for screen readers and for the pointer."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from p5lab.page.figure import MODELLED, PUBLISHED, TIMES, Figure, title_of
from p5lab.present.tables import number

SHAPES = {
    "bars": "Bars",
    "groups": "Bars",
    "dots": "Dots",
    "ratios": "Bars from 1",
    "areas": "Parts over {}",
    "curve": "Curves over {}",
    "timeline": "Steps from left to right",
    "stack": "Bars with parts",
    "waterfall": "Steps from the first to the last bar",
}
MOST = 40  # marks in the text about a panel


def value(row: Mapping[str, Any]) -> str:
    """The number of a mark, or the reason why it has none. `row`: of figure.COLUMNS."""
    return str(row["why"]) if math.isnan(row["value"]) else number(row["value"])


def spread(row: Mapping[str, Any]) -> str:
    """The range of a mark over the seeds; empty without one. `row`: of figure.COLUMNS."""
    low, high = row["lowest seed"], row["highest seed"]
    return f" ({number(low)} to {number(high)})" if low < high else ""


def mark(figure: Figure, row: Mapping[str, Any]) -> str:
    """A text about a mark. `row`: of figure.COLUMNS."""
    is_known = not math.isnan(row["value"])
    what = f"{value(row)} {row['unit']}".strip() if is_known else row["why"]
    if row["kind"] == PUBLISHED:
        return f"published: {row['claim']}, {row['why']} {what}"
    if row["why"] and is_known:
        # A step of a timeline, or the largest component of a ratio.
        what += f", mostly {row['why']}" if row["unit"] == TIMES else f", until {row['why']}"
    at = f"{figure.axis} {figure.place(row['point'])}" if figure.form == "curve" else row["phase"]
    where = dict.fromkeys(part for part in (row["benchmark"], at, row["series"]) if part)
    return f"{', '.join(where)}: {what}{spread(row)}"


def panel(figure: Figure, rows: pd.DataFrame) -> str:
    """A text about the panel of one metric. For bars and dots, the text contains all values. For
    each curve, the text contains the first, last, lowest and highest value. `rows`: those of
    `figure.frame`."""
    modelled = rows[rows["kind"] == MODELLED]
    if figure.form in ("curve", "areas"):
        parts = [
            f"{series} begins at {number(own.iloc[0])} and ends at {number(own.iloc[-1])}, lowest"
            f" value {number(own.min())}, highest value {number(own.max())}"
            for series, own in modelled.dropna(subset="value").groupby("series", sort=False)[
                "value"
            ]
        ]
    else:
        parts = [mark(figure, row) for row in modelled.head(MOST).to_dict("records")]
        if len(modelled) > MOST:
            parts.append(f"and {len(modelled) - MOST} more in the table")
    what = f"{title_of(rows['metric'].iloc[0])} in {rows['unit'].iloc[0]}"
    return f"{SHAPES[figure.form].format(figure.axis)}, {what}: {'; '.join(parts)}."
