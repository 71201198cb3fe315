# SPDX-License-Identifier: MIT
"""Charts as SVG that a page can hold: no script, no style, no identifier, no address; colours by
the names that page.css gives them in light and in dark."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import altair as alt
import vl_convert

from p5lab.errors import disk_error
from p5lab.present.page import charts
from p5lab.present.page.charts import Panel
from p5lab.present.page.figure import Figure

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
    charts.INK: "var(--ink)",
    charts.MUTED: "var(--muted)",
    charts.GRID: "var(--grid)",
    **{color: f"var(--series-{number})" for number, color in enumerate(charts.SERIES)},
}
# Altair says which Vega-Lite its charts are for; vl-convert knows several, by major and minor.
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
PNG_SCALE = 2  # dots for each pixel


def panel(one: Panel) -> str:
    """A panel for a page."""
    text = vl_convert.vegalite_to_svg(charts.single(one), vl_version=VERSION)
    return _clean(text, f"{one.title} ({one.unit})", one.description)


def export(figure: Figure, directory: Path) -> list[Path]:
    """Writes the figure as PNG, SVG and CSV; returns the paths."""
    spec = charts.whole(figure)
    contents = {
        ".svg": vl_convert.vegalite_to_svg(spec, vl_version=VERSION).encode(),
        ".png": vl_convert.vegalite_to_png(spec, vl_version=VERSION, scale=PNG_SCALE),
        ".csv": figure.frame.to_csv(index=False, lineterminator="\n").encode(),
    }
    paths = []
    for suffix, content in contents.items():
        path = directory / f"{figure.id}{suffix}"
        try:
            path.write_bytes(content)
        except OSError as error:
            raise disk_error(error, path) from None
        paths.append(path)
    return paths


def _clean(text: str, title: str, description: str) -> str:
    root = ElementTree.fromstring(text)
    _strip(root)
    for name in ("width", "height"):  # the page says how wide; the view box has the proportions
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", f"{title}. {description}")
    return ElementTree.tostring(root, encoding="unicode")


def _strip(element: ElementTree.Element) -> None:
    """Keeps what draws something. What a mark says of itself becomes the title that browsers show
    where the pointer rests."""
    said = element.get("aria-label") if element.get("role") == "graphics-symbol" else None
    kept = {name: value for name, value in element.attrib.items() if name in ATTRIBUTES}
    element.attrib.clear()
    element.attrib.update({name: COLORS.get(value, value) for name, value in kept.items()})
    element.tag = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    for child in list(element):
        if str(child.tag).removeprefix(f"{{{NAMESPACE}}}") in ELEMENTS:
            _strip(child)
        else:
            element.remove(child)
    if said:
        title = ElementTree.Element("title")
        title.text = said
        element.insert(0, title)
