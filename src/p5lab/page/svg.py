# SPDX-License-Identifier: MIT
"""Draws charts as SVG for a page.

The SVG contains no script, style, identifier or address. The colours in the SVG are variables that
page.css defines for light and dark pages.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import vl_convert

from p5lab.errors import writing
from p5lab.page import chart_files, charts, theme
from p5lab.page.charts import Panel
from p5lab.page.figure import MODELLED, Figure
from p5lab.present.figure_size import FigureSize
from p5lab.terminal import for_terminal

NAMESPACE = "http://www.w3.org/2000/svg"
ELEMENTS = ("svg", "g", "path", "rect", "line", "text", "tspan")
ATTRIBUTES = (
    "d",
    "dx",
    "dy",
    "fill",
    "fill-opacity",
    "font-size",
    "font-weight",
    "height",
    "opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "transform",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
)
COLORS = {
    theme.INK: "var(--ink)",
    theme.MUTED: "var(--muted)",
    theme.GRID: "var(--grid)",
    **{color: f"var(--series-{number})" for number, color in enumerate(theme.SERIES)},
}


def panel(panel: Panel) -> str:
    """Returns a panel as SVG text for a page."""
    root = _root(charts.single(panel), COLORS)
    # The page sets the width. The view box keeps the proportions.
    for name in ("width", "height"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", f"{panel.title} ({panel.unit}). {panel.description}")
    return ElementTree.tostring(root, encoding="unicode")


def plain(chart: dict[str, Any]) -> str:
    """Returns a chart (Vega-Lite) as a small SVG file with colours of its own: only what is
    drawn."""
    root = _root(chart, {})
    root.set("xmlns", NAMESPACE)
    root.set("font-family", theme.FONT)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def export(
    figures: Iterable[Figure],
    directory: Path,
    records: Mapping[str, Mapping[str, Any]],
    size: FigureSize | None = None,
) -> list[Path]:
    """Writes figures as SVG, PDF, PNG and CSV into a directory, which is made if it does not exist.
    Returns the paths of the files.

    `records`: the records of the runs by id. `size`: of figures for a paper. They have no title,
    and a figure with several metrics becomes a file for each metric. Raises UserError if a file
    cannot be written.
    """
    with writing(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return [path for figure in figures for path in _export(figure, directory, records, size)]


def _export(
    figure: Figure,
    directory: Path,
    records: Mapping[str, Mapping[str, Any]],
    size: FigureSize | None,
) -> list[Path]:
    contents = {".csv": _table(figure, records).to_csv(index=False, lineterminator="\n").encode()}
    for name, spec in charts.whole(figure, size).items():
        files = chart_files.every(spec)
        contents |= {f"{name}{suffix}": content for suffix, content in files.items()}
    paths = []
    for ending, content in contents.items():
        paths.append(directory / f"{figure.id}{ending}")
        chart_files.write(paths[-1], content)
    return paths


def _table(figure: Figure, records: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The marks of a figure with the machine and the guest of each mark's runs. A published value
    has no run, and so no machine and no guest."""

    def names(part: str, runs: str, kind: str) -> str:
        ids = runs.split() or (figure.runs if kind == MODELLED else ())
        return " ".join(dict.fromkeys(str(records[run][part]["name"]) for run in ids))

    frame = figure.frame.copy()
    marks = list(zip(frame["runs"], frame["kind"], strict=True))
    for part in ("machine", "guest"):
        texts = [for_terminal(names(part, runs, kind)) for runs, kind in marks]
        frame.insert(frame.columns.get_loc("runs"), part, texts)
    return frame


def _root(chart: dict[str, Any], colors: Mapping[str, str]) -> ElementTree.Element:
    text = vl_convert.vegalite_to_svg(chart, vl_version=chart_files.VERSION)
    root = ElementTree.fromstring(text)
    _strip(root, colors)
    return root


def _strip(element: ElementTree.Element, colors: Mapping[str, str]) -> None:
    """Removes all elements and attributes that draw nothing, and replaces colours.

    The label of a mark becomes its title. A browser shows the title when the pointer is over the
    mark.
    """
    said = element.get("aria-label") if element.get("role") == "graphics-symbol" else None
    kept = {name: value for name, value in element.attrib.items() if name in ATTRIBUTES}
    element.attrib.clear()
    element.attrib.update({name: colors.get(value, value) for name, value in kept.items()})
    element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    for child in list(element):
        if str(child.tag).removeprefix(f"{{{NAMESPACE}}}") in ELEMENTS:
            _strip(child, colors)
        else:
            element.remove(child)
    if said:
        title = ElementTree.Element("title")
        title.text = said
        element.insert(0, title)
