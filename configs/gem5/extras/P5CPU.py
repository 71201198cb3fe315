# SPDX-License-Identifier: MIT
"""P5CPU: the Pentium of engine/p5 as a processor of gem5. README.md explains it."""

from m5.objects.BaseAtomicSimpleCPU import BaseAtomicSimpleCPU
from m5.objects.X86CPU import X86CPU
from m5.objects.X86ISA import X86ISA
from m5.objects.X86MMU import X86MMU
from m5.params import Param, VectorParam


class P5ISA(X86ISA):
    """gem5's ISA, which tells P5CPU what others write to memory."""

    type = "P5ISA"
    cxx_class = "gem5::p5lab::P5ISA"
    cxx_header = "p5isa.hh"


class P5CPU(BaseAtomicSimpleCPU, X86CPU):
    """A Pentium with caches, TLBs, bus and DRAM inside. gem5's memory only stores."""

    type = "P5CPU"
    cxx_class = "gem5::p5lab::P5CPU"
    cxx_header = "p5cpu.hh"

    ArchISA = P5ISA
    mmu = X86MMU()

    machine = VectorParam.String("lines `key = value` of a machine (engine/p5/keys.toml)")
    cpu_isa = Param.String(
        "pentium", "pentium, pentium+cmov or x86-64; must fit the programs or the kernel"
    )
    clocks = Param.Bool(True, "x86-64: nominal clocks; False: each instruction takes one clock")
    feedback = Param.Bool(True, "False: memory never makes the processor wait")
    cpi = Param.Bool(False, "count the components of the CPI stack")
    unimplemented = Param.String(
        "fatal",
        "system-call emulation: what an instruction does that gem5 lacks: fatal or warn (it then"
        " does nothing)",
    )
    job = Param.String("", "text that a program can ask for by a marker")
    delivered = Param.String("", "file that a program can ask for by markers; empty: none")
    output = Param.String("output.log", "file in gem5's output directory for what markers print")
