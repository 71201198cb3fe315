# SPDX-License-Identifier: MIT
"""The format of all charts: letters, colours and shapes, and the theme of Altair that has them."""

from typing import Any

import altair as alt

NAME = "p5lab"  # of the theme
WIDTH, HEIGHT = 460, 240  # pixels of a curve
LETTER, LINE_HEIGHT = 6.4, 15  # mean width of a letter and height of a line, in pixels
LABEL_WIDTH = 260  # pixels
TICKS = 6
# These eight colours also differ in lightness. In addition, the series have different shapes. Each
# colour is used for one purpose, so that page.css can replace the colour on a dark page.
SERIES = ("#0b61a4", "#c2410c", "#2f7d32", "#7b3fa0", "#96690a", "#0b7285", "#b8236f", "#5a6472")
# The shapes of marks, and their paths in the middle of a piece of a line, which goes from -1 to 1.
SHAPES = {
    "circle": "M.3,0A.3,.3,0,1,1,-.3,0A.3,.3,0,1,1,.3,0",
    "square": "M-.3,-.3H.3V.3H-.3Z",
    "triangle-up": "M0,-.26L-.3,.26H.3Z",
    "diamond": "M-.3,0L0,-.3L.3,0L0,.3Z",
    "triangle-down": "M0,.26L-.3,-.26H.3Z",
    "cross": "M-.3,-.12V.12H-.12V.3H.12V.12H.3V-.12H.12V-.3H-.12V-.12Z",
}
DASHES = ([1, 0], [6, 4], [2, 3], [9, 3, 2, 3])  # pixels of line and gap, for each series
# Colours for more parts than SERIES has colours, which stay apart also for colour-blind readers
# (Paul Tol, Colour Schemes, SRON/EPS/TN/09-002, 2021, scheme "muted", and grey).
PARTS = (
    *("#332288", "#88CCEE", "#44AA99", "#117733", "#999933"),
    *("#DDCC77", "#CC6677", "#882255", "#AA4499", "#BBBBBB"),
)
INK, MUTED, GRID = "#1f2329", "#59626e", "#dde2e8"
# These fonts have the widths of Arial, so that texts have the same width on every host.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
# Prints large numbers as 20k or 2M, like d3, and 1024 and 0.02 with all digits: no 1.024k, no 20m.
LABEL = (
    "isNumber(datum.value) ? format(datum.value, abs(datum.value) < 1000 ? '~g' :"
    " datum.value % 100 ? ',' : '~s')"
    " : datum.label"
)
BYTES = (
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MB' :"
    " datum.value >= 1024 ? datum.value / 1024 + ' KB' : datum.value + ' B'"
)


@alt.theme.register(NAME, enable=False)
def _theme() -> alt.theme.ThemeConfig:
    muted = dict.fromkeys(("label", "title", "domain", "tick"), MUTED) | {"grid": GRID}
    names = {"title": None, "labelColor": INK, "labelFontSize": 12, "labelLimit": 0}
    config: Any = {
        "font": FONT,
        "background": "white",
        "padding": 8,
        "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": HEIGHT},
        "axis": {
            **{f"{part}Color": color for part, color in muted.items()},
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "labelLimit": LABEL_WIDTH,
            "labelExpr": LABEL,
            "labelOverlap": True,
            "labelSeparation": 6,
            "tickCount": TICKS,
        },
        "range": {"category": list(SERIES)},
        "legend": {**names},
        "header": {**names},
        "title": {"color": INK, "anchor": "start", "fontSize": 13},
        "mark": {"color": SERIES[0]},
        "point": {"filled": True, "size": 60, "opacity": 1},
        "text": {"color": INK, "fontSize": 12},
    }
    return {"config": config}
