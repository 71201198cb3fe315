# SPDX-License-Identifier: MIT
"""Prints a plan: its runs, and the estimated time of the runs without results."""

import json
from dataclasses import asdict

from rich.console import Console

from p5lab.duration import duration
from p5lab.execute.plan import ExperimentPlan, summary
from p5lab.present import tables
from p5lab.present.tables import MISSING, Grid

SCHEMA_VERSION = 1


def show(console: Console, plan: ExperimentPlan, form: str) -> None:
    """Prints a plan as table, markdown, csv or json."""
    if form == "json":
        document = {
            "schema_version": SCHEMA_VERSION,
            "runs": [asdict(row) for row in plan.rows],
            "left": len(plan.left),
            "jobs": plan.jobs,
            "seconds": plan.seconds,
        }
        console.file.write(json.dumps(document, indent=1) + "\n")
    elif form == "csv":
        console.file.write(tables.as_csv([asdict(row) for row in plan.rows]))
    else:
        grid = Grid("", ["run", "what", "state", "estimate"])
        for row in plan.rows:
            grid.add(
                row.run[:10],
                row.label,
                row.status,
                MISSING if row.seconds is None else duration(row.seconds),
            )
        if form == "markdown":
            console.file.write(grid.markdown() + "\n\n" + summary(plan) + "\n")
        else:
            grid.print(console)
            console.print(summary(plan), soft_wrap=True, highlight=False)
