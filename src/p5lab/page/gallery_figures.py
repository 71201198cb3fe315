# SPDX-License-Identifier: MIT
"""The figures of the gallery (p5lab.evidence.gallery), from their record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from p5lab.evidence import gallery, records
from p5lab.evidence.gallery import GalleryEffect
from p5lab.evidence.records import Record
from p5lab.lab import Lab
from p5lab.page import drawing, svg, theme
from p5lab.page.chart_files import FIT, Chart
from p5lab.page.figure import of_seeds
from p5stats.claims import is_bytes

WIDTH = 520  # pixels
OVERVIEW = ("page-colours", "write-misses", "tlb-reach", "server", "misaligned", "pairing")
COLUMNS, SMALL, TALL = 3, 190, 130  # of the overview: figures beside each other, and their pixels
MARKS = ("benchmark", "series", "value", "lowest_seed", "highest_seed")  # of a mark in the record
INDEPENDENT: Any = dict.fromkeys(("color", "shape", "strokeDash", "y", "x"), "independent")


def update(lab: Lab, *, check: bool = False) -> Iterator[tuple[str, bool]]:
    """Draws all figures. Yields each file, and whether it has changed. With `check`, no file is
    written. Nothing without configs/gallery.toml. Raises UserError if a file cannot be written."""
    if not (lab.root / gallery.FILE).is_file():
        return
    record = records.load(lab.root, gallery.NAME)
    effects = {effect.name: effect for effect in gallery.effects(lab)}
    with alt.theme.enable(theme.NAME):
        charts = {name: _figure(effect, record[name]) for name, effect in effects.items()}
        charts["overview"] = _overview([effects[name] for name in OVERVIEW], record)
    for name, chart in charts.items():
        place = f"{gallery.PLACE}/{name}.svg"
        yield place, records.save(Path(lab.root / place), svg.plain(chart), check=check)


def _chart(effect: GalleryEffect, marks: Record, across: float) -> Chart:
    """The figure of an effect. `marks`: its part of the record."""
    names = effect.names
    data = pd.DataFrame(marks, columns=MARKS)
    data["point"] = data["benchmark"].map(gallery.point) if effect.axis else 0.0
    is_size = bool(data["benchmark"].map(is_bytes).all())
    column = "series" if effect.series else "benchmark"
    data[column] = data[column].map(lambda text: names.get(text, text))
    figure = of_seeds(data, effect.metric, "1", effect.axis, is_size=is_size)
    return drawing.drawn(figure, figure.frame, effect.metric, across)


def _figure(effect: GalleryEffect, marks: Record) -> dict[str, object]:
    chart = _chart(effect, marks, WIDTH * 0.6)
    legend = alt.LegendConfig(orient="bottom", columns=2)
    return chart.properties(width=WIDTH, autosize=FIT).configure(legend=legend).to_dict()


def _overview(effects: list[GalleryEffect], record: Record) -> dict[str, object]:
    charts = [
        _chart(effect, record[effect.name], SMALL).properties(
            title=effect.title, width=SMALL, height=TALL
        )
        for effect in effects
    ]
    rows = [
        alt.hconcat(*charts[at : at + COLUMNS]).resolve_scale(**INDEPENDENT)
        for at in range(0, len(charts), COLUMNS)
    ]
    legend = alt.LegendConfig(orient="bottom", columns=1)
    axis = alt.AxisConfig(labelLimit=SMALL * 0.5, tickCount=3)
    chart = alt.vconcat(*rows).resolve_scale(**INDEPENDENT)
    return chart.configure(legend=legend, axis=axis).to_dict()
