# SPDX-License-Identifier: MIT
"""The CPI stack: `--cpi`."""

from dataclasses import dataclass
from typing import ClassVar

from p5lab.describe.observation.flag import Flag
from p5lab.describe.observation.kind import SAMPLED


@dataclass(frozen=True)
class Cpi(Flag):
    """Counts for each busy clock the component of the CPI stack to which it belongs."""

    name = "cpi"
    help = (
        "also count what the processor spends each clock on (CPI stack): pairs, single"
        " instructions, waits for code and data, mispredicted branches and so on, by ring and"
        " address space. `show --cpi` and `explain` show the counts"
    )
    apart = ("run.cpi",)
    lines: ClassVar = {"run.cpi": "true"}
    with_media = True
    excludes = (SAMPLED,)  # its time is not simulated

    needs_clocks = True  # the components are clocks
    with_nominal = True  # the stack of nominal cycles
    label = "CPI stack"
    command = "CPI stack: `./p5lab show {runs} --cpi`"
    shows_several = True
