# SPDX-License-Identifier: MIT
"""Figures as Altair charts: panels of a page, one for each metric, and figures in files.

All panels have the same width. A page can place the panels side by side or one below the other. The
letters have the same size in the two layouts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import altair as alt

from p5lab.page import chart_files, described, drawing, theme
from p5lab.page.chart_files import Chart
from p5lab.page.figure import Figure, identifier, title_of, with_unit
from p5lab.present.figure_size import FigureSize

PLOT_WIDTH = 240  # pixels of a panel without names, in a file
NAMES = 0.4  # of the width of a figure for a paper
FLAT = 0.56  # height of a curve divided by its width, in a paper
LEGEND_COLUMNS = 2  # in a file with several panels
KEY_WIDTH = 40  # pixels of a mark and the gap beside a name in a legend


@dataclass(frozen=True)
class Panel:
    """The chart of one metric. `description`: a text for screen readers about the values in the
    chart."""

    metric: str
    title: str
    unit: str
    description: str
    chart: Chart


def panels(figure: Figure, across: float | None = None) -> list[Panel]:
    """Returns a panel for each metric of a figure. `across`: as in drawing.drawn."""
    with _settings():
        result = []
        for metric in figure.metrics:
            rows = figure.frame[figure.frame["metric"] == metric]
            said, chart = described.panel(figure, rows), drawing.drawn(figure, rows, across=across)
            result.append(Panel(metric, title_of(metric), str(rows["unit"].iloc[0]), said, chart))
        return result


def single(panel: Panel) -> dict[str, Any]:
    """Returns a panel as Vega-Lite. The chart has no title and no legend, because the page itself
    shows them."""
    with _settings():
        chart = panel.chart.properties(width=drawing.PAGE, autosize=chart_files.FIT).configure(
            background="transparent",
            # Letters may be wider than LETTER in a browser, so the text has space at the edges.
            padding={"left": 10, "top": 2, "right": 4, "bottom": 2},
            legend=alt.LegendConfig(disable=True),
        )
        return chart.to_dict(validate=False)


def whole(figure: Figure, size: FigureSize | None = None) -> dict[str, dict[str, Any]]:
    """Returns a whole figure as Vega-Lite, with title, legend and the names of the metrics, under
    the name "". With a size for a paper, a chart for each metric, without a title: its axis has the
    name of the metric. If there are several, their names are "-" and the metric."""
    with _settings():
        if size is not None:
            return {
                f"-{identifier(metric)}" if len(figure.metrics) > 1 else "": alone(
                    figure, metric, size
                ).to_dict(validate=False)
                for metric in figure.metrics
            }
        named = [
            panel.chart.properties(title=with_unit(panel.metric, panel.unit), width=PLOT_WIDTH)
            for panel in panels(figure, PLOT_WIDTH)
        ]
        rows = [alt.hconcat(*named[at : at + 3]) for at in range(0, len(named), 3)]
        legend = alt.LegendConfig(orient="bottom", columns=LEGEND_COLUMNS)
        chart = alt.vconcat(*rows, title=figure.title).configure(legend=legend)
        return {"": chart.to_dict(validate=False)}


def alone(figure: Figure, metric: str, size: FigureSize | None = None) -> Chart:
    """Returns the chart of a metric for a notebook, or with a size for a paper. The values' axis
    has the name and the unit of the metric."""
    rows = figure.frame[figure.frame["metric"] == metric]
    title = with_unit(metric, str(rows["unit"].iloc[0]))
    across = theme.WIDTH if size is None else size.units * (1 - NAMES)
    chart = drawing.drawn(figure, rows, title, across)
    if size is None:
        return chart.properties(width=theme.WIDTH)
    sample = drawing.SAMPLE if figure.form == "curve" else 0
    column = max(map(len, figure.series)) * theme.LETTER + KEY_WIDTH + sample
    legend = alt.LegendConfig(orient="bottom", columns=max(1, int(size.units / column)))
    if figure.form in ("curve", "areas"):
        chart = chart.properties(height=size.units * FLAT)
    return chart_files.fit(chart, size).configure(padding=1, legend=legend)


@contextmanager
def _settings() -> Iterator[None]:
    """The charts of pages do not depend on the theme of the process, which `p5lab.style` and other
    programs change. Altair does not check them, because the check takes longer than all other work;
    a test makes this check. They may have many marks."""
    with (
        alt.utils.schemapi.debug_mode(False),
        alt.theme.enable(theme.NAME),
        alt.data_transformers.enable("default", max_rows=None),
    ):
        yield
