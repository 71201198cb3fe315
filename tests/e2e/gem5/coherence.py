# SPDX-License-Identifier: MIT
"""gem5 runs this script. Testers of gem5 (MemTest) read and write the same lines through several L1
caches and two L2 caches, and check each value that they read.

Two L2 caches on one bus snoop each other, as DMA snoops the L2 of the machine. Some of the
testers' accesses are functional, which the L2 must also answer with the newest copy.
"""

import argparse

import m5
from caches import cache
from m5 import objects
from m5.params import NULL, AddrRange

LINE = 32
SMALL, BOARD = 1024, 4096  # bytes of L1 and L2: few, so that many lines leave the caches
TESTERS = 3  # of each L2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--atomic", action="store_true")
    parser.add_argument("--board", default="OwnerCache", help="class of the caches")
    parser.add_argument("--tags", default="NoWriteAllocateTags", help="class of the tags of L1")
    parser.add_argument("--loads", type=int, default=100_000, help="loads of a tester to the end")
    options = parser.parse_args()
    system = objects.System(
        mem_mode="atomic" if options.atomic else "timing",
        mem_ranges=[AddrRange("16MiB")],
        cache_line_size=LINE,
        clk_domain=objects.SrcClockDomain(clock="90MHz", voltage_domain=objects.VoltageDomain()),
        membus=objects.SystemXBar(snoop_filter=NULL),
    )
    system.memory = objects.SimpleMemory(range=system.mem_ranges[0], latency="100ns")
    system.membus.mem_side_ports = system.memory.port
    system.membus.cpu_side_ports = system.system_port
    system.boards = [cache(f"{BOARD}B", 1, "BaseSetAssoc", options.board) for _ in range(2)]
    system.buses = [objects.L2XBar(snoop_filter=NULL) for _ in system.boards]
    system.firsts = [
        cache(f"{SMALL}B", 1, options.tags, options.board)
        for _ in range(TESTERS * len(system.boards))
    ]
    system.testers = [
        objects.MemTest(size=2 * BOARD, max_loads=options.loads, percent_uncacheable=0)
        for _ in system.firsts
    ]
    for number, (tester, first) in enumerate(zip(system.testers, system.firsts, strict=True)):
        tester.port = first.cpu_side
        first.mem_side = system.buses[number // TESTERS].cpu_side_ports
    for board, bus in zip(system.boards, system.buses, strict=True):
        bus.mem_side_ports = board.cpu_side
        board.mem_side = system.membus.cpu_side_ports
    if options.board == "OwnerCache":
        for number, board in enumerate(system.boards):
            board.above = system.firsts[number * TESTERS : (number + 1) * TESTERS]
    root = objects.Root(full_system=False, system=system)
    m5.instantiate()
    ended = m5.simulate(m5.MaxTick)
    assert root.system
    print(f"ended: {ended.getCause()}")


main()
