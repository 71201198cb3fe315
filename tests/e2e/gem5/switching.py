# SPDX-License-Identifier: MIT
"""gem5 runs this script: a run on the atomic CPU that P5CPU takes over in each bracket.

Arguments: the setup.json of a run on the atomic CPU, and its checkpoint at the ready marker. Writes
markers.jsonl and stats.txt as configs/gem5/run.py does.
"""

import sys
from pathlib import Path

import m5
from m5.objects import X86AtomicSimpleCPU

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "configs/gem5"), str(ROOT / "src")]

from gem5.components.processors.switchable_processor import SwitchableProcessor  # noqa: E402
from p5pc import markers  # noqa: E402
from p5pc.board import PentiumBoard  # noqa: E402
from p5pc.cache_hierarchy import BootHierarchy  # noqa: E402
from p5pc.mmu import translations  # noqa: E402
from p5pc.processor import PentiumCore, chip_core  # noqa: E402

from p5lab.describe.guest import X86_64  # noqa: E402
from p5lab.describe.machine import Machine  # noqa: E402
from p5lab.engines.gem5 import parameters  # noqa: E402
from p5lab.engines.gem5.setup import Setup  # noqa: E402

# The checkpoint has the first name.
FAST, CHIP = "cores", "chip"

setup = Setup.read(Path(sys.argv[1]))
derived = parameters.derive(setup.machine)
outdir = Path(m5.options.outdir)
cores = {
    FAST: [PentiumCore(X86AtomicSimpleCPU(mmu=translations()))],
    CHIP: [chip_core(Machine("", dict(setup.machine)), X86_64)],
}
processor = SwitchableProcessor(cores, FAST)
board = PentiumBoard(derived, processor, BootHierarchy())
board.load(setup, outdir)
board.instantiate(Path(sys.argv[2]))
header = {"gem5": "", "clock_hz": derived.core_hz, "extras": True, "cpu": "p5", "deviations": []}
recorder = markers.Recorder(outdir / markers.MARKERS, header)
recorder.mark("ready", 0)
op = ""
while op not in ("exit", "abort"):
    event = m5.simulate(markers.TICKS)  # a second: no bracket takes so long
    op = markers.OPS[event.getCause()]
    recorder.mark(op, event.getCode() & markers.PHASES)
    if op in ("begin", "end"):
        processor.switch_to_processor(CHIP if op == "begin" else FAST)
