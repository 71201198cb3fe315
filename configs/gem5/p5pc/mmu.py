# SPDX-License-Identifier: MIT
"""The TLBs: our P5TLB if this gem5 has it, else gem5's X86TLB with the same capacity.

X86TLB is fully associative and keeps pages of all sizes in one array.
"""

import m5.objects
from m5.objects import X86MMU, X86TLB, BaseTLB

from p5lab.engines.gem5.parameters import Parameters, Tlb

ROOM = 512


def mmu(parameters: Parameters, *, extras: bool) -> X86MMU:
    """Return gem5's MMU with the machine's code and data TLBs."""
    return X86MMU(
        itb=_tlb(parameters.itlb, "instruction", extras),
        dtb=_tlb(parameters.dtlb, "data", extras),
    )


def translations() -> X86MMU:
    """Return gem5's MMU for P5CPU: gem5's TLBs only translate, because the chip has its own. They
    have room for the entries in the checkpoints of all CPU models."""
    return X86MMU(
        itb=X86TLB(entry_type="instruction", size=ROOM), dtb=X86TLB(entry_type="data", size=ROOM)
    )


def _tlb(tlb: Tlb, kind: str, extras: bool) -> BaseTLB:
    if extras:
        return m5.objects.P5TLB(
            entry_type=kind,
            entries=tlb.entries,
            ways=tlb.ways,
            large_entries=tlb.large_entries,
            large_ways=tlb.large_ways,
            replacement=tlb.policy,
        )
    return X86TLB(entry_type=kind, size=tlb.entries + tlb.large_entries)
