# SPDX-License-Identifier: MIT
"""Boots from a floppy without a signature, from a packed floppy and from a CD-ROM that boots as a
floppy."""

import gzip
import struct

import pytest
from boot_sector import FLOPPY, assembled, bootable, new_runs, record

from p5lab.lab import Lab

# Prints a text, and the first bytes of the second floppy drive.
SYSTEM = """
        .include "boot_sector.inc"
        movw    $text, %si
        call    print
        movw    $0x0201, %ax
        movw    $0x7E00, %bx
        movw    $0x0001, %cx
        movw    $0x0001, %dx
        int     $0x13
        jc      last
        movw    0x7E00, %dx
        call    hex
last:   movw    $done, %si
        call    print
        hlt
        .include "print.inc"
text:   .asciz  "\\r\\nrunning "
done:   .asciz  "end"
"""


@pytest.fixture
def booted(tmp_path):
    """Returns the row of the screen that the system writes."""

    def booted(*words):
        lab = Lab(Lab.here().root, results_in=tmp_path / "results")
        (made,) = new_runs(lab, *words, "--until", "end", "--limit", 20)
        assert record(made)["status"] == "ok"
        (row,) = [one for one in (made / "screen.txt").read_text().splitlines() if "running" in one]
        return row

    return booted


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    return assembled(SYSTEM, tmp_path_factory.mktemp("system"))


def test_a_floppy_without_signature_starts(booted, code, tmp_path):
    floppy = tmp_path / "floppy.img"
    floppy.write_bytes(code.ljust(FLOPPY, b"\0"))
    assert booted("--floppy", floppy) == "running end"


def test_a_packed_floppy_starts(booted, code, tmp_path):
    floppy = tmp_path / "floppy.img.gz"
    floppy.write_bytes(gzip.compress(bootable(code)))
    assert booted("--floppy", floppy) == "running end"


def test_the_floppy_of_put_is_drive_b_beside_a_cdrom_that_is_drive_a(booted, code, tmp_path):
    catalog = struct.pack("<BBH24sHBB", 1, 0, 0, b"", 0, 0x55, 0xAA)
    check = -sum(struct.unpack("<16H", catalog)) & 0xFFFF
    catalog = catalog[:28] + struct.pack("<H", check) + catalog[30:]
    catalog += struct.pack("<BBHBBHI", 0x88, 2, 0, 0, 0, 1, 20)  # a floppy of 1.44 MB, sector 20
    boot_record = b"\0CD001\1" + b"EL TORITO SPECIFICATION".ljust(64, b"\0") + struct.pack("<I", 19)
    volumes = [b"\1CD001\1", boot_record, b"\xffCD001\1", catalog]
    disc, file = tmp_path / "my.iso", tmp_path / "hello.txt"
    sectors = b"".join(one.ljust(2048, b"\0") for one in volumes)
    disc.write_bytes(bytes(16 * 2048) + sectors + bootable(code))
    file.write_text("hello\n")
    # The floppy of --put begins with EBh 3Ch, the jump of its boot sector.
    assert booted("--cdrom", disc, "--put", file) == "running 3ceb end"
