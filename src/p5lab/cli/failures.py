# SPDX-License-Identifier: MIT
"""Prints the runs that failed."""

from collections.abc import Sequence

from p5lab.keep.result import Result
from p5lab.lab import shown
from p5lab.progress import Progress


def report(results: Sequence[Result]) -> bool:
    """Prints the runs that failed, each with its reason. Returns whether a run has failed."""
    bad = [result for result in results if result.status not in ("ok", "queued")]
    if left := sum(result.status == "queued" for result in results):
        Progress().say(f"p5lab: {left} runs were not started because a run failed (--fail-fast)")
    for result in bad:
        Progress().say(
            f"p5lab: {result.run.label}: {result.status}: {result.reason}"
            f" (logs: {shown(result.directory)})"
        )
    return bool(bad)
