# SPDX-License-Identifier: MIT
"""The event loop. The loop simulates from marker to marker, and dumps and resets gem5's statistics
at each marker.

markers.jsonl begins with a header. A line for each marker follows. The line contains the number of
the section of stats.txt that ends at the marker.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import m5

MARKERS = "markers.jsonl"
SCHEMA_VERSION = 1
# Key: the reason why gem5's event loop ends. Value: our marker for this reason.
OPS = {
    "checkpoint": "ready",
    "workbegin": "begin",
    "workend": "end",
    "m5_exit instruction encountered": "exit",
    "m5_fail instruction encountered": "exit",  # with a status
    # The end of a program without a kernel.
    "exiting with last active thread context": "exit",
}
TIME_LIMIT = "simulate() limit reached"
ABORT = 0x10000  # this bit in the code of m5_fail means that the marker is abort
PHASES = 0xFFFFFFFF  # the largest phase id
TICKS = 10**12  # per second


@dataclass
class Recorder:
    """Writes markers.jsonl line by line, so that the lines remain when a run crashes."""

    path: Path
    header: Mapping[str, object]
    _dumps: int = 0
    _last: int = field(default=-1)

    def __post_init__(self) -> None:
        self._write({"type": "header", "schema_version": SCHEMA_VERSION, **self.header}, mode="w")

    def mark(self, op: str, arg: int) -> None:
        """Dump and reset the statistics, and write the marker's line."""
        tick = m5.curTick()
        if tick != self._last:  # gem5 writes one section per tick
            m5.stats.dump()
            m5.stats.reset()
            self._dumps += 1
            self._last = tick
        self._write({"type": "marker", "op": op, "arg": arg, "tick": tick, "dump": self._dumps - 1})

    def _write(self, line: Mapping[str, object], mode: str = "a") -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@dataclass(frozen=True)
class End:
    """How a simulation ended. `op` is exit, abort or limit, or gem5's text for any other cause."""

    op: str
    arg: int = 0


def run(recorder: Recorder | None, limit_seconds: int) -> End:
    """Simulate until the guest's exit or abort marker, or until the limit of modelled seconds."""
    last = m5.curTick() + limit_seconds * TICKS
    while True:
        event = m5.simulate(last - m5.curTick())
        cause, code = event.getCause(), event.getCode()
        if cause == TIME_LIMIT:
            return End("limit")
        if cause not in OPS:
            return End(cause, code)
        op = OPS[cause]
        if op in ("begin", "end"):
            code &= PHASES  # gem5 passes the phase as a signed number
        if op == "exit" and code & ABORT:
            op, code = "abort", code & (ABORT - 1)
        if recorder:
            recorder.mark(op, code)
        if op in ("exit", "abort"):
            return End(op, code)


def until_ready(limit_seconds: int) -> str:
    """Simulate to the ready marker and return an empty text, or the cause if the simulation ends
    before the marker."""
    cause = m5.simulate(limit_seconds * TICKS).getCause()
    return "" if OPS.get(cause) == "ready" else cause
