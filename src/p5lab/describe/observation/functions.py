# SPDX-License-Identifier: MIT
"""functions.txt: the addresses of functions, for a run with --attribute
(docs/reference/formats.md).

The engine finds kernel functions by their addresses, which vmlinux contains. The engine finds all
other functions by the content of their pages. These pages belong to the programs that the engine
delivers, or to programs and libraries on the guest's RAM disk, or to programs and libraries of a
distribution. A RAM disk can contain a second RAM disk. If a program has no symbols, the symbols
come from another file that contains the same code.
"""

import json
import re
import tarfile
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from p5lab.describe import delivery, disassembly, source_lines
from p5lab.describe.elf import FUNCTION, WEAK, Elf, Symbol
from p5lab.describe.guest import built
from p5lab.describe.observation import kernel_symbols
from p5lab.describe.observation.target import Target
from p5lab.describe.program import OwnProgram
from p5lab.errors import UserError, unknown
from p5lab.files import store_bytes
from p5lab.lab import Lab

PAGE = 4096
FORM = 3  # of a stored functions.txt; a new number when its content changes
NEWC = b"070701"  # Documentation/driver-api/early-userspace/buffer-format.rst
NOPS = {3: b"\x8d\x76\x00", 4: b"\x8d\x74\x26\x00"}  # the NOPs of an i386 kernel, by length
# A new task of Linux begins in one of these functions, with an empty stack. A program begins at the
# entry of its file.
STARTS = frozenset({"ret_from_fork", "ret_from_fork_asm"})
VDSO = "vdso"


def table(lab: Lab, run: Target, *, lines: bool = False, instructions: str | None = None) -> str:
    """The text of functions.txt for a run. With `lines`, the functions of the user's program are
    divided by source line (`_by_line`). If `instructions` is not None, the user's program and the
    function of the kernel with this name are divided by instruction (`_by_instruction`)."""
    system = built(run.guest)
    vmlinux = kernel_symbols.vmlinux(system, "--attribute")
    parts = [_kernel(vmlinux)]
    if instructions:
        parts = [_with_instructions(vmlinux, parts[0], instructions)]
    programs = _vdso(vmlinux.read_bytes())
    if system.image:
        parts.append(_of_distribution(lab, system.image_of))
    own = ""
    if isinstance(run.program, OwnProgram):
        own = run.program.path.name
        programs[own] = run.program.path.read_bytes()
    else:
        programs |= {inside: host.read_bytes() for host, inside in delivery.files(lab, run)}
    programs |= {path.name: path.read_bytes() for path, _ in system.modules}
    if system.initramfs:
        programs |= _archived(system.initramfs.read_bytes(), "")
    if isinstance(run.program, OwnProgram) and instructions is not None:
        parts += _modules([(own, programs.pop(own))], {}, "", run.program.path)
    parts += _modules(programs.items(), _with_symbols(lab), own if lines else "")
    return "".join(parts)


def _with_instructions(vmlinux: Path, kernel: str, name: str) -> str:
    """The module of a kernel with one function divided by instruction. Raises UserError for an
    unknown function."""
    lines = kernel.splitlines(keepends=True)
    for number, line in enumerate(lines):
        words = line.split()
        if words[0] in ("function", "start") and words[3] == name:
            first, size = int(words[1], 16), int(words[2], 16)
            texts = disassembly.texts(vmlinux, first=first, end=first + size)
            return "".join([*lines[:number], *_by_instruction([line], texts), *lines[number + 1 :]])
    known = [words[3] for line in lines if (words := line.split())[0] == "function"]
    raise unknown("function of the kernel", name, known)


def _modules(
    programs: Iterable[tuple[str, bytes]],
    with_symbols: Mapping[bytes, Elf],
    by_line: str,
    by_instruction: Path | None = None,
) -> list[str]:
    """The lines of the modules of these programs and libraries, which are given by their names. The
    functions of the program `by_line` are divided by source line. If `by_instruction` is the file
    of the only program, its functions are divided by instruction."""
    parts: list[str] = []
    seen: set[int] = set()
    for name, image in programs:
        try:
            program = Elf(image)
            named = program if program.symbols else with_symbols.get(program.code, program)
            of_pages, symbols = pages(program), named.symbols
        except ValueError:
            continue  # a damaged file; the guest itself reports the error
        if seen.issuperset(of_pages.values()):
            continue  # this file was already added under another name
        seen.update(of_pages.values())
        parts.append(f"module {name}\n")
        parts += [f"page {address:x} {content:x}\n" for address, content in of_pages.items()]
        # The entry of the vDSO is a function that programs call.
        entry = 0 if name == VDSO else program.entry
        functions = _functions(symbols, max(of_pages, default=0) + PAGE, entry)
        if by_instruction:
            functions = _by_instruction(functions, disassembly.texts(by_instruction))
        parts += _by_line(functions, program) if by_line and name == by_line else functions
    return parts


def _of_distribution(lab: Lab, guest: str) -> str:
    """The modules of all programs and libraries in the root file system of a distribution. The
    result is stored beside the root file system, because it takes several seconds."""
    archive = lab.rootfs(guest)
    about = json.loads(archive.with_name("rootfs.json").read_text(encoding="utf-8"))
    kept = archive.with_name(f"functions-{about['sha256'][:16]}-{FORM}.txt")
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    text = _distinct("".join(_modules(_in_archive(archive), {}, "")))
    for old in archive.parent.glob("functions-*.txt"):
        old.unlink()
    store_bytes(kept, text.encode())
    return text


def _distinct(modules: str) -> str:
    """The lines of the modules without the pages that several modules have. For example, the code
    that calls other libraries (the PLT) has equal pages in many libraries. Such a page does not
    tell which file it is from, so its code is code of no module."""
    lines = modules.splitlines(keepends=True)
    owners: dict[str, set[int]] = defaultdict(set)
    number = 0
    for line in lines:
        number += line.startswith("module ")
        if line.startswith("page "):
            owners[line.split()[2]].add(number)
    return "".join(
        line for line in lines if not line.startswith("page ") or len(owners[line.split()[2]]) == 1
    )


def _in_archive(archive: Path) -> Iterator[tuple[str, bytes]]:
    """The ELF files of a tar archive, each with its path."""
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if content and content.read(4) == b"\x7fELF":
                content.seek(0)
                yield f"/{member.name}", content.read()


@lru_cache
def _kernel(vmlinux: Path) -> str:
    try:
        kernel = Elf(vmlinux.read_bytes())
        first = min(segment.address for segment in kernel.segments)
        end = max(segment.address + segment.size for segment in kernel.segments)
    except ValueError as error:
        raise UserError(f"{vmlinux}: {error or 'no code'}", status=1) from None
    lines = [f"module {vmlinux.parent.name}\n", f"fixed {first:x} {end - first:x}\n"]
    return "".join(lines + _functions(kernel.symbols, end))


def _vdso(kernel: bytes) -> dict[str, bytes]:
    """The library that the kernel maps into every process (vDSO). The result contains the changes
    that the kernel makes in the library during the boot. Some sequences of NOPs reserve space for
    instructions that this processor lacks. Linux replaces each of these sequences by one longer NOP
    (Linux 6.1, arch/x86/kernel/alternative.c: optimize_nops())."""
    # The library is an ELF file inside the kernel's data. An ELF file begins with its magic number,
    # its class, its byte order and its version.
    inner = re.search(rb"\x7fELF[\x01\x02]\x01\x01", kernel[4:])
    if inner is None:
        return {}
    library = Elf(kernel[4 + inner.start() :])
    patched = bytearray(library.image)
    for segment in library.segments:
        for symbol in library.symbols:
            first = symbol.address - segment.address + segment.offset
            body = bytes(patched[first : first + symbol.size])
            patched[first : first + symbol.size] = re.sub(
                rb"(?<!\x90)\x90{3,4}(?!\x90)", lambda gap: NOPS[len(gap[0])], body
            )
    return {VDSO: bytes(patched)}


@lru_cache
def _with_symbols(lab: Lab) -> dict[bytes, Elf]:
    """Every program that is built and has symbols, by the digest of the program's code."""
    places = (*lab.root.glob("build/symbols/*/*"), *lab.root.glob("build/guests/*/vmlinux"))
    programs = (Elf(path.read_bytes()) for path in sorted(places))
    return {program.code: program for program in programs}


def pages(program: Elf) -> dict[int, int]:
    """The digest of each code page of a file, by the address of the page."""
    by_address: dict[int, int] = {}
    for segment in program.segments:
        first = segment.offset - segment.offset % PAGE
        end = -(-(segment.offset + segment.size) // PAGE) * PAGE
        content = program.image[first:end].ljust(end - first, b"\0")
        addresses = range(segment.address - segment.offset + first, 1 << 64, PAGE)
        by_address |= zip(addresses, digests(content), strict=False)
    return by_address


def _functions(symbols: list[Symbol], end: int, entry: int = 0) -> list[str]:
    """One line for each function. `entry`: the address at which a program begins. No two of these
    functions overlap. If one address has several names, the plainest name is used (`_rank`). A name
    inside a function is only a label, so it gets no line. The size of a function in assembly
    language can be unknown. This function then ends at the beginning of the next function."""
    best: dict[int, Symbol] = {}
    for symbol in symbols:
        known = best.get(symbol.address)
        if known is None or _rank(symbol) < _rank(known):
            best[symbol.address] = symbol
    functions = []
    free = 0
    for symbol in sorted(best.values(), key=lambda symbol: symbol.address):
        if symbol.address >= free and symbol.address < end:
            functions.append(symbol)
            free = symbol.address + symbol.size
    lines = []
    ends = [*(symbol.address for symbol in functions), end][1:]
    for symbol, behind in zip(functions, ends, strict=True):
        size = min(symbol.size or behind - symbol.address, behind - symbol.address)
        is_start = symbol.name in STARTS or 0 < symbol.address == entry
        kind = "start" if is_start else "function"
        lines.append(f"{kind} {symbol.address:x} {size:x} {symbol.name}\n")
    return lines


def _by_line(functions: list[str], program: Elf) -> list[str]:
    """The lines of `_functions`, divided where another source line begins. A tab and `FILE:LINE`
    follow the name of the function. Code without a source line keeps the name alone."""
    known = source_lines.ranges(program.image, program.segments)
    lines = []
    for text in functions:
        kind, first, size, name = text.rstrip("\n").split(" ", 3)
        at, end = int(first, 16), int(first, 16) + int(size, 16)
        while at < end:
            place = bisect_right(known, at, key=lambda span: span.end)
            span = known[place] if place < len(known) else None
            inside = span is not None and span.first <= at
            behind = (span.end if inside else span.first) if span else end
            tail = f"\t{span.file}:{span.line}" if span and inside else ""
            lines.append(f"{kind} {at:x} {min(behind, end) - at:x} {name}{tail}\n")
            at = behind
    return lines


def _by_instruction(functions: list[str], texts: Iterable[int]) -> list[str]:
    """The lines of `_functions`, divided where another instruction begins (`texts`). A tab, the
    address and `:0` follow the name of the function."""
    known = sorted(texts)
    lines = []
    for text in functions:
        kind, first, size, name = text.rstrip("\n").split(" ", 3)
        at, end = int(first, 16), int(first, 16) + int(size, 16)
        inside = known[bisect_right(known, at) : bisect_left(known, end)]
        for address, behind in pairwise([at, *inside, end]):
            lines.append(f"{kind} {address:x} {behind - address:x} {name}\t{address:#x}:0\n")
    return lines


def _rank(symbol: Symbol) -> tuple[bool, bool, bool, int, int, str]:
    name = symbol.name
    underscores = len(name) - len(name.lstrip("_"))
    return (
        symbol.kind != FUNCTION,
        symbol.size == 0,
        symbol.binding == WEAK,
        underscores,
        len(name),
        name,
    )


def digests(content: bytes) -> list[int]:
    """The digest of each page: a 64-bit number. Functions::digest() of engine/measure/functions.cc
    gives the same number. The length of `content` must be a multiple of PAGE."""
    import numpy as np  # the import takes a tenth of a second

    pages_of = np.frombuffer(content, dtype="<u8").reshape(-1, PAGE // 8)
    five, rest = np.uint64(5), np.uint64(59)
    factor = np.uint64(0x9E3779B97F4A7C15)
    values = np.zeros(len(pages_of), dtype=np.uint64)
    for words in np.ascontiguousarray(pages_of.T):
        values = ((values << five | values >> rest) ^ words) * factor
    return [int(value) for value in values]


def _archived(archive: bytes, prefix: str) -> dict[str, bytes]:
    """Every ELF file of a cpio archive, and of the archives inside this archive, by path. The path
    of a file in an inner archive begins with the path of that archive. The result is empty if
    `archive` is another kind of file."""
    files: dict[str, bytes] = {}
    at = 0
    while archive[at : at + 6] == NEWC:
        fields = archive[at + 6 : at + 110]
        if not re.fullmatch(rb"[0-9A-Fa-f]{104}", fields):
            break
        size, name_size = int(fields[48:56], 16), int(fields[88:96], 16)
        name = archive[at + 110 : at + 110 + name_size - 1].decode("utf-8", "replace")
        start = (at + 110 + name_size + 3) & ~3
        content = archive[start : start + size]
        at = (start + size + 3) & ~3
        if content[:4] == b"\x7fELF":
            files[f"{prefix}/{name}"] = content
        elif content[:6] == NEWC:
            files |= _archived(content, f"/{name}:")
    return files
