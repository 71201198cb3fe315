# SPDX-License-Identifier: MIT
"""Tables of texts, for a terminal and for Markdown."""

import csv
import html
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from p5lab.terminal import for_terminal, markup
from p5stats.lazy import pd

SCHEMA_VERSION = 1  # of the JSON that commands print
SPREAD = "min-max"  # the head of a column of ranges
MISSING = "-"
ZERO = "0"
LONG = 24  # characters; only the texts of a wider column may continue on a second line
NARROW = 12  # characters; a narrower column cannot contain most words
BORDER = 3  # characters that each column needs beside its texts
EDGE = 1
MOST_KEYS = 0.7  # of the width, for the columns that name the rows
LEAST_KEY = 4  # characters of a column that names the rows
# Forms of a document: a text that contains tables and notes.
MARKDOWN, LATEX = "markdown", "latex"
# Characters that LaTeX does not print as they are.
TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


@dataclass
class Grid:
    """A table of texts. Heads may contain line breaks. The first `keys` columns name the row."""

    title: str
    heads: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    dim: set[int] = field(default_factory=set)  # numbers of rows that only explain the row above
    points: bool = False  # the first column contains the points of a curve
    left: set[int] = field(default_factory=set)  # numbers of columns with texts, after the first
    keys: int = 1  # the columns that each part of a table that is too wide begins with
    metrics: bool = False  # each row is a metric; a row with only zeros says little

    def add(self, *cells: str, dim: bool = False) -> None:
        """Adds a row. `dim`: the row is shown dimmed, because it explains the row above. Cells at
        the end of the row may be missing."""
        if dim:
            self.dim.add(len(self.rows))
        self.rows.append((*cells, *[""] * (len(self.heads) - len(cells))))

    @property
    def width(self) -> int:
        """The number of characters that the table needs if no text continues on a second line."""
        return total(self.widths())

    def height(self, width: int) -> int:
        """The number of lines that the table takes in a terminal of `width` characters, if only
        the names of its rows continue in further rows."""
        shown = self._with_room(width)
        heads = max((head.count("\n") + 1 for head in shown.heads), default=1)
        title = 1 if self.title else 0
        return title + len(shown._parts(width)) * (heads + len(shown.rows) + 3)

    def without_zeros(self) -> "Grid":
        """A table of metrics without the rows that contain only zeros. Any other table remains as
        it is."""
        if not self.metrics:
            return self
        kept = [
            place
            for place, row in enumerate(self.rows)
            if any(cell not in (ZERO, MISSING, "") for cell in row[1:])
        ]
        dim = {new for new, old in enumerate(kept) if old in self.dim}
        return replace(self, rows=[self.rows[old] for old in kept], dim=dim)

    def print(self, console: Console) -> None:
        """Prints the table in the width of the console.

        If the table is too wide, the texts of its widest columns continue on a second line. If it
        is still too wide, its columns are printed as several tables below each other. Each of them
        begins with all columns that name the row. If these columns leave no space for numbers,
        their texts continue in further rows. A number is never divided.
        """
        if self.title:
            console.print(markup(self.title), style="italic")
        self._with_room(console.width)._print_parts(console)

    def _are_texts(self) -> list[bool]:
        """Whether each column contains texts, which begin at the left."""
        first = set() if self.points else {0}
        return [place in self.left | first for place in range(len(self.heads))]

    def _print_parts(self, console: Console) -> None:
        widths, texts = self.widths(), self._are_texts()
        for part in self._parts(console.width):
            fits = total([widths[place] for place in part]) <= console.width
            table = Table(box=box.SIMPLE_HEAD)
            for place in part:
                table.add_column(
                    markup(self.heads[place], lines=True),
                    justify="left" if texts[place] or widths[place] > LONG else "right",
                    no_wrap=fits or widths[place] <= LONG,
                    overflow="fold",
                )
            for number, row in enumerate(self.rows):
                cells = [markup(row[place]) for place in part]
                table.add_row(*cells, style="dim" if number in self.dim else "")
            before = console.width
            # A terminal that is too narrow for two columns wraps the lines itself.
            console.width = max(before, total([min(widths[place], LONG) for place in part]))
            console.print(table)
            console.width = before

    def widths(self) -> list[int]:
        """The width of the longest text in each column, in characters."""
        return [
            max(
                *(cell_len(line) for line in head.split("\n")),
                *(cell_len(for_terminal(row[place])) for row in self.rows),
                0,
            )
            for place, head in enumerate(self.heads)
        ]

    def fitted(self, width: int) -> "Grid":
        """A table of at most `width` characters. Texts that are too long continue in further rows.
        A text is divided after a space or one of the characters `/,=._-`. If the columns become too
        narrow for this, the table remains as it is."""
        natural = self.widths()
        level = _level(natural, width)
        return self if level < NARROW else self._folded([level] * len(natural))

    def _with_room(self, width: int) -> "Grid":
        """The table as a terminal of `width` characters shows it: if the columns that name the row
        leave no space for numbers, their texts continue in further rows. If this is enough for all
        texts, the table has one part."""
        widths = [min(natural, LONG) for natural in self.widths()]
        names = widths[: self.keys]
        most = int(width * MOST_KEYS)
        if len(names) < 2 or self.width <= width or total(names) <= most:
            return self
        fitted = self.fitted(width)
        if fitted.width <= width:
            return fitted
        level = max(_level(names, most), LEAST_KEY)
        return self._folded([level] * len(names))

    def _folded(self, limits: Sequence[int]) -> "Grid":
        """The table whose first columns have at most these widths in characters. Longer texts
        continue in further rows."""
        heads = [
            "\n".join(piece for line in head.split("\n") for piece in _divided(line, limit))
            for head, limit in zip(self.heads, limits, strict=False)
        ]
        folded = replace(self, heads=[*heads, *self.heads[len(heads) :]], rows=[], dim=set())
        for number, row in enumerate(self.rows):
            cells = [[text] for text in row]
            for place, limit in enumerate(limits):
                cells[place] = _divided(for_terminal(row[place]), limit)
            for line in range(max(map(len, cells))):
                texts = (cell[line] if line < len(cell) else "" for cell in cells)
                folded.add(*texts, dim=number in self.dim)
        return folded

    def _parts(self, width: int) -> list[list[int]]:
        """Divides the columns into tables of at most `width` characters. Returns the numbers of the
        columns in each table."""
        widths = [min(natural, LONG) for natural in self.widths()]
        keys = min(self.keys, len(widths))
        names = list(range(keys))
        parts: list[list[int]] = [names.copy()] if widths else []
        for place in range(keys, len(widths)):
            wide = total([widths[column] for column in (*parts[-1], place)]) > width
            if wide and len(parts[-1]) > keys:
                parts.append(names.copy())
            parts[-1].append(place)
        # If possible, each table has about the same number of columns.
        each = math.ceil((len(widths) - keys) / max(len(parts), 1))
        even = [
            [*names, *range(first, min(first + each, len(widths)))]
            for first in range(keys, len(widths), max(each, 1))
        ]
        fits = all(total([widths[column] for column in part]) <= width for part in even)
        return even if even and fits else parts

    def markdown(self) -> str:
        """Returns the table in Markdown, with the title in bold above it."""
        lines = [f"**{safe(self.title)}**", ""] if self.title else []
        lines.append(_pipes([head.replace("-\n", "").replace("\n", " ") for head in self.heads]))
        lines.append(_pipes(["---" if text else "---:" for text in self._are_texts()]))
        lines += [_pipes([cell.strip() for cell in row]) for row in self.rows]
        return "\n".join(lines)

    def latex(self) -> str:
        """Returns the table as `tabular` of LaTeX with the rules of the package booktabs. The title
        is a comment, because a paper has a caption of its own."""
        if not self.heads:
            return ""
        columns = "".join("l" if text else "r" for text in self._are_texts())
        heads = [head.split("\n") for head in self.heads]
        height = max(map(len, heads))
        above = [[*[""] * (height - len(head)), *head] for head in heads]
        title = [f"% {line}" for line in for_terminal(self.title).splitlines()]
        return "\n".join(
            [
                *title,
                f"\\begin{{tabular}}{{{columns}}}",
                r"\toprule",
                *(_tex_row(cells) for cells in zip(*above, strict=True)),
                r"\midrule",
                *map(_tex_row, self.rows),
                r"\bottomrule",
                r"\end{tabular}",
            ]
        )


def document(grids: Sequence[Grid], notes: Sequence[str], form: str = MARKDOWN) -> str:
    """Returns tables with the notes below them, as Markdown or as LaTeX. In LaTeX, the notes are
    comments."""
    if form == LATEX:
        needs = r"% needs \usepackage{booktabs} and \usepackage[T1]{fontenc}"
        below = "\n".join(f"% {line}" for note in notes for line in note.splitlines())
        return "\n\n".join(filter(None, (needs, *(grid.latex() for grid in grids), below)))
    return "\n\n".join([*(grid.markdown() for grid in grids), *map(_safe_lines, notes)])


def _safe_lines(note: str) -> str:
    return safe(note, lines=True)


def _tex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(tex, cells)).strip() + r" \\"


def tex(text: str) -> str:
    """Returns a text as LaTeX prints it. A number gets a minus sign, and a dash is one."""
    shown = for_terminal(text.strip())
    if shown == MISSING:
        return "--"
    escaped = "".join(TEX.get(character, character) for character in shown)
    return f"$-${escaped[1:]}" if re.match(r"-[0-9]", shown) else escaped


def total(widths: Iterable[int]) -> int:
    """The width of a table whose columns have texts of these widths."""
    return sum(width + BORDER for width in widths) + EDGE


def _level(widths: Sequence[int], width: int) -> int:
    """The largest width in characters to which the columns of a table of at most `width` characters
    can be limited. `widths`: those of their texts."""
    room = width - total([0] * len(widths))
    level = max(widths, default=0)
    while level > 0 and sum(min(natural, level) for natural in widths) > room:
        level -= 1
    return level


def lines_of(text: str, width: int) -> int:
    """The lines that a text needs in a terminal of `width` characters."""
    return math.ceil(cell_len(text) / width)


def _divided(text: str, width: int) -> list[str]:
    """Divides a text into lines of at most `width` characters. Spaces at the beginning of the text
    also begin the further lines."""
    if len(text) <= width:
        return [text]
    indent = " " * min(len(text) - len(text.lstrip()), width // 2)
    lines = [indent]
    for piece in re.findall(r"[^ /,=._-]*[ /,=._-]*", text.strip()):
        if len(lines[-1] + piece.rstrip()) > width and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += piece
        while len(lines[-1].rstrip()) > width:
            lines[-1:] = [lines[-1][:width], indent + lines[-1][width:]]
    return [line.rstrip() for line in lines]


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(safe(cell).replace("|", "\\|") for cell in cells) + " |"


def safe(text: str, *, lines: bool = False) -> str:
    """Returns text for Markdown, with HTML tags escaped. `lines`: the text may have several
    lines."""
    return html.escape(for_terminal(text, lines=lines), quote=False)


def print_all(console: Console, grids: Iterable[Grid], notes: Iterable[str]) -> None:
    """Prints tables, and the notes below them."""
    for grid in grids:
        grid.print(console)
    for note in notes:
        console.print(markup(note, lines=True), style="dim", highlight=False)


def show(
    console: Console,
    form: str,
    grids: Sequence[Grid],
    notes: Sequence[str],
    rows: Sequence[Mapping[str, object]] = (),
    **more: object,
) -> None:
    """Prints `rows` as csv or json, or tables with the notes below them in one of the other
    forms. `more`: what json has beside the rows, or instead of them."""
    if form == "csv":
        console.file.write(as_csv(rows))
    elif form == "json":
        console.file.write(as_json(**{"rows": rows, **more}))
    elif form in (MARKDOWN, LATEX):
        console.file.write(document(grids, notes, form) + "\n")
    else:
        print_all(console, grids, notes)


def plain(value: float) -> float | None:
    """A number as JSON has it: None for NaN."""
    return None if math.isnan(value) else value


def as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows with the same keys as CSV: a line with the keys, and a line for each row. None is an
    empty cell."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def as_json(**what: object) -> str:
    """One object of JSON with the version of its form (docs/reference/formats.md)."""
    return json.dumps({"schema_version": SCHEMA_VERSION, **what}, indent=1) + "\n"


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """The rows of a table for JSON and CSV: None for NaN."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def clocks(value: float) -> str:
    """Returns a number of clocks as text: one decimal if it is small."""
    return f"{value:,.1f}" if abs(value) < 100 else f"{value:,.0f}"


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


def spread(low: float, high: float) -> str:
    """Returns the range of several values as text."""
    first, last = number(low), number(high)
    return first if first == last else f"{first}-{last}"


def signed(value: float, shown: Callable[[float], str] = number) -> str:
    """Returns a difference as text, with its sign. `shown`: how to print its amount."""
    if math.isnan(value):
        return MISSING
    return ZERO if not value else ("+" if value > 0 else "-") + shown(abs(value))


def percent(part: float, whole: float) -> str:
    """Returns a part in percent as text. Returns MISSING if the whole is zero or NaN."""
    return f"{100 * part / whole:.1f}" if whole and whole == whole else MISSING


def share(part: float, whole: float) -> str:
    """The same as `percent`, with the sign."""
    return f"{percent(part, whole)} %" if whole else MISSING


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
