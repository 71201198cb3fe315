# SPDX-License-Identifier: MIT
"""Prints the estimates that p5lab.execute.sampling makes. Each estimate is computed from a few
intervals of a run."""

import json
from typing import Any

from rich.console import Console

from p5lab.execute.sampling import BLOCKS, FULL, SAMPLED, SCHEMA_VERSION, Chosen
from p5lab.present.tables import MISSING, Grid, number, print_all
from p5stats.simpoint import BUSY, INSTRUCTIONS

NOTE = (
    "Estimates are means over the chosen intervals. The weight of an interval is the number of"
    " instructions that it represents. Clock drift compares two virtual times: the time inside the"
    " brackets of the sampled run and the time inside the brackets of the full run. Host seconds"
    " are the wall time of each run, including the boot."
)


def show(console: Console, estimates: dict[str, dict[str, Any]], form: str) -> None:
    """Prints the estimates as table, markdown or json. `estimates`: the record of each label."""
    if form == "json":
        rows = [{"label": label, **record} for label, record in estimates.items()]
        print(json.dumps({"schema_version": SCHEMA_VERSION, "rows": rows}, indent=1))
        return
    grids = [summary(estimates), *(_rates(label, record) for label, record in estimates.items())]
    if form == "markdown":
        print("\n\n".join([*(grid.markdown() for grid in grids), NOTE]))
        return
    print_all(console, grids if estimates else (), [NOTE])


def points(chosen: Chosen) -> Grid:
    """Returns a table of the chosen intervals: cluster, weight and length in instructions."""
    idle = sum(not counts for counts in chosen.vectors.intervals)
    grid = Grid(
        f"{len(chosen.points)} of {len(chosen.vectors.intervals)} intervals"
        + (f", {idle} without instructions" if idle else ""),
        ["interval", "cluster", "weight", "instructions"],
    )
    for point in chosen.points:
        grid.add(
            str(point.interval),
            str(point.cluster),
            f"{100 * point.weight:.2f} %",
            number(chosen.vectors.lengths[point.interval]),
        )
    return grid


def summary(estimates: dict[str, dict[str, Any]]) -> Grid:
    """Returns a table with a row for each workload: size, CPI, error and host time."""
    grid = Grid(
        "",
        [
            "",
            "instruc-\ntions",
            "inter-\nvals",
            "chosen",
            "in\ndetail",
            "CPI",
            "CPI,\nfull",
            "error",
            "clock\ndrift",
            "host s:\nvectors",
            "sampled",
            "full",
        ],
    )
    for label, record in estimates.items():
        cycles, host = record["events"][BUSY], record["host_seconds"]
        grid.add(
            label,
            number(record["instructions"]),
            str(record["intervals"]),
            str(len(record["points"])),
            f"{100 * record['simulated'] / record['instructions']:.1f} %",
            number(cycles["estimate"]),
            number(cycles["full"]) if "full" in cycles else MISSING,
            _percent(cycles.get("error")),
            _percent(record.get("clock_drift")),
            *(f"{host[name]:.1f}" if name in host else MISSING for name in (BLOCKS, SAMPLED, FULL)),
        )
    return grid


def _rates(label: str, record: dict[str, Any]) -> Grid:
    """Returns a table of all events that occurred, per 1000 instructions."""
    grid = Grid(f"{label}: events per 1000 instructions", ["", "estimate", "full", "error"])
    for event, rate in record["events"].items():
        if event != INSTRUCTIONS and max(rate["estimate"], rate.get("full", 0)) > 0:
            grid.add(
                event,
                number(1000 * rate["estimate"]),
                number(1000 * rate["full"]) if "full" in rate else MISSING,
                _percent(rate.get("error")),
            )
    return grid


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{100 * share:+.1f} %"
