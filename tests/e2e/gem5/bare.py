# SPDX-License-Identifier: MIT
"""gem5 runs this script. The script builds a machine with a processor, two small caches, memory and
a port. The machine's program runs without an operating system.

Options choose gem5's own parts or the parts of configs/gem5/extras, so that a test can compare both
kinds of parts.
"""

import argparse
import json

import m5
from caches import cache
from m5 import objects
from m5.params import NULL, AddrRange

PORTS = 0x8000000000000000  # gem5's physical address of the I/O ports


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cpu", choices=("Atomic", "Timing", "O3"), default="Timing")
    parser.add_argument("--tags", default="BaseSetAssoc", help="class of the tags of L1D and L2")
    parser.add_argument("--board", default="Cache", help="class of L1D and L2")
    parser.add_argument("--dtb", type=json.loads, default={}, help="parameters of a P5TLB")
    parser.add_argument("--itb", type=json.loads, default={})
    parser.add_argument("--tracer", help="class of the instruction tracer")
    return parser.parse_args()


def processor(options: argparse.Namespace) -> objects.BaseCPU:
    name = "X86O3CPU" if options.cpu == "O3" else f"X86{options.cpu}SimpleCPU"
    cpu = getattr(objects, name)()
    if options.cpu == "O3":
        cpu.fetchBufferSize = 32  # size of a line
    if options.dtb:
        cpu.mmu.dtb = objects.P5TLB(entry_type="data", **options.dtb)
    if options.itb:
        cpu.mmu.itb = objects.P5TLB(entry_type="instruction", **options.itb)
    if options.tracer:
        cpu.tracer = getattr(objects, options.tracer)()
    cpu.createInterruptController()
    cpu.createThreads()
    return cpu


def machine(options: argparse.Namespace) -> objects.System:
    system = objects.System(
        mem_mode="atomic" if options.cpu == "Atomic" else "timing",
        mem_ranges=[AddrRange("32MiB")],
        cache_line_size=32,
        workload=objects.X86FsWorkload(object_file=options.program),
        clk_domain=objects.SrcClockDomain(clock="90MHz", voltage_domain=objects.VoltageDomain()),
        membus=objects.SystemXBar(snoop_filter=NULL),  # see p5pc/cache_hierarchy.py
        l2bus=objects.L2XBar(snoop_filter=NULL),
    )
    system.memory = objects.SimpleMemory(range=system.mem_ranges[0], latency="100ns")
    system.port = objects.IsaFake(pio_addr=PORTS + 0x80, pio_size=8)
    system.cpu = processor(options)
    system.l1i = cache("8KiB", 2, "BaseSetAssoc", is_read_only=True, writeback_clean=False)
    system.l1d = cache("8KiB", 2, options.tags, options.board)
    system.l2 = cache("256KiB", 1, options.tags, options.board)
    if options.board == "OwnerCache":
        system.l2.above = [system.l1d]

    cpu, bus = system.cpu, system.membus
    cpu.icache_port = system.l1i.cpu_side
    cpu.dcache_port = system.l1d.cpu_side
    for above in (system.l1i.mem_side, system.l1d.mem_side):
        system.l2bus.cpu_side_ports = above
    for walker in (cpu.mmu.itb.walker, cpu.mmu.dtb.walker):
        walker.port = system.l2bus.cpu_side_ports
    system.l2bus.mem_side_ports = system.l2.cpu_side
    bus.cpu_side_ports = system.l2.mem_side
    bus.cpu_side_ports = system.system_port
    bus.cpu_side_ports = cpu.interrupts[0].int_requestor
    for below in (
        system.memory.port,
        system.port.pio,
        cpu.interrupts[0].pio,
        cpu.interrupts[0].int_responder,
    ):
        bus.mem_side_ports = below
    return system


def main() -> None:
    root = objects.Root(full_system=True, system=machine(arguments()))
    m5.instantiate()
    ended = m5.simulate(m5.MaxTick)
    assert root.system
    print(f"ended: {ended.getCause()}, {ended.getCode()}")


main()
