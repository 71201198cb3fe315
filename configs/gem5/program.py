# SPDX-License-Identifier: MIT
"""A static Linux program on P5CPU, without a kernel: `gem5.opt configs/gem5/program.py -h`."""

import argparse
import sys
from pathlib import Path

import _m5.core
import m5

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "src"), str(ROOT / "stats-parsers")]

from m5.objects import Root  # noqa: E402
from p5pc import markers  # noqa: E402

from p5lab.describe import machine as machines  # noqa: E402
from p5lab.describe.guest import X86_64  # noqa: E402
from p5lab.engines.gem5 import chip  # noqa: E402
from p5lab.errors import UserError  # noqa: E402
from p5lab.lab import Lab  # noqa: E402

PROGRAM_FAILED, BAD_INPUT, TIME_LIMIT = 1, 2, 4
DESCRIPTION = """\
Runs a static Linux program for i386 or x86-64 on P5CPU, the Pentium of engine/p5. gem5 emulates the
system calls, so there is no kernel: a system call takes the clocks of its instruction only, and no
interrupt and no page fault occurs. A 64-bit program has nominal clocks."""
DEVIATIONS = [
    "system calls are emulated: no kernel code, no interrupts, no page faults",
    "pages are placed in the order of their first use, from 1 MB",
    "accessed and dirty bits of pages are already set",
]


def main() -> int:
    """Do the work of the command line and return the exit status."""
    try:
        return run(arguments())
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return BAD_INPUT


def arguments() -> argparse.Namespace:
    """Parse the command line. A wrong argument ends the process with status 2."""
    parser = argparse.ArgumentParser(
        prog="gem5.opt configs/gem5/program.py", description=DESCRIPTION, allow_abbrev=False
    )
    add = parser.add_argument
    add("--machine", default="p90-premiere2", metavar="NAME", help="a file of configs/machines")
    add("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE",
        help="change a key of the machine; may be repeated")  # fmt: skip
    add("--cpi", action="store_true", help="count the components of the CPI stack")
    add("--no-feedback", action="store_true", help="memory never makes the processor wait")
    add("--warn", action="store_true",
        help="an instruction that gem5 lacks does nothing, with a warning; without this option the"
        " run ends")  # fmt: skip
    add("--limit", type=int, default=120, metavar="SECONDS", help="most modelled time")
    add("program", type=Path, help="a static program")
    add("arguments", nargs=argparse.REMAINDER, help="its arguments")
    return parser.parse_args()


def run(args: argparse.Namespace) -> int:
    """Run the program and write m5out. Raises UserError for bad input."""
    if not hasattr(m5.objects, chip.CPU):
        raise UserError(f"this gem5 has no {chip.CPU}: build it with EXTRAS={HERE}/extras")
    from p5pc import emulation

    machine = machines.load(Lab.here(), args.machine)
    isa = chip.isa_of(args.program)
    if args.settings:
        machine = machine.with_set(machines.parse_settings(args.settings), "--set")
    if isa == X86_64 or machine.values["cpu.isa"] == X86_64:
        machine = machine.with_set({"cpu.isa": isa}, str(args.program))
    system = emulation.system(
        machine,
        [str(args.program), *args.arguments],
        isa=str(machine.values["cpu.isa"]),
        cpi=args.cpi,
        feedback=not args.no_feedback,
        unimplemented="warn" if args.warn else "fatal",
    )
    Root(full_system=False, system=system)
    m5.instantiate()
    recorder = markers.Recorder(
        Path(m5.options.outdir) / markers.MARKERS,
        {
            "gem5": _m5.core.gem5Version,
            "clock_hz": machine.clock_hz,
            "extras": True,
            "cpu": "p5",
            "deviations": DEVIATIONS,
        },
    )
    m5.simulate(1)  # gem5 writes no statistics at tick 0
    recorder.mark("ready", 0)
    end = markers.run(recorder, args.limit)
    if end.op == "limit":
        print(f"p5lab: more than {args.limit} s of modelled time (--limit)", file=sys.stderr)
        return TIME_LIMIT
    if end.op != "exit" or end.arg:
        print(f"p5lab: the program failed: {end.op} {end.arg}", file=sys.stderr)
        return PROGRAM_FAILED
    return 0


sys.exit(main())
