# SPDX-License-Identifier: MIT
"""The source line of each address of a program, from the program's debug information (DWARF)."""

import io
import posixpath
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from p5lab.describe.elf import Segment

# A compiler gives the line 0 to code that belongs to no line [DWARF 5, 6.2.2].
NO_LINE = 0


@dataclass(frozen=True, order=True)
class Range:
    """The code from the address `first` up to, but not including, the address `end`. This code
    belongs to `line` of `file`. `file` is an absolute path if the compiler recorded one."""

    first: int
    end: int
    file: str
    line: int


def ranges(image: bytes, segments: Sequence[Segment]) -> list[Range]:
    """The lines of a program's code, in the order of the addresses. No two ranges overlap.

    `image`: the program's file. `segments`: the segments that are loaded as code. The list is empty
    for a program without debug information. Raises ValueError for a damaged file.
    """
    return list(_ranges(image, tuple(segments)))


@lru_cache(maxsize=4)  # several parts of one run need the lines of the same program
def _ranges(image: bytes, segments: tuple[Segment, ...]) -> tuple[Range, ...]:
    spans = sorted(
        span
        for span in _all(image)
        if any(place.address <= span.first < place.address + place.size for place in segments)
    )
    result: list[Range] = []
    for span in spans:
        last = result[-1] if result else None
        if last and span.first < last.end:
            continue  # a second description of the same code
        if last and (last.end, last.file, last.line) == (span.first, span.file, span.line):
            result[-1] = replace(last, end=span.end)
        else:
            result.append(span)
    return tuple(result)


def at(lines: Sequence[Range], address: int) -> Range | None:
    """The range in `lines`, the result of `ranges`, that contains an address. None if no range
    contains the address."""
    place = bisect_right(lines, address, key=lambda span: span.first) - 1
    return lines[place] if place >= 0 and address < lines[place].end else None


def _all(image: bytes) -> Iterator[Range]:
    """The ranges of all line tables, also of code that the linker has removed."""
    from elftools.elf.elffile import ELFFile  # imported here, because few commands need it

    try:
        file = ELFFile(io.BytesIO(image))
        if not file.has_dwarf_info():
            return
        information = file.get_dwarf_info()
        for unit in information.iter_CUs():
            table = information.line_program_for_CU(unit)
            if table is not None:
                yield from _of_table(table, _directory(unit))
    except Exception as error:  # a damaged file can cause any error in the library
        raise ValueError(f"damaged debug information: {error}") from None


def _of_table(table: Any, directory: str) -> Iterator[Range]:  # noqa: ANN401
    """The ranges of one line table. `directory`: the directory in which the compiler ran."""
    names: dict[int, str] = {}
    before = None
    for entry in table.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address < state.address and before.line != NO_LINE:
            if before.file not in names:
                names[before.file] = _file(table, before.file, directory)
            yield Range(before.address, state.address, names[before.file], before.line)
        before = None if state.end_sequence else state


def _directory(unit: Any) -> str:  # noqa: ANN401
    attribute = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
    return attribute.value.decode("utf-8", "replace") if attribute else ""


def _file(table: Any, number: int, directory: str) -> str:  # noqa: ANN401
    """The path of a file of a line table. Before DWARF 5 the numbers of files and directories begin
    with 1, and the directory 0 is the directory in which the compiler ran."""
    version = table["version"]
    entry = table["file_entry"][number if version >= 5 else number - 1]
    directories = table["include_directory"]
    if version >= 5:
        place = directories[entry.dir_index]
    else:
        place = directories[entry.dir_index - 1] if entry.dir_index else b""
    parts = (directory, place.decode("utf-8", "replace"), entry.name.decode("utf-8", "replace"))
    return posixpath.normpath(posixpath.join(*parts))
