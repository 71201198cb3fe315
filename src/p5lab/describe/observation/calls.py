# SPDX-License-Identifier: MIT
"""Counts by system call and interrupt: `--calls`."""

from dataclasses import dataclass

from p5lab.describe import outputs
from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import Conf

CALLS = outputs.file("calls")


@dataclass(frozen=True)
class Calls(Flag):
    """Counts software interrupts, gates, hardware interrupts and exceptions as calls, from entry to
    return."""

    name = "calls"
    help = (
        "also count by software interrupt and function number (INT 21h AH, INT 80h EAX),"
        " gate, hardware interrupt and exception: number of calls, and cycles with and without"
        " nested calls. `show --calls` shows the counts"
    )
    outputs = (CALLS,)
    apart = ("run.calls", "run.call_table")
    with_media = True
    with_sample = False  # its cycles are only partly simulated

    label = "by call"
    command = "Counts by call: `./p5lab show {runs} --calls`"

    def job(self) -> Conf:
        """The output file, and the registers and properties of known calls."""
        from p5stats import known_calls  # gem5's Python imports this module without p5stats

        return {"run.calls": CALLS, "run.call_table": known_calls.read().engine_text()}
