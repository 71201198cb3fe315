# SPDX-License-Identifier: MIT
"""Shows the text screen of a simulated machine in a terminal, with its colours and its cursor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# The terminal's numbers of the eight colours, in the order of a video card (blue is bit 0).
COLOURS = (0, 4, 2, 6, 1, 5, 3, 7)
BRIGHT, NORMAL_ATTRIBUTE = 8, 7  # a bit of the foreground; light grey on black
CLEAR, RESET = "\x1b[2J", "\x1b[0m"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


@dataclass(frozen=True)
class TextScreen:
    """A text screen. `rows`: its characters, without spaces at the ends. `attributes`: one byte for
    each place of all rows, as in the memory of a video card. `cursor`: its place, counted in
    characters; None if the card shows no cursor."""

    columns: int
    rows: Sequence[str]
    attributes: bytes
    cursor: int | None

    def row(self, number: int, width: int) -> str:
        """One row with the control sequences of its colours, cut to the width of the terminal."""
        shown = min(self.columns, width)
        characters = self.rows[number].ljust(self.columns)
        begin = number * self.columns
        text, last = "", None
        for character, attribute in zip(
            characters[:shown], self.attributes[begin : begin + shown], strict=True
        ):
            if attribute != last:
                text, last = text + sequence(attribute), attribute
            text += character
        return text + RESET


def sequence(attribute: int) -> str:
    """The control sequence for an attribute of a video card. Blinking is not shown."""
    front, back = COLOURS[attribute & 7], COLOURS[attribute >> 4 & 7]
    return f"\x1b[0;{(90 if attribute & BRIGHT else 30) + front};{40 + back}m"


@dataclass
class Painter:
    """Paints the rows that have changed. `write` sends a text to the terminal; `size` returns its
    columns and lines."""

    write: Callable[[str], None]
    size: Callable[[], tuple[int, int]]
    _shown: dict[int, str] = field(default_factory=dict)  # by line of the terminal
    _size: tuple[int, int] = (0, 0)

    def paint(self, text: TextScreen) -> None:
        """Shows a screen. If the terminal has fewer lines, it shows those with the cursor."""
        width, height = self.size()
        at = divmod(text.cursor, text.columns) if text.cursor is not None else None
        last = max(at[0], height - 1) if at else len(text.rows) - 1
        first = max(0, min(last, len(text.rows) - 1) - height + 1)
        rows = {
            line: text.row(first + line, width)
            for line in range(min(height, len(text.rows) - first))
        }
        out = self._changes(rows)
        if at and at[1] < width:
            out += f"\x1b[{at[0] - first + 1};{at[1] + 1}H{SHOW}"
        self.write(out)

    def say(self, line: str) -> None:
        """Shows a line of p5lab instead of a screen."""
        if out := self._changes({0: line[: self.size()[0]]}):
            self.write(out)

    def _changes(self, rows: dict[int, str]) -> str:
        out = HIDE
        if self.size() != self._size or self._shown.keys() != rows.keys():
            self._size, self._shown = self.size(), {}
            out += RESET + CLEAR
        for line, row in rows.items():
            if self._shown.get(line) != row:
                out += f"\x1b[{line + 1};1H{row}"
        self._shown = rows
        return out
