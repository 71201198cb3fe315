# SPDX-License-Identifier: MIT
"""Files of charts. A chart for a paper has the width of a column and no title, because a paper has
a caption.

All charts have letters of the same number of units. A chart for a paper is drawn with as many units
as fit into its width, and the file then has the width in points. So marks and letters keep their
proportions.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from p5lab.errors import writing
from p5lab.present.figure_size import FigureSize

DOTS = 300  # dots per inch of a PNG file
# Altair writes charts for this major and minor version of Vega-Lite. vl-convert supports several
# versions and needs this number.
VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
META = "points"  # the width of a chart for a paper, in the data that Vega ignores
FIT = alt.AutoSizeParams(type="fit-x", contains="padding")  # the width is that of the whole chart


def fit(chart: alt.LayerChart, size: FigureSize) -> alt.LayerChart:
    """Returns a chart with this width, for `written`."""
    return chart.properties(width=size.units, autosize=FIT, usermeta={META: size.width})


class Chart(alt.LayerChart):
    """An Altair chart whose `save` writes the files of this module."""

    def save(self, fp: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Writes the chart to a file: .svg, .pdf, .png, .html or .json (see Altair)."""
        path = Path(str(fp))
        if args or options or path.suffix not in SUFFIXES:
            super().save(fp, *args, **options)
        else:
            write(path, written(self.to_dict(), path.suffix))


def write(path: Path, content: bytes) -> None:
    """Writes a file. Raises UserError if it cannot be written."""
    with writing(path):
        path.write_bytes(content)


def written(chart: dict[str, Any], suffix: str) -> bytes:
    """Returns the content of a file with a chart (Vega-Lite): ".svg", ".pdf" or ".png". A chart of
    `fit` has its width in points; a picture then has DOTS dots per inch."""
    return _written(chart, [suffix])[suffix]


def every(chart: dict[str, Any]) -> dict[str, bytes]:
    """Returns the contents of `written` by suffix. The chart is drawn once."""
    return _written(chart, SUFFIXES)


def _written(chart: dict[str, Any], suffixes: Iterable[str]) -> dict[str, bytes]:
    points = chart.get("usermeta", {}).get(META)
    svg = vl_convert.vegalite_to_svg(chart, vl_version=VERSION)
    return {suffix: SUFFIXES[suffix](svg, points) for suffix in suffixes}


def _svg(text: str, points: float | None) -> bytes:
    return _scaled(text, points, "pt").encode()


def _pdf(text: str, points: float | None) -> bytes:
    return bytes(vl_convert.svg_to_pdf(_scaled(text, points)))


def _png(text: str, points: float | None) -> bytes:
    dots = DOTS if points is not None else 2 * 72  # two dots for each unit of other charts
    return bytes(vl_convert.svg_to_png(_scaled(text, points), ppi=dots))


SUFFIXES = {".svg": _svg, ".pdf": _pdf, ".png": _png}


def _scaled(text: str, points: float | None, unit: str = "") -> str:
    """An SVG with its width in points. Its contents stay in units of the chart."""
    if points is None:
        return text

    def size(match: re.Match[str]) -> str:
        height = points * float(match[2]) / float(match[1])
        return f'width="{points:g}{unit}" height="{height:g}{unit}"'

    return re.sub(r'width="([0-9.]+)" height="([0-9.]+)"', size, text, count=1)
