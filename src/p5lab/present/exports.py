# SPDX-License-Identifier: MIT
"""The profile of a stored run as a file for other programs."""

import json
from pathlib import Path

from p5lab.describe.markers import EMPTY_PHASE, WHOLE_PHASE
from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.describe.observation.trace import MISSES
from p5lab.errors import UserError, unknown
from p5lab.files import replace_text
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import by_interval, timeline
from p5stats import attribution, crossings, misses, phase_names, profiles, tidy
from p5stats.attribution import Attribution

EVENT = "cycles.busy"


def write(path: Path, text: str) -> None:
    """Writes a file, completely or not at all. Raises UserError if it cannot be written."""
    try:
        replace_text(path, text)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def speedscope(stored: Stored, event: str = "") -> str:
    """The call stacks of a run for speedscope. The weights are the counts of `event`, by default of
    EVENT. Raises UserError if the run has no stacks or no such event."""
    stacks, event = _stacks(stored), event or EVENT
    if not profiles.has_event(stacks, event):
        raise unknown("event", event, stacks.events)
    names = phase_names.of(stored.record)
    text = json.dumps(profiles.speedscope(stacks, event, stored.record["label"], names), indent=1)
    return text + "\n"


def callgrind(stored: Stored, event: str = "") -> str:
    """All events of a run by function, with the functions that they call, in callgrind's format:
    the sum of all brackets. Raises UserError if the run has no stacks."""
    stacks = _stacks(stored)
    return profiles.callgrind(stacks, _phases(stacks), stored.record["label"])


def trace(stored: Stored, event: str = "") -> str:
    """The steps of a trace of crossings, the misses of a trace of misses and the counts by
    interval, in Chrome's trace format. Raises UserError if the run has none of them."""
    missed = stored.directory / MISSES
    if not timeline.has(stored) and not by_interval.has(stored) and not missed.is_file():
        raise selection.without(stored, "trace and no intervals", "--trace crossings")
    names = phase_names.of(stored.record)
    traced = crossings.read(stored.directory / timeline.CROSSINGS) if timeline.has(stored) else {}
    brackets = {names.get(phase, str(phase)): own for phase, own in traced.items()}
    timed = by_interval.read(stored) if by_interval.has(stored) else None
    _, clock_hz = tidy.read_run(stored.directory)
    read = misses.read(missed) if missed.is_file() else {}
    lost = {names.get(phase, str(phase)): own for phase, own in read.items()}
    return json.dumps(profiles.trace(brackets, timed, clock_hz, lost)) + "\n"


def _stacks(stored: Stored) -> Attribution:
    source = stored.directory / ATTRIBUTION
    counts = attribution.read(source) if source.is_file() else None
    if counts is None or not counts.stacks:
        raise selection.without(stored, "stacks", "--by caller")
    return counts


def _phases(counts: Attribution) -> set[int]:
    """The phases whose counts are shown together: the whole program, or all except the empty
    bracket. The other brackets of a program are inside the whole one."""
    phases = set(counts.counts)
    return {WHOLE_PHASE} if WHOLE_PHASE in phases else phases - {EMPTY_PHASE}
