# SPDX-License-Identifier: MIT
"""P5CPU in a board of gem5's standard library: `gem5.opt library.py PROGRAM ARGUMENTS`.

The program is a static Linux program for i386 or x86-64. Copy this script as a begin of your own.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

from gem5.components.boards.simple_board import SimpleBoard  # noqa: E402
from gem5.components.cachehierarchies.classic.no_cache import NoCache  # noqa: E402
from gem5.components.memory.simple import SingleChannelSimpleMemory  # noqa: E402
from gem5.resources.resource import BinaryResource  # noqa: E402
from gem5.simulate.simulator import Simulator  # noqa: E402
from m5.util import fatal  # noqa: E402
from p5pc.processor import ChipProcessor  # noqa: E402

from p5lab.describe import machine as machines  # noqa: E402
from p5lab.engines.gem5 import chip  # noqa: E402
from p5lab.errors import UserError  # noqa: E402
from p5lab.lab import Lab  # noqa: E402

program, *arguments = sys.argv[1:] or fatal("library.py: expected PROGRAM ARGUMENTS")
machine = machines.load(Lab.here(), "p90-premiere2")  # a file of configs/machines
try:
    isa = chip.isa_of(Path(program))
except UserError as error:
    fatal("library.py: %s", error)
machine = machine.with_set({"cpu.isa": isa, "memory.uncached": []}, program)  # no BIOS
board = SimpleBoard(
    clk_freq=f"{machine.clock_hz}Hz",
    processor=ChipProcessor(machine, isa, cpi=True),
    memory=SingleChannelSimpleMemory("0ns", "0ns", "0GiB/s", f"{machine.values['dram.size']}B"),
    cache_hierarchy=NoCache(),
)
board.set_se_binary_workload(BinaryResource(program), arguments=arguments)
Simulator(board=board).run()
