# SPDX-License-Identifier: MIT
"""Figures as Altair charts, with a panel for each metric.

All panels have the same width. A page can place the panels side by side or one below the other. The
letters have the same size in the two layouts.
"""

import json
import math
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from p5lab.page import chart_files
from p5lab.page.figure import (
    MODELLED,
    PART,
    PUBLISHED,
    TIMES,
    WIDE_RANGE,
    Figure,
    identifier,
    title_of,
)
from p5lab.present.figure_size import FigureSize
from p5lab.present.tables import number

WIDTH = 344  # width of a panel in pixels: the narrowest phone minus two margins
PLOT_WIDTH = 240  # width without labels, in an exported figure
CURVE_HEIGHT, BAR_STEP, DOT_STEP, GROUPED_STEP = 230, 24, 19, 15
LABEL_WIDTH, BAR_LABEL_WIDTH = 128, 190
LETTER, LINE_HEIGHT = 6.4, 15  # mean width of a letter and height of a line, in pixels
LABEL_LINES = 2
LEGEND_COLUMNS = 2  # in an exported figure
# These eight colours also differ in lightness. In addition, the series have different shapes. Each
# colour is used for one purpose, so that page.css can replace the colour on a dark page.
SERIES = ("#0b61a4", "#c2410c", "#2f7d32", "#7b3fa0", "#96690a", "#0b7285", "#b8236f", "#5a6472")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
INK, MUTED, GRID = "#1f2329", "#59626e", "#dde2e8"
# These fonts have the widths of Arial, so that texts have the same width on every host.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
# Parts of the configuration of every chart, also of those of `p5lab.plot`.
AXIS: dict[str, Any] = {
    "labelColor": MUTED,
    "titleColor": MUTED,
    "gridColor": GRID,
    "domainColor": MUTED,
    "tickColor": MUTED,
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
}
NAMES: dict[str, Any] = {"title": None, "labelColor": INK, "labelFontSize": 12, "labelLimit": 0}
TITLE: dict[str, Any] = {"color": INK, "anchor": "start", "fontSize": 13}
TEXT: dict[str, Any] = {"color": INK, "fontSize": 12}
TICKS = 5
SMALL_EFFECT = 0.05  # an axis of ratios goes at least this far from 1
SIDE_BY_SIDE = 3  # maximum number of series that are drawn side by side
# Prints large numbers as 20k or 2M, like d3. Prints 0.02 unchanged, but d3 would print 20m.
NUMBER = "format(datum.value, abs(datum.value) < 1000 ? '~g' : '~s')"
BYTES = (
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MB' :"
    " datum.value >= 1024 ? datum.value / 1024 + ' KB' : datum.value + ' B'"
)


@dataclass(frozen=True)
class Panel:
    """The chart of one metric. `description`: a text for screen readers about the values in the
    chart."""

    metric: str
    title: str
    unit: str
    description: str
    chart: alt.LayerChart


def panels(figure: Figure) -> list[Panel]:
    """Returns a panel for each metric of a figure.

    The charts are not checked against Vega-Lite's schema, because the check takes longer than all
    other work. A test makes this check.
    """
    with alt.utils.schemapi.debug_mode(False):
        return _panels(figure)


def _panels(figure: Figure) -> list[Panel]:
    draw = {
        "bars": _bars,
        "ratios": _ratios,
        "dots": _dots,
        "curve": _curve,
        "areas": _areas,
        "timeline": _timeline,
        "stack": _stack,
        "waterfall": _waterfall,
    }[figure.form]
    result = []
    for metric in figure.metrics:
        rows = figure.frame[figure.frame["metric"] == metric]
        unit = str(rows["unit"].iloc[0])
        result.append(
            Panel(metric, title_of(metric), unit, _description(figure, rows), draw(figure, rows))
        )
    return result


def single(panel: Panel) -> dict[str, Any]:
    """Returns a panel as Vega-Lite. The chart has no title and no legend, because the page itself
    shows them."""
    with _settings():
        chart = panel.chart.properties(
            width=WIDTH, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
        )
        return chart.configure(**_config(legend=False)).to_dict(validate=False)


def whole(figure: Figure, size: FigureSize | None = None) -> dict[str, dict[str, Any]]:
    """Returns a whole figure as Vega-Lite, with title, legend and the names of the metrics, under
    the name "". With a size for a paper, a chart for each metric, without a title: its axis has the
    name of the metric. If there are several, their names are "-" and the metric."""
    with _settings():
        if size is not None:
            drawn = panels(figure)
            names = [f"-{identifier(one.metric)}" if len(drawn) > 1 else "" for one in drawn]
            return {
                name: _sized(figure, panel, size) for name, panel in zip(names, drawn, strict=True)
            }
        named = [
            panel.chart.properties(title=f"{panel.title} ({panel.unit})", width=PLOT_WIDTH)
            for panel in panels(figure)
        ]
        rows = [alt.hconcat(*named[i : i + 3]) for i in range(0, len(named), 3)]
        chart = alt.vconcat(*rows, title=figure.title).configure(**_config(legend=True))
        return {"": chart.to_dict(validate=False)}


def _sized(figure: Figure, panel: Panel, size: FigureSize) -> dict[str, Any]:
    """A panel for a paper. The values' axis of a curve stands on the left side."""
    side: Literal["left", "bottom"] = "left" if figure.form in ("curve", "areas") else "bottom"
    unit = "" if panel.unit in panel.title else f" ({panel.unit})"
    title = alt.TitleParams(
        f"{panel.title}{unit}", orient=side, anchor="middle", fontWeight="normal", color=MUTED
    )
    chart = chart_files.fit(panel.chart.properties(title=title), size).configure(
        **_config(legend=True)
    )
    return chart.to_dict(validate=False)


@contextmanager
def _settings() -> Iterator[None]:
    """Charts of pages do not depend on the theme of the process, which `p5lab.style` and other
    programs change. Altair does not check the charts, because the check is slow."""
    with alt.utils.schemapi.debug_mode(False), alt.theme.enable("default"):
        yield


def _config(*, legend: bool) -> dict[str, Any]:
    """Returns the configuration that all charts share."""
    return {
        "font": FONT,
        "background": "white" if legend else "transparent",
        # Letters may be wider than LETTER in a browser, so the text gets some space at the edges.
        "padding": {"left": 10, "top": 2, "right": 4, "bottom": 2},
        "view": {"stroke": None},
        "axis": {**AXIS, "labelLimit": LABEL_WIDTH},
        "legend": {**NAMES, "disable": not legend, "orient": "bottom", "columns": LEGEND_COLUMNS},
        "title": {**TITLE},
        "text": {**TEXT},
    }


def _bars(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows)
    labels = _Labels(data, BAR_LABEL_WIDTH, "benchmark" if figure.is_grouped else "series")
    y = labels.y(scale=alt.Scale(paddingInner=0.25) if figure.is_grouped else alt.Undefined)
    x = _across("value", min(0.0, data["value"].min()), _top(data, labels))
    base = _chart(data).encode(y=y, description="text:N")
    beside = figure.is_grouped and len(figure.series) > 1
    if beside:
        base = base.encode(yOffset=alt.YOffset("series:N", sort=figure.series))
    color = _color(figure) if len(figure.series) <= len(SERIES) else alt.value(SERIES[0])
    bars = base.mark_bar() if beside else base.mark_bar(height=14)
    layers = [bars.encode(x=x, color=color)]
    if _spreads(data):
        layers.append(_spread(data).encode(y=y, x="lowest seed:Q", x2="highest seed:Q"))
    step = max(BAR_STEP, GROUPED_STEP * len(figure.series) + 6 if beside else 0)
    return labels.layer([*layers, _numbers(base)], step)


def _ratios(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows)
    labels = _Labels(data, LABEL_WIDTH)
    low, high = min(1.0, data["value"].min()), max(1.0, data["value"].max())
    log = low > 0 and high / low > WIDE_RANGE
    data = data.assign(end=data["value"].clip(lower=1.0))
    begin = _power_below(low) if log else 0.0
    x = _across("point", begin, _end(high, begin, _part(data, labels)), log=log)
    base = _chart(data).encode(y=labels.y(), description="text:N")
    layers = [
        base.mark_bar(height=14).encode(x=x, x2="value:Q", color=_color(figure)),
        _numbers(base),
        _chart(data.head(1)).mark_rule(color=INK).encode(x="point:Q"),
    ]
    return labels.layer(layers)


def _dots(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows)
    values = data["value"].dropna()
    positive = values[values > 0]
    log = len(positive) > 1 and positive.max() / positive.min() > WIDE_RANGE
    if log:
        data = data[~(data["value"] <= 0)]
    labels = _Labels(data, LABEL_WIDTH)
    # If a panel has many published values, there is no space for numbers.
    has_numbers = len(figure.series) == 1 and (data["kind"] == PUBLISHED).sum() <= len(data) / 2
    low = _power_below(positive.min()) if log else 0.0
    top = _end(values.max(), low, _part(data, labels) if has_numbers else 0.25)
    ticks = _thinned(_powers(10, low, top)) if log else None
    x = _across("value", low, top, log=log, ticks=ticks)
    # If there are at most SIDE_BY_SIDE series, each series has its own row of marks. In a shared
    # row, marks with equal values would cover each other.
    beside = 1 < len(figure.series) <= SIDE_BY_SIDE
    y = labels.y(grid=True, scale=alt.Scale(paddingInner=0.5) if beside else alt.Undefined)
    base = _chart(data).encode(y=y, description="text:N")
    modelled = alt.datum.kind == MODELLED
    dots = base.transform_filter(modelled).mark_point(filled=True, size=60, opacity=1)
    dots = dots.encode(x=x, color=_color(figure), shape=_shape(figure))
    if beside:
        dots = dots.encode(yOffset=alt.YOffset("series:N", sort=figure.series))
    layers = [dots]
    if _spreads(data):
        layers.append(_spread(data).encode(y=y, x="lowest seed:Q", x2="highest seed:Q"))
    if (data["kind"] == PUBLISHED).any():
        layers.append(
            base.transform_filter(alt.datum.kind == PUBLISHED)
            .mark_point(shape="diamond", size=130, color=INK, strokeWidth=1.5)
            .encode(x=x)
        )
    if has_numbers:
        layers.append(
            base.transform_filter(modelled)
            .mark_text(align="left", dx=7, color=INK)
            .encode(x=x, text="label:N")
        )
    return labels.layer(layers, BAR_STEP if beside else DOT_STEP)


def _curve(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows)
    data = data[(data["kind"] == PUBLISHED) | data["value"].notna()]
    first, last = data["point"].min(), data["point"].max()
    axis = alt.Axis(
        grid=False,
        tickCount=TICKS,
        labelExpr=BYTES if figure.is_size else NUMBER,
        values=_thinned(_powers(2, first, last)) if figure.log else alt.Undefined,
    )
    x = alt.X(
        "point:Q",
        title=figure.axis,
        axis=axis,
        scale=alt.Scale(type="log", base=2, nice=False)
        if figure.log
        else alt.Scale(zero=False, nice=True),
    )
    scale = _of_ratios() if rows["unit"].iloc[0] == TIMES else alt.Scale(zero=True)
    y = alt.Y("value:Q", title=None, axis=_few_ticks(), scale=scale)
    base = _chart(data).encode(x=x, description="text:N", detail="series:N")
    modelled = base.transform_filter(alt.datum.kind == MODELLED)
    color = _color(figure)
    layers = [
        modelled.mark_line(strokeWidth=1.8).encode(y=y, color=color),
        modelled.mark_point(filled=True, size=26, opacity=1).encode(
            y=y, color=color, shape=_shape(figure)
        ),
    ]
    if _spreads(data):
        layers.append(_spread(data).encode(x=x, y="lowest seed:Q", y2="highest seed:Q"))
    published = data[data["kind"] == PUBLISHED]
    levels = published[published["value"].notna()].groupby(["claim", "series"], sort=False)
    if levels.ngroups:
        ends = pd.concat([levels.head(1), levels.tail(1)]).drop_duplicates()
        level = _chart(ends).encode(x=x, description="text:N", detail=["claim:N", "series:N"])
        layers.append(level.mark_line(strokeDash=[4, 3]).encode(y=y, color=color))
        layers.append(
            level.mark_point(shape="diamond", size=80, strokeWidth=1.5).encode(y=y, color=color)
        )
    if published["value"].isna().any():
        edges = _chart(published[published["value"].isna()])
        layers.append(
            edges.mark_rule(strokeDash=[2, 3], color=INK).encode(x=x, description="text:N")
        )
    return alt.LayerChart(layer=layers, height=CURVE_HEIGHT)


def _of_ratios() -> alt.Scale:
    """Returns the scale of an axis of ratios. Zero is no reference value there, and small effects
    would be invisible. But the axis has at least SMALL_EFFECT on both sides of 1, so that no effect
    looks much larger than it is."""
    least = [1 - SMALL_EFFECT, 1 + SMALL_EFFECT]
    return alt.Scale(zero=False, domain=alt.DomainUnionWith(unionWith=least))


def _areas(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows).dropna(subset="value")
    axis = alt.Axis(grid=False, tickCount=TICKS, labelExpr=NUMBER)
    scale = alt.Scale(domain=[data["point"].min(), data["point"].max()], nice=False)
    x = alt.X("point:Q", title=figure.axis, axis=axis, scale=scale)
    top = alt.Scale(domain=[0, 100]) if rows["unit"].iloc[0] == "%" else alt.Undefined
    y = alt.Y("value:Q", title=None, axis=_few_ticks(), scale=top, stack="zero")
    places = {series: place for place, series in enumerate(figure.series)}
    data = data.assign(place=data["series"].map(places))
    areas = _chart(data).mark_area(interpolate="step-after")
    areas = areas.encode(x=x, y=y, color=_color(figure), order=alt.Order("place:Q"))
    return alt.LayerChart(layer=[areas], height=CURVE_HEIGHT)


def _timeline(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows).assign(end=rows["point"] + rows["value"])
    labels = _Labels(data, LABEL_WIDTH)
    x = _across("point", 0, data["end"].max())
    bars = _chart(data).mark_bar(height=14).encode(y=labels.y(grid=True), x=x, x2="end:Q")
    return labels.layer([bars.encode(description="text:N", color=_color(figure))])


def _stack(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows)
    after = data.groupby("benchmark", sort=False)["value"].cumsum()
    data = data.assign(begin=after - data["value"], end=after)
    totals = data.drop_duplicates("benchmark", keep="last")
    totals = totals.assign(label=[number(value) for value in totals["end"]])
    labels = _Labels(data, LABEL_WIDTH)
    end = _end(data["end"].max(), 0.0, _part(totals, labels))
    x = _across("begin", min(0.0, data["begin"].min()), end)
    bars = _chart(data).mark_bar(height=16).encode(y=labels.y(), x=x, x2="end:Q")
    bars = bars.encode(description="text:N", color=_color(figure))
    return labels.layer([bars, _numbers(_chart(totals).encode(y=labels.y()))])


def _waterfall(figure: Figure, rows: pd.DataFrame) -> alt.LayerChart:
    data = _shown(rows).assign(end=rows["point"] + rows["value"])
    # The end of the range of each step. A step without a range ends at its value.
    low = rows["point"] + rows["lowest seed"].fillna(rows["value"])
    high = rows["point"] + rows["highest seed"].fillna(rows["value"])
    right = pd.concat([rows["point"], data["end"], high], axis="columns").max(axis="columns")
    data = data.assign(low=low, high=high, right=right)
    below = rows[rows["series"] == PART]["benchmark"]  # a part has its place below its component
    shown = {name: f"· {name.partition(': ')[2]}" for name in below}
    labels = _Labels(data, BAR_LABEL_WIDTH, shown=shown)
    least = min(0.0, low.min(), data["end"].min())
    x = _across("point", least, _end(right.max(), 0.0, _part(data, labels)))
    base = _chart(data).encode(y=labels.y(), description="text:N")
    layers = [base.mark_bar(height=14).encode(x=x, x2="end:Q", color=_color(figure))]
    if (low < high).any():
        layers.append(_spread(data).encode(y=labels.y(), x="low:Q", x2="high:Q"))
    return labels.layer([*layers, _numbers(base, "right")])


def _across(
    field: str, low: float, high: float, *, log: bool = False, ticks: list[float] | None = None
) -> alt.X:
    """The horizontal axis of bars and dots, from `low` to `high`."""
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False)
    return alt.X(f"{field}:Q", title=None, axis=_few_ticks(ticks), scale=scale)


def _numbers(base: alt.Chart, field: str = "end") -> alt.Chart:
    """The numbers behind the marks."""
    return base.mark_text(align="left", dx=4, color=INK).encode(x=f"{field}:Q", text="label:N")


class _Labels:
    """The names beside an axis. A long name continues on a second line."""

    def __init__(
        self,
        data: pd.DataFrame,
        limit: int,
        column: str = "benchmark",
        shown: Mapping[str, str] | None = None,
    ) -> None:
        """`limit`: the maximum length of a line in pixels. `column`: of the names. `shown`: other
        texts of names."""
        self._limit, self._column, self._shown = limit, column, shown or {}
        self._lines = {
            name: _wrapped(self._shown.get(name, name), round(limit / LETTER))
            for name in data[column].unique()
        }

    def y(self, scale: Any = alt.Undefined, **axis: Any) -> alt.Y:  # noqa: ANN401
        """The axis with the names. `axis`: further arguments for alt.Axis."""
        axis["labelLimit"] = self._limit
        if self._height or self._shown:
            axis["labelExpr"] = f"({json.dumps(self._lines)})[datum.label]"
        own = alt.Axis(**axis)
        return alt.Y(f"{self._column}:N", sort=None, title=None, axis=own, scale=scale)

    def layer(self, layers: list[alt.Chart], step: int = BAR_STEP) -> alt.LayerChart:
        """A chart with a row for each name. `step`: the smallest height of a row in pixels."""
        return alt.LayerChart(layer=layers, height=len(self._lines) * max(step, self._height))

    @property
    def width(self) -> float:
        """The width of the longest line in pixels."""
        longest = max(len(line) for lines in self._lines.values() for line in lines)
        return min(self._limit, LETTER * longest)

    @property
    def _height(self) -> int:
        """The height of the tallest name in pixels, or 0 if all names have one line."""
        most = max(map(len, self._lines.values()))
        return LINE_HEIGHT * most + 4 if most > 1 else 0


def _wrapped(name: str, letters: int) -> list[str]:
    """Returns the lines of a name, at most LABEL_LINES. If the last line is too long, the renderer
    shortens it."""
    lines = textwrap.wrap(name, letters, break_long_words=False, break_on_hyphens=False) or [name]
    if len(lines) > LABEL_LINES:
        lines[LABEL_LINES - 1 :] = [" ".join(lines[LABEL_LINES - 1 :])]
    return lines


def _top(data: pd.DataFrame, labels: _Labels) -> float:
    """Returns the highest value on the axis of a bar chart. The axis has space for the number after
    each bar."""
    plot = WIDTH - labels.width - 20
    ends = [
        row["end"] / (1 - min(0.6, (LETTER * len(row["label"]) + 8) / plot))
        for _, row in data.iterrows()
    ]
    return max(*ends, data[["value", "highest seed"]].max(axis=None))


def _part(data: pd.DataFrame, labels: _Labels) -> float:
    """Returns the part of a horizontal axis that the longest number after a mark needs."""
    plot = WIDTH - labels.width - 20
    return float(min(0.6, (LETTER * data["label"].str.len().max() + 12) / plot))


def _end(highest: float, low: float, part: float) -> float:
    """Returns the end of an axis from `low`, so that `part` of the axis lies beyond the highest
    value. The axis is logarithmic if `low` is not 0."""
    if low:
        return float(highest * (highest / low) ** (part / (1 - part)))
    return float(highest / (1 - part)) if highest > 0 else 1.0


def _chart(data: pd.DataFrame) -> alt.Chart:
    """Returns a chart of rows. All encodings contain their type, so Altair does not have to infer
    types."""
    rows = data.astype(object).where(data.notna(), None).to_dict("records")
    return alt.Chart(alt.InlineData(values=rows))


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows to draw. Each row has a short label and a full text."""
    data = rows.assign(
        end=rows["highest seed"].fillna(rows["value"]).fillna(0),
        label=[
            row["why"] if math.isnan(row["value"]) else number(row["value"])
            for _, row in rows.iterrows()
        ],
    )
    return data.assign(text=[_text(row) for _, row in data.iterrows()])


def _text(row: pd.Series) -> str:
    """Returns a text about a mark."""
    where = dict.fromkeys(part for part in (row["benchmark"], row["phase"], row["series"]) if part)
    what = row["why"] if math.isnan(row["value"]) else f"{number(row['value'])} {row['unit']}"
    if row["kind"] == PUBLISHED:
        return f"published: {row['claim']}, {row['why']} {what}"
    if row["why"] and not math.isnan(row["value"]):
        # A step of a timeline, or the largest component of a ratio.
        what += f", mostly {row['why']}" if row["unit"] == TIMES else f", until {row['why']}"
    if row["lowest seed"] < row["highest seed"]:
        what += f" ({number(row['lowest seed'])} to {number(row['highest seed'])})"
    return f"{', '.join(where)}: {what}"


def _description(figure: Figure, rows: pd.DataFrame) -> str:
    """Returns a text that describes a panel. For bars and dots, the text contains all values. For
    each curve, the text contains the first, last, lowest and highest value."""
    modelled = rows[rows["kind"] == MODELLED]
    parts = []
    if figure.form in ("curve", "areas"):
        for series, curve in modelled.dropna(subset="value").groupby("series", sort=False):
            first, last = curve["value"].iloc[0], curve["value"].iloc[-1]
            parts.append(
                f"{series} begins at {number(first)} and ends at {number(last)}, lowest value"
                f" {number(curve['value'].min())}, highest value"
                f" {number(curve['value'].max())}"
            )
    else:
        parts = [_text(row) for _, row in modelled.head(40).iterrows()]
        if len(modelled) > 40:
            parts.append(f"and {len(modelled) - 40} more in the table")
    metric = rows["metric"].iloc[0]
    shapes = {
        "bars": "Bars",
        "dots": "Dots",
        "ratios": "Bars from 1",
        "areas": f"Parts over {figure.axis}",
        "timeline": "Steps from left to right",
        "stack": "Bars with parts",
        "waterfall": "Steps from the first to the last bar",
    }
    shape = shapes.get(figure.form, f"Curves over {figure.axis}")
    return f"{shape}, {title_of(metric)} in {rows['unit'].iloc[0]}: {'; '.join(parts)}."


def _spread(data: pd.DataFrame) -> alt.Chart:
    return _chart(data).mark_rule(color=INK, strokeWidth=1.5)


def _spreads(data: pd.DataFrame) -> bool:
    """Returns whether at least one mark has different values for different seeds."""
    return bool((data["lowest seed"] < data["highest seed"]).any())


def _color(figure: Figure) -> alt.Color:
    colors = [SERIES[number % len(SERIES)] for number in figure.colors.values()]
    return alt.Color("series:N", scale=alt.Scale(domain=figure.series, range=colors), title=None)


def _shape(figure: Figure) -> alt.Shape:
    shapes = [SHAPES[number % len(SHAPES)] for number in range(len(figure.series))]
    return alt.Shape("series:N", scale=alt.Scale(domain=figure.series, range=shapes), title=None)


def _few_ticks(values: list[float] | None = None) -> alt.Axis:
    return alt.Axis(
        tickCount=4, values=values or alt.Undefined, labelExpr=NUMBER, labelSeparation=6
    )


def _thinned(steps: list[float]) -> list[float]:
    """Returns at most TICKS of the steps, so that there is space for the labels."""
    return steps[:: math.ceil(len(steps) / TICKS)]


def _powers(base: int, low: float, high: float) -> list[float]:
    """Returns the powers of `base` from `low` to `high`."""
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    return [float(base) ** power for power in range(first, last + 1)]


def _power_below(value: float) -> float:
    return 10.0 ** math.floor(math.log10(value))
