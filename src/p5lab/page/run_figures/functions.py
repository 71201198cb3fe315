# SPDX-License-Identifier: MIT
"""Figures of the functions and of the source lines of programs, with the text of each line."""

from collections.abc import Mapping, Sequence
from functools import partial

from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.keep.store import Stored
from p5lab.page import divided_figure
from p5lab.page.figure import Figure
from p5lab.present import by_source
from p5lab.present.breakdown import ALL, BreakdownQuestion

PLACE = 2
BY_FUNCTION = BreakdownQuestion(("function", "module", "ring"), per=ALL)
WITH_LINE = BreakdownQuestion(
    ("line",), {"line": ("*:*",)}, per=ALL
)  # other code has no source line
CODE_LETTERS = 40  # a longer line of source is cut


def has(run: Stored) -> bool:
    """Whether a run with status ok has counts by function."""
    return run.status == "ok" and (run.directory / ATTRIBUTION).is_file()


def of(runs: Sequence[Stored]) -> list[Figure]:
    """Returns the figures of the functions, and of the source lines of the runs that counted by
    line."""
    figures = divided_figure.of(runs, BY_FUNCTION)
    texts: dict[str, str] = {}
    lined = [run for run in runs if (own := by_source.sources(run)) and not texts.update(own)]
    if lined:
        figures += divided_figure.of(lined, WITH_LINE, name=partial(_line, texts))
    return figures


def _line(sources: Mapping[str, str], _: str, place: str) -> str:
    """Returns the place of a line and its text, such as `a.c:7: i++;`."""
    file, _, number = place.rpartition(":")
    for path, text in sources.items():
        lines = text.split("\n")
        if f"/{path}".endswith(f"/{file}") and number.isdecimal() and 0 < int(number) <= len(lines):
            code = " ".join(lines[int(number) - 1].split())
            return f"{place}: {code[:CODE_LETTERS]}{'...' if len(code) > CODE_LETTERS else ''}"
    return place
