# SPDX-License-Identifier: MIT
"""The user's own programs: the programs that p5lab refuses before a run, and the guest's job."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from fakelab import GUEST, REPO

from p5lab.describe import program
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.errors import UserError
from p5lab.lab import Lab, cache_directory
from p5lab.prepare import prepare

MEMORY = 32 << 20
REAL = Lab(REPO)
IMAGE = """[image]
distribution = "dist"
suite = "one"
[boot]"""


def elf(*, bits=1, order=1, kind=2, machine=3, segments=((1, b"code"),), entry_bytes=32):
    """Returns an ELF file with these program headers. Each is (type, content)."""
    offset = 52 + 32 * len(segments)
    headers = body = b""
    for segment, content in segments:
        place = offset + len(body)
        headers += struct.pack("<8I", segment, place, 0, 0, len(content), len(content), 5, 4096)
        body += content
    header = b"\x7fELF" + bytes((bits, order, 1)) + bytes(9)
    header += struct.pack(
        "<HHIIIIIHHHHHH", kind, machine, 1, 0, 52, 0, 0, 52, entry_bytes, len(segments), 0, 0, 0
    )
    return header + headers + body


def elf64(*, machine=62, segments=((1, b"code"),)):
    """Returns a 64-bit ELF file with these program headers."""
    offset = 64 + 56 * len(segments)
    headers = body = b""
    for segment, content in segments:
        place = offset + len(body)
        headers += struct.pack("<II6Q", segment, 5, place, 0, 0, len(content), len(content), 4096)
        body += content
    header = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)
    header += struct.pack(
        "<HHIQQQIHHHHHH", 2, machine, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0
    )
    return header + headers + body


@pytest.fixture
def given(tmp_path):
    def write(content, name="a.out"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("kind", [2, 3])  # static, and static and position independent
def test_a_static_program_is_taken(given, kind):
    loaded = program.load(given(elf(kind=kind)), "-n 3 'x'", MEMORY)
    assert (loaded.name, loaded.arguments) == ("a.out", ("-n", "3", "x"))
    assert loaded.job == "@program -n 3 x"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an ELF file"),
        (b"MZ\x90\0", "not an ELF file"),
        (b"#!/bin/sh\n", "a script, not a program"),
        (elf()[:40], "cut short"),
        (elf()[:60], "cut short"),
        (elf(segments=((1, b"code" * 99),))[:200], "cut short"),
        (elf(entry_bytes=16), "cut short"),
        (elf(bits=2, machine=62), "a 64-bit ELF file"),
        (elf(machine=40), r"for another machine \(Arm\)"),
        (elf(machine=99), r"for another machine \(number 99\)"),
        (elf(order=2, machine=0x0200), "for another machine"),
        (elf(kind=1), "not linked"),
        (elf(kind=4), "not an executable ELF file"),
        (elf(segments=((6, b""),)), "nothing to load"),
        (
            elf(segments=((3, b"/lib/ld-linux.so.2\0"), (1, b""))),
            "dynamically linked .by /lib/ld-linux.so.2., and the guest does not have",
        ),
    ],
)
def test_anything_else_is_refused_with_its_reason(given, content, message):
    with pytest.raises(UserError, match=f"--program .*a.out: .*{message}.*; expected a static"):
        program.load(given(content), "", MEMORY)


def test_a_guest_of_64_bits_takes_programs_of_64_bits(given):
    assert program.load(given(elf64()), "-n", MEMORY, "x86-64").job == "@program -n"
    with pytest.raises(UserError, match="a 64-bit ELF file; expected a static program for 32-bit"):
        program.load(given(elf64()), "", MEMORY, "pentium+cmov")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (elf(), "a 32-bit ELF file"),
        (elf64()[:60], "cut short"),
        (elf64()[:100], "cut short"),
        (elf64(segments=((1, b"code" * 99),))[:200], "cut short"),
        (elf64(machine=183), r"for another machine \(AArch64\)"),
        (elf64(segments=((6, b""),)), "nothing to load"),
        (elf64(segments=((3, b"/lib64/ld.so\0"), (1, b""))), "dynamically linked .by /lib64/ld.so"),
    ],
)
def test_and_nothing_else(given, content, message):
    with pytest.raises(UserError, match=f"{message}.*; expected a static program for x86-64"):
        program.load(given(content), "", MEMORY, "x86-64")


def test_files_that_are_not_there_or_too_big(given, tmp_path):
    with pytest.raises(UserError, match="no such file"):
        program.load(tmp_path / "b.out", "", MEMORY)
    with pytest.raises(UserError, match="not a file"):
        program.load(tmp_path, "", MEMORY)
    with pytest.raises(UserError, match=r"2\.1 MB; expected at most half of .*, 2\.0 MB"):
        program.load(given(elf() + bytes(2_100_000)), "", 4_000_000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("'a b'", "'a b': an argument cannot contain a space, because the guest's init divides"),
        ("-x a\\ b", "'a b': an argument cannot contain a space"),
        ("''", "'': an argument cannot be empty, because the guest's init divides"),
        ("ä", "expected an argument of"),
        ("'open", "no closing quotation"),
        ("x " * 64, "64 arguments, .* at most 63 arguments"),
        ("x" * 1020, "1 arguments, 1029 bytes; expected .* 1023 bytes"),
    ],
)
def test_arguments_that_cannot_be_delivered(given, text, message):
    with pytest.raises(UserError, match=f"--args: .*{message}"):
        program.load(given(elf()), text, MEMORY)


def test_a_program_of_the_guest_itself(lab):
    text = GUEST.replace('"toy"', '"dist"').replace("[boot]", IMAGE)
    lab._put("guest-images/dist/guest.toml", text)
    found = prepare(
        lab, Request(UserProgram(Path("guest:/usr/bin/sort"), "-r x"), Filter(guests=("dist",)))
    )
    (run,) = found.runs
    assert run.job == "@run /usr/bin/sort -r x"
    assert run.label == "guest:/usr/bin/sort -r x, dist, p90-premiere2"
    assert run.workload.phases[0xFFFFFFFE] == "whole"
    with pytest.raises(
        UserError, match=r"guest toy has only the programs of p5lab; expected a guest th"
    ):
        prepare(lab, Request(UserProgram(Path("guest:/usr/bin/sort")), Filter(guests=("toy",))))
    with pytest.raises(UserError, match="expected without --engine native"):
        prepare(lab, Request(UserProgram(Path("guest:/bin/ls")), Filter(engine="native")))


@pytest.mark.parametrize("name", ["guest:", "guest:sort", "guest:/a b", "guest:/ä", "guest:/a\nb"])
def test_no_path_of_a_guest(name):
    with pytest.raises(UserError, match="expected guest: and an absolute path"):
        program.path_in_guest(name)


def test_arguments_of_a_program_of_the_guest():
    def made_of(arguments):
        asked = UserProgram(Path("guest:/a"), arguments)
        (run,) = prepare(REAL, Request(asked, Filter(guests=("debian64",)))).runs
        return run.program

    made = made_of("x " * 62)
    assert made.job.endswith("/a" + " x" * 62)
    with pytest.raises(UserError, match=r"63 arguments, .* at most 62 arguments"):
        made_of("x " * 63)


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_what_a_compiler_of_the_host_makes_is_refused(given, tmp_path):
    source = given(b"int main(void) { return 0; }", "a.c")
    subprocess.run(["gcc", source, "-o", tmp_path / "b.out"], check=True)
    with pytest.raises(UserError, match="a 64-bit ELF file"):
        program.load(tmp_path / "b.out", "", MEMORY)


def test_the_workloads_compiler_makes_what_is_taken(given, built, tmp_path):
    """The build has compiled the C library for the same options, so nothing else is compiled."""
    built("build/libc/musl/lib/libc.a")
    source, made = given(b"int main(void) { return 0; }", "a.c"), tmp_path / "b.out"
    command = [sys.executable, REPO / "workloads/build_workload.py", "--output", made, source]
    cache = cache_directory() / "zig"
    subprocess.run([*command, "--cache", cache], check=True)
    assert program.load(made, "", MEMORY).name == "b.out"


def test_a_run_for_each_guest_machine_and_seed(lab, given):
    choice = Filter(guests=("toy",), seeds=(0, 4), settings=(("l2.size", "512K"),))
    found = prepare(lab, Request(UserProgram(given(elf(), "my prog"), "-v 2"), choice))
    assert not found.cannot
    first, second = found.runs
    assert (first.experiment, first.job, first.seed, second.seed) == (
        "program",
        "@program -v 2",
        0,
        4,
    )
    assert first.label == "my prog -v 2, toy, p90-premiere2, l2.size=512K"
    assert first.parameter_text == "file=my_prog arguments=-v,2"
    assert first.workload.phases[0xFFFFFFFE] == "whole"
    assert first.workload.operations_in(first.parameters) == 1


def test_a_program_has_no_workload_beside_it(lab, given):
    with pytest.raises(UserError, match="--workload: expected without --program"):
        prepare(lab, Request(UserProgram(given(elf())), Filter(workloads=("call",))))


def test_mach_runs_only_programs_with_its_own_library(given):
    """A program for Linux ended there with signal 11."""
    with pytest.raises(UserError, match="guest mach-split has system calls of its own"):
        prepare(Lab.here(), Request(UserProgram(given(elf())), Filter(guests=("mach-split",))))
