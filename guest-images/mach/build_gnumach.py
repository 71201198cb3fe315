#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the kernel of guest mach from Debian's package of GNU Mach, without CMOV instructions.

Debian compiles GNU Mach for the Pentium Pro, and the compiler uses conditional moves, which a
Pentium lacks. This program replaces each conditional move by a branch around a plain move. The two
instructions are longer than the CMOV. So a jump of five bytes replaces the CMOV, and also
neighbouring instructions if the CMOV is shorter. The new code overwrites the kernel's unwinding
tables (.eh_frame), which the kernel never reads:

    original:  cmp eax,edx              now:  cmp eax,edx
               cmovb ecx,edx                  jmp moved
               mov [esi],ecx            back: mov [esi],ecx

                                       moved: jae skip
                                              mov ecx,edx
                                        skip: jmp back

The program replaces one FUCOMIP in the same way. FUCOM, FNSTSW and SAHF set the same flags.

Neighbours move only if no jump enters the code between them. Every direct branch, every constant in
the code and every word of the data that could be an address in the code counts as a jump target.
The two jumps of each site are the only difference from a kernel that our own compiler would make.
The file cmov-sites in the output has the number of sites.

The gates of gates.S come before the moved code. The server uses the event counters through them.

The package has no symbols. The bounds of functions come from the unwinding tables. In `vmlinux` the
name of a function is its address (f_c1000680). The products depend on the package alone.
"""

from __future__ import annotations

import argparse
import gzip
import re
import struct
import subprocess
import sys
import tempfile
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

IMAGE = "boot/gnumach-*.gz"
TABLES, MOVED = b".eh_frame", b".p5_moved"
JUMP = 5
"""Bytes of a jump with a displacement of 32 bits."""
EXECUTABLE = 4  # SHF_EXECINSTR
VECTORS = (0, 1, *range(3, 32))  # of the kernel's table, which omits NMI
GATES, SPACE = (0xF0, 0xF1, 0xF2, 0xF3), 64  # gates.S
UNUSED = (0x1C, 0x1D, 0x1E, 0x1F)  # replaced by the gates; a Pentium never raises them
ADAPTERS = (b"BusLogic",)
"""SCSI host adapters of the engine. The kernel would search for 15 others, which takes seconds."""
PROBING = b"\rprobing scsi %d/%d"
DRIVER, DRIVER_NAME = 0x48, 0x10  # size of a driver's entry; offset of its name
USER_GATE = 0x6E  # an interrupt gate that ring 3 may use
LINE = re.compile(r"([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*)")
FRAME = re.compile(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CONSTANT = re.compile(r"0x([0-9a-f]{8})\b")


class BuildError(Exception):
    """The build cannot continue. The message gives the reason."""


@dataclass(frozen=True)
class Instruction:
    address: int
    code: bytes
    text: str

    @property
    def end(self) -> int:
        return self.address + len(self.code)

    @property
    def is_foreign(self) -> bool:
        """Whether the program must replace this instruction. (The kernel tests the processor before
        it executes other instructions that a Pentium lacks.)
        """
        return self.text.startswith(("cmov", "fucomip"))

    @property
    def never_returns(self) -> bool:
        """Whether only jumps can reach the next instruction."""
        return self.text.split()[0] in ("jmp", "ret")


@dataclass(frozen=True)
class Section:
    header: int
    name: int
    address: int
    offset: int
    size: int


def unpack(package: Path, directory: Path) -> bytearray:
    subprocess.run(["dpkg-deb", "-x", package, directory], check=True)
    images = list(directory.glob(IMAGE))
    if len(images) != 1:
        raise BuildError(f"{package.name}: {len(images)} kernels, expected one")
    return bytearray(gzip.decompress(images[0].read_bytes()))


def sections(image: bytes) -> dict[bytes, Section]:
    (table,) = struct.unpack_from("<I", image, 32)
    each, count, names = struct.unpack_from("<HHH", image, 46)
    (at,) = struct.unpack_from("<I", image, table + names * each + 16)
    found = {}
    for number in range(count):
        header = table + number * each
        name, _, _, address, offset, size = struct.unpack_from("<6I", image, header)
        text = image[at + name : image.index(0, at + name)]
        found[bytes(text)] = Section(header, at + name, address, offset, size)
    return found


def listing(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def disassemble(kernel: Path) -> list[Instruction]:
    lines = listing("objdump", "-d", "-w", "-M", "intel", "-j", ".text", kernel).splitlines()
    return [
        Instruction(int(match[1], 16), bytes.fromhex(match[2]), match[3])
        for line in lines
        if (match := LINE.fullmatch(line.strip()))
    ]


def functions(kernel: Path) -> list[tuple[int, int]]:
    """Begin and end of each function that the compiler made."""
    frames = listing("readelf", "--debug-dump=frames", kernel)
    found = [(int(match[1], 16), int(match[2], 16)) for match in FRAME.finditer(frames)]
    return sorted(found)


def targets(image: bytes, code: list[Instruction], text: Section) -> tuple[set[int], set[int]]:
    """Returns all possible jump targets, and the targets that occur in the data."""
    inside = range(text.address, text.address + text.size)
    from_code = {int(match[1], 16) for one in code for match in CONSTANT.finditer(one.text)}
    data = set()
    for name in (b".rodata", b".data"):
        section = sections(image)[name]
        words = image[section.offset : section.offset + section.size // 4 * 4]
        data |= {word for (word,) in struct.iter_unpack("<I", words) if word in inside}
    return {target for target in from_code if target in inside} | data, data


def groups(
    code: list[Instruction], entered: set[int], kept: set[int], bounds: list[tuple[int, int]]
) -> list[list[Instruction]]:
    """Returns the sites. Each is a run of neighbours with a CMOV in it, long enough for a jump."""
    found: list[list[Instruction]] = []
    number = 0
    while number < len(code):
        if not code[number].is_foreign:
            number += 1
            continue
        first, last = number, number
        function = bisect_left(bounds, (code[number].address + 1, 0)) - 1
        begin, end = bounds[function]
        if not begin <= code[number].address < end:
            raise BuildError(f"{code[number].text} at {code[number].address:x}: in no function")

        while last + 1 < len(code) and code[last].end < end and code[last].end not in entered:
            enough = code[last].end - code[first].address >= JUMP
            if code[last].never_returns or (enough and not code[last + 1].is_foreign):
                break
            last += 1
        floor = found[-1][-1].end if found else 0
        while (
            code[last].end - code[first].address < JUMP
            and code[first].address not in entered
            and code[first - 1].address >= max(begin, floor)
            and code[first - 1].address not in kept
            and not code[first - 1].never_returns
        ):
            first -= 1
        if code[last].end - code[first].address < JUMP:
            raise BuildError(f"no room for a jump at {code[number].address:x}")
        found.append(code[first : last + 1])
        number = last + 1
    return found


def moved(one: Instruction, place: int) -> bytes:
    """Returns the code of the instruction at another place."""
    code, word = one.code, one.text.split()
    if word[0] == "fucomip":  # push eax, fucom st(i), fnstsw ax, sahf, pop eax, fstp st(0)
        return bytes([0x50, 0xDD, 0xE0 | code[1] & 7, 0xDF, 0xE0, 0x9E, 0x58, 0xDD, 0xD8])
    if one.is_foreign:
        at = code.index(b"\x0f")
        plain = code[:at] + b"\x8b" + code[at + 2 :]
        return bytes([0x70 | (code[at + 1] & 15 ^ 1), len(plain)]) + plain
    relative = len(word) > 1 and CONSTANT.fullmatch(word[1])
    if word[0] == "call" and relative:
        opcode = b"\xe8"
    elif word[0] == "jmp" and relative:
        opcode = b"\xe9"
    elif word[0].startswith("j") and relative and (code[0] >> 4 == 7 or code[:1] == b"\x0f"):
        opcode = bytes([0x0F, 0x80 | (code[0] if code[0] >> 4 == 7 else code[1]) & 15])
    elif relative and (word[0].startswith(("j", "loop"))):
        raise BuildError(f"{one.text} at {one.address:x} cannot be moved")
    else:
        return code
    distance = int(CONSTANT.fullmatch(word[1])[1], 16) - (place + len(opcode) + 4)  # type: ignore
    return opcode + struct.pack("<I", distance & 0xFFFFFFFF)


def assemble(source: Path, directory: Path) -> bytes:
    """Assembles position-independent code and returns it."""
    made, flat = directory / "gates.o", directory / "gates.bin"
    subprocess.run(["as", "--32", "-o", made, source], check=True)
    subprocess.run(["objcopy", "-O", "binary", "-j", ".text", made, flat], check=True)
    return flat.read_bytes()


def set_gates(image: bytearray, address: int) -> None:
    """Makes the kernel set up gates to the code at `address`. The kernel sets up its interrupt
    descriptors from a table. An entry has an address, a vector and the low bits of the type.
    """
    data = sections(image)[b".data"]
    for at in range(data.offset, data.offset + data.size - 8 * len(VECTORS), 4):
        if all(
            struct.unpack_from("<H", image, at + 8 * number + 4)[0] == vector
            for number, vector in enumerate(VECTORS)
        ):
            break
    else:
        raise BuildError("no table of interrupt vectors")
    for number, (vector, instead_of) in enumerate(zip(GATES, UNUSED, strict=True)):
        struct.pack_into(
            "<IHH",
            image,
            at + 8 * VECTORS.index(instead_of),
            address + number * SPACE,
            vector,
            USER_GATE,
        )


def keep_adapters(image: bytearray, kept: tuple[bytes, ...] = ADAPTERS) -> None:
    """Makes the kernel search for the SCSI host adapters in `kept` only. The kernel goes through
    its table of drivers and prints a message for each driver. The code before and after this
    message has the first and last address of the table as constants. The kernel skips a driver that
    has no search function.
    """
    known = sections(image)
    text, rodata, data = known[b".text"], known[b".rodata"], known[b".data"]
    message = image.find(PROBING, rodata.offset, rodata.offset + rodata.size)
    pushed = b"\x68" + struct.pack("<I", message - rodata.offset + rodata.address)
    at = image.find(pushed, text.offset, text.offset + text.size)
    first, last = image.rfind(b"\xbb", 0, at) + 1, image.find(b"\x81\xfb", at) + 2
    if message < 0 or at < 0 or at - first > 100 or not 2 <= last < at + 200:
        raise BuildError("no table of SCSI drivers")
    begin, end = (struct.unpack_from("<I", image, place)[0] for place in (first, last))
    found = set()
    for driver in range(begin, end, DRIVER):
        place = driver - data.address + data.offset
        (name,) = struct.unpack_from("<I", image, place + DRIVER_NAME)
        start = name - rodata.address + rodata.offset
        called = bytes(image[start : image.index(0, start)]) if name else b""
        found |= {one for one in kept if called.startswith(one)}
        if not called.startswith(kept):
            struct.pack_into("<I", image, place + DRIVER_NAME + 4, 0)
    if found != set(kept):
        raise BuildError("a SCSI driver that is to stay is not there")


def rewrite(image: bytearray, kernel: Path, gates: bytes) -> int:
    """Removes the CMOVs from the image and adds the gates. Returns the number of sites."""
    known = sections(image)
    text, tables = known[b".text"], known[TABLES]
    code, bounds = disassemble(kernel), functions(kernel)
    boundaries = {one.address for one in code}
    if lost := [begin for begin, _ in bounds if begin not in boundaries]:
        raise BuildError(f"the disassembly misses the function at {lost[0]:x}")
    entered, kept = targets(image, code, text)
    sites = groups(code, entered, kept, bounds)
    place = tables.address
    out = bytearray(gates)
    set_gates(image, place)
    for site in sites:
        begin, end = site[0].address, site[-1].end
        room = bytearray(b"\xe9" + struct.pack("<i", place + len(out) - (begin + JUMP)))
        room += b"\x90" * (end - begin - JUMP)
        image[text.offset + begin - text.address : text.offset + end - text.address] = room
        for one in site:
            out += moved(one, place + len(out))
        if not site[-1].never_returns:
            out += b"\xe9" + struct.pack("<i", end - (place + len(out) + JUMP))
    if len(out) > tables.size:
        raise BuildError(f"{len(out)} bytes of code, {tables.size} of room")
    image[tables.offset : tables.offset + tables.size] = out.ljust(tables.size, b"\x90")
    image[tables.name : tables.name + len(MOVED)] = MOVED
    (flags,) = struct.unpack_from("<I", image, tables.header + 8)
    struct.pack_into("<I", image, tables.header + 8, flags | EXECUTABLE)
    return len(sites)


def with_symbols(kernel: Path, output: Path, bounds: list[tuple[int, int]], base: int) -> None:
    """Writes the kernel with a symbol for every function."""
    names = [
        f"--add-symbol=f_{begin:x}=.text:{begin - base:#x},function,global" for begin, _ in bounds
    ]
    subprocess.run(["objcopy", *names, kernel, output], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, required=True, help="gnumach-image-*_i386.deb")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--isa-exceptions", type=Path, required=True, help="list for check_isa.py")
    parser.add_argument("--gates", type=Path, required=True, help="gates.S")
    parser.add_argument("--output-dir", type=Path, required=True)
    args = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="p5lab-mach-") as tmp:
            image = unpack(args.package, Path(tmp) / "deb")
            original, kernel, named = (Path(tmp) / name for name in ("original", "kernel", "named"))
            original.write_bytes(image)
            base = sections(image)[b".text"].address
            bounds = functions(original)
            keep_adapters(image)
            original.write_bytes(image)
            count = rewrite(image, original, assemble(args.gates, Path(tmp)))
            kernel.write_bytes(image)
            with_symbols(kernel, named, bounds, base)
            subprocess.run(
                [sys.executable, args.check_isa, "--exceptions", args.isa_exceptions, named],
                check=True,
            )
            args.output_dir.mkdir(parents=True, exist_ok=True)
            (args.output_dir / "gnumach").write_bytes(image)
            (args.output_dir / "vmlinux").write_bytes(named.read_bytes())
            (args.output_dir / "cmov-sites").write_text(f"{count}\n")
    except (BuildError, OSError, subprocess.CalledProcessError) as error:
        print(f"build_gnumach: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
