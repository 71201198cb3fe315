# SPDX-License-Identifier: MIT
"""How often did the program of a run call the function of --region?"""

from typing import Any

# The notes of the engine (engine/session/measurement.cc: finish).
CALLS, MEASURED = "region-calls", "region-measured"


def remark(record: dict[str, Any]) -> str:
    """A sentence about the calls of the region's function. Empty for a run without --region and for
    a run that failed. `record`: the record of the run."""
    notes = record.get("notes", [])
    calls = {note["name"]: note["count"] for note in notes if note["what"] == CALLS}
    measured = {note["name"]: note["count"] for note in notes if note["what"] == MEASURED}
    for name, count in calls.items():
        if count == 0:
            return (
                f"Region {name}: the program did not call this function. A compiler can put a"
                " function into its callers; __attribute__((noinline)) prevents this."
            )
        if count > measured[name]:
            return (
                f"Region {name}: {count:,} calls. The counts are those of the first"
                f" {measured[name]:,} calls."
            )
        return f"Region {name}: {count:,} {'call' if count == 1 else 'calls'}."
    return ""
