# SPDX-License-Identifier: MIT
"""The segments, symbols and code of an ELF file. The symbols give the name of the function at an
address.

This module reads little-endian files of 32 and 64 bits [System V ABI, chapters 4 and 5]. It raises
ValueError for a damaged file and for a file of another kind.
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

PT_LOAD, EXECUTABLE_SEGMENT = 1, 1
SHT_SYMTAB, SHT_NOBITS, SHT_DYNSYM, EXECUTABLE_SECTION = 2, 8, 11, 4
NOTYPE, FUNCTION = 0, 2
LOCAL, GLOBAL, WEAK = 0, 1, 2


@dataclass(frozen=True)
class Header:
    """A program header. `address`, `physical`: of its content in memory. `stored`, `memory`: bytes
    in the file and in memory."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    stored: int
    memory: int


@dataclass(frozen=True)
class Segment:
    """A segment that is loaded as code. All numbers are bytes."""

    address: int
    offset: int
    size: int


@dataclass(frozen=True)
class Symbol:
    """A symbol in code. `size` is in bytes, 0 if unknown. `kind` is NOTYPE or FUNCTION."""

    address: int
    size: int
    name: str
    kind: int
    binding: int


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


class Elf:
    """A program, library or kernel, from the bytes of its file."""

    def __init__(self, image: bytes) -> None:
        if image[:4] != b"\x7fELF" or len(image) < 64 or image[4] not in (1, 2) or image[5] != 1:
            raise ValueError("not a little-endian ELF file")
        self.image = image
        self._wide = image[4] == 2

    @property
    def kind(self) -> int:
        """The kind of the file (e_type)."""
        return int.from_bytes(self.image[16:18], "little")

    @property
    def form(self) -> tuple[int, int]:
        """The class of the file (1: 32 bits, 2: 64 bits) and the machine (e_machine)."""
        return self.image[4], int.from_bytes(self.image[18:20], "little")

    @property
    def entry(self) -> int:
        """The address at which the program begins."""
        return int.from_bytes(self.image[24 : 32 if self._wide else 28], "little")

    @cached_property
    def headers(self) -> list[Header]:
        """All program headers."""
        if self._wide:
            return [Header(*row) for row in self._table(32, 54, "<IIQQQQQ")]
        # In files of 32 bits, p_flags is at another position.
        return [Header(kind, row[-1], *row[:-1]) for kind, *row in self._table(28, 42, "<7I")]

    @cached_property
    def segments(self) -> list[Segment]:
        """The segments that are loaded as code."""
        segments = []
        for header in self.headers:
            if header.kind == PT_LOAD and header.flags & EXECUTABLE_SEGMENT:
                if header.offset + header.stored > len(self.image):
                    raise ValueError("a segment goes beyond the end of the file")
                segments.append(Segment(header.address, header.offset, header.stored))
        return segments

    @cached_property
    def code(self) -> bytes:
        """A digest of all code sections and their addresses. A program has the same digest with and
        without its symbols. The digest is empty if the file has no code section."""
        digest = hashlib.sha256()
        sections = [section for section in self._sections if section.flags & EXECUTABLE_SECTION]
        for section in sections:
            digest.update(struct.pack("<QQ", section.address, section.size))
            digest.update(self._bytes(section))
        return digest.digest() if sections else b""

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The symbols in the code of the file. The source is the full symbol table if the file has
        such a table, else the table of exported names."""
        symbols = []
        for text, address, size, info, section in self._named:
            if section >= len(self._sections) or info & 15 not in (NOTYPE, FUNCTION):
                continue
            place = self._sections[section]
            if not place.flags & EXECUTABLE_SECTION or not text or text.startswith((".L", "$")):
                continue
            if 0 <= address - place.address < place.size:
                symbols.append(Symbol(address, size, text, info & 15, info >> 4))
        return symbols

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Address and size of each symbol in the file, also of data, by name."""
        known = (
            (text, address, size) for text, address, size, _, section in self._named if section
        )
        return {text: (address, size) for text, address, size in known if text}

    @property
    def _named(self) -> Iterator[tuple[str, int, int, int, int]]:
        """The rows of the table of symbols: name, address, size, st_info, section."""
        by_kind = {section.kind: section for section in self._sections}
        table = by_kind.get(SHT_SYMTAB) or by_kind.get(SHT_DYNSYM)
        if table is None:
            return
        if table.link >= len(self._sections):
            raise ValueError("the table of symbols has no table of names")
        names = self._bytes(self._sections[table.link])
        layout = struct.Struct("<IBBHQQ" if self._wide else "<IIIBBH")
        content = self._bytes(table)
        for row in layout.iter_unpack(content[: len(content) // layout.size * layout.size]):
            if self._wide:
                name, info, _, section, address, size = row
            else:
                name, address, size, info, _, section = row
            text = names[name : names.find(b"\0", name)].decode("utf-8", "replace")
            yield text, address, size, info, section

    @cached_property
    def _sections(self) -> list[_Section]:
        layout = "<IIQQQQIIQQ" if self._wide else "<10I"
        rows = self._table(40 if self._wide else 32, 58 if self._wide else 46, layout)
        return [_Section(*row[:7]) for row in rows]

    def _table(self, offset_at: int, sizes_at: int, layout: str) -> list[tuple[int, ...]]:
        (offset,) = struct.unpack_from("<Q" if self._wide else "<I", self.image, offset_at)
        each, count = struct.unpack_from("<HH", self.image, sizes_at)
        if count and (each < struct.calcsize(layout) or offset + each * count > len(self.image)):
            raise ValueError("a table goes beyond the end of the file")
        return [struct.unpack_from(layout, self.image, offset + i * each) for i in range(count)]

    def _bytes(self, section: _Section) -> bytes:
        if section.kind == SHT_NOBITS:
            return b""
        if section.offset + section.size > len(self.image):
            raise ValueError("a section goes beyond the end of the file")
        return self.image[section.offset : section.offset + section.size]
