# SPDX-License-Identifier: MIT
"""Source lines of a program's code, and the explanation of a refused instruction. The programs are
made with the host's compiler.
"""

import subprocess
from itertools import pairwise

import pytest

from p5lab.describe import refused, source_lines
from p5lab.describe.elf import Elf
from p5lab.describe.observation import functions
from p5lab.describe.program import OwnProgram

SOURCE = """\
static inline int twice(int x) {
  return x +
      x;
}
__attribute__((noinline)) int work(int x) {
  __asm__ volatile("nop; nop");
  return twice(x) * 3;
}
void _start(void) {
  __asm__ volatile("cmovne %edx,%eax");
  work(4);
  __asm__ volatile("ud2");
}
"""


def built(place, *options):
    """Returns a program that is linked without a C library."""
    source = place / "prog.c"
    source.write_text(SOURCE)
    program = place / "prog"
    command = ["gcc", "-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-O1", *options]
    subprocess.run([*command, "-o", program, source], check=True, cwd=place)
    return program


@pytest.fixture(scope="module", params=["-gdwarf-4", "-gdwarf-5"])
def program(request, tmp_path_factory):
    return built(tmp_path_factory.mktemp("lines"), request.param)


def address_of(program, name):
    return next(one for one in Elf(program.read_bytes()).symbols if one.name == name)


def lines_of(program):
    elf = Elf(program.read_bytes())
    return source_lines.ranges(elf.image, elf.segments)


def test_each_address_has_the_line_of_its_instruction(program):
    lines = lines_of(program)
    work, start = address_of(program, "work"), address_of(program, "_start")
    source = str(program.with_name("prog.c"))
    first = source_lines.at(lines, work.address)
    assert (first.file, first.line) == (source, 5) or (first.file, first.line) == (source, 6)
    of_work = {
        source_lines.at(lines, at).line for at in range(work.address, work.address + work.size)
    }
    assert {6, 7} <= of_work <= {2, 3, 5, 6, 7, 8}
    assert 10 in {
        source_lines.at(lines, at).line for at in range(start.address, start.address + start.size)
    }


def test_ranges_are_sorted_and_do_not_overlap(program):
    lines = lines_of(program)
    assert len(lines) >= 6
    for one, other in pairwise(lines):
        assert one.first < one.end <= other.first
        touching = one.end == other.first
        assert not touching or (one.file, one.line) != (other.file, other.line)
    assert source_lines.at(lines, lines[0].first - 1) is None
    assert source_lines.at(lines, lines[-1].end) is None


def test_a_program_without_debug_information_has_no_lines(tmp_path):
    assert lines_of(built(tmp_path)) == []


def test_damaged_debug_information_is_refused_or_ignored(program):
    whole = program.read_bytes()
    segments = Elf(whole).segments
    for cut in range(0, len(whole), 997):
        damaged = whole[:cut] + bytes(64) + whole[cut + 64 :]
        try:
            source_lines.ranges(damaged, segments)
        except ValueError as error:
            assert str(error)


def test_functions_are_divided_by_line(program):
    elf = Elf(program.read_bytes())
    whole = functions._functions(elf.symbols, 1 << 32)
    parts = [line.split(" ", 3) for line in functions._by_line(whole, elf)]
    at = 0
    by_function: dict[str, int] = {}
    for _, first, size, text in parts:
        assert int(first, 16) >= at  # no overlap
        at = int(first, 16) + int(size, 16)
        name = text.rstrip("\n").partition("\t")[0]
        by_function[name] = by_function.get(name, 0) + int(size, 16)
    assert by_function == {
        line.split(" ", 3)[3].rstrip("\n"): int(line.split(" ", 3)[2], 16) for line in whole
    }
    source = program.with_name("prog.c")
    assert f"work\t{source}:7\n" in {text for *_, text in parts}


def test_functions_without_lines_stay_whole(tmp_path):
    elf = Elf(built(tmp_path).read_bytes())
    whole = functions._functions(elf.symbols, 1 << 32)
    assert functions._by_line(whole, elf) == whole


# --- refused instructions -------------------------------------------------------------------------


def said(address, ring=3):
    return f"invalid opcode (#UD) at 0x{address:08x}, ring {ring}, CR3 0x01234000"


def address_of_code(program, code):
    elf = Elf(program.read_bytes())
    (segment,) = (one for one in elf.segments if code in elf.image[one.offset :][: one.size])
    at = elf.image.index(code, segment.offset)
    return segment.address + at - segment.offset


def test_a_refused_instruction_is_named_with_its_place_and_the_remedy(program):
    address = address_of_code(program, b"\x0f\x45\xc2")
    text = refused.explained(said(address), OwnProgram(program), "pentium")
    source = program.with_name("prog.c")
    assert text == (
        f"{said(address)}: `cmovne eax,edx` (0f 45 c2) in _start, {source}:10; the processor"
        " (pentium) does not have this instruction: compile the program and its libraries with"
        " -mcpu=pentium (Zig) or -march=pentium (gcc, clang)"
    )


def test_a_refused_instruction_of_a_source_is_blamed_on_the_source(program):
    made = OwnProgram(program, source=program.with_name("prog.c"))
    text = refused.explained(said(address_of_code(program, b"\x0f\x45\xc2")), made, "pentium")
    assert "from inline assembly or from an option in --cflags" in text
    assert "-mcpu" not in text


def test_an_instruction_that_always_fails_is_not_blamed_on_the_processor(program):
    address = address_of_code(program, b"\x0f\x0b")
    text = refused.explained(said(address), OwnProgram(program), "pentium")
    assert "`ud2` (0f 0b) in _start" in text
    assert "undefined behaviour" in text
    assert "-mcpu" not in text


def test_without_objdump_and_symbols_the_bytes_are_left(program, tmp_path, monkeypatch):
    address = address_of_code(program, b"\x0f\x45\xc2")
    bare = tmp_path / "bare"
    subprocess.run(["strip", "-o", bare, program], check=True)
    monkeypatch.setenv("PATH", str(tmp_path))
    text = refused.explained(said(address), OwnProgram(bare), "x86-64")
    assert f"{said(address)}: the instruction that begins with 0f 45 c2" in text
    assert " in _start" not in text
    assert "-mcpu=x86_64 (Zig) or -march=x86-64 (gcc, clang)" in text


@pytest.mark.parametrize(
    "text",
    [
        "virtual-time limit of 120.000 s reached",
        said(0x1000),  # not an address of the program
        said(0x08049000, ring=0),
    ],
)
def test_other_reasons_stay_as_they_are(program, text):
    assert refused.explained(text, OwnProgram(program), "pentium") == text


def test_a_file_that_has_gone_or_is_damaged_changes_nothing(program, tmp_path):
    text = said(address_of_code(program, b"\x0f\x0b"))
    assert refused.explained(text, OwnProgram(tmp_path / "gone"), "pentium") == text
    damaged = tmp_path / "damaged"
    damaged.write_bytes(program.read_bytes()[:70])
    assert refused.explained(text, OwnProgram(damaged), "pentium") == text
