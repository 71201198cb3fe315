# SPDX-License-Identifier: MIT
"""`p5lab.plot` and `p5lab.style`: figures for scripts and notebooks."""

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd

from p5lab.api import arguments
from p5lab.api.tables import VERSIONS, measure
from p5lab.describe.keys import readable
from p5lab.errors import UserError, unknown
from p5lab.keep import swept_keys
from p5lab.page import charts, theme
from p5lab.page.chart_files import Chart
from p5lab.page.figure import TIMES, Figure, mark, of_marks, of_seeds, title_of, with_unit
from p5lab.present import figure_size
from p5lab.present.breakdown import ORDERED
from p5lab.present.breakdown_table import AFTER, BEFORE, KINDS_OF_VALUE
from p5stats import cpi, papers, tidy
from p5stats.claims import is_bytes, size_of

METRIC = "busy cycles"
ABSOLUTE, RATIO, DIFFERENCE = KINDS_OF_VALUE
# The column of a table of `by` with each kind of value.
KINDS = {ABSOLUTE: "value", RATIO: "ratio", DIFFERENCE: "difference"}
BENCHMARK = ("workload", "phase")
SYSTEM = ("guest", "machine", "geometry", "feedback", "engine")
COMPONENTS, OTHERS = 9, "others"  # parts of a CPI stack
SEVERAL = "metric"  # the column that distinguishes the rows of a figure with several numbers
MOST_SERIES = 30  # a legend of Vega shows no more names


def style() -> None:
    """Sets the format of all Altair figures of this process: SVG that Python draws, so the reader's
    browser needs no script and no network; the letters and colours of the reports; 0.02 instead of
    20m on the axes. `plot` calls this function. Call it before you draw your own charts."""
    alt.renderers.enable("svg")
    alt.theme.enable(theme.NAME)


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
    if {"system", "state"} <= set(table):
        figure = _divided(table, metric, kind)
    elif kind != ABSOLUTE:
        raise UserError(f"plot kind={kind!r}: expected a table of by")
    elif "component" in table:
        figure = _stack(table, series)
    else:
        figure = _numbers(table, metric, x, series)
    chart = charts.alone(figure, figure.metrics[0], size)
    return chart.properties(title=title) if title else chart


def _numbers(
    table: pd.DataFrame,
    metrics: Sequence[str],
    x: str | None,
    series: str | Sequence[str] | None,
) -> Figure:
    """The figure of numbers."""
    rows = measure(table, *metrics)
    metrics = list(dict.fromkeys(rows["metric"]))  # their own names
    value = "ratio" if "ratio" in rows else "value"
    if len(metrics) > 1 and value != "ratio":
        raise UserError("plot: several numbers have several units; expected a table of compare")
    rows = rows.dropna(subset=value)
    if rows.empty:
        raise UserError(f"plot: {', '.join(metrics)}: these runs have no such number")
    label, unit = metrics[0], str(rows["unit"].iloc[0])
    if value == "ratio":
        rows, ratio = _without_reference(rows)
        label = f"{title_of(label)}, {ratio}" if len(metrics) == 1 else ratio
        unit = TIMES
    _columns(rows, x)
    names = _columns(rows, series)
    x = x or _axis(rows)
    of_row, of_colour = _names(rows, x, names)
    points = None if x is None else rows["phase"].map(_size) if x == "phase" else rows[x]
    data = pd.DataFrame(
        {
            "benchmark": _joined(rows, of_row),
            "series": _joined(rows, of_colour),
            "point": 0.0 if points is None else points.astype(float),
            "value": rows[value].astype(float),
        }
    )
    if (count := data["series"].nunique()) > MOST_SERIES:
        raise UserError(
            f"plot: {count} series: expected at most {MOST_SERIES}; select rows of the table, such"
            f" as table[table['workload'] == {rows['workload'].iloc[0]!r}]"
        )
    seeds = data.groupby(["benchmark", "series", "point"], sort=False)["value"]
    data = seeds.agg(value="mean", lowest_seed="min", highest_seed="max").reset_index()
    axis = "size of the array" if x == "phase" else x or ""
    return of_seeds(data, label, unit, axis, is_size=x == "phase" or swept_keys.is_size(axis))


def _divided(table: pd.DataFrame, metrics: Sequence[str], kind: str) -> Figure:
    """The figure of a table of `by`. A row that is new or gone says so."""
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS, where="plot")
    known = list(dict.fromkeys(table["metric"]))
    name = ", ".join(metrics)
    if name == METRIC and name not in known:
        name = known[0]
    if name not in known:
        raise unknown("metric", name, known, where="plot")
    rows = table[table["metric"] == name].dropna(subset=KINDS[kind])
    unit = str(rows["unit"].iloc[0])
    label = f"{with_unit(name, unit)} for {rows['per'].iloc[0]}"
    if kind != ABSOLUTE:
        first = rows["system"].iloc[0]
        rows = rows[rows["system"] != first]
        label = f"{label}, {kind} to {first}"
        if rows.empty:
            raise UserError(f"plot kind={kind!r}: expected a table of two or more systems")
    other_columns = {*BEFORE, *AFTER, "difference", "ratio", "state"}
    own = [column for column in table if column not in other_columns]
    shown = [column for column in ("benchmark", "phase") if rows[column].nunique() > 1]
    is_curve = len(own) == 1 and own[0] in ORDERED and not shown
    data = pd.DataFrame(
        {
            "benchmark": "" if is_curve else _with_state(rows, _joined(rows, [*shown, *own])),
            "series": rows["system"],
            "point": pd.to_numeric(rows[own[0]], errors="coerce") if is_curve else 0,
            "value": rows[KINDS[kind]].astype(float),
        }
    )
    data = data.dropna()  # the sum of further points is no point
    data["lowest_seed"] = data["highest_seed"] = data["value"]
    return of_seeds(data, label, TIMES if kind == RATIO else unit, own[0] if is_curve else "")


def _with_state(rows: pd.DataFrame, names: pd.Series) -> pd.Series:
    """The names of rows, with `new` or `gone` if a system has this state in the row."""
    states = {name: state for name, state in zip(names, rows["state"], strict=True) if state}
    return names.map(lambda name: f"{name} ({states[name]})" if name in states else name)


def _without_reference(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows without those of the reference, and a text about the ratio. All ratios of the
    reference are 1, and a rule shows the 1. The points of a curve are not removed, because
    the curve would then have a gap."""
    for name in (*tidy.settings(rows), *SYSTEM, *(name for name in VERSIONS if name in rows)):
        is_one = rows["ratio"].eq(1).groupby(rows[name], sort=False).all()
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


def _axis(rows: pd.DataFrame) -> str | None:
    """The column of the horizontal axis of a curve, or None for bars."""
    axes = [name for name in tidy.settings(rows) if _is_axis(rows[name])]
    if axes:
        return max(axes, key=lambda name: rows[name].nunique())
    is_sizes = rows["phase"].nunique() > 2 and rows["phase"].map(_size).notna().all()
    return "phase" if is_sizes else None


def _names(
    rows: pd.DataFrame, x: str | None, series: Sequence[str] | None
) -> tuple[Sequence[str], Sequence[str]]:
    """The columns with the name of each row of a figure with bars, and those with the name of each
    colour."""
    differ = _differing(rows, x)
    # The seeds alone do not need a name.
    if rows.duplicated([*differ, *([x] if x else []), "seed"]).any():
        differ.append("parameters")
    if x is not None:
        return [], differ if series is None else series
    if series is not None:
        return [name for name in differ if name not in series], series
    of_row = [name for name in differ if name in (*BENCHMARK, "parameters")]
    if not of_row:
        return differ or ["workload"], []
    return of_row, [name for name in differ if name not in of_row]


def _differing(rows: pd.DataFrame, x: str | None) -> list[str]:
    """The columns whose values the names of rows must contain. `x`: the horizontal axis."""
    settings = tidy.settings(rows)
    names = (*BENCHMARK, *SYSTEM, *settings, *_added(rows), SEVERAL)
    return [name for name in names if name in rows and _differs(rows, name, settings, x)]


def _added(rows: pd.DataFrame) -> list[str]:
    """The columns with texts that `run` or the user has added, such as `variant`."""
    known = {*papers.KEYS, *papers.NUMBERS, *tidy.COLUMNS, "reference", "ratio", "against", SEVERAL}
    own = [name for name in rows if name not in known and "." not in name]
    return [name for name in own if rows[name].map(lambda value: isinstance(value, str)).any()]


def _stack(table: pd.DataFrame, series: str | Sequence[str] | None) -> Figure:
    """The CPI stack of each row as a bar, with a colour for each of the largest components."""
    unit = next((name for name in ("cycles", "nominal cycles") if name in table), "")
    if not unit or table.empty:
        raise UserError("plot: expected a table of stack, with the column cycles")
    names = _columns(table, series) or _differing(table.drop(columns="component"), None)
    rows = table.assign(row=_joined(table, names or ["workload"]))
    runs = rows.groupby("row", sort=False)["run"].nunique()
    cycles = rows.groupby(["row", "component"], sort=False)[unit].sum().reset_index()
    cycles[unit] /= cycles["row"].map(runs)  # the mean over the seeds
    largest = cycles.groupby("component")[unit].sum().nlargest(COMPONENTS).index
    part = cycles["component"].str.removeprefix(cpi.PREFIX)
    cycles["part"] = part.where(cycles["component"].isin(largest), OTHERS)
    order = [*(name.removeprefix(cpi.PREFIX) for name in largest), OTHERS]
    data = cycles.groupby(["row", "part"], sort=False)[unit].sum().unstack(fill_value=0.0)
    marks = [
        mark(benchmark=row, series=name, metric=unit, unit=unit, value=values[name])
        for row, values in data.loc[runs.index].to_dict("index").items()
        for name in order
        if name in values
    ]
    return of_marks("", "", "stack", marks)


def _columns(table: pd.DataFrame, names: str | Sequence[str] | None) -> Sequence[str] | None:
    """The columns with these names. Raises UserError for an unknown one."""
    columns = [names] if isinstance(names, str) else names
    for name in columns or ():
        if name not in table:
            raise unknown("column", name, list(table.columns), where="plot")
    return columns


def _size(phase: str) -> float:
    """The bytes that the name of a phase states, or NaN for another name."""
    return size_of(phase) if is_bytes(phase) else math.nan


def _is_axis(values: pd.Series) -> bool:
    """Whether a column can be the horizontal axis: it has at least two numbers and no text."""
    numeric = values.map(lambda value: isinstance(value, int | float) and type(value) is not bool)
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
        texts.append([_text(name, value) for value in values])
    return pd.Series(
        [", ".join(part for part in parts if part) for parts in zip(*texts, strict=True)],
        index=rows.index,
    )


def _differing_words(texts: pd.Series, subjects: pd.Series) -> pd.Series:
    """The words of each text that are not in every text of the same subject."""
    words = texts.map(str.split).groupby(subjects)
    common = {name: set.intersection(*map(set, of)) for name, of in words}
    differing = [
        " ".join(word for word in text.split() if word not in common[name])
        for name, text in zip(subjects, texts, strict=True)
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
