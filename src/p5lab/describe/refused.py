# SPDX-License-Identifier: MIT
"""Explains why the processor refused an instruction of the user's program (#UD): which instruction
it was, where it is in the source, and how to compile the program without it."""

import re
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe import disassembly, source_lines
from p5lab.describe import program as programs
from p5lab.describe.elf import Elf

# The engine's message (engine/session/invalid_opcodes.cc: last).
_REFUSED = re.compile(r"invalid opcode \(#UD\) at 0x([0-9a-f]+), ring 3\b")
LONGEST = 15  # bytes of an x86 instruction


@dataclass(frozen=True)
class RefusedInstruction:
    """An instruction of a program: its bytes, its text in the notation of Intel (empty if the host
    has no objdump), the function, and the place in the source (each empty if not known).
    `locks`: it is CMPXCHG8B with LOCK and a register (F0 0F C7 C8 to CF)."""

    code: bytes
    text: str
    function: str
    place: str
    locks: bool = False

    @property
    def where(self) -> str:
        """The function and the source line, for a message: ` in sum, sum.c:3`."""
        function = f" in {self.function}" if self.function else ""
        return f"{function}, {self.place}" if self.place else function


def explained(said: str, program: programs.Program, isa: str) -> str:
    """The engine's reason for the end of a run, with an explanation if the processor refused an
    instruction of the program. `isa`: the ISA level of the guest (guest.toml). Returns `said` if
    the reason is another one, or if the program does not contain the address."""
    match = _REFUSED.search(said)
    if match is None or not isinstance(program, programs.OwnProgram):
        return said
    try:
        refused = instruction(program.path, int(match[1], 16))
    except (OSError, ValueError):
        return said
    if refused is None:
        return said
    code = refused.code.hex(" ")
    what = (
        f"`{refused.text}` ({code})" if refused.text else f"the instruction that begins with {code}"
    )
    return f"{said}: {what}{refused.where}; {_remedy(refused, isa, program)}"


def _remedy(refused: RefusedInstruction, isa: str, program: programs.OwnProgram) -> str:
    if refused.text.startswith("ud"):
        return (
            "a compiler puts this instruction where the program must not continue, for example"
            " after undefined behaviour or in __builtin_trap()"
        )
    if refused.locks:
        return (
            "every Pentium has this flaw, and stops until it is reset; the guest's kernel has a"
            " work-around, which ended the program"
        )
    missing = f"the processor ({isa}) does not have this instruction"
    if program.source:
        return (
            f"{missing}: it comes from inline assembly or from an option in --cflags, because p5lab"
            " compiles for this processor"
        )
    form = programs.form(isa)
    gcc = form.processor.replace("_", "-")
    return (
        f"{missing}: compile the program and its libraries with -mcpu={form.processor} (Zig)"
        f" or -march={gcc} (gcc, clang)"
    )


def instruction(program: Path, address: int) -> RefusedInstruction | None:
    """The instruction at an address of a program. None if the program's code does not contain the
    address. Raises OSError if the file cannot be read, and ValueError if it is damaged."""
    elf = Elf(program.read_bytes())
    for segment in elf.segments:
        at = address - segment.address
        if 0 <= at < segment.size:
            break
    else:
        return None
    first = segment.offset + at
    code = elf.image[first : first + min(LONGEST, segment.size - at)]
    decoded = disassembly.instructions(program, "-M", "intel", first=address, end=address + LONGEST)
    return RefusedInstruction(
        *decoded.get(address, (code[:8], "")),
        function_at(elf, address),
        place_at(elf, address),
        locks=code[:3] == b"\xf0\x0f\xc7" and 0xC8 <= code[3] <= 0xCF,
    )


def function_at(elf: Elf, address: int) -> str:
    """The name of the function that contains an address; empty if none does."""
    known = [
        symbol for symbol in elf.symbols if symbol.address <= address < symbol.address + symbol.size
    ]
    return min(known, key=lambda symbol: (symbol.size, symbol.name)).name if known else ""


def place_at(elf: Elf, address: int) -> str:
    """The file and the line of an address; empty without debug information."""
    span = source_lines.at(source_lines.ranges(elf.image, elf.segments), address)
    return f"{span.file}:{span.line}" if span else ""
