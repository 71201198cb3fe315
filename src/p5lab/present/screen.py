# SPDX-License-Identifier: MIT
"""The screens of a run, for `run`, `show RUN`, pages and notebooks: the screen at the end, and the
screens at the steps of a script. A run has a screen if it boots from media or if its guest has a
graphics screen."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from p5lab.describe import outputs
from p5lab.errors import UserError
from p5lab.keep import gc
from p5lab.keep.store import Stored
from p5lab.terminal import for_terminal

if TYPE_CHECKING:
    from PIL.Image import Image

TEXT, PICTURE = outputs.file("screen"), outputs.file("picture")
STEPS = outputs.file("step_screens")
HEAD = "the screen at the end:"


@dataclass(frozen=True)
class Screen:
    """What the monitor showed. `text`: the rows of a text mode with a line break after each row,
    or one line with the size of a graphics mode. The text contains no control characters.
    `picture`: the PNG file of a graphics mode; None in a text mode. A notebook displays the picture
    or the text."""

    text: str
    picture: Path | None

    def image(self) -> "Image":
        """Returns the picture as an image of the package Pillow. Raises UserError if the screen has
        no picture, or if the file cannot be read."""
        if self.picture is None:
            raise UserError("this screen has no picture: expected a run that ended in graphics")
        from PIL import Image

        try:
            with Image.open(self.picture, formats=["PNG"]) as image:
                image.load()
                return image
        except (OSError, ValueError, SyntaxError) as error:
            raise UserError(f"cannot read {self.picture}: {error}") from None

    def png(self) -> bytes:
        """Returns the content of the PNG file; empty if the screen has no picture."""
        try:
            return self.picture.read_bytes() if self.picture else b""
        except OSError as error:
            raise UserError(f"cannot read {self.picture}: {error.strerror}") from None

    def __str__(self) -> str:
        return self.text

    def _repr_png_(self) -> bytes | None:
        return self.png() or None

    def _repr_html_(self) -> str | None:
        return None if self.picture else f"<pre>{html.escape(self.text)}</pre>"


def of(stored: Stored) -> Screen | None:
    """Returns the screen that a run left; None if it left no screen."""
    content = _content(stored, TEXT)
    if content is None:
        return None
    picture = stored.directory / PICTURE
    return Screen(for_terminal(content, lines=True), picture if picture.is_file() else None)


def text(stored: Stored) -> str:
    """The screen that a run left, safe for a terminal: a line above it, and each row after two
    spaces. Empty rows at the end are left out. The last line names the picture of a graphics mode.
    Empty if the run left no screen."""
    screen = of(stored)
    if screen is None:
        return ""
    rows = screen.text.rstrip("\n").split("\n")
    if screen.picture:
        rows.append(f"picture: {screen.picture} ({gc.human(screen.picture.stat().st_size)})")
    shown = "".join(f"  {for_terminal(row)}".rstrip() + "\n" for row in rows)
    return f"{HEAD}\n{shown}" if shown.strip() else f"{HEAD} empty\n"


def steps(stored: Stored) -> str:
    """The screens at the steps of a run's script, safe for a terminal: a line about each step, and
    each row after two spaces. Empty if the run had no script."""
    lines = (_content(stored, STEPS) or "").splitlines()
    return "".join(f"{for_terminal(line)}\n" for line in lines)


def _content(stored: Stored, file: str) -> str | None:
    try:
        return (stored.directory / file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def several(runs: Sequence[Stored]) -> str:
    """The screens of several runs, each below the name of its run. Empty if no run left a
    screen."""
    return "".join(
        f"{for_terminal(run.record['label'])}: {shown}" for run in runs if (shown := text(run))
    )
