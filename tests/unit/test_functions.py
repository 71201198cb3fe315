# SPDX-License-Identifier: MIT
"""Symbols of ELF files, and the table of functions made from them."""

import subprocess
import sys

import pytest

from p5lab.describe.elf import Elf
from p5lab.describe.observation import functions

SOURCE = """
.text
.globl whole
.type whole, @function
whole: nop; nop
inside: nop
.size whole, .-whole
.type alias, @function
.globl alias
.set alias, hidden
.type hidden, @function
hidden: nop
.size hidden, .-hidden
no_size: nop
.fill 5000, 1, 0x90
.type late, @function
late: ret
.size late, .-late
"""


@pytest.fixture(scope="module", params=[32, 64])
def program(request, tmp_path_factory):
    """Returns a linked program and the same program stripped, made with the host's assembler."""
    place = tmp_path_factory.mktemp(f"elf{request.param}")
    source, built = place / "f.s", place / "f.o"
    source.write_text(SOURCE)
    form = {32: "elf_i386", 64: "elf_x86_64"}[request.param]
    subprocess.run(["as", f"--{request.param}", "-o", built, source], check=True)
    for name, strip in (("full", []), ("stripped", ["-s"])):
        subprocess.run(
            ["ld", "-m", form, *strip, "-e", "whole", "-o", place / name, built], check=True
        )
    return (place / "full").read_bytes(), (place / "stripped").read_bytes()


def test_a_stripped_program_is_known_by_its_code(program):
    full, stripped = map(Elf, program)
    assert full.code == stripped.code != b""
    assert stripped.symbols == []
    assert {"whole", "inside", "hidden", "alias", "no_size", "late"} <= {
        symbol.name for symbol in full.symbols
    }


def test_functions_do_not_overlap_and_labels_are_part_of_theirs(program):
    full = Elf(program[0])
    lines = [line.split() for line in functions._functions(full.symbols, 1 << 40)]
    assert [(line[0], int(line[2], 16), line[3]) for line in lines] == [
        ("function", 3, "whole"),
        ("function", 1, "alias"),
        ("function", 5001, "no_size"),
        ("function", 1, "late"),
    ]


def test_pages_are_parts_of_the_file(program):
    full, stripped = map(Elf, program)
    pages = functions.pages(stripped)
    assert len(pages) == 2
    assert all(address % functions.PAGE == 0 for address in pages)
    (segment,) = stripped.segments
    assert min(pages) == segment.address & -functions.PAGE
    # The last page of the code may also contain data that follow the code in the file, for example
    # symbols.
    first = min(pages)
    assert functions.pages(full)[first] == pages[first]


@pytest.mark.parametrize("cut", [0, 3, 40, 70, 200])
def test_a_damaged_file_is_refused(program, cut):
    with pytest.raises(ValueError):
        damaged = Elf(program[0][:cut])
        _ = damaged.segments, damaged.symbols, damaged.code


def test_archives_in_archives():
    def archive(files):
        parts = []
        for name, content in files.items():
            head = [0] * 13
            head[6], head[11] = len(content), len(name) + 1
            record = b"070701" + b"".join(b"%08X" % field for field in head) + name.encode() + b"\0"
            parts.append(
                record + b"\0" * (-len(record) % 4) + content + b"\0" * (-len(content) % 4)
            )
        return b"".join(parts)

    inner = archive({"init": b"\x7fELFinner", "etc/text": b"nothing"})
    outer = archive({"init": b"\x7fELFouter", "guest.cpio": inner, "TRAILER!!!": b""})
    assert functions._archived(outer, "") == {
        "/init": b"\x7fELFouter",
        "/guest.cpio:/init": b"\x7fELFinner",
    }
    assert functions._archived(b"no archive", "") == {}
    assert functions._archived(outer[:50], "") == {}


def test_digests_depend_on_every_byte():
    page = bytearray(sys.byteorder.encode().ljust(functions.PAGE, b"\0"))
    known = {functions.digests(bytes(page))[0]}
    for at in range(0, functions.PAGE, 64):
        page[at] ^= 1
        known.add(functions.digests(bytes(page))[0])
    assert len(known) == 1 + functions.PAGE // 64


def test_a_page_of_several_libraries_belongs_to_none():
    first = "module /lib/a.so\npage 1000 abc\npage 2000 def\n10 one\n"
    second = "module /lib/b.so\npage 1000 def\npage 3000 123\npage 4000 123\n"
    distinct = functions._distinct(first + second)
    assert distinct == (first + second).replace("page 2000 def\n", "").replace(
        "page 1000 def\n", ""
    )
