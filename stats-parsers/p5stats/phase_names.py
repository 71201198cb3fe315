# SPDX-License-Identifier: MIT
"""The names of the phases of a stored run."""

from collections.abc import Mapping, Sequence
from typing import Any

PHASE_NAME = "phase-name"  # the engine's note about a name (engine/session/phase_names.hh)


def named_by_programs(notes: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """The names that programs in the guest gave to their phases, by the phases' numbers."""
    return {note["count"]: note["name"] for note in notes if note["what"] == PHASE_NAME}


def of(record: Mapping[str, Any]) -> dict[int, str]:
    """The names of all phases of a run, by the phases' numbers: the names of its workload or
    script, and the names that programs in the guest gave."""
    described = record.get("identity", {}).get("described", {}).get("phases", {})
    own = {int(number): name for number, name in described.items()}
    return own | named_by_programs(record.get("notes", []))
