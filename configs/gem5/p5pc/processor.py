# SPDX-License-Identifier: MIT
"""The processor: one of gem5's cores with the Pentium's TLBs."""

import m5.objects
from gem5.components.processors.abstract_core import AbstractCore
from gem5.components.processors.base_cpu_core import BaseCPUCore
from gem5.components.processors.base_cpu_processor import BaseCPUProcessor
from gem5.isas import ISA
from m5.objects import BaseCPU

from p5lab.describe.machine import Machine
from p5lab.engines.gem5 import chip
from p5lab.engines.gem5.parameters import Parameters
from p5lab.engines.gem5.versions import CPUS

from . import cpuid
from .mmu import mmu, translations


class PentiumCore(BaseCPUCore):
    """A core of gem5's library that also works in builds without Ruby. The library's constructor
    raises an error if gem5 has no Ruby protocol."""

    def __init__(self, cpu: BaseCPU) -> None:
        AbstractCore.__init__(self)
        self._isa = ISA.X86
        self.core = cpu
        self.core.cpu_id = 0  # so that another model can take over
        self.core.createThreads()
        for isa in self.core.isa:
            cpuid.set_values(isa)


class PentiumProcessor(BaseCPUProcessor):
    """One core. Its CPU is `cores.core`. With a tracer the core counts events by privilege ring."""

    def __init__(
        self, parameters: Parameters, cpu: str, *, extras: bool, tracer: bool = False
    ) -> None:
        core = getattr(m5.objects, CPUS[cpu])(mmu=mmu(parameters, extras=extras))
        if tracer:
            core.tracer = m5.objects.P5Tracer()
        super().__init__(cores=[PentiumCore(core)])


def chip_core(machine: Machine, isa: str, **more: object) -> PentiumCore:
    """A P5CPU, whose chip has its own caches, TLBs and memory timing. `more`: other parameters of
    P5CPU. For SwitchableProcessor of gem5's library, and for ChipProcessor."""
    return PentiumCore(
        m5.objects.P5CPU(machine=chip.lines(machine), cpu_isa=isa, mmu=translations(), **more)
    )


class ChipProcessor(BaseCPUProcessor):
    """One P5CPU (chip_core)."""

    def __init__(self, machine: Machine, isa: str, **more: object) -> None:
        super().__init__(cores=[chip_core(machine, isa, **more)])
