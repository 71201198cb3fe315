# SPDX-License-Identifier: MIT
"""The parameters of P5CPU (configs/gem5/extras), which contains the chip of engine/p5.

gem5's own interpreter imports this module, so it needs only the standard library.
"""

from pathlib import Path

from p5lab.describe.elf import Elf
from p5lab.describe.guest import X86_64
from p5lab.describe.keys import PARTS
from p5lab.describe.machine import Machine
from p5lab.engines.gem5.versions import CHIP, CPUS
from p5lab.errors import UserError

CPU = CPUS[CHIP]
PENTIUM = "pentium"
# The differences of a whole system on P5CPU from the embedded engine.
DEVIATIONS = [
    "the chip is cold at the ready marker; the code before the first begin warms it",
    "gem5 sets no dirty bits in page tables",
    "the chip does not see reads of bus masters, and the data of bus masters occupy no DRAM",
    "the devices are gem5's",
]
# By the class and the machine of an ELF file.
_ISA = {(1, 3): PENTIUM, (2, 62): X86_64}


def lines(machine: Machine) -> list[str]:
    """The machine's lines of the chip: the keys of engine/p5/keys.toml."""
    (part,) = (part for part in PARTS if part.name == "p5")
    conf = machine.engine_conf()
    return [f"{key.name} = {conf[key.name]}" for key in part.keys if key.name in conf]


def isa_of(program: Path) -> str:
    """The instruction set of a program: pentium or x86-64. Raises UserError for a file that is no
    static or dynamic program of Linux for these processors."""
    try:
        return _ISA[Elf(program.read_bytes()).form]
    except OSError as error:
        raise UserError(f"cannot read {program}: {error.strerror}") from None
    except (ValueError, KeyError):
        raise UserError(f"{program}: expected an ELF program for i386 or x86-64") from None
