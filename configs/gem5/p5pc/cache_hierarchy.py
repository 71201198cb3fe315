# SPDX-License-Identifier: MIT
"""L1 caches on the chip, a board cache behind the processor's bus, and memory behind this cache.

A page walk of the Pentium uses the bus and not the data cache (Intel, Pentium Family Developer's
Manual, 3.7). The walkers are therefore ports of the L2's bus.
"""

import m5.objects
from gem5.components.boards.abstract_board import AbstractBoard
from gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)
from m5.objects import BadAddr, BaseXBar, Bridge, Cache, L2XBar, Port, SystemXBar
from m5.params import NULL

from p5lab.engines.gem5 import parameters as p
from p5lab.engines.gem5.parameters import BUS_BYTES, Parameters

# The bus has no pipeline stages of its own (parameters.py gives the reason). It has no snoop
# filter. A line can pass through a cache without staying there (NoWriteAllocateTags). gem5's filter
# has no entry for such a line, and gem5 panics when the atomic CPU writes the line back. Without a
# filter, DMA snoops all three caches.
BUS = {
    "width": BUS_BYTES,
    "snoop_filter": NULL,
    "frontend_latency": 0,
    "forward_latency": 0,
    "response_latency": 0,
    "snoop_response_latency": 0,
}


class _Hierarchy(AbstractClassicCacheHierarchy):
    """The part that both hierarchies have: the memory bus, which connects processor, memory and
    devices."""

    def __init__(self) -> None:
        super().__init__()
        self.membus = SystemXBar(**BUS)
        self.membus.badaddr_responder = BadAddr()
        self.membus.default = self.membus.badaddr_responder.pio

    def get_mem_side_port(self) -> Port:
        return self.membus.mem_side_ports

    def get_cpu_side_port(self) -> Port:
        return self.membus.cpu_side_ports

    def incorporate_cache(self, board: AbstractBoard) -> None:
        self.membus.clk_domain = board.bus_clk_domain
        board.connect_system_port(self.membus.cpu_side_ports)
        for _, port in board.get_memory().get_mem_ports():
            self.membus.mem_side_ports = port
        (core,) = board.get_processor().get_cores()
        self._connect(board, core)
        core.connect_interrupt(self.membus.mem_side_ports, self.membus.cpu_side_ports)


class BootHierarchy(_Hierarchy):
    """No caches. Checkpoints are made with this class, because a checkpoint has no cache
    contents."""

    def _connect(self, board: AbstractBoard, core) -> None:  # noqa: ANN001
        core.connect_icache(self.membus.cpu_side_ports)
        core.connect_dcache(self.membus.cpu_side_ports)
        core.connect_walker_ports(self.membus.cpu_side_ports, self.membus.cpu_side_ports)
        self.iobridge = Bridge(ranges=[board.mem_ranges[0]])
        self.iobridge.mem_side_port = self.membus.cpu_side_ports
        self.iobridge.cpu_side_port = board.get_mem_side_coherent_io_port()


class PentiumCacheHierarchy(_Hierarchy):
    """The machine's caches: `l1i`, `l1d` and, if the board has an L2, `l2` behind `l2bus`."""

    def __init__(self, parameters: Parameters, *, extras: bool) -> None:
        super().__init__()
        self._parameters = parameters
        self.l1i = _cache(parameters.l1i, extras, is_read_only=True)
        # Stock gem5's Cache passes a modified line of L2 to L1D as modified.
        owner = m5.objects.OwnerCache if extras else Cache
        self.l1d = _cache(parameters.l1d, extras, owner)
        # Each pipe has a write buffer (Intel, Pentium Family Developer's Manual, ch. 2).
        self.l1d.write_buffers = 2
        self._bus = self.membus
        if parameters.l2:
            self.l2bus = L2XBar(**BUS)
            self.l2 = _cache(parameters.l2, extras, owner, write_buffers=parameters.write_buffers)
            if extras:
                self.l2.above = [self.l1d]
            self._bus = self.l2bus
        # The bus carries one transaction at a time. A transaction occupies the bus until the last
        # transfer of the line.
        self._bus.header_latency = parameters.bus_hold

    def _connect(self, board: AbstractBoard, core) -> None:  # noqa: ANN001
        bus: BaseXBar = self._bus
        if self._parameters.l2:
            bus.clk_domain = board.bus_clk_domain
            bus.mem_side_ports = self.l2.cpu_side
            self.membus.cpu_side_ports = self.l2.mem_side
        self.l1i.mem_side = bus.cpu_side_ports
        self.l1d.mem_side = bus.cpu_side_ports
        core.connect_icache(self.l1i.cpu_side)
        core.connect_dcache(self.l1d.cpu_side)
        core.connect_walker_ports(bus.cpu_side_ports, bus.cpu_side_ports)
        # gem5's caches are coherent with DMA only if the DMA accesses come from a cache.
        self.iocache = Cache(
            size=f"{16 * self._parameters.line}B",
            assoc=8,
            tag_latency=1,
            data_latency=1,
            response_latency=1,
            mshrs=20,
            tgts_per_mshr=12,
            clk_domain=board.bus_clk_domain,
            addr_ranges=[board.mem_ranges[0]],
        )
        self.iocache.mem_side = self.membus.cpu_side_ports
        self.iocache.cpu_side = board.get_mem_side_coherent_io_port()


def _cache(cache: p.Cache, extras: bool, kind: type[Cache] = Cache, **more: object) -> Cache:
    tags = {}
    if extras and not cache.write_allocate:
        tags["tags"] = m5.objects.NoWriteAllocateTags()
    return kind(
        size=f"{cache.size}B",
        assoc=cache.ways,
        replacement_policy=getattr(m5.objects, cache.policy)(),
        tag_latency=cache.tag_latency,
        data_latency=cache.data_latency,
        response_latency=cache.response_latency,
        # The processor waits for one line at a time. The L2 serves both L1 caches and the walkers.
        mshrs=4,
        tgts_per_mshr=8,
        **tags,
        **more,
    )
