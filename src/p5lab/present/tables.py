# SPDX-License-Identifier: MIT
"""Tables of texts, for a terminal and for Markdown."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from p5lab.host.terminal import for_terminal, markup

MISSING = "-"


@dataclass
class Grid:
    """A table of texts. Heads may contain line breaks. The first column contains the name of the
    row."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    dim: set[int] = field(default_factory=set)  # numbers of rows that only explain the row above
    points: bool = False  # the first column contains the points of a curve

    def add(self, *cells: str, dim: bool = False) -> None:
        """Adds a row. `dim`: the row is shown dimmed, because it explains the row above."""
        if dim:
            self.dim.add(len(self.rows))
        self.rows.append(cells)

    def print(self, console: Console) -> None:
        """Prints the table. The table may be wider than the console, so that no number is cut
        off."""
        if self.title:
            console.print(markup(self.title), style="italic")
        table = Table(box=box.SIMPLE_HEAD)
        for number, head in enumerate(self.heads):
            right = number > 0 or self.points
            table.add_column(
                markup(head, lines=True), justify="right" if right else "left", no_wrap=True
            )
        for number, row in enumerate(self.rows):
            table.add_row(*map(markup, row), style="dim" if number in self.dim else "")
        # The table is printed in its full width. If the terminal is narrower than the table, the
        # terminal wraps the lines.
        needed = Measurement.get(console, console.options.update(max_width=1 << 16), table).maximum
        width = console.width
        console.width = max(needed, width)
        console.print(table)
        console.width = width

    def markdown(self) -> str:
        """Returns the table in Markdown, with the title in bold above it."""
        lines = [f"**{_safe(self.title)}**", ""] if self.title else []
        lines.append(_pipes([head.replace("-\n", "").replace("\n", " ") for head in self.heads]))
        lines.append(
            _pipes(
                [
                    "---" if not number and not self.points else "---:"
                    for number in range(len(self.heads))
                ]
            )
        )
        lines += [_pipes([cell.strip() for cell in row]) for row in self.rows]
        return "\n".join(lines)


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_safe(cell).replace("|", "\\|") for cell in cells) + " |"


def _safe(text: str) -> str:
    """Returns text for Markdown, with HTML tags escaped."""
    return html.escape(for_terminal(text), quote=False)


def number(value: float) -> str:
    """Returns a number as text with four significant digits and separated thousands. Returns
    MISSING for NaN."""
    if math.isnan(value):
        return MISSING
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 5)}f}".rstrip("0").rstrip(".") or "0"


def ratio(value: float, reference: float) -> float:
    """Returns value / reference, or NaN if the reference is zero."""
    return value / reference if reference else float("nan")


def times(value: float) -> str:
    """Returns a ratio as text. A ratio below 0.1 has two significant digits. Any other ratio below
    10 has two decimals, and a larger ratio has one decimal. Returns MISSING for NaN."""
    if math.isnan(value):
        return MISSING
    if 0 < abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:,.2f}" if abs(value) < 9.995 else f"{value:,.1f}"
