# SPDX-License-Identifier: MIT
"""Converts a static ELF program to the format a.out, for systems that are older than ELF.

The program must have been linked for the layout of the form: text from `FORMS[form].first` on, and
data from the next page on (workloads/linux2/aout.ld). The numbers come from the headers of the
systems: a.out.h of Linux 1.0, sys/exec_aout.h of NetBSD 1.0, sys/imgact_aout.h of FreeBSD 2.0.5.
"""

import struct
from dataclasses import dataclass

from p5lab.describe.elf import PT_LOAD, Elf

HEADER = 32  # bytes
PAGE = 4096
WRITABLE, EXECUTABLE = 2, 1
ET_EXEC, EM_386 = 2, b"\3\0"
DYNAMIC = (2, 3)  # PT_DYNAMIC, PT_INTERP


@dataclass(frozen=True)
class AoutForm:
    """A form of a.out. `magic`: the number in the header. `machine`: the id of the processor.
    `swapped`: whether the first word is in network order. `text`: the offset of the text in the
    file. `first`: the address of the first byte after the header, if the header is part of the text
    (`text` is 0), else of the text."""

    magic: int
    machine: int
    swapped: bool
    text: int
    first: int


FORMS = {
    "linux-zmagic": AoutForm(0o413, 0, False, 1024, 0),  # the oldest Linux refuses an id
    "linux-qmagic": AoutForm(0o314, 100, False, 0, PAGE + HEADER),
    "linux-omagic": AoutForm(0o407, 100, False, HEADER, 0),
    "netbsd-zmagic": AoutForm(0o413, 134, True, 0, PAGE + HEADER),
    "freebsd-qmagic": AoutForm(0o314, 134, False, 0, PAGE + HEADER),
}


def converted(elf: bytes, form: AoutForm) -> bytes:
    """The program in the format a.out. Raises ValueError for a file that is no static ELF program
    for i386 with the addresses of the form."""
    entry, text, data = _loaded(elf)
    base = form.first - HEADER if form.text == 0 else form.first
    if text[0] != form.first:
        raise ValueError(f"text begins at {text[0]:#x}; expected {form.first:#x}")
    header_in_text = form.first - base
    texts = _pages(header_in_text + len(text[1]))
    if data[0] != base + texts:
        raise ValueError(f"data begin at {data[0]:#x}; expected {base + texts:#x}")
    datas = _pages(len(data[1]))
    first = form.machine << 16 | form.magic
    header = struct.pack(">I" if form.swapped else "<I", first) + struct.pack(
        "<7I", texts, datas, max(0, data[2] - datas), 0, entry, 0, 0
    )
    lead = header if header_in_text else header.ljust(form.text, b"\0")
    body = text[1].ljust(texts - header_in_text, b"\0") + data[1].ljust(datas, b"\0")
    return lead + body


def _pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


_Part = tuple[int, bytes, int]  # address, content, size in memory


def _loaded(elf: bytes) -> tuple[int, _Part, _Part]:
    """The entry point, the text and the data."""
    try:
        program = Elf(elf)
        headers = program.headers
    except ValueError:
        raise ValueError("not an ELF file for i386") from None
    if elf[:7] != b"\x7fELF\1\1\1" or program.kind != ET_EXEC or elf[18:20] != EM_386:
        raise ValueError("not a static ELF program for i386")
    if any(header.kind in DYNAMIC for header in headers):
        raise ValueError("the program needs a dynamic linker; expected a static program")
    loaded = [header for header in headers if header.kind == PT_LOAD]
    if any(header.offset + header.stored > len(elf) for header in loaded):
        raise ValueError("a segment goes beyond the end of the file")
    if [header.flags & (WRITABLE | EXECUTABLE) for header in loaded] != [EXECUTABLE, WRITABLE]:
        raise ValueError("expected two loaded segments: text, and data that may be written")
    text, data = (
        (header.address, elf[header.offset : header.offset + header.stored], header.memory)
        for header in loaded
    )
    return program.entry, text, data
