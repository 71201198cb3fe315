# SPDX-License-Identifier: MIT
"""SimPoint on gem5: checkpoints before chosen intervals, and the time that the intervals take.

The count of instructions starts at the ready marker and includes the kernel's instructions. The
atomic CPU makes the checkpoints and the basic-block vectors. Each interval is measured on the CPU
model of the setup. The instructions before the interval warm the caches.
"""

from collections.abc import Sequence
from pathlib import Path

import m5
from m5.objects import BaseCPU

from p5lab.errors import UserError

from .markers import OPS

STOP = "instruction count reached"  # the cause that gem5's event loop returns


def run(core: BaseCPU, instructions: int) -> bool:
    """Run this number of instructions. Markers do not stop the run. Returns False if the guest ends
    first."""
    if instructions:
        core.scheduleInstStop(0, instructions, STOP)
    cause = STOP if not instructions else m5.simulate().getCause()
    while cause != STOP:
        if OPS.get(cause, "exit") == "exit":
            return False
        cause = m5.simulate().getCause()
    return True


def checkpoints(core: BaseCPU, starts: Sequence[int], place: Path) -> None:
    """Write a checkpoint at each of these instruction counts, to the directory `place`/COUNT.

    Raises UserError if the run ends before the last checkpoint."""
    position = 0
    for start in sorted(set(starts)):
        if not run(core, start - position):
            raise UserError(f"the run has ended before its instruction {start}")
        m5.checkpoint(str(place / str(start)))
        position = start


def measure(core: BaseCPU, warm_up: int, length: int) -> dict[str, int]:
    """Measure an interval after a warm-up. `warm_up` and `length` are numbers of instructions.

    Returns the interval's `instructions` and `ticks`. Writes the interval's statistics as one
    section of stats.txt. Raises UserError if the run ends within the warm-up."""
    if not run(core, warm_up):
        raise UserError("the run has ended before the interval")
    m5.stats.reset()
    tick, instructions = m5.curTick(), core.totalInsts()
    run(core, length)
    m5.stats.dump()
    return {"instructions": core.totalInsts() - instructions, "ticks": m5.curTick() - tick}
