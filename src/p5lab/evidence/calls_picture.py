# SPDX-License-Identifier: MIT
"""A picture of the crossings of one call on several systems, from traced brackets."""

from dataclasses import dataclass
from html import escape

from p5stats.crossings import CrossingsBracket, Step

LABELS, STEP, LANE, TITLE, GAP, MARGIN = 108, 26, 34, 30, 22, 12  # pixels
KERNELS = ("kernel", "host kernel")
FILLS = {"program": "#cfe3cf", "kernel": "#d4d8e0", "host kernel": "#d4d8e0"}
SERVER = "#f3d9b5"
LINE, SPACE, TEXT = "#444444", "#b02020", "#202020"
STYLE = "font-family: sans-serif; font-size: 12px"
LEGEND = (
    "A box is one uninterrupted step. Ring 0 is below the dashed line.",
    "A line between lanes is a change of ring. A red line is a load of CR3, which selects an"
    " address space.",
)


@dataclass(frozen=True)
class BracketPanel:
    """One system's bracket."""

    name: str
    bracket: CrossingsBracket

    @property
    def lanes(self) -> list[str]:
        """The names of the parts that run. Parts in ring 3 come first, then kernels in ring 0."""
        lanes = list(dict.fromkeys(step.who for step in self.bracket.steps))
        return [who for who in lanes if who not in KERNELS] + [w for w in lanes if w in KERNELS]

    @property
    def title(self) -> str:
        """The name of the system, with the ring crossings and CR3 loads of the bracket."""
        return f"{self.name}: {self.bracket.summary}"

    @property
    def height(self) -> int:
        """The height in pixels."""
        return TITLE + LANE * len(self.lanes) + GAP


def draw(panels: list[BracketPanel]) -> str:
    """The picture as the text of an SVG file."""
    steps = max(len(panel.bracket.steps) for panel in panels)
    width = 2 * MARGIN + LABELS + STEP * steps
    height = 2 * MARGIN + sum(panel.height for panel in panels) + 18 * len(LEGEND)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" style="{STYLE}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    top = MARGIN
    for panel in panels:
        parts += _panel(panel, top)
        top += panel.height
    for line in LEGEND:
        top += 18
        parts.append(_text(MARGIN, top - 4, line))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(panel: BracketPanel, top: int) -> list[str]:
    lanes, steps = panel.lanes, panel.bracket.steps
    first = top + TITLE
    parts = [_text(MARGIN, top + 18, panel.title, weight="bold")]
    right = MARGIN + LABELS + STEP * len(steps)
    for number, who in enumerate(lanes):
        y = first + LANE * number
        parts.append(_text(MARGIN, y + 20, who))
        if who in KERNELS:
            parts.append(_line(MARGIN, y - 1, right, y - 1, "#999999", dashed=True))
    between = []  # on top of the boxes
    for number, step in enumerate(steps):
        x, y = MARGIN + LABELS + STEP * number, first + LANE * lanes.index(step.who)
        parts.append(_box(x, y, step))
        if number + 1 < len(steps):
            below = first + LANE * lanes.index(steps[number + 1].who)
            between.append(_passes_on(x + STEP, y, below, step))
    return parts + between


def _box(x: int, y: int, step: Step) -> str:
    return (
        f'<rect x="{x}" y="{y + 4}" width="{STEP}" height="{LANE - 8}"'
        f' fill="{FILLS.get(step.who, SERVER)}" stroke="{LINE}"/>'
    )


def _passes_on(x: int, y: int, other: int, step: Step) -> str:
    """The line between two boxes. If the step loads CR3, the line is wide and covers the height of
    both boxes."""
    colour = SPACE if step.switches else LINE
    low, high = sorted((y, other))
    end = high + LANE - 4 if step.switches else high + 4
    start = low + 4 if step.switches else low + LANE - 4
    return _line(x, start, x, end, colour, 3 if step.switches else 2)


def _line(
    x: int, y: int, to_x: int, to_y: int, colour: str, width: int = 1, *, dashed: bool = False
) -> str:
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="{colour}"'
        f' stroke-width="{width}"{dash}/>'
    )


def _text(x: int, y: int, text: str, *, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" fill="{TEXT}">{escape(text)}</text>'
