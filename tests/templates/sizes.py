# SPDX-License-Identifier: MIT
"""A figure of the sizes of the files of events."""

from collections.abc import Sequence

from p5lab.keep.store import Stored
from p5lab.page.figure import Figure, mark, of_marks

PLACE = 5


def has(run: Stored) -> bool:
    """Whether a run has events."""
    return run.status == "ok"


def of(runs: Sequence[Stored]) -> list[Figure]:
    """Returns a figure with a bar for each run."""
    marks = [
        mark(
            benchmark=run.record["label"],
            series=run.id[:8],
            metric="size of the events",
            unit="bytes",
            value=(run.directory / "events.jsonl").stat().st_size,
            runs=run.id,
        )
        for run in runs
    ]
    return [of_marks("sizes", "Sizes of the events", "bars", marks)]
