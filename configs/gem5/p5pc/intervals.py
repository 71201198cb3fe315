# SPDX-License-Identifier: MIT
"""SimPoint on gem5: checkpoints before chosen intervals, and what these take.

Instructions are counted from the ready marker on, the kernel's among them. Checkpoints come from
the atomic CPU, as the basic-block vectors do; an interval is measured on the CPU that was asked
for, with caches that the instructions before it have warmed.
"""

from collections.abc import Sequence
from pathlib import Path

import m5
from m5.objects import BaseCPU

from p5lab.errors import UserError

from .markers import OPS

STOP = "so many instructions"  # why gem5's event loop is left


def run(core: BaseCPU, instructions: int) -> bool:
    """Runs so many instructions, past markers; False when the guest ended before."""
    if instructions:
        core.scheduleInstStop(0, instructions, STOP)
    cause = STOP if not instructions else m5.simulate().getCause()
    while cause != STOP:
        if OPS.get(cause, "exit") == "exit":
            return False
        cause = m5.simulate().getCause()
    return True


def checkpoints(core: BaseCPU, starts: Sequence[int], place: Path) -> None:
    """Writes a checkpoint at each instruction, in a directory of that name."""
    position = 0
    for start in sorted(set(starts)):
        if not run(core, start - position):
            raise UserError(f"the run has ended before its instruction {start}")
        m5.checkpoint(str(place / str(start)))
        position = start


def measure(core: BaseCPU, warm_up: int, length: int) -> dict[str, int]:
    """Instructions and ticks of an interval behind a warm-up; its statistics are one section."""
    if not run(core, warm_up):
        raise UserError("the run has ended before the interval")
    m5.stats.reset()
    tick, instructions = m5.curTick(), core.totalInsts()
    run(core, length)
    m5.stats.dump()
    return {"instructions": core.totalInsts() - instructions, "ticks": m5.curTick() - tick}
