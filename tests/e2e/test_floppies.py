# SPDX-License-Identifier: MIT
"""Floppies that p5lab makes: read by Linux's FAT file system, and by a system in drive B."""

import random
from pathlib import Path

from boot_sector import assembled, bootable, new_runs, record

from p5lab.lab import Lab
from p5lab.prepare import fat_floppy

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


# A boot sector that reads the first sector of drive B and gives it to the engine.
SECTOR_OF_B = """
        .code16
        .globl _start
_start: xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw $0x8000, %bx
        movw $0x0201, %ax
        movw $1, %cx
        movw $0x0001, %dx               # head 0 of drive B
        int $0x13
        movl $0x50354C42, %eax          # the text: 512 bytes at 0:8000
        movl $11, %ecx
        movl $512, %edx
        movl $0x8000, %esi
        cpuid
        movl $0x50354C42, %eax          # the end
        movl $5, %ecx
        xorl %edx, %edx
        cpuid
"""


def test_the_floppy_is_in_drive_b(lab, tmp_path, capsys):
    own = Lab(lab.root, results_in=tmp_path / "results")
    dos, file = tmp_path / "dos.img", tmp_path / "a.txt"
    dos.write_bytes(bootable(assembled(SECTOR_OF_B, tmp_path)))
    file.write_text("text")
    (made,) = new_runs(own, "--floppy", dos, "--put", file, "--limit", 5)
    assert (made / "output.log").read_bytes() == fat_floppy.image({"A.TXT": b"text"})[:512]
    found = record(made)
    assert set(found["media"]) == {"floppy_a", "floppy_b"}
    assert found["media"]["floppy_b"]["sha256"] == found["identity"]["digests"]["floppy_b"]
