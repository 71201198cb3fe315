# SPDX-License-Identifier: MIT
"""Prints a table of the counts by system call and interrupt, for `./p5lab show RUN --calls`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.observation.calls import CALLS, Calls
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present.tables import MISSING, Grid
from p5lab.terminal import markup
from p5stats import phase_names

if TYPE_CHECKING:
    import pandas as pd

ROWS = 20
MOST_PHASES = 3  # for example boot, a window, and the empty bracket
SCHEMA_VERSION = 1
HEADS = ("call", "calls", "no\nreturn", "exclusive\ncycles", "inclusive\nper call")
MORE = (
    "% of all\ncycles",
    "waited\nper call",
    "idle\nper call",
    "mode chg.\nper call",
    "crossings\nper call",
)


def of_run(directory: Path) -> "pd.DataFrame | None":
    """The counts by call in a run directory, in the form of p5stats.calls.frame(). None if the run
    was made without --calls."""
    from p5stats import calls  # imported here, because loading pandas takes half a second

    path = directory / CALLS
    return calls.frame(calls.read(path)) if path.is_file() else None


def show(console: Console, stored: Stored, form: str, rows: int, *, more: bool) -> None:
    """Prints the calls with the most exclusive cycles as table, markdown, csv or json. `more`: with
    the columns about shares, waiting, idle time, mode changes and crossings. csv and json contain
    all calls and columns. Raises UserError if the run has no counts by call."""
    frame = of_run(stored.directory)
    if frame is None:
        raise selection.without(stored, "counts by call", "--calls")
    if form == "csv":
        console.file.write(frame.to_csv(index=False, lineterminator="\n"))
    elif form == "json":
        found = json.loads(frame.to_json(orient="records"))
        document = {"schema_version": SCHEMA_VERSION, "run": stored.id, "rows": found}
        console.file.write(json.dumps(document, indent=1) + "\n")
    elif form == "markdown":
        grids = _grids(frame, stored, rows, more=more)
        console.file.write("\n\n".join(grid.markdown() for grid in grids) + "\n")
    else:
        for grid in _grids(frame, stored, rows, more=more):
            grid.print(console)


def brief(console: Console, stored: Stored) -> None:
    """Prints the tables of a run with at most MOST_PHASES phases, and else the command that prints
    them. The run has counts by call."""
    frame = of_run(stored.directory)
    if frame is not None and frame["phase"].nunique() <= MOST_PHASES:
        show(console, stored, "table", ROWS, more=False)
    else:
        for line in Calls().remarks(stored.id, ""):
            console.print(markup(line), highlight=False, soft_wrap=True)


def _grids(frame: "pd.DataFrame", stored: Stored, rows: int, *, more: bool) -> list[Grid]:
    """A table for each phase. If the run has a bracket around a whole program, only this one."""
    names = phase_names.of(stored.record)
    phases = list(dict.fromkeys(frame["phase"]))
    if WHOLE_PHASE in phases:
        phases = [WHOLE_PHASE]
    grids = []
    for phase in phases:
        name = "the whole program" if phase == WHOLE_PHASE else names.get(phase, f"phase {phase}")
        grids.append(_grid(f"calls in {name}", frame[frame["phase"] == phase], rows, more=more))
    return grids


def _grid(title: str, frame: "pd.DataFrame", rows: int, *, more: bool) -> Grid:
    from p5stats import calls

    total = int(frame["exclusive"].sum())
    grid = Grid(title, [*HEADS, *(MORE if more else ())])
    inside = frame[frame["kind"] != calls.OUTSIDE]
    for row in inside.head(rows).itertuples(index=False):
        each = [
            _per_call(count, row.returned)
            for count in (row.inclusive, row.waited, row.idle, row.mode_changes, row.crossings)
        ]
        grid.add(
            str(row.name),
            f"{row.calls:,}",
            f"{row.calls - row.returned:,}",
            f"{row.exclusive:,}",
            each[0],
            *([_share(row.exclusive, total), *each[1:]] if more else []),
        )
    rest, last = inside.iloc[rows:], frame[frame["kind"] == calls.OUTSIDE]
    if len(rest):
        number, own = int(rest["calls"].sum()), int(rest["exclusive"].sum())
        no_return = number - int(rest["returned"].sum())
        share = [_share(own, total)] if more else []
        grid.add(f"({len(rest)} others)", f"{number:,}", f"{no_return:,}", f"{own:,}", "", *share)
    own = int(last["exclusive"].sum())
    for name, cycles in ((calls.OUTSIDE_NAME, own), ("all cycles", total)):
        share = [_share(cycles, total)] if more else []
        grid.add(name, "", "", f"{cycles:,}", "", *share)
    return grid


def _per_call(count: int, returned: int) -> str:
    """A mean over the calls that returned."""
    if not returned:
        return MISSING
    mean = count / returned
    return f"{mean:,.0f}" if abs(mean) >= 1000 or mean == int(mean) else f"{mean:,.1f}"


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}" if total else MISSING
