# SPDX-License-Identifier: MIT
"""A fragment of code that `./p5lab cycles` times, linked with the code that calls it
(workloads/lib/fragment.S)."""

import re
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from p5lab.describe import disassembly, source_lines
from p5lab.describe.elf import PT_LOAD, Elf

ROUNDS = 4  # calls of the fragment; the last one is measured
MEMORY, STACK = 0xA000, 0x80000  # workloads/lib/fragment.S
FIRST = 0x100000  # address of the fragment
DATA = 0x400000
WARM = 8192  # bytes of the data that are read before each call: an L1D of a Pentium
CACHED = 4096  # bytes of all copies together: half of the L1 code cache
COPIES = 64  # at most
# Jumps that a loop can end with: Jcc and JMP with a displacement, LOOP, JECXZ.
_JUMP = re.compile(rb"[\x70-\x7f\xe0-\xe3\xe9\xeb]|\x0f[\x80-\x8f]", re.DOTALL)
_RETURN = b"\xc2\xc3"
_PREFIXES = b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3"
# The name of a place without a label, such as `fragment+0x5`.
_OWN = re.compile(r"\bfragment(?:_begin)?(\+\w+)?$")


@dataclass(frozen=True)
class Fragment:
    """`name`: what the user calls it. `image`: the ELF file with the fragment and its caller.
    `copies`: how often the code stands behind itself, so that straight code is repeated. `intel`:
    the assembler text of the user has Intel's syntax."""

    name: str
    image: bytes
    copies: int = 1
    intel: bool = False

    @cached_property
    def elf(self) -> Elf:
        """The file."""
        return Elf(self.image)

    @cached_property
    def end(self) -> int:
        """The address behind one copy of the fragment's code."""
        return next(symbol.address for symbol in self.elf.symbols if symbol.name == "fragment_end")

    @property
    def size(self) -> int:
        """The bytes of one copy."""
        return self.end - FIRST

    def repeated(self) -> "Fragment":
        """The same code as many times as half of an L1 code cache takes it, at least four times."""
        return replace(self, copies=max(4, min(COPIES, CACHED // self.size)))

    def contains(self, address: int) -> bool:
        """Whether a copy of the fragment contains an address."""
        return FIRST <= address < FIRST + self.size * self.copies

    def place(self, address: int) -> int:
        """The address in the first copy."""
        return FIRST + (address - FIRST) % self.size

    def blobs(self) -> list[tuple[int, bytes]]:
        """The content of the memory: address and bytes of each part."""
        parts = []
        for header in self.elf.headers:
            if header.kind != PT_LOAD or not header.stored or not header.offset:
                continue  # the last is the file's own header
            address = header.address
            content = self.image[header.offset : header.offset + header.stored]
            if address == FIRST and self.copies > 1:
                # The jump to the caller is behind the copies, so its distance is shorter.
                code, jump = content[: self.size], content[self.size : self.size + 5]
                far = int.from_bytes(jump[1:], "little") - self.size * (self.copies - 1)
                jump = jump[:1] + (far & 0xFFFFFFFF).to_bytes(4, "little")
                content = code * self.copies + jump
            parts.append((address, content))
        return parts

    def code(self, address: int) -> bytes:
        """Up to 15 bytes from an address on, without prefixes."""
        at = self.place(address)
        segment = next(segment for segment in self.elf.segments if segment.address == FIRST)
        begin = segment.offset + at - segment.address
        return self.image[begin : begin + 15].lstrip(_PREFIXES)

    def is_jump(self, address: int) -> bool:
        """Whether the instruction at an address is a direct jump."""
        return bool(_JUMP.match(self.code(address)))

    def is_return(self, address: int) -> bool:
        """Whether the instruction at an address is a near return."""
        return self.code(address)[:1] in (_RETURN[:1], _RETURN[1:])

    @cached_property
    def _texts(self) -> dict[int, str]:
        """The text of each instruction by address, as the host's objdump prints it; empty without
        objdump."""
        with tempfile.NamedTemporaryFile(suffix=".elf") as file:
            file.write(self.image)
            file.flush()
            form = "intel" if self.intel else "att"
            texts = disassembly.texts(Path(file.name), "-M", form, "-j", ".text")
        return {at: _OWN.sub(lambda match: match[1] or "+0x0", text) for at, text in texts.items()}

    def text(self, address: int) -> str:
        """The instruction at an address. Its bytes, if the host has no objdump."""
        at = self.place(address)
        return self._texts.get(at) or self.code(at)[:4].hex(" ")

    def line(self, address: int) -> int:
        """The source line of an address; 0 if it is not known."""
        span = source_lines.at(self._lines, self.place(address))
        return span.line if span else 0

    @cached_property
    def _lines(self) -> list[source_lines.Range]:
        return source_lines.ranges(self.image, self.elf.segments)

    def label(self, address: int) -> str:
        """The name of the place of an address: label or function and distance, such as `sum+3`."""
        at = self.place(address)
        named = (symbol for symbol in self.elf.symbols if not symbol.name.startswith("fragment"))
        symbols = [symbol for symbol in named if FIRST <= symbol.address <= at < self.end]
        if not symbols:
            return f"+{at - FIRST:#x}"
        nearest = max(symbols, key=lambda symbol: symbol.address)
        distance = at - nearest.address
        return nearest.name + (f"+{distance:#x}" if distance else "")


@dataclass(frozen=True)
class Issue:
    """An instruction of a traced call begins at `address` and at the core clock `clock`. `counts`:
    what grew until the next instruction began (docs/reference/formats.md, issues.jsonl)."""

    address: int
    clock: int
    counts: dict[str, int]
