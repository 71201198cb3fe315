# SPDX-License-Identifier: MIT
"""The file systems of guest mach's server, run on the host with a file as their disk."""

import os
import subprocess
from pathlib import Path

import pentium_programs
import pytest
from building import zig_caches

from p5lab.lab import cache_directory

CACHE = cache_directory() / "zig"
ROOT = Path(__file__).parents[2]
SERVER = ROOT / "guest-images/mach/server"
PARTS = ("names.c", "memory.c", "files.c", "ext2.c", "cache.c")
MACH_TYPES = """
#include <sys/types.h>
#include <string.h>
typedef unsigned mach_port_t;
typedef unsigned long vm_offset_t;
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory, built):
    """Compiles the program for 32 bits like the server, because the server identifies nodes by
    their addresses. It has the C library of the workloads."""
    place = tmp_path_factory.mktemp("files")
    (place / "mach").mkdir()
    (place / "mach/mach_types.h").write_text(MACH_TYPES)
    options = ["-O2", "-fno-stack-protector", "-I", str(place), "-I", str(SERVER)]
    sources = [ROOT / "tests/unit/mach_files.c", *(SERVER / part for part in PARTS)]
    objects = [str(place / f"{source.stem}.o") for source in sources]
    libc = built("build/libc/musl/lib/libc.a").parent
    commands = [
        pentium_programs.compiling(str(source), made, options)
        for source, made in zip(sources, objects, strict=True)
    ]
    for command in (*commands, pentium_programs.linking(libc, objects, str(place / "files"))):
        subprocess.run(command, check=True, env={**os.environ, **zig_caches(CACHE)})
    return place / "files"


def made(path, block_size, kilobytes=8064):
    subprocess.run(
        [
            "mke2fs",
            "-q",
            "-t",
            "ext2",
            "-F",
            "-O",
            "none,filetype,sparse_super",
            "-b",
            block_size,
            path,
            f"{kilobytes}k",
        ],
        check=True,
        capture_output=True,
    )
    return path


def is_clean(image):
    done = subprocess.run(["e2fsck", "-fn", image], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("block_size", ["1024", "2048", "4096"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_disk_has_what_memory_has(program, tmp_path, block_size, seed):
    """1500 random calls run on both file systems. Afterwards e2fsck finds no error."""
    image = made(tmp_path / "disk", block_size)
    subprocess.run([program, image, str(seed), "1500"], check=True)
    assert is_clean(image) == (True, is_clean(image)[1])


def test_a_full_disk(program, tmp_path):
    """A write and a new directory give ENOSPC. Incomplete changes are undone."""
    image = made(tmp_path / "disk", "1024")
    subprocess.run([program, image, "3", "200", "fill"], check=True)
    good, said = is_clean(image)
    assert good, said


def test_what_cannot_be_mounted(program, tmp_path):
    image = tmp_path / "disk"
    image.write_bytes(bytes(1 << 20))
    done = subprocess.run([program, image, "1", "1"], check=False, capture_output=True)
    assert done.returncode == 3
