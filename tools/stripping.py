# SPDX-License-Identifier: MIT
"""Remove the symbol table of a program that lld has linked.

The result has the same bytes as a program that lld links with the option -s. To link again would
take a second, because the linker also optimizes the code. The programs strip and objcopy write the
names of the sections in another order, so that the program's bytes, and with them the counts of a
guest that loads the program, would change.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

from building import BuildError

HEADER = {1: struct.Struct("<16sHHIIIIIHHHHHH"), 2: struct.Struct("<16sHHIQQQIHHHHHH")}
SECTION = {1: struct.Struct("<10I"), 2: struct.Struct("<IIQQQQIIQQ")}
"""Layouts of ELF's structures by the class in byte 4: 32 bits or 64 bits."""
OFFSET, COUNT, NAMES = 6, 12, 13
"""Fields of the header: the offset and the number of the section headers, and the index of the
section that contains the names."""
WORD = {1: 4, 2: 8}
REMOVED = (b".symtab", b".strtab")
NO_BITS = 8


@dataclass(frozen=True)
class Section:
    """A section header. fields: the fields in ELF's order, of which the first is the name."""

    name: bytes
    fields: tuple[int, ...]

    @property
    def end(self) -> int:
        """The offset in the file of the first byte after the section."""
        _, kind, _, _, offset, size, *_ = self.fields
        return offset if kind == NO_BITS else offset + size


def stripped(program: bytes) -> bytes:
    """Returns the program without its symbol table. Raises BuildError if the last sections of the
    file are not those of lld."""
    form = program[4]
    header = list(HEADER[form].unpack_from(program))
    sections = _sections(program, form, header)
    kept = [section for section in sections if section.name not in REMOVED]
    names = b".shstrtab"
    if [section.name for section in sections[-3:]] != [b".symtab", names, b".strtab"]:
        raise BuildError("expected .symtab, .shstrtab and .strtab as the program's last sections")
    start = sections[-4].end
    table = b"".join(section.name + b"\0" for section in kept)
    position, written = 0, []
    for section in kept:
        fields = (position, *section.fields[1:])
        if section.name == names:
            fields = (*fields[:4], start, len(table), *fields[6:])
        written.append(replace(section, fields=fields))
        position += len(section.name) + 1
    body = program[:start] + table
    body += bytes(-len(body) % WORD[form])
    header[OFFSET], header[COUNT], header[NAMES] = len(body), len(kept), len(kept) - 1
    return b"".join(
        (
            HEADER[form].pack(*header),
            body[HEADER[form].size :],
            *(SECTION[form].pack(*section.fields) for section in written),
        )
    )


def _sections(program: bytes, form: int, header: list[int]) -> list[Section]:
    layout = SECTION[form]
    rows = [
        layout.unpack_from(program, header[OFFSET] + number * layout.size)
        for number in range(header[COUNT])
    ]
    names = program[rows[header[NAMES]][4] :]
    return [Section(names[row[0] : names.index(b"\0", row[0])], row) for row in rows]
