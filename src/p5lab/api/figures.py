# SPDX-License-Identifier: MIT
"""`p5lab.plot` and `p5lab.style`: figures for scripts and notebooks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from p5lab.api import arguments
from p5lab.api.tables import VERSIONS, measure
from p5lab.describe.keys import readable
from p5lab.errors import UserError, unknown
from p5lab.keep import swept_keys
from p5lab.page import chart_files
from p5lab.page.chart_files import Chart
from p5lab.page.charts import (
    AXIS,
    BYTES,
    FONT,
    INK,
    LETTER,
    MUTED,
    NAMES,
    NUMBER,
    SERIES,
    SHAPES,
    TEXT,
    TITLE,
)
from p5lab.page.figure import title_of
from p5lab.present import figure_size
from p5lab.present.breakdown import ORDERED
from p5lab.present.breakdown_table import AFTER, BEFORE, KINDS_OF_VALUE
from p5lab.present.figure_size import FigureSize
from p5stats import cpi, papers, tidy
from p5stats.claims import is_bytes, size_of

METRIC = "busy cycles"
ABSOLUTE, RATIO, DIFFERENCE = KINDS_OF_VALUE
# The column of a table of `by` with each kind of value.
KINDS = {ABSOLUTE: "value", RATIO: "ratio", DIFFERENCE: "difference"}
WIDTH, HEIGHT = 460, 260  # pixels of a curve
STEP, DOT_STEP = 20, 18  # pixels of one bar and of one mark
LABEL_WIDTH, TEXT_GAP = 260, 8
LABEL_SHARE = 0.4  # of the width of a figure for a paper
KEY_WIDTH = 40  # pixels of the mark and the gap beside a name in a legend
WIDE = 20  # if the largest value divided by the smallest value is more, the axis is logarithmic
TICKS = 6
BENCHMARK = ("workload", "phase")
SYSTEM = ("guest", "machine", "geometry", "feedback", "engine")
COMPONENTS, OTHERS = 9, "others"  # colours of a CPI stack
# Colours for more parts than SERIES has colours, which stay apart also for colour-blind readers
# (Paul Tol, Colour Schemes, SRON/EPS/TN/09-002, 2021, scheme "muted", and grey).
PARTS = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#BBBBBB"),
)
SEVERAL = "metric"  # the column that distinguishes the rows of a figure with several numbers
THEME = "p5lab"
MOST_SERIES = 30  # a legend of Vega shows no more names
DASHES = ([1, 0], [6, 4], [2, 3], [9, 3, 2, 3])  # pixels of line and gap, for each series
LABEL = f"isNumber(datum.value) ? {NUMBER} : datum.label"


@dataclass(frozen=True)
class _Axes:
    """The columns of a figure. `x`: a column with numbers, or None for bars. `rows`: the name of
    each row of a figure with bars. `series`: the name of the colour of each row."""

    x: str | None
    title: str
    is_size: bool
    rows: pd.Series
    series: pd.Series


def style() -> None:
    """Sets the format of all Altair figures of this process: SVG that Python draws, so the reader's
    browser needs no script and no network; the letters and colours of the reports; 0.02 instead of
    20m on the axes. `plot` calls this function. Call it before you draw your own charts."""
    alt.renderers.enable("svg")
    if THEME not in alt.theme.names():
        alt.theme.register(THEME, enable=False)(_theme)
    alt.theme.enable(THEME)


def _theme() -> alt.theme.ThemeConfig:
    axis: dict[str, Any] = {
        **AXIS,
        "labelLimit": LABEL_WIDTH,
        "labelExpr": LABEL,
        "labelOverlap": True,
        "labelSeparation": 6,
        "tickCount": TICKS,
    }
    config: Any = {
        "font": FONT,
        "background": "white",
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "axis": axis,
        "range": {"category": list(SERIES)},
        "legend": {**NAMES},
        "header": {**NAMES},
        "title": {**TITLE},
        "mark": {"color": SERIES[0]},
        "point": {"filled": True, "size": 60, "opacity": 1},
        "text": {**TEXT},
    }
    return {"config": config}


def plot(
    table: pd.DataFrame,
    metric: str | Sequence[str] = METRIC,
    *,
    x: str | None = None,
    series: str | Sequence[str] | None = None,
    title: str | None = None,
    width: str | None = None,
    font_size: float | None = None,
    kind: str = ABSOLUTE,
) -> Chart:
    """Draws one number of each run as an Altair chart. A notebook shows the chart, and
    `chart.save("name.png")` writes it to a file (also .svg, .pdf and .html).

    table: the result of `run`, `load`, `measure`, `compare`, `by` or `stack`. A table of `by` has a
    bar for each row and system, or a curve over intervals or iterations; with kind "ratio" or
    "difference", the figure shows these to the first system. A stack is drawn as one
    bar for each row, with the largest components as colours. After `compare` the figure shows
    ratios. metric: the number; several numbers only after `compare`, because ratios have no unit.
    x: the column of the horizontal axis of a curve, or `"phase"` for sizes. Without `x`, it is the
    first swept key with numbers, or the size of an array; if there is neither, the figure has bars.
    series: the columns whose values get different colours; without `series`, all columns in which
    the rows differ. title: the title of the figure; without it, the figure has none. width: the
    width in a paper, such as "3.3in" or "84mm". `save` then writes .svg, .pdf and .png with this
    width, and with letters of font_size points (8 by default). With several seeds, the figure shows
    the mean, and a line from the lowest to the highest value.

    UserError for an unknown metric or column, if there is no value, and for more than 30 series.
    """
    arguments.table("plot", table, "run, load, measure, compare, by or stack")
    metric = arguments.texts("plot metric", metric)
    style()
    size = figure_size.parse(width, font_size, "plot")
    across = WIDTH if size is None else size.units * (1 - LABEL_SHARE)
    if {"system", "state"} <= set(table):
        chart, names = _divided(table, metric, across, kind)
    elif kind != ABSOLUTE:
        raise UserError(f"plot kind={kind!r}: expected a table of by")
    elif "component" in table:
        chart, names = _stack(table, series)
    else:
        chart, names = _numbers(table, metric, x, series, across)
    if title:
        chart = chart.properties(title=title)
    return chart if size is None else _sized(chart, size, names)


def _sized(chart: Chart, size: FigureSize, names: Sequence[str]) -> Chart:
    """A chart for a paper. The legend with these names is below the chart."""
    column = max((len(name) for name in names), default=0) * LETTER + KEY_WIDTH
    legend = alt.LegendConfig(orient="bottom", columns=max(1, int(size.units / column)))
    height = size.units * HEIGHT / WIDTH if chart.height == HEIGHT else chart.height
    sized = chart_files.fit(chart.properties(height=height), size)
    axis = alt.AxisConfig(labelLimit=size.units * LABEL_SHARE)
    return sized.configure(padding=1, legend=legend, axis=axis)


def _numbers(
    table: pd.DataFrame,
    metrics: Sequence[str],
    x: str | None,
    series: str | Sequence[str] | None,
    across: float,
) -> tuple[Chart, list[str]]:
    """The chart of numbers, and the names of its series. `across`: pixels of the values' axis of
    bars."""
    rows = measure(table, *metrics)
    metrics = list(dict.fromkeys(rows["metric"]))  # their own names
    value = "ratio" if "ratio" in rows else "value"
    if len(metrics) > 1 and value != "ratio":
        raise UserError("plot: several numbers have several units; expected a table of compare")
    rows = rows.dropna(subset=value)
    if rows.empty:
        raise UserError(f"plot: {', '.join(metrics)}: these runs have no such number")
    label = _named(metrics[0], str(rows["unit"].iloc[0]))
    if value == "ratio":
        rows, ratio = _without_reference(rows)
        label = f"{title_of(metrics[0])}, {ratio}" if len(metrics) == 1 else ratio
    _columns(rows, x)
    names = _columns(rows, series)
    axes = _axes(rows, x, names)
    if (count := axes.series.nunique()) > MOST_SERIES:
        raise UserError(
            f"plot: {count} series: expected at most {MOST_SERIES}; select rows of the table, such"
            f" as table[table['workload'] == {rows['workload'].iloc[0]!r}]"
        )
    data = _data(rows, axes, value)
    is_ratio = value == "ratio"
    if axes.x is None:
        chart = _bars(data, label, across, is_ratio=is_ratio)
    else:
        chart = _curve(data, label, axes.title, is_size=axes.is_size, is_ratio=is_ratio)
    return chart, list(data["series"].unique())


def _divided(
    table: pd.DataFrame, metrics: Sequence[str], across: float, kind: str
) -> tuple[Chart, list[str]]:
    """The chart of a table of `by`, and the names of its systems. A row that is new or gone says
    so."""
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS, where="plot")
    known = list(dict.fromkeys(table["metric"]))
    name = ", ".join(metrics)
    if name == METRIC and name not in known:
        name = known[0]
    if name not in known:
        raise unknown("metric", name, known, where="plot")
    rows = table[table["metric"] == name].dropna(subset=KINDS[kind])
    label = f"{_named(name, str(rows['unit'].iloc[0]))} for {rows['per'].iloc[0]}"
    if kind != ABSOLUTE:
        first = rows["system"].iloc[0]
        rows = rows[rows["system"] != first]
        label = f"{label}, {kind} to {first}"
        if rows.empty:
            raise UserError(f"plot kind={kind!r}: expected a table of two or more systems")
    own = [one for one in table if one not in (*BEFORE, *AFTER, "difference", "ratio", "state")]
    shown = [one for one in ("benchmark", "phase") if rows[one].nunique() > 1]
    is_curve = len(own) == 1 and own[0] in ORDERED and not shown
    data = pd.DataFrame(
        {
            "row": "" if is_curve else _with_state(rows, _joined(rows, [*shown, *own])),
            "series": rows["system"],
            "point": pd.to_numeric(rows[own[0]], errors="coerce") if is_curve else 0,
            "value": rows[KINDS[kind]].astype(float),
        }
    )
    data = data.dropna()  # the sum of further points is no point
    data["lowest"] = data["highest"] = data["value"]
    is_ratio = kind == RATIO
    chart = drawn(data, label, own[0] if is_curve else "", across, is_ratio=is_ratio)
    return chart, list(dict.fromkeys(data["series"]))


def _with_state(rows: pd.DataFrame, names: pd.Series) -> pd.Series:
    """The names of rows, with `new` or `gone` if a system has this state in the row."""
    states = {name: state for name, state in zip(names, rows["state"], strict=True) if state}
    return names.map(lambda name: f"{name} ({states[name]})" if name in states else name)


def drawn(
    data: pd.DataFrame, label: str, axis: str, across: float, *, is_ratio: bool = False
) -> Chart:
    """Draws marks as `plot` does. data: the columns row, series, point, value, lowest and highest.
    label: the name of the values. axis: the name of a curve's axis; empty for bars. across: pixels
    of the values' axis of bars."""
    if not axis:
        return _bars(data, label, across, is_ratio=is_ratio)
    is_size = bool(data["row"].map(is_bytes).all())
    return _curve(data, label, axis, is_size=is_size, is_ratio=is_ratio)


def _named(metric: str, unit: str) -> str:
    """The title of the values' axis, with the unit if the name of the metric does not contain the
    unit."""
    shown = title_of(metric)
    return shown if unit == "1" or unit.split("/")[0] in shown else f"{shown} ({unit})"


def _without_reference(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows without those of the reference, and a text about the ratio. All ratios of the
    reference are 1, and a rule shows the 1. The points of a curve are not removed, because
    the curve would then have a gap."""
    for name in (*tidy.settings(rows), *SYSTEM, *(one for one in VERSIONS if one in rows)):
        is_one = rows.groupby(name, sort=False)["ratio"].agg(lambda one: bool((one == 1).all()))
        if len(is_one) < 2 or is_one.sum() != 1:
            continue
        reference = is_one.idxmax()
        text = _text(name, reference)
        if "." in name and _is_axis(rows[name]):
            return rows, f"{text} is 1"
        others = is_one.index[~is_one]
        ratio = f"{_text(name, others[0])} / {text}" if len(others) == 1 else f"{text} is 1"
        return rows[rows[name] != reference], ratio
    return rows, "ratio to the reference"


def _axes(rows: pd.DataFrame, x: str | None, series: Sequence[str] | None) -> _Axes:
    settings = tidy.settings(rows)
    axes = [name for name in settings if _is_axis(rows[name])]
    x = x or max(axes, key=lambda name: rows[name].nunique(), default=None)
    sizes = rows["phase"].map(_size)
    if x is None and rows["phase"].nunique() > 2 and sizes.notna().all():
        x = "phase"
    is_size = x is not None and (x == "phase" or swept_keys.is_size(x))
    differ = [
        name
        for name in (*BENCHMARK, *SYSTEM, *settings, *_added(rows), SEVERAL)
        if _differs(rows, name, settings, x)
    ]
    if not _explained(rows, differ, x):
        differ.append("parameters")
    if x is None and series is None:
        of_row = [name for name in differ if name in (*BENCHMARK, "parameters")]
        if not of_row:
            of_row, differ = differ or ["workload"], []
        series = [name for name in differ if name not in of_row]
    elif x is None:
        of_row = [name for name in differ if name not in (series or ())]
    else:
        of_row = []
    title = "size of the array" if x == "phase" else str(x or "")
    chosen = differ if series is None else series
    return _Axes(x, title, is_size, _joined(rows, of_row), _joined(rows, chosen))


def _added(rows: pd.DataFrame) -> list[str]:
    """The columns with texts that `run` or the user has added, such as `variant`."""
    known = {*papers.KEYS, *papers.NUMBERS, *tidy.COLUMNS, "reference", "ratio", "against", SEVERAL}
    own = [name for name in rows if name not in known and "." not in name]
    return [name for name in own if rows[name].map(lambda one: isinstance(one, str)).any()]


def _stack(table: pd.DataFrame, series: str | Sequence[str] | None) -> tuple[Chart, list[str]]:
    """The CPI stack of each row as a bar, with a colour for each of the largest components. Also
    the names of these components."""
    unit = next((name for name in ("cycles", "nominal cycles") if name in table), "")
    if not unit or table.empty:
        raise UserError("plot: expected a table of stack, with the column cycles")
    names = _columns(table, series) or []
    settings = tidy.settings(table)
    names = names or [
        name
        for name in (*BENCHMARK, *SYSTEM, *settings, *_added(table.drop(columns="component")))
        if name in table and _differs(table, name, settings, None)
    ]
    rows = table.assign(row=_joined(table, names or ["workload"]))
    runs = rows.groupby("row", sort=False)["run"].nunique()
    cycles = rows.groupby(["row", "component"], sort=False)[unit].sum().reset_index()
    cycles[unit] /= cycles["row"].map(runs)  # the mean over the seeds
    largest = cycles.groupby("component")[unit].sum().nlargest(COMPONENTS).index
    part = cycles["component"].str.removeprefix(cpi.PREFIX)
    cycles["part"] = part.where(cycles["component"].isin(largest), OTHERS)
    data = cycles.groupby(["row", "part"], sort=False)[unit].sum().rename("value").reset_index()
    order = [name.removeprefix(cpi.PREFIX) for name in largest]
    order += [OTHERS] if (data["part"] == OTHERS).any() else []
    data["order"] = data["part"].map(order.index)
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("value:Q", title=unit, stack="zero"),
            y=alt.Y("row:N", sort=list(runs.index), title=None),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(
                    domain=order, range=[PARTS[i % len(PARTS)] for i in range(len(order))]
                ),
                legend=alt.Legend(),
            ),
            order="order:Q",
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("row", "part", "value")],
        )
    )
    return _layered([bars], data, len(runs) * STEP * 1.5), order


def _columns(table: pd.DataFrame, names: str | Sequence[str] | None) -> Sequence[str] | None:
    """The columns with these names. Raises UserError for an unknown one."""
    found = [names] if isinstance(names, str) else names
    for name in found or ():
        if name not in table:
            raise unknown("column", name, list(table.columns), where="plot")
    return found


def _size(phase: str) -> float:
    """The bytes that the name of a phase states, or NaN for another name."""
    return size_of(phase) if is_bytes(phase) else math.nan


def _is_axis(values: pd.Series) -> bool:
    """Whether a column can be the horizontal axis: it has at least two numbers and no text."""
    numeric = values.map(lambda one: isinstance(one, int | float) and not isinstance(one, bool))
    return bool(numeric.all()) and values.nunique() > 1


def _differs(rows: pd.DataFrame, name: str, settings: list[str], x: str | None) -> bool:
    """Whether the name of a row must contain the value of this column."""
    if name == x or rows[name].nunique(dropna=False) < 2:
        return False
    if name == "phase":  # the name of the workload is enough if it has one phase
        return bool(rows.groupby("workload")["phase"].nunique().gt(1).any())
    if name == "geometry":  # the settings contain the same values in a better form
        known = {key for key in settings if not key.startswith(tidy.PARAMETERS)}
        words = {word.partition("=")[0] for text in rows[name] for word in str(text).split()}
        return not words <= known
    return True


def _explained(rows: pd.DataFrame, differ: Sequence[str], x: str | None) -> bool:
    """Whether the chosen columns distinguish all rows, apart from the seeds."""
    same = [*differ, *([x] if x else []), "seed"]
    return not rows.duplicated(same).any()


def _joined(rows: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """One text for each row from several columns."""
    if not names:
        return pd.Series("", index=rows.index)
    texts = []
    for name in names:
        values = rows[name]
        if name == "parameters":
            subjects = rows["workload"] if "workload" in names else values.map(lambda _: "")
            values = _differing_words(values, subjects)
        texts.append(values.map(lambda one, name=name: _text(name, one)))
    return pd.Series(
        [", ".join(part for part in parts if part) for parts in zip(*texts, strict=True)],
        index=rows.index,
    )


def _differing_words(texts: pd.Series, subjects: pd.Series) -> pd.Series:
    """The words of each text that are not in every text of the same subject."""
    words = texts.map(str.split)
    common = {name: set.intersection(*map(set, of)) for name, of in words.groupby(subjects)}
    differing = [
        " ".join(word for word in one if word not in common[name])
        for name, one in zip(subjects, words, strict=True)
    ]
    return pd.Series(differing, index=texts.index)


def _text(name: str, value: object) -> str:
    """The value of a column as a part of a name. Empty if the row has no value."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    if name == "geometry":
        return readable(str(value)) if value else "as described"
    if name == "feedback":
        return f"feedback {value}"
    if "." in name:
        return readable(f"{name}={value}").removeprefix(tidy.PARAMETERS)
    return str(value)


def _data(rows: pd.DataFrame, axes: _Axes, value: str) -> pd.DataFrame:
    """The marks: one for each row name, series and point, with the mean and the range over the
    seeds."""
    point: Any = 0
    if axes.x == "phase":
        point = rows["phase"].map(_size).astype(float)
    elif axes.x is not None:
        point = rows[axes.x].astype(float)
    data = pd.DataFrame(
        {
            "row": axes.rows,
            "series": axes.series,
            "point": point,
            "value": rows[value].astype(float),
        }
    )
    found = data.groupby(["row", "series", "point"], sort=False)["value"].agg(
        value="mean", lowest="min", highest="max"
    )
    return found.reset_index()


def _curve(data: pd.DataFrame, label: str, axis: str, *, is_size: bool, is_ratio: bool) -> Chart:
    points = sorted(data["point"].unique())
    log = bool(is_size and points[0] > 0 and points[-1] / points[0] >= 4)
    # On a logarithmic axis, ticks stand at the measured sizes, and sizes that would not fit have no
    # label. A few points of another key are ticks too, because no value lies between them.
    ticks = [one for one in points if math.log2(one).is_integer()] if log else points
    x = alt.X(
        "point:Q",
        title=axis,
        scale=alt.Scale(type="log", base=2, nice=False) if log else alt.Scale(zero=False),
        axis=alt.Axis(
            grid=False,
            values=ticks[:: math.ceil(len(ticks) / 12)]
            if log or len(ticks) <= TICKS
            else alt.Undefined,
            labelExpr=BYTES if is_size else LABEL,
        ),
    )
    scale = _scale(data, zero=not is_ratio)
    y = alt.Y("value:Q", title=label, scale=scale, axis=alt.Axis(values=_ticks(scale)))
    base = alt.Chart(data).encode(x=x, color=_color(data), tooltip=_tooltip())
    # Curves often have equal values. Dashes and hollow marks of several shapes show all curves.
    names = list(dict.fromkeys(data["series"]))
    # If the colours begin again, the dashes do not.
    turns = [DASHES[(i + i // len(SERIES)) % len(DASHES)] for i in range(len(names))]
    dashes = alt.Scale(domain=names, range=turns)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(
            y=y, strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=None)
        ),
        base.mark_point(size=44, filled=False, strokeWidth=1.5).encode(y=y, shape=_shape(data)),
    ]
    if (data["lowest"] < data["highest"]).any():
        layers.append(base.mark_rule(strokeWidth=1.2).encode(y="lowest:Q", y2="highest:Q"))
    if is_ratio:
        layers.insert(
            0, alt.Chart().mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y=alt.datum(1))
        )
    return _layered(layers, data, HEIGHT)


def _bars(data: pd.DataFrame, label: str, across: float, *, is_ratio: bool) -> Chart:
    order, names = list(dict.fromkeys(data["row"])), list(dict.fromkeys(data["series"]))
    spread = data[["lowest", "value"]].min(axis=None), data[["highest", "value"]].max(axis=None)
    log = spread[0] > 0 and spread[1] / spread[0] > WIDE
    # A bar has a length only on an axis that begins at zero. Other axes need points.
    as_points = bool(is_ratio or log)
    y = alt.Y(
        "row:N",
        sort=order,
        title=None,
        axis=alt.Axis(grid=as_points, ticks=False, domain=not as_points),
        scale=alt.Scale(paddingInner=0.3),
    )
    data = data.assign(label=data["value"].map(_ratio if is_ratio else _short))
    text = data["label"].str.len().max() * LETTER + 2 * TEXT_GAP
    scale = _scale(data, zero=not as_points, room=min(text / across, 0.5))
    x = alt.X("value:Q", title=label, scale=scale, axis=alt.Axis(values=_ticks(scale)))
    base = alt.Chart(data).encode(y=y, tooltip=_tooltip())
    if len(names) > 1:
        # Each series has its own place in a row, so no mark hides another mark.
        base = base.encode(yOffset=alt.YOffset("series:N", sort=names))
    marks = base.mark_point(size=60) if as_points else base.mark_bar()
    marks = marks.encode(x=x, color=_color(data))
    layers: list[alt.Chart] = [marks.encode(shape=_shape(data)) if as_points else marks]
    if (data["lowest"] < data["highest"]).any():
        layers.append(base.mark_rule(color=INK).encode(x="lowest:Q", x2="highest:Q"))
    layers.append(
        base.mark_text(align="left", dx=TEXT_GAP).encode(x=alt.X("highest:Q"), text="label:N")
    )
    if is_ratio:
        layers.insert(
            0, alt.Chart().mark_rule(color=MUTED, strokeDash=[4, 3]).encode(x=alt.datum(1))
        )
    height = len(order) * max(STEP, len(names) * (DOT_STEP if as_points else 16) + 6)
    return _layered(layers, data, height)


def _layered(layers: list[alt.Chart], data: pd.DataFrame, height: float) -> Chart:
    return Chart(layer=layers, data=data, width=WIDTH, height=height)


def _scale(data: pd.DataFrame, *, zero: bool, room: float = 0.1) -> alt.Scale:
    """The scale of the values. `room`: the part of the axis behind the largest value, in which its
    number stands."""
    low, high = float(data["lowest"].min()), float(data["highest"].max())
    if not zero and low > 0:
        low, high = min(low, 1.0) if high >= 1 else low, max(high, 1.0) if low <= 1 else high
        if high / low > WIDE / 2:
            low /= 1.2
            end = low * (high / low) ** (1 / (1 - room))
            return alt.Scale(type="log", domain=[low, end], nice=False)
        low -= (high - low) * 0.1 or 0.1
        return alt.Scale(domain=[low, _behind(low, high, room)], nice=False, zero=False)
    return alt.Scale(domain=[min(0.0, low), _behind(min(0.0, low), high, room) or 1.0], nice=False)


def _behind(low: float, high: float, room: float) -> float:
    """The end of an axis from `low` with this part behind `high`."""
    return low + (high - low) / (1 - room)


def _ticks(scale: alt.Scale) -> Any:  # noqa: ANN401
    """The ticks of a logarithmic axis: 1, 2, 5, 10 and so on, or only powers of ten if there are
    many. Vega chooses the ticks of other axes."""
    if scale["type"] != "log":
        return alt.Undefined
    low, high = scale["domain"]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    shown = [tick for tick in ticks if low <= tick <= high]
    tens = [10.0**power for power in powers if low <= 10.0**power <= high]
    return shown if len(shown) <= 8 else tens


def _color(data: pd.DataFrame) -> alt.Color:
    return alt.Color("series:N", **_of_series(data, SERIES))


def _shape(data: pd.DataFrame) -> alt.Shape:
    return alt.Shape("series:N", **_of_series(data, SHAPES))


def _of_series(data: pd.DataFrame, every: Sequence[str]) -> dict[str, Any]:
    """The scale and the legend of the series: one of these colours or shapes for each."""
    names = list(dict.fromkeys(data["series"]))
    own = [every[number % len(every)] for number in range(len(names))]
    scale, legend = alt.Scale(domain=names, range=own), alt.Legend() if len(names) > 1 else None
    return {"scale": scale, "legend": legend}


def _tooltip() -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{name}:N") for name in ("row", "series", "point", "value")]


def _ratio(value: float) -> str:
    """A ratio beside its mark: three digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _short(value: float) -> str:
    """A value beside its mark: four digits, with commas."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
