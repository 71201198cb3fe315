# SPDX-License-Identifier: MIT
"""Draws the marks of figures with Altair, for pages and for `p5lab.plot`: rows of bars or points,
curves and areas."""

import itertools
import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from p5lab.page import described
from p5lab.page.chart_files import Chart
from p5lab.page.figure import MODELLED, PART, PUBLISHED, TIMES, WIDE_RANGE, Figure
from p5lab.page.theme import (
    BYTES,
    DASHES,
    HEIGHT,
    INK,
    LETTER,
    LINE_HEIGHT,
    MUTED,
    PARTS,
    SERIES,
    SHAPES,
    TICKS,
)
from p5lab.present.tables import number

PAGE = 344  # pixels of a panel of a page: the narrowest phone minus two margins
NAMES, LONG_NAMES = 128, 190  # pixels of the names in a panel of a page
SHARE, WIDEST = 2 / 3, 260  # of another chart: the names' part of `across`, and their pixels
LABEL_LINES = 2
BAR_STEP, DOT_STEP, BESIDE_STEP = 24, 19, 16  # pixels of a row, and of a mark beside others
FEW_SERIES, FEW_MARKS = 3, 40  # of points that stand beside each other
SIZES = 12  # ticks of a logarithmic axis of points
SAMPLE = 26  # pixels of a line in a legend
GAP = 7  # pixels between a mark and its number
SMALL_EFFECT = 0.05  # an axis of ratios goes at least this far from 1
WIDE_RATIOS = 10  # an axis of ratios is logarithmic from this ratio of the largest to the smallest
LEVEL, EDGE = [4, 3], [2, 3]  # pixels of line and gap
COLUMNS = {"benchmark": "row", "lowest seed": "lowest", "highest seed": "highest"}
KEPT = ["row", "series", "point", "value", "lowest", "highest", "kind", "claim", "label", "text"]
# Channels are objects. Altair would look for the class of a text in its whole schema, for 1.6 ms.
# Layers without data have the data of their chart. Altair would copy and hash data of their own.
TEXT: Any = {"description": alt.Description("text:N"), "tooltip": alt.Tooltip("text:N")}
HOLLOW: Any = {"filled": False, "strokeWidth": 1.5}


def drawn(
    figure: Figure, rows: pd.DataFrame, title: str = "", across: float | None = None
) -> Chart:
    """Draws the marks of one metric. The chart has no width.

    `rows`: those of `figure.frame`. Their columns have short names in the data of the chart: row,
    series, point, value, lowest and highest (of the seeds). `title`: of the values' axis; without
    it, the metric is named elsewhere. `across`: the width of the values' axis of bars in pixels;
    None for a panel of a page, which has the width PAGE with the names.
    """
    records = rows.to_dict("records")
    label = [described.value(row) for row in records]
    text = [described.mark(figure, row) for row in records]
    data = rows.rename(columns=COLUMNS).assign(label=label, text=text)[KEPT]
    drawing = _Drawing(figure, data, title, across, rows["unit"].iloc[0] == TIMES)
    chart: Chart = getattr(drawing, figure.form)()
    return chart


@dataclass(frozen=True)
class _Drawing:
    """A chart. Its public methods draw the forms of a figure."""

    figure: Figure
    data: pd.DataFrame
    title: str
    across: float | None
    is_ratio: bool

    def bars(self) -> Chart:
        return self._bars(self.data.assign(row=self.data["series"], begin=0.0), long=True)

    def groups(self) -> Chart:
        beside = len(self.figure.series) > 1
        return self._bars(self.data.assign(begin=0.0), beside=beside, long=True)

    def timeline(self) -> Chart:
        return self._bars(self.data.assign(begin=self.data["point"]), numbers=False)

    def waterfall(self) -> Chart:
        parts = self.data["row"][self.data["series"] == PART]  # they stand below their component
        shown = {name: f"· {name.partition(': ')[2]}" for name in parts}
        return self._bars(self.data.assign(begin=self.data["point"]), shown=shown, long=True)

    def stack(self) -> Chart:
        by_row = self.data.groupby("row", sort=False)["value"]
        label = by_row.transform("sum").map(number).mask(self.data.duplicated("row", "last"), "")
        return self._bars(self.data.assign(begin=by_row.cumsum() - self.data["value"], label=label))

    def ratios(self) -> Chart:
        data = self.data.assign(begin=1.0, end=self.data["value"])
        return self._rows(data, log=_is_wide([1.0, *data["value"]], WIDE_RANGE), line=INK)

    def dots(self) -> Chart:
        data, series = self.data, self.figure.series
        # A logarithmic axis has no zero, so it leaves out values of zero, but no ratio of zero.
        kept = data if self.is_ratio else data[~(data["value"] <= 0)]
        log = _is_wide(kept["value"], WIDE_RATIOS if self.is_ratio else WIDE_RANGE)
        if log:
            data = kept.assign(lowest=kept["lowest"].where(kept["lowest"] > 0))
        # In a shared row, marks with equal values cover each other, and numbers have no space.
        few = len(series) <= FEW_SERIES or len(data) <= FEW_MARKS
        numbers = few and (data["kind"] == PUBLISHED).sum() <= len(data) / 2
        data = data.assign(begin=data["value"], end=data["value"])
        beside, line = few and len(series) > 1, MUTED if self.is_ratio else ""
        return self._rows(data, points=True, log=log, beside=beside, numbers=numbers, line=line)

    def _bars(self, data: pd.DataFrame, **how: Any) -> Chart:  # noqa: ANN401
        """Bars of the length `value`, with ranges, from `begin`."""
        ends = {name: data["begin"] + data[name] for name in ("lowest", "highest")}
        return self._rows(data.assign(end=data["begin"] + data["value"].fillna(0), **ends), **how)

    def _rows(
        self,
        data: pd.DataFrame,
        *,
        points: bool = False,
        log: bool = False,
        beside: bool = False,
        numbers: bool = True,
        line: str = "",
        shown: Mapping[str, str] | None = None,
        long: bool = False,
    ) -> Chart:
        """A row for each name, with bars from `begin` to `end`, or with points. `beside`: each
        series has its own place in a row. `line`: the colour of a line at 1. `shown`: other texts
        of names. `long`: whether most names are long."""
        limit = min(WIDEST, self.across * SHARE) if self.across else LONG_NAMES if long else NAMES
        names = _Names(data["row"], limit, shown or {})
        across = self.across or PAGE - names.width - 20
        places = data.assign(
            before=data[["begin", "end", "lowest"]].min(axis="columns"),
            after=data[["begin", "end", "highest"]].max(axis="columns"),
            room=(LETTER * data["label"].str.len() if numbers else 0) / across + 2 * GAP / across,
            left=data["end"] < data["begin"],
        )
        places["number"] = places["before"].where(places["left"], places["after"])
        scale = self._scale(places, log=log, zero=not points or not self.is_ratio)
        modelled, published = _by_kind(places.drop(columns=["before", "after", "room"]))
        y, x = names.axis(grid=points or not numbers, beside=beside), self._values(alt.X, scale)
        base = alt.Chart().encode(y=y, **TEXT)
        if beside:
            base = base.encode(yOffset=alt.YOffset("series:N", sort=self.figure.series))
        if points:
            marks = base.mark_point().encode(shape=self._shape())
        else:
            marks = (base.mark_bar() if beside else base.mark_bar(height=15)).encode(
                x2=alt.X2("end:Q")
            )
        layers = [marks.encode(x=x("begin:Q"), color=self._color())]
        if _differ(data):
            layers.append(
                base.mark_rule(color=INK).encode(x=alt.X("lowest:Q"), x2=alt.X2("highest:Q"))
            )
        if len(published):
            diamond = alt.Chart(published).mark_point(
                shape="diamond", size=130, color=INK, **HOLLOW
            )
            layers.append(diamond.encode(y=y, x=alt.X("value:Q"), **TEXT))
        if numbers:
            side = alt.expr("datum.left ? 'right' : 'left'")
            number = base.mark_text(align=side, dx=alt.expr(f"datum.left ? {-GAP} : {GAP}"))
            layers.append(number.encode(x=alt.X("number:Q"), text=alt.Text("label:N")))
        if line:
            layers.insert(0, _rule(line).encode(x=alt.XDatum(1)))
        step = BESIDE_STEP * len(self.figure.series) + 6 if beside else 0
        height = names.height(max(DOT_STEP if points else BAR_STEP, step))
        return Chart(layer=layers, data=modelled, height=height)

    def curve(self) -> Chart:
        modelled, published = _by_kind(self.data)
        modelled = modelled.dropna(subset="value")
        data = pd.concat([modelled, published])
        ends = data.assign(
            before=data[["value", "lowest"]].min(axis="columns"),
            after=data[["value", "highest"]].max(axis="columns"),
            room=0.1,
            left=False,
        )
        log = self.is_ratio and _is_wide(data["value"], WIDE_RATIOS)
        y = self._values(alt.Y, self._scale(ends, log=log, zero=not self.is_ratio))("value:Q")
        x, color = self._points(data), self._color()
        base = alt.Chart().encode(x=x, color=color, **TEXT)
        line, marks = base.mark_line(strokeWidth=1.8), base.mark_point(size=30)
        if (self.figure.frame["kind"] == PUBLISHED).any():
            layers = [line.encode(y=y), marks.encode(y=y, shape=self._shape())]
        else:
            # Curves often have equal values. Dashes and hollow marks show all curves. If the
            # colours begin again, the dashes do not.
            places = range(len(self.figure.series))
            dashes = [DASHES[(at + at // len(SERIES)) % len(DASHES)] for at in places]
            shapes = [[*SHAPES][at % len(SHAPES)] for at in places]
            dash = alt.StrokeDashValue(DASHES[0], condition=self._by_series(dashes))
            shape = alt.ShapeValue(shapes[0], condition=self._by_series(shapes))
            marks = base.mark_point(size=44, **HOLLOW).encode(y=y, shape=shape)
            layers = [line.encode(y=y, strokeDash=dash), marks]
            if self.across and self._has_legend:  # a page has a legend of its own
                layers.append(self._key(dashes, shapes))
        if _differ(modelled):
            layers.append(
                base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("lowest:Q"), y2=alt.Y2("highest:Q"))
            )
        if self.is_ratio:
            layers.insert(0, _rule(MUTED).encode(y=alt.YDatum(1)))
        levels = published.dropna(subset="value").groupby(["claim", "series"], sort=False)
        if levels.ngroups:
            level = alt.Chart(pd.concat([levels.head(1), levels.tail(1)]).drop_duplicates())
            level = level.encode(x=x, y=y, color=color, detail=alt.Detail("claim:N"), **TEXT)
            layers.append(level.mark_line(strokeDash=LEVEL))
            layers.append(level.mark_point(shape="diamond", size=80, **HOLLOW))
        edges = published[published["value"].isna()]
        if len(edges):
            edge = alt.Chart(edges).mark_rule(strokeDash=EDGE, color=INK)
            layers.append(edge.encode(x=x, **TEXT))
        return Chart(layer=layers, data=modelled, height=HEIGHT)

    def areas(self) -> Chart:
        places = {series: place for place, series in enumerate(self.figure.series)}
        data = self.data.dropna(subset="value")
        data = data.assign(place=data["series"].map(places))
        x = alt.X(
            "point:Q",
            title=self.figure.axis,
            axis=alt.Axis(grid=False),
            scale=alt.Scale(domain=[data["point"].min(), data["point"].max()], nice=False),
        )
        y = alt.Y("value:Q", title=self.title or None, stack="zero")
        areas = alt.Chart(data).mark_area(interpolate="step-after")
        areas = areas.encode(x=x, y=y, color=self._color(), order=alt.Order("place:Q"))
        return Chart(layer=[areas], height=HEIGHT)

    def _points(self, data: pd.DataFrame) -> alt.X:
        """The axis of the points of a curve. A logarithmic one has ticks at measured sizes. A few
        points of another key are ticks too, because no value lies between them."""
        figure, points = self.figure, sorted(data["point"].unique())
        binary = [point for point in points if point > 0 and math.log2(point).is_integer()]
        ticks = binary if figure.log and len(binary) > 2 else points
        few = figure.log or (len(ticks) <= TICKS and all(point % 1 == 0 for point in ticks))
        return alt.X(
            "point:Q",
            title=figure.axis or None,
            axis=alt.Axis(
                grid=False,
                values=ticks[:: math.ceil(len(ticks) / SIZES) or 1] if few else alt.Undefined,
                labelExpr=BYTES if figure.is_size else alt.Undefined,
            ),
            scale=alt.Scale(type="log", base=2, nice=False)
            if figure.log
            else alt.Scale(zero=False),
        )

    def _scale(self, data: pd.DataFrame, *, log: bool, zero: bool) -> alt.Scale:
        """The scale of the values' axis. `data`: the lowest (`before`) and the highest place
        (`after`) of each mark, and the part of the axis beyond it that its number needs (`room`),
        beyond the lowest place if `left`. Zero is no reference value of ratios, and small effects
        would be invisible on an axis with zero. But no effect shall look much larger than it is."""
        known = data.dropna(subset=["before", "after"])
        before, after, left = known["before"], known["after"], known["left"]
        low = before.min()
        if not zero:
            low, after = min(low, 1 - SMALL_EFFECT), after.clip(lower=1 + SMALL_EFFECT)
        if log:
            low, before, after = np.log(low), np.log(before), np.log(after)
            low -= 0.05 * (after.max() - low)
        else:
            low = min(0.0, low) if zero else max(low - 0.1 * (after.max() - low), min(0.0, low))
        # The narrowest axis that has the room of each number, at both ends.
        room = known["room"].clip(upper=0.4 if left.any() else 0.6)
        begins, ends = np.append(before[left], low), after.to_numpy()
        rooms = np.append(room[left], 0.0), room.mask(left, 0.0).to_numpy()
        width = (np.subtract.outer(ends, begins) / (1 - np.add.outer(*rooms[::-1]))).max(initial=0)
        low, end = (begins - rooms[0] * width).min(), (ends + rooms[1] * width).max(initial=low)
        low, end = np.exp([low, end]) if log else (low, end)
        domain = [float(low), float(end) if end > low else float(low) + 1]
        kind = {"type": "log"} if log else {"zero": False}
        return alt.Scale(domain=domain, nice=False, **kind)

    def _values(self, channel: Any, scale: alt.Scale) -> Any:  # noqa: ANN401
        """A function that makes the values' axis of a field."""
        axis = alt.Axis(values=_ticks(scale), grid=True)
        return lambda field: channel(field, title=self.title or None, scale=scale, axis=axis)

    def _color(self) -> alt.Color | alt.ColorValue:
        many = len(self.figure.series) > len(SERIES)
        if many and self.figure.form == "bars":
            return alt.ColorValue(SERIES[0])
        palette = PARTS if many and self.figure.form == "stack" else SERIES
        return alt.Color("series:N", **self._each(palette, self.figure.colors.values()))

    def _shape(self) -> alt.Shape:
        return alt.Shape("series:N", **self._each([*SHAPES]))

    def _key(self, dashes: Sequence[Sequence[int]], shapes: Sequence[str]) -> alt.Chart:
        """The legend of lines, without marks: a piece of each line with its mark. A legend of the
        line and of the mark would have the dashes in the outline of the mark."""
        own = self._each([_sample(*line) for line in zip(dashes, shapes, strict=True)])
        legend = alt.Legend(symbolSize=SAMPLE**2, clipHeight=LINE_HEIGHT + 1)
        shape = alt.Shape("series:N", **{**own, "legend": legend})
        key = alt.Chart(alt.InlineData(values=[])).mark_point(**HOLLOW)
        return key.encode(color=self._color(), shape=shape)

    def _by_series(self, values: Sequence[Any]) -> list[dict[str, Any]]:
        """A value for each series, without a scale and so without a legend."""
        tests = [{"field": "series", "equal": name} for name in self.figure.series]
        return [{"test": test, "value": value} for test, value in zip(tests, values, strict=True)]

    @property
    def _has_legend(self) -> bool:
        return self.figure.form != "bars" and (len(self.figure.series) > 1 or not self.title)

    def _each(self, every: Sequence[Any], places: Iterable[int] | None = None) -> dict[str, Any]:
        """One of these colours, shapes or dashes for each series, and the legend."""
        series = self.figure.series
        own = [every[at % len(every)] for at in places or range(len(series))]
        legend = alt.Undefined if self._has_legend else None
        return {"scale": alt.Scale(domain=series, range=own), "legend": legend}


def _sample(dash: Sequence[int], shape: str) -> str:
    """The path of a piece of a line, with its dashes and a mark in the middle, in a square from -1
    to 1, which Vega enlarges to SAMPLE pixels."""
    if dash == DASHES[0]:
        return f"M-1,0H1{SHAPES[shape]}"
    pixel, at, parts = 2 / SAMPLE, -1.0, []
    for line, gap in itertools.cycle(zip(dash[::2], dash[1::2], strict=True)):
        if at >= 1:
            break
        parts.append(f"M{at:.3f},0H{min(at + line * pixel, 1):.3f}")
        at += (line + gap) * pixel
    return "".join([*parts, SHAPES[shape]])


class _Names:
    """The names beside an axis. A long name continues on a second line."""

    def __init__(self, names: pd.Series, limit: float, shown: Mapping[str, str]) -> None:
        """`limit`: the maximum length of a line in pixels. `shown`: other texts of names."""
        self._limit, letters = limit, round(limit / LETTER)
        self._lines = {name: _wrapped(shown.get(name, name), letters) for name in names.unique()}

    def axis(self, *, grid: bool, beside: bool) -> alt.Y:
        text = f"({json.dumps(self._lines)})[datum.label]"
        axis = alt.Axis(grid=grid, ticks=False, labelLimit=self._limit, labelExpr=text)
        scale = alt.Scale(paddingInner=0.25) if beside else alt.Undefined
        return alt.Y("row:N", sort=None, title=None, axis=axis, scale=scale)

    def height(self, step: int) -> int:
        """The pixels of all rows. `step`: the smallest height of a row."""
        most = max(map(len, self._lines.values()))
        return len(self._lines) * max(step, LINE_HEIGHT * most + 4 if most > 1 else 0)

    @property
    def width(self) -> float:
        """The width of the longest line in pixels."""
        longest = max(len(line) for lines in self._lines.values() for line in lines)
        return min(self._limit, LETTER * longest)


def _wrapped(name: str, letters: int) -> list[str]:
    """Returns the lines of a name, at most LABEL_LINES. If the last line is too long, the renderer
    shortens it."""
    lines = textwrap.wrap(name, letters, break_long_words=False, break_on_hyphens=False) or [name]
    return [*lines[: LABEL_LINES - 1], " ".join(lines[LABEL_LINES - 1 :])][: len(lines)]


def _by_kind(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The modelled and the published marks."""
    return data[data["kind"] == MODELLED], data[data["kind"] == PUBLISHED]


def _is_wide(values: Iterable[float], most: float) -> bool:
    """Whether an axis of these values is logarithmic."""
    known = [value for value in values if not math.isnan(value)]
    return len(known) > 1 and min(known) > 0 and max(known) / min(known) > most


def _differ(data: pd.DataFrame) -> bool:
    """Whether at least one mark has different values for different seeds."""
    return bool((data["lowest"] < data["highest"]).any())


def _rule(color: str) -> alt.Chart:
    """A line across the chart."""
    dash = LEVEL if color == MUTED else alt.Undefined
    return alt.Chart(alt.InlineData(values=[{}])).mark_rule(color=color, strokeDash=dash)


def _ticks(scale: alt.Scale) -> Any:  # noqa: ANN401
    """The ticks of a logarithmic axis: 1, 2, 5, 10 and so on, or only powers of ten if there are
    many. Vega chooses the ticks of other axes."""
    if scale["type"] is alt.Undefined:
        return alt.Undefined
    low, high = scale["domain"]
    tens = [10.0**at for at in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    shown = [step * ten for ten in tens for step in (1, 2, 5) if low <= step * ten <= high]
    tens = [ten for ten in tens if low <= ten <= high]
    return shown if len(shown) <= TICKS + 2 else tens[:: math.ceil(len(tens) / TICKS)]
