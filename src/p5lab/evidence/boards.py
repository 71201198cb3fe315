# SPDX-License-Identifier: MIT
"""The memory bandwidths of brown97, published and modelled, with the boards side by side."""

from __future__ import annotations

from p5lab.evidence.validate import WORDS
from p5lab.present.tables import MISSING, Grid, number
from p5stats.lazy import pd

PAPER = "brown97"


def grid(claims: pd.DataFrame) -> Grid:
    """A row for each measurement of the paper. A cell contains the modelled number, the published
    number and the verdict. The quantity of each claim is `BOARD: MEASUREMENT`."""
    rows = claims[claims["source"].str.startswith(f"{PAPER} ")].copy()
    rows[["board", "what"]] = rows["quantity"].str.split(": ", n=1, expand=True)
    boards = list(rows["board"].unique())
    table = Grid("", ["model / paper", *boards])
    for what in rows["what"].unique():
        cells = rows[rows["what"] == what].set_index("board").to_dict("index")
        unit = next(iter(cells.values()))["unit"]
        table.add(
            f"{what}, {unit}",
            *(_cell(cells[board]) if board in cells else MISSING for board in boards),
        )
    return table


def _cell(row: dict[str, object]) -> str:
    modelled, published = float(str(row["modelled"])), float(str(row["published"]))
    return (
        f"{number(modelled)} / {number(published)} ({float(str(row['error'])):+.1f} %,"
        f" {row['role']}: {WORDS[str(row['verdict'])]})"
    )
