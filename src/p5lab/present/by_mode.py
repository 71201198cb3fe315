# SPDX-License-Identifier: MIT
"""Prints tables of the counts by machine mode, for `./p5lab show RUN --modes`."""

import json
from typing import TYPE_CHECKING

from rich.console import Console

from p5lab.describe.observation.modes import MODES
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present.tables import MISSING, Grid
from p5stats import phase_names

if TYPE_CHECKING:
    import pandas as pd

    from p5stats.modes import Modes

SCHEMA_VERSION = 1
CYCLES = ("cycles.busy", "cycles.idle")
INSTRUCTIONS = "instructions"
NAMES = {
    "real": "real mode",
    "v86": "virtual-8086 mode",
    "prot16": "16-bit protected",
    "prot32": "32-bit protected",
    "long64": "64-bit",
}
KINDS = {"soft": "int", "irq": "hardware", "fault": "exception"}  # of p5stats.known_calls


def show(console: Console, stored: Stored, form: str) -> None:
    """Prints the cycles and instructions of each mode and ring, and the interrupts and exceptions
    by vector, as table or markdown. csv and json contain all events, csv without the vectors.
    Raises UserError if the run has no counts by mode."""
    from p5stats import modes  # imported here, because loading pandas takes half a second

    path = stored.directory / MODES
    if not path.is_file():
        raise selection.without(stored, "counts by mode", "--modes")
    found = modes.read(path)
    if form == "csv":
        console.file.write(found.frame().to_csv(index=False, lineterminator="\n"))
    elif form == "json":
        document = {
            "schema_version": SCHEMA_VERSION,
            "run": stored.id,
            "rows": json.loads(found.frame().to_json(orient="records")),
            "vectors": json.loads(found.vector_frame().to_json(orient="records")),
        }
        console.file.write(json.dumps(document, indent=1) + "\n")
    else:
        for grid in _grids(found, stored):
            if form == "markdown":
                console.file.write(grid.markdown() + "\n\n")
            else:
                grid.print(console)


def _grids(found: "Modes", stored: Stored) -> list[Grid]:
    """Two tables for each phase: counts, and deliveries by vector."""
    names = phase_names.of(stored.record)
    frame, vectors = found.frame(), found.vector_frame()
    grids = []
    for phase in dict.fromkeys(frame["phase"]):
        name = names.get(phase, f"phase {phase}")
        grids.append(_counts(f"machine modes in {name}", frame[frame["phase"] == phase]))
        inside = vectors[vectors["phase"] == phase]
        if len(inside):
            grids.append(_vectors(f"interrupts and exceptions in {name}", inside))
    return grids


def _counts(title: str, frame: "pd.DataFrame") -> Grid:
    grid = Grid(title, ["mode", "ring", "cycles", "%", "instructions", "CPI"], keys=2)
    sums = frame.groupby(["mode", "ring", "event"])["count"].sum()
    total = int(frame[frame["event"].isin(CYCLES)]["count"].sum())
    for mode in NAMES:
        for ring in sorted({ring for at, ring, _ in sums.index if at == mode}):
            cycles = sum(int(sums.get((mode, ring, event), 0)) for event in CYCLES)
            retired = int(sums.get((mode, ring, INSTRUCTIONS), 0))
            busy = int(sums.get((mode, ring, CYCLES[0]), 0))
            grid.add(
                NAMES[mode],
                str(ring),
                f"{cycles:,}",
                f"{100 * cycles / total:.1f}" if total else MISSING,
                f"{retired:,}",
                f"{busy / retired:.2f}" if retired else MISSING,
            )
    return grid


def _vectors(title: str, frame: "pd.DataFrame") -> Grid:
    from p5stats import known_calls

    grid = Grid(title, ["vector", "mode", "ring", "number"], left={1}, keys=3)
    sums = frame.groupby(["entry", "vector", "mode", "ring"])["count"].sum()
    for (entry, vector, mode, ring), count in sums.sort_values(ascending=False).items():
        name = known_calls.read().name(KINDS[entry], vector, None)
        grid.add(name, NAMES[mode], str(ring), f"{count:,}")
    return grid
