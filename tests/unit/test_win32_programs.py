# SPDX-License-Identifier: MIT
"""The programs for Win32: PE files that the loaders of 1994 accept."""

import os
import re
import struct
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import program_files
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.host import win32_programs, workload_programs
from p5lab.lab import Lab
from p5lab.prepare import fat_floppy, prepare

LAB = Lab(REPO)
BASE, OTHER_BASE = 0x400000, 0x10000000
HIGH_LOW, PADDING = 3, 0  # kinds of relocations
EXECUTABLE, BITS_32, NO_RELOCATIONS = 2, 0x100, 1  # Characteristics
# Sections: flags of code, data, and data that are not in the file; may be written.
CODE, DATA, ZEROES, WRITTEN = 0x20, 0x40, 0x80, 0x80000000


@dataclass
class Program:
    """A PE program as a loader maps it (Microsoft, PE Format). `at`: the offset of the optional
    header in the file."""

    file: bytes

    def __post_init__(self):
        (self.at,) = struct.unpack_from("<I", self.file, 0x3C)
        assert self.file[self.at : self.at + 4] == b"PE\0\0"
        self.machine, count = struct.unpack_from("<HH", self.file, self.at + 4)
        size, self.characteristics = struct.unpack_from("<HH", self.file, self.at + 20)
        self.at += 24
        self.entry = self.word(16)
        self.base = self.word(28)
        self.image = bytearray(self.word(56))
        self.image[: self.word(60)] = self.file[: self.word(60)]
        self.sections = {}
        for one in range(count):
            name, length, address, stored, where = struct.unpack_from(
                "<8sIIII", self.file, self.at + size + 40 * one
            )
            (flags,) = struct.unpack_from("<I", self.file, self.at + size + 40 * one + 36)
            self.sections[name.rstrip(b"\0").decode()] = address, length, flags
            content = self.file[where : where + min(length, stored)] if stored else b""
            self.image[address : address + len(content)] = content

    def word(self, offset, form="<I"):
        """A number of the optional header."""
        return struct.unpack_from(form, self.file, self.at + offset)[0]

    def directory(self, number):
        return struct.unpack_from("<II", self.file, self.at + 96 + 8 * number)

    def text(self, address):
        return self.image[address : self.image.index(0, address)].decode()

    @property
    def imports(self):
        """The imported functions, by the names of the libraries."""
        found, (at, _) = {}, self.directory(1)
        while any(self.image[at : at + 20]):
            names, _, _, library, _ = struct.unpack_from("<5I", self.image, at)
            functions = found.setdefault(self.text(library), [])
            while name := struct.unpack_from("<I", self.image, names)[0]:
                functions.append(self.text(name + 2))
                names += 4
            at += 20
        return found

    @property
    def relocations(self):
        """The addresses of the words that the loader changes at another base."""
        at, size = self.directory(5)
        end = at + size
        found = []
        while at < end:
            page, length = struct.unpack_from("<II", self.image, at)
            for (one,) in struct.iter_unpack("<H", self.image[at + 8 : at + length]):
                assert one >> 12 in (HIGH_LOW, PADDING)
                if one >> 12 == HIGH_LOW:
                    found.append(page + (one & 0xFFF))
            at += length
        return found


@pytest.fixture(scope="module")
def made():
    """The files for the floppy, by name."""
    return {path.name: path for path in win32_programs.made(LAB)}


@pytest.fixture(scope="module")
def programs(made):
    return {
        name: Program(path.read_bytes()) for name, path in made.items() if path.suffix == ".exe"
    }


def test_the_floppy_has_each_program_and_those_for_win32s(made):
    listed = workload_programs.entries(LAB, win32_programs.PLACE)
    names = {*listed, "child", "done"} | {f"w{name}" for name in listed if listed[name].windowed}
    assert set(made) == {"run.bat", *(f"{name}.exe" for name in names)}
    fat_floppy.image({name.upper(): path.read_bytes() for name, path in made.items()})


def test_each_program_asks_for_win32_of_version_3_10(programs):
    for name, one in programs.items():
        assert one.machine == 0x14C
        assert one.word(0, "<H") == 0x10B
        assert (one.word(48, "<H"), one.word(50, "<H")) == (3, 10)
        assert (one.word(40, "<H"), one.word(42, "<H")) == (3, 10)
        windowed = name.startswith("w")
        assert one.word(68, "<H") == (2 if windowed else 3)
        assert one.word(70, "<H") == 0  # no property that a loader of 1994 does not know
        assert one.base == BASE


def test_each_program_imports_functions_of_kernel32_alone(programs):
    text = (REPO / win32_programs.PLACE / "kernel32.def").read_text()
    known = set(re.findall(r"^(\w+)@\d+$", text, re.MULTILINE))
    used = set()
    for one in programs.values():
        assert list(one.imports) == ["kernel32.dll"]
        used.update(one.imports["kernel32.dll"])
    assert used == known


def test_the_loader_may_write_the_addresses_of_imports(programs):
    for one in programs.values():
        assert set(one.sections) <= {".text", ".bss", ".data", ".reloc"}
        address, length, flags = one.sections[".data"]
        assert flags & WRITTEN and flags & DATA and not flags & CODE
        for directory in (1, 12):
            at, size = one.directory(directory)
            assert address <= at and at + size <= address + length


def test_a_program_at_another_base_is_what_the_linker_makes_for_it(programs, tmp_path, monkeypatch):
    """The relocations are complete: a word without one would stay wrong."""
    base = f"/base:{OTHER_BASE:#x}"
    monkeypatch.setattr(win32_programs, "LINK", (*win32_programs.LINK, base))
    for name, content in win32_programs._programs(LAB):
        moved, one = Program(content), programs[name]
        assert moved.base == OTHER_BASE
        assert not one.characteristics & NO_RELOCATIONS
        assert one.characteristics & (EXECUTABLE | BITS_32) == EXECUTABLE | BITS_32
        assert one.relocations
        for at in one.relocations:
            (word,) = struct.unpack_from("<I", one.image, at)
            struct.pack_into("<I", one.image, at, word + OTHER_BASE - BASE)
        start = one.word(60)  # the headers name the base
        assert one.image[start:] == moved.image[start:]


def test_a_program_has_only_instructions_of_a_pentium(made):
    exe = [str(path) for path in made.values() if path.suffix == ".exe"]
    help = subprocess.run(["objdump", "-i"], capture_output=True, text=True).stdout
    if "pei-i386" not in help:
        pytest.skip("the host's objdump reads no PE programs")
    tool = REPO / "guest-images/check_isa.py"
    done = subprocess.run([sys.executable, str(tool), *exe], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_batch_file_starts_each_program_and_ends_the_run(made):
    lines = made["run.bat"].read_bytes().decode().split("\r\n")
    listed = workload_programs.entries(LAB, win32_programs.PLACE)
    words = [line.partition(" ")[0] for line in lines]
    assert [word for word in words if word in listed] == list(listed)
    assert lines[-2:] == ["done", ""]
    # A program that a system cannot run (status 77) is reported, and the next one starts.
    at = lines.index("calls")
    assert lines[at + 1 : at + 4] == [
        "if errorlevel 77 done calls 77",
        "if errorlevel 1 done calls 1",
        "if not errorlevel 0 done calls 1",
    ]


def test_a_distribution_gets_the_programs_and_the_script_for_wine(made):
    asked = UserProgram(
        Path("guest:/root/win32/run.sh"), files=program_files.parse([], None, "win32")
    )
    (run,) = prepare(LAB, Request(asked, Filter(guests=("debian32",)))).runs
    own = run.program
    with tarfile.open(own.delivered) as tar:
        modes = {one.name: one.mode for one in tar}
    assert set(modes) == {f"root/win32/{name}" for name in (*made, "run.sh")}
    assert modes["root/win32/run.sh"] == 0o755
    assert own.parameters["programs"] == "win32"
    assert win32_programs.phases(LAB).items() <= own.workload.phases.items()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--program guest:/bin/sh --programs dos", "--programs dos: expected win32 with"),
        ("--program guest:/bin/sh --programs win32 --guest debian64", "takes no files"),
        ("--program x.c --programs win32", "expected with --floppy, --disk, --cdrom or a guest"),
        ("smoke --programs win32", "expected with --floppy, --disk, --cdrom or a guest"),
    ],
)
def test_programs_in_the_wrong_place_are_refused(words, expected, capsys):
    assert cli.main(["plan", *words.split()], LAB) == 2
    (line,) = capsys.readouterr().err.strip().split("\n")
    assert expected in line


def test_the_script_for_wine_starts_the_named_programs_with_their_words(made, tmp_path):
    """With a shell script in the place of Wine."""
    script = (REPO / win32_programs.PLACE / "run.sh").read_text()
    for name in ("wine", "wineserver"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@"\n[ "$1" != create.exe ]\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "run.sh").write_text(script.replace("wine=/usr/lib/wine\n", f"wine={tmp_path}\n"))
    (tmp_path / "run.bat").write_bytes(made["run.bat"].read_bytes())

    def run(*names):
        done = subprocess.run(
            ["sh", tmp_path / "run.sh", *names],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout.splitlines()

    assert run("pipe", "cached") == (
        0,
        [
            "wineserver -p",
            "wine cached.exe files=32 iterations=2",
            "wine pipe.exe",
            "wineserver -k",
        ],
    )
    status, lines = run()
    assert status == 1
    assert lines[-3:] == [
        "wine create.exe files=32 iterations=2",
        "create: failed with status 1",
        "wineserver -k",
    ]
    assert (tmp_path / ".wine/drive_c/windows/system32/kernel32.dll").is_symlink()


def test_no_two_programs_share_a_phase():
    phases = win32_programs.phases(LAB)
    assert EMPTY_PHASE not in phases
    assert len(set(phases.values())) == len(phases)
    assert {"SetEvent", "DuplicateHandle", "exec-static", "mem-read 4 KB"} <= set(phases.values())


def test_the_programs_are_made_once_and_have_the_same_bytes(made):
    before = {path: path.stat().st_mtime_ns for path in made.values()}
    assert {path: path.stat().st_mtime_ns for path in win32_programs.made(LAB)} == before
    for name, content in win32_programs._programs(LAB):
        assert made[name].read_bytes() == content
