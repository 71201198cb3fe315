# SPDX-License-Identifier: MIT
"""Prints tables of the counts by function, for `./p5lab show RUN --attribution`."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.errors import UserError, unknown
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present.tables import Grid
from p5stats import phase_names

if TYPE_CHECKING:
    import pandas as pd

BY = ("phase", "function", "module", "line", "ring", "space", "crossing")
EVENT = "cycles.busy"
ROWS = 20
SCHEMA_VERSION = 1


def of_run(directory: Path) -> "pd.DataFrame | None":
    """Returns the counts in a run directory, in the form of
    p5stats.attribution.Attribution.frame(). Returns None if the run was executed without
    --attribute."""
    from p5stats import attribution  # imported here, because loading pandas takes half a second

    path = directory / ATTRIBUTION
    return attribution.read(path).frame() if path.is_file() else None


def top(frame: "pd.DataFrame", by: tuple[str, ...], event: str, rows: int) -> "pd.DataFrame":
    """Returns the `rows` largest counts of an event, grouped by `by` (p5stats.attribution.top). The
    table is empty if the event never happened."""
    import pandas as pd

    from p5stats import attribution

    if event not in set(frame["event"]):
        return pd.DataFrame(columns=[*by, "count", "share"])
    return attribution.top(frame, by, event, rows)


def show(console: Console, stored: Stored, args: argparse.Namespace) -> None:
    """Prints the largest counts as table, markdown, csv or json. `args` contains the options of
    `p5lab show`. Raises UserError if the run has no counts by function, or if the value of --by or
    --event is unknown."""
    frame = of_run(stored.directory)
    if frame is None:
        raise selection.without(stored, "counts by function", "--attribute functions")
    by = tuple(dict.fromkeys(args.by.split(",")))
    for name in by:
        if name not in BY:
            raise unknown("--by value", name, BY)
    if "line" in by and "line" not in frame:
        raise selection.without(stored, "counts by source line", "--attribute lines")
    if args.event not in set(frame["event"]) and args.event not in (known := _events(stored)):
        raise unknown("event", args.event, known)
    where = "all brackets"
    if "phase" not in by and WHOLE_PHASE in set(frame["phase"]):
        # The other brackets of a program are inside this bracket.
        frame, where = frame[frame["phase"] == WHOLE_PHASE], "the whole program"
    frame = frame.assign(phase=_phases(frame, stored)).astype({"ring": str})
    found = top(frame, by, args.event, args.top)
    if args.form == "csv":
        console.file.write(found.to_csv(index=False, lineterminator="\n"))
        return
    if args.form == "json":
        console.file.write(json.dumps(_document(stored, args.event, found), indent=1) + "\n")
        return
    _print(console, f"{args.event}: {{:,}} in {where}", found, args.form)


def _phases(frame: "pd.DataFrame", stored: Stored) -> "pd.Series[str]":
    """The name of each row's phase. A phase without a name keeps its number."""
    names = phase_names.of(stored.record)
    return frame["phase"].map(lambda phase: names.get(phase, str(phase)))


def _events(stored: Stored) -> tuple[str, ...]:
    """The events that the engine attributed in a run, including the events that never happened."""
    from p5stats import attribution

    return tuple(attribution.read(stored.directory / ATTRIBUTION).events)


def show_evictions(console: Console, stored: Stored, args: argparse.Namespace) -> None:
    """Prints pairs of functions. In each pair, cache lines of one function evicted cache lines of
    the other function from the L2. The most frequent pairs come first. Raises UserError if the run
    has no evictions."""
    from p5stats import attribution

    path = stored.directory / ATTRIBUTION
    found = attribution.read(path).eviction_frame() if path.is_file() else None
    if found is None or found.empty:
        raise UserError(
            f"run {stored.id} has no evictions: expected a run with --attribute misses on a machine"
            " with a direct-mapped L2"
        )
    found["share"] = found["count"] / found["count"].sum()
    title = f"conflict misses of L2: {int(found['count'].sum()):,} in all brackets"
    found = found.head(args.top)
    if args.form == "csv":
        console.file.write(found.to_csv(index=False, lineterminator="\n"))
    elif args.form == "json":
        document = _document(stored, "l2 conflict misses", found)
        console.file.write(json.dumps(document, indent=1) + "\n")
    else:
        _print(console, title, found, args.form)


def _print(console: Console, title: str, found: "pd.DataFrame", form: str) -> None:
    """Prints a table. The last two columns of `found` must be count and share. The sum of the
    counts replaces `{}` in the title."""
    *names, _, _ = found.columns
    grid = Grid(
        title.format(int(found["count"].sum())), [*names, "count", "share"], keys=len(names)
    )
    for row in found.itertuples(index=False):
        *cells, count, share = row
        grid.add(*map(str, cells), f"{count:,}", f"{100 * share:.1f} %")
    if form == "markdown":
        console.file.write(grid.markdown() + "\n")
    else:
        grid.print(console)


def _document(stored: Stored, event: str, found: "pd.DataFrame") -> dict[str, Any]:
    rows = json.loads(found.to_json(orient="records"))
    return {"schema_version": SCHEMA_VERSION, "run": stored.id, "event": event, "rows": rows}
