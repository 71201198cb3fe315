# SPDX-License-Identifier: MIT
"""From the engine's report about the last kernel entry to a message."""

import pytest
from test_source_lines import address_of_code, built

from p5lab.describe import ended
from p5lab.describe.program import GuestProgram, OwnProgram


@pytest.fixture
def program(tmp_path):
    return built(tmp_path, "-g")


def note(vector, at=0x1000, error=4, cr2=0, stack=(), **registers):
    values = dict.fromkeys(("ax", "cx", "dx", "bx", "sp", "bp", "si", "di"), 0) | registers
    texts = [f"error={error}", f"at={at:#010x}", f"cr2={cr2:#010x}"]
    texts += [f"{name}={value:#010x}" for name, value in values.items()]
    texts += ["stack=" + "".join(f"{word:#010x}," for word in stack)]
    return {"what": "kernel-entry", "name": " ".join(texts), "count": vector}


def test_a_page_fault_names_the_address_and_the_registers(program):
    at = address_of_code(program, b"\x0f\x45\xc2")
    said = ended.by_signal(11, [note(14, at, ax=7, cr2=8)], OwnProgram(program))
    assert "SIGSEGV" in said and f"{at:#010x} in _start, " in said and "prog.c:10" in said
    assert "reads address 0x8" in said and "null pointer" in said and "eax = 0x7" in said
    said = ended.by_signal(11, [note(14, at, error=7, cr2=0x8049000)], OwnProgram(program))
    assert "writes to address 0x8049000" in said and "protected" in said and "null" not in said


def test_only_an_entry_that_causes_the_signal_is_named(program):
    plain = ended.by_signal(9, [], None)
    assert "signal 9 (SIGKILL)" in plain
    for one in (note(14), note(0), note(0x80, ax=238, cx=6), note(0x80, ax=4, cx=9)):
        assert ended.by_signal(9, [one], OwnProgram(program)) == plain
    both = [note(0x80, ax=175), note(0x80, ax=238, cx=6)]
    assert "sent by tkill" in ended.by_signal(6, both, OwnProgram(program))
    assert "divides by zero" in ended.by_signal(8, [note(0, 5)], None)


def test_a_word_is_a_return_address_only_after_a_call(program):
    at = address_of_code(program, b"\x0f\x45\xc2")
    assert ended._callers(OwnProgram(program), [at, at + 3, 0, 1 << 31]) == []
    assert ended._callers(None, [at]) == []


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("limit; the program runs at 0x00000010, for 4.0 s without a system call", "0x00000010"),
        ("limit; the program waits for 4.0 s in system call 3, first argument 0", "standard input"),
        ("limit; the program waits for 4.0 s in system call 3, first argument 5", "descriptor 5"),
        ("limit; the program waits for 4.0 s in system call 162, first argument 9", "nanosleep"),
        ("limit; the program waits for 4.0 s in system call 999, first argument 9", "call 999"),
    ],
)
def test_the_end_of_the_time(said, wanted):
    found = ended.at_limit(said, None)
    assert found.startswith("limit; it ") and "for 4.0 s" in found and wanted in found
    assert ended.at_limit("limit", None) == "limit"


def test_a_hint_names_an_option_that_the_program_takes(tmp_path):
    said = "limit; the program waits for 4.0 s in system call 3, first argument 0"
    assert "--stdin FILE" in ended.at_limit(said, GuestProgram("/usr/bin/sort"))
    assert "--stdin" not in ended.at_limit(said, OwnProgram(tmp_path / "a.out"))
