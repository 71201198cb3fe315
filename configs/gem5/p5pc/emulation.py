# SPDX-License-Identifier: MIT
"""A program on P5CPU, with gem5's emulation of Linux's system calls: no kernel and no devices."""

from collections.abc import Sequence
from pathlib import Path

from m5.objects import (
    P5CPU,
    BadAddr,
    Process,
    SEWorkload,
    SimpleMemory,
    SrcClockDomain,
    System,
    SystemXBar,
    VoltageDomain,
)
from m5.params import AddrRange

from p5lab.describe.guest import X86_64
from p5lab.describe.machine import Machine
from p5lab.engines.gem5 import chip, stack

# Memory begins behind the ranges of a PC that no cache holds.
FIRST = 0x100000


def system(
    machine: Machine,
    command: Sequence[str],
    *,
    isa: str,
    cpi: bool = False,
    feedback: bool = True,
    unimplemented: str = "fatal",
) -> System:
    """A system that runs a program. `command`: the program's path and its arguments."""
    program = Path(command[0]).resolve()
    arguments = [f"/bin/{program.name}", *command[1:]]  # as in guest linux
    memory = AddrRange(start=FIRST, size=int(machine.values["dram.size"]) - FIRST)
    system = System(mem_mode="atomic", mem_ranges=[memory])
    system.clk_domain = SrcClockDomain(
        clock=f"{machine.clock_hz}Hz", voltage_domain=VoltageDomain()
    )
    system.membus = SystemXBar(badaddr_responder=BadAddr())
    system.membus.default = system.membus.badaddr_responder.pio
    system.system_port = system.membus.cpu_side_ports
    system.memory = SimpleMemory(range=memory, latency="0ns", port=system.membus.mem_side_ports)
    system.cpu = cpu = P5CPU(
        machine=chip.lines(machine),
        cpu_isa=isa,
        cpi=cpi,
        feedback=feedback,
        unimplemented=unimplemented,
        workload=Process(
            cmd=arguments,
            executable=str(program),
            env=[] if isa == X86_64 else stack.environment(arguments),
        ),
    )
    cpu.createThreads()
    cpu.createInterruptController()
    cpu.icache_port = system.membus.cpu_side_ports
    cpu.dcache_port = system.membus.cpu_side_ports
    cpu.interrupts[0].pio = system.membus.mem_side_ports
    cpu.interrupts[0].int_requestor = system.membus.cpu_side_ports
    cpu.interrupts[0].int_responder = system.membus.mem_side_ports
    system.workload = SEWorkload.init_compatible(command[0])
    return system
