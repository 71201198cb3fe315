# SPDX-License-Identifier: MIT
"""Floppies that p5lab makes: read by Linux's FAT file system, and by a system in drive B."""

import random
from pathlib import Path

from p5lab.describe import fat_floppy

READER = Path(__file__).with_name("floppy_reader.c")


def test_linux_reads_every_file_of_the_floppy(boot, guest_program, tmp_path):
    make = random.Random(12)
    sizes = {"EMPTY": 0, "ONE.TXT": 1, "SECTOR.BIN": 512, "MORE.BIN": 513, "BIG.COM": 700_001}
    files = {name: make.randbytes(size) for name, size in sizes.items()}
    files |= {f"N{number}.X": make.randbytes(make.randrange(3000)) for number in range(200)}
    floppy = tmp_path / "floppy.img"
    floppy.write_bytes(fat_floppy.image(files))
    source = tmp_path / "reader.c"
    source.write_text(f'#define FLOPPY "{floppy}"\n{READER.read_text()}')
    ran = boot("@program", program=guest_program(source))
    assert ran.outcome.status == "ok", ran.output
    expected = [f"{name} {len(content)} {fnv(content):08x}" for name, content in files.items()]
    assert sorted(ran.output.splitlines()) == sorted(expected)


def fnv(content):
    """The sum of the reader: FNV-1a with 32 bits."""
    total = 2166136261
    for byte in content:
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return total
