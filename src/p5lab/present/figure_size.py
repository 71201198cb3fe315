# SPDX-License-Identifier: MIT
"""The size of a figure for a paper: the width of a column and the size of the letters."""

import re
from dataclasses import dataclass

from p5lab.errors import UserError

LETTERS = 12  # the size of the letters of a chart, in its own units
FONT_SIZE = 8.0  # points
POINTS = {"in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "pt": 1.0}
NARROWEST, WIDEST = 72.0, 2880.0  # points
SMALLEST, LARGEST = 4.0, 36.0  # points of a font


@dataclass(frozen=True)
class FigureSize:
    """`width` and `font_size` in points."""

    width: float
    font_size: float = FONT_SIZE

    @property
    def units(self) -> float:
        """The width of the chart in its own units."""
        return self.width * LETTERS / self.font_size


def parse(width: str | None, font_size: float | None, where: str) -> FigureSize | None:
    """Returns the size of a figure, or None if neither is given. Raises UserError for a wrong
    width or font size. `where`: the beginning of the messages."""
    if width is None and font_size is None:
        return None
    if width is None:
        raise UserError(f"{where}: font size: expected with a width, such as 3.3in")
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(in|cm|mm|pt)", str(width).strip())
    points = float(match[1]) * POINTS[match[2]] if match else 0.0
    if not NARROWEST <= points <= WIDEST:
        raise UserError(
            f"{where}: width {width!r}: expected 1in to 40in, such as 3.3in, 84mm or 240pt"
        )
    size = FONT_SIZE if font_size is None else float(font_size)
    if not SMALLEST <= size <= LARGEST:
        raise UserError(f"{where}: font size {size:g}: expected {SMALLEST:g} to {LARGEST:g} points")
    return FigureSize(points, size)
