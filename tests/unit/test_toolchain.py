# SPDX-License-Identifier: MIT
"""tools/toolchain.py: the pinned tools run from a directory of the cache, beside the host's own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from p5lab.errors import UserError
from p5lab.host.fetch import Fetcher
from p5lab.host.sources import Pinned, read_sources

ROOT = Path(__file__).resolve().parents[2]
SOURCES = read_sources(ROOT / "sources.toml")
PINNED = {name: source for name, source in SOURCES.items() if name.startswith("toolchain-")}


@pytest.fixture(scope="module")
def tools():
    """Runs a command with the pinned tools. Skips the test if they were never downloaded here."""
    fetcher = Fetcher.here(ROOT)
    try:
        files = [fetcher.resolve(name) for name in PINNED]
    except UserError as error:
        pytest.skip(str(error))
    if not all(fetcher.is_here(file) for file in files):
        pytest.skip("the pinned tools are not on this host; a build of a kernel downloads them")

    def run(*words, cwd=ROOT):
        return subprocess.run(
            [sys.executable, ROOT / "tools/toolchain.py", *words],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_every_file_of_the_tools_is_pinned_by_digest():
    assert {"toolchain-gcc-12", "toolchain-binutils-x86-64-linux-gnu"} <= set(PINNED)
    assert all(isinstance(source, Pinned) for source in PINNED.values())


@pytest.mark.parametrize(
    ("program", "version"),
    [("gcc", "12.2.0"), ("as", "2.40"), ("ld", "2.40"), ("objcopy", "2.40"), ("lz4", "1.9.4")],
)
def test_the_tools_are_those_of_sources_toml(tools, program, version):
    done = tools(program, "--version")
    assert done.returncode == 0, done.stderr
    assert version in (done.stdout + done.stderr).splitlines()[0]


def test_no_loader_and_no_library_of_the_host_is_used(tools):
    """The C library of one release aborts under the loader of another."""
    place = Path(tools("sh", "-c", "command -v gcc").stdout.strip()).parents[1].resolve()
    scripts = [
        path for path in place.rglob("*") if path.is_file() and "inhibit-cache" in text(path)
    ]
    assert {script.name for script in scripts} >= {"gcc", "as", "ld", "objcopy", "lz4", "cc1"}
    for script in scripts:
        _, loader, *words = shlex.split(text(script).splitlines()[1])
        assert Path(loader).resolve().is_relative_to(place), script
        at = words.index("--argv0")
        listed = subprocess.run(
            [loader, *words[:at], "--list", words[at + 1]], capture_output=True, text=True
        ).stdout
        loaded = [Path(path).resolve() for path in re.findall(r"=> (/\S+)", listed)]
        assert loaded and all(path.is_relative_to(place) for path in loaded), listed


def text(script):
    """The begin of a script. Empty for other files."""
    with script.open("rb") as file:
        begin = file.read(4096)
    return begin.decode() if begin.startswith(b"#!/bin/sh") else ""


def test_the_compiler_uses_its_own_parts(tools, tmp_path):
    """A program becomes an object and a linked file without any program of the host."""
    (tmp_path / "one.c").write_text("#include <stdarg.h>\nint one(void) { return 1; }\n")
    done = tools("gcc", "-m32", "-v", "-ffreestanding", "-c", "one.c", "-o", "one.o", cwd=ROOT)
    assert done.returncode != 0  # no such file here: the tools run in the directory of the caller
    source, made = str(tmp_path / "one.c"), str(tmp_path / "one.o")
    done = tools("gcc", "-m32", "-v", "-ffreestanding", "-c", source, "-o", made)
    assert done.returncode == 0, done.stderr
    started = [line.split()[0] for line in done.stderr.splitlines() if line.startswith(" /")]
    place = tools("sh", "-c", "command -v gcc").stdout.strip().rpartition("/bin/")[0]
    assert {Path(path).name for path in started} >= {"cc1", "as"}
    assert all(path.startswith(place) for path in started if Path(path).name in ("cc1", "as"))
    done = tools("ld", "-m", "elf_i386", "-r", "-o", str(tmp_path / "two.o"), made)
    assert done.returncode == 0, done.stderr


def test_programs_for_the_host_are_made_with_the_hosts_compiler(tools):
    command, pinned = tools("sh", "-c", 'echo "$HOSTCC"; command -v gcc').stdout.splitlines()
    assert command.split()[0] != pinned
    assert "/toolchain/" not in command
    # Its linker, too: the plugin of a newer host's compiler needs the host's C library.
    linker = tools("sh", "-c", "$HOSTCC -print-prog-name=ld").stdout.strip()
    assert Path(linker).resolve() == Path(shutil.which("ld")).resolve()
