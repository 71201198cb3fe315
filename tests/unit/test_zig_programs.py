# SPDX-License-Identifier: MIT
"""How the programs of the guests are made with Zig: the recorded commands, the linker's inputs, and
the removal of the symbol table."""

import importlib.util
import os
import subprocess
from pathlib import Path

import building
import pytest
import stripping
import zig_commands
from building import BuildError

BUSYBOX = Path(__file__).resolve().parents[2] / "guest-images/parts/busybox/build_busybox.py"
CODE = """\
.globl _start
_start: call f
.globl f
f: ret
.data
.globl word
word: .long 1
.bss
.skip 100
.section .tbss,"awT",@nobits
.skip 3
.section .comment,"MS",@progbits,1
.asciz "odd"
"""


@pytest.fixture
def link(tmp_path):
    """Returns a function that links CODE and returns the bytes of the program."""

    def linked(bits, *options):
        (tmp_path / "a.s").write_text(CODE)
        subprocess.run(["as", f"--{bits}", "-o", "a.o", "a.s"], cwd=tmp_path, check=True)
        kind = {"32": "elf_i386", "64": "elf_x86_64"}[bits]
        command = [building.find_zig(), "ld.lld", "-m", kind, *options, "-o", "program", "a.o"]
        subprocess.run(command, cwd=tmp_path, check=True)
        return (tmp_path / "program").read_bytes()

    return linked


@pytest.mark.parametrize("bits", ["32", "64"])
def test_a_stripped_program_has_the_bytes_that_the_linker_would_write(link, bits):
    program = link(bits)
    assert b"word" in program
    assert stripping.stripped(program) == link(bits, "-s")


def test_a_program_without_symbols_is_an_error(link):
    with pytest.raises(BuildError, match=r"expected \.symtab"):
        stripping.stripped(link("32", "-s"))


ZIG = """\
#!/bin/sh
here=${0%/*}
echo "run" >>"$here/runs"
echo "$here/zig clang $here/lib/memcpy.c -c -o memcpy.o" >&2
echo "$here/zig clang empty.c -isystem $here/lib/include -MD -MV -MF empty.d -c -o x/empty.o" >&2
echo "ld.lld -s -shared -o libc.so memcpy.o" >&2
echo "ld.lld -O3 -s -o program LIBS/crt1.o $ZIG_LOCAL_CACHE_DIR/o/empty.o --no-undefined" >&2
"""


@pytest.fixture
def zig(tmp_path, monkeypatch):
    """A compiler in a directory with a space, which prints its commands as Zig does."""
    directory = tmp_path / "my clone"
    directory.mkdir()
    program = directory / "zig"
    program.write_text(ZIG.replace("LIBS", str(tmp_path)))
    program.chmod(0o755)
    (tmp_path / "crt1.o").touch()
    monkeypatch.setattr(zig_commands, "find_zig", lambda: program)
    return program


def test_the_commands_of_zig_with_other_files(zig, tmp_path):
    found = zig_commands.commands(tmp_path / "cache", ["-s"])
    assert found.compile("a.c", "a.o", ["-I", "lib"]) == [
        *(str(zig), "clang", "a.c", "-isystem", f"{zig.parent}/lib/include"),
        *("-c", "-o", "a.o", "-I", "lib"),
    ]
    assert found.link("a.o", "a") == [
        *(str(zig), "ld.lld", "-O3", "-o", "a", f"{tmp_path}/crt1.o", "a.o", "--no-undefined"),
    ]


def test_the_commands_are_recorded_as_long_as_the_library_exists(zig, tmp_path):
    def commands(*options):
        zig_commands.commands(tmp_path / "cache", list(options))
        return (zig.parent / "runs").read_text().count("run")

    assert commands("-s") == commands("-s") == 1
    assert commands("-s", "-O2") == 2
    (tmp_path / "crt1.o").unlink()
    assert commands("-s") == 3


def test_a_record_that_is_not_complete_is_made_again(zig, tmp_path):
    found = zig_commands.commands(tmp_path / "cache", ["-s"])
    (record,) = (tmp_path / "cache/commands").iterdir()
    record.write_text(record.read_text()[:20])
    assert zig_commands.commands(tmp_path / "cache", ["-s"]) == found


def test_the_message_of_a_compiler_that_fails(zig, tmp_path):
    zig.write_text("#!/bin/sh\necho 'no such target' >&2\nexit 1\n")
    with pytest.raises(BuildError, match="zig cc: status 1: no such target"):
        zig_commands.commands(tmp_path / "cache", ["-s"])


@pytest.fixture
def called(tmp_path):
    """Returns a function that calls the compiler of busybox. The function returns the words with
    which Zig is called."""
    spec = importlib.util.spec_from_file_location("build_busybox", BUSYBOX)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    wrapper, zig = tmp_path / "cc", tmp_path / "zig"
    wrapper.write_text(script.WRAPPER)
    zig.write_text('#!/bin/sh\necho "$@"\n')
    zig.chmod(0o755)

    def call(words):
        return subprocess.run(
            ["sh", wrapper, *words],
            env={**os.environ, "ZIG": str(zig), "LINK": str(tmp_path / "link")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    return call


@pytest.mark.parametrize(
    ("given", "library"),
    [
        ("-Os -static -Wl,--gc-sections tmp.1.c -o tmp.1", "-nostdlib"),
        ("-Oz -static -lcrypt -o /dev/null bb_libtest.c", "-nostdlib"),
        ("-Os -Wp,-MD,a.d -c -o a.o a.c", ""),
        ("-E a.c", ""),
    ],
)
def test_a_trial_of_the_linker_needs_no_c_library(called, given, library):
    """Zig compiled its C library once more for the trials of busybox."""
    done = called(given.split())
    words = given.replace("-Wp,-MD,a.d", "-MD -MF a.d").split()
    if library:
        words = [word for word in words if word != "-lcrypt"]
    assert done.split("-w ")[1].split() == words + library.split()


def test_the_call_that_links_busybox_is_recorded(called, tmp_path):
    words = ["-static", "-Wl,--start-group", "-o", "busybox_unstripped", "a b.o", "lib/lib.a"]
    assert called(words) == ""
    assert (tmp_path / "link").read_text().splitlines() == words
