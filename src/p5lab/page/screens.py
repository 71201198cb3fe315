# SPDX-License-Identifier: MIT
"""The section of a page about runs with a screen: what was booted from media, how the run ended,
and the screen."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.keep.store import Stored
from p5lab.present import comparison, screen
from p5lab.present.tables import Grid

MEDIA_HEADS = ("medium", "file", "form", "known as", "SHA-256")


@dataclass(frozen=True)
class ShownScreen:
    """The screen of one run. `facts`: the system, the machine and the end of the run. `media`: the
    names and digests of the booted media. `image`: the picture as a data URL; empty in a text mode.
    `about`: the text for people who do not see the picture. `text`: the rows of a text mode."""

    run: str
    title: str
    facts: Sequence[tuple[str, str]]
    media: Grid
    image: str
    about: str
    text: str


def of(runs: Sequence[Stored]) -> list[ShownScreen]:
    """The screens of those runs that booted from media or on a guest with a graphics screen, in the
    order of `runs`. Raises UserError for a picture that cannot be read."""
    return [_shown(run) for run in runs if run.record.get("media") or screen.of(run)]


def _shown(stored: Stored) -> ShownScreen:
    record = stored.record
    display = screen.of(stored)
    text = display.text.strip("\n") if display else ""
    image, about = "", f"The screen of {record['label']}"
    if display and display.picture:
        encoded = base64.b64encode(display.png()).decode("ascii")
        image = f"data:image/png;base64,{encoded}"
        about, text = f"{about}, {text.strip('()')}", ""
    return ShownScreen(
        stored.id, record["label"], _facts(record), _media(record), image, about, text
    )


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    guest, *machine = comparison.system_of(record)
    return [
        ("System", guest),
        ("Machine", " ".join(filter(None, machine))),
        ("End of the run", ": ".join(filter(None, (record["status"], record["reason"])))),
    ]


def _media(record: dict[str, Any]) -> Grid:
    every = set(range(len(MEDIA_HEADS)))
    grid = Grid(f"media of {record['label']}", list(MEDIA_HEADS), left=every)
    for role, medium in record.get("media", {}).items():
        grid.add(role, medium["file"], medium["form"], medium["known_as"], medium["sha256"])
    return grid
