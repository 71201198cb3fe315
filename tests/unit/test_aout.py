# SPDX-License-Identifier: MIT
"""Programs in the format a.out: the converter, and those for Linux before ELF and for BSD."""

import struct
import subprocess
import sys

import pytest
from fakelab import REPO

from p5lab.host import aout_programs, linux_programs
from p5lab.host.aout import FORMS, PAGE, converted
from p5lab.host.aout_programs import BSD, LINUX
from p5lab.lab import Lab

LAB = Lab(REPO)
TEXT, DATA, ZEROES = b"\xb8\1\0\0\0" * 900, b"data" * 30, 5000  # 4500 and 120 bytes
R, X, W = 4, 1, 2
KINDS = (LINUX, BSD)
LCALL = b"\x9a\0\0\0\0\7\0"  # of BSD: lcall $7,$0


def elf(first, *, entry=0, kind=2, machine=3, rows=None, gap=0):
    """A static ELF program with a text of two pages and its data behind them."""
    data = (first + len(TEXT) + PAGE - 1) // PAGE * PAGE + gap
    at = 52 + 32 * (2 if rows is None else len(rows))
    rows = rows or (
        (1, at, first, first, len(TEXT), len(TEXT), R | X, PAGE),
        (1, at + len(TEXT), data, data, len(DATA), len(DATA) + ZEROES, R | W, PAGE),
    )
    head = struct.pack("<7s9xHHI", b"\x7fELF\1\1\1", kind, machine, 1)
    head += struct.pack("<IIIIHHHHHH", entry or first, 52, 0, 0, 52, 32, len(rows), 0, 0, 0)
    return head + b"".join(struct.pack("<8I", *row) for row in rows) + TEXT + DATA


def loaded(name, file):
    """The memory of a program as the system's macros lay it out (a.out.h), from its first address
    on, and its entry."""
    swapped = name.startswith("netbsd")
    (first,) = struct.unpack_from(">I" if swapped else "<I", file)
    text, data, bss, symbols, entry, *relocations = struct.unpack_from("<7I", file, 4)
    assert [symbols, *relocations] == [0, 0, 0]
    magic = first & 0xFFFF
    # N_TXTOFF and N_TXTADDR of the systems.
    offset, address = {
        "linux-zmagic": (1024, 0),
        "linux-omagic": (32, 0),
        "linux-qmagic": (0, PAGE),
        "netbsd-zmagic": (0, PAGE),
        "freebsd-qmagic": (0, PAGE),
    }[name]
    assert magic == {"zmagic": 0o413, "omagic": 0o407, "qmagic": 0o314}[name.split("-")[1]]
    assert text % PAGE == data % PAGE == 0
    assert len(file) == offset + text + data
    return address, file[offset:] + bytes(bss), entry, first >> 16


@pytest.mark.parametrize("name", FORMS)
def test_the_system_finds_each_byte_at_its_address(name):
    form = FORMS[name]
    address, memory, entry, machine = loaded(name, converted(elf(form.first, entry=7), form))
    at = form.first - address
    assert memory[at : at + len(TEXT)] == TEXT
    data = -(-(at + len(TEXT)) // PAGE) * PAGE
    assert memory[data : data + len(DATA)] == DATA
    assert memory[data + len(DATA) :].count(0) == len(memory) - data - len(DATA) >= ZEROES
    assert entry == 7
    assert machine == (0 if name == "linux-zmagic" else 100 if name.startswith("linux") else 134)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (b"\x7fELF", "not an ELF file"),
        (elf(0)[:60], "not an ELF file"),
        (elf(0, machine=62), "not a static ELF program for i386"),
        (elf(0, kind=3), "not a static ELF program for i386"),
        (elf(PAGE), "text begins at 0x1000; expected 0x0"),
        (elf(0, gap=PAGE), "data begin at 0x3000; expected 0x2000"),
        (elf(0)[:-1], "beyond the end of the file"),
        (elf(0, rows=((1, 84, 0, 0, 9, 9, R | X, PAGE),)), "expected two loaded segments"),
        (elf(0, rows=((3, 84, 0, 0, 9, 9, R, 1),)), "needs a dynamic linker"),
    ],
)
def test_another_file_is_refused(file, expected):
    with pytest.raises(ValueError, match=expected):
        converted(file, FORMS["linux-zmagic"])


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def kind(request):
    """A kind of programs whose C library is built."""
    if not (REPO / request.param.libc / "libc.a").is_file():
        pytest.skip("the C library is not built: run ./p5lab build")
    return request.param


@pytest.fixture(scope="module")
def made(kind):
    """The files for the floppy, by name."""
    return {path.name: path for path in aout_programs.made(LAB, kind)}


def test_the_floppy_has_the_programs_in_the_older_format(kind, made):
    names = linux_programs.names(LAB, kind.place)
    assert list(made) == [linux_programs.START, *names]
    assert made[linux_programs.START].read_text() == linux_programs.script(LAB, kind.place)
    for name in names:
        address, memory, entry, machine = loaded(kind.form, made[name].read_bytes())
        # xor ebp, ebp: the start of aout_start.c. Then Linux gives all addresses to the program.
        begin = memory[entry - address :]
        assert begin.startswith(b"\x31\xed\xe8" if kind is LINUX else b"\x31\xed\x8b\x04\x24")
        assert machine == (0 if kind is LINUX else 134)
        assert (LCALL in memory) == (kind is BSD)


def test_the_programs_are_made_once_and_have_the_same_bytes(kind, made):
    before = {path: path.stat().st_mtime_ns for path in made.values()}
    assert {path: path.stat().st_mtime_ns for path in aout_programs.made(LAB, kind)} == before
    for name, content in aout_programs.programs(LAB, kind):
        assert made[name].read_bytes() == content


def test_the_tool_converts_a_program_or_says_what_is_wrong(tmp_path):
    def tool(*words):
        command = [sys.executable, REPO / "tools/to_aout.py", *words]
        return subprocess.run(command, capture_output=True, text=True)

    form = FORMS["netbsd-zmagic"]
    (tmp_path / "elf").write_bytes(elf(form.first))
    assert tool("netbsd-zmagic", tmp_path / "elf", tmp_path / "aout").returncode == 0
    assert (tmp_path / "aout").read_bytes() == converted(elf(form.first), form)
    wrong = tool("linux-zmagic", tmp_path / "elf", tmp_path / "other")
    assert wrong.returncode == 2
    assert "text begins at 0x1020; expected 0x0" in wrong.stderr
    assert not (tmp_path / "other").exists()
    assert all(name in tool().stdout for name in FORMS)
