#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the content of a machine's first SCSI disk: two partitions with empty file systems.

Partition 1 is ext2 with 200 MB, because lai96 made a fresh file system of that size for each
benchmark. mkdisk.py sets the block size and the i-node size of this file system. Partition 2 is
FAT16 with 256 MB and an allocation unit of 4 KB (chen95). The rest of the disk is not partitioned.

The output omits sectors that contain only zeros. The output begins with a line "P5DISK1". The
extents follow. An extent has three parts: the number of the first sector, the number of sectors (64
bits each, little-endian), and the content of the sectors.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mkdisk

SECTOR = 512
MAGIC = b"P5DISK1\n"
ZEROS = bytes(SECTOR)
BLOCK = 1 << 20

EXT2_START, EXT2_SECTORS = 64, 200 << 11
FAT_START, FAT_SECTORS = EXT2_START + EXT2_SECTORS, 256 << 11
# FAT16: sectors per allocation unit, sectors per table, entries of the root directory.
UNIT, TABLE, ROOT = 8, 256, 512
HEADS, TRACK = 255, 63
"""The heads and sectors per track that a BIOS would use (the adapter's extended translation)."""


def cylinder_head_sector(sector: int) -> bytes:
    """Returns the address of a sector in the format of a partition table."""
    track, on_track = divmod(sector, TRACK)
    cylinder, head = divmod(track, HEADS)
    return bytes((head, on_track + 1 | cylinder >> 2 & 0xC0, cylinder & 0xFF))


def partition_table() -> bytes:
    """Returns the first sector of the disk, which describes the two partitions."""
    entries = b""
    for kind, start, size in ((0x83, EXT2_START, EXT2_SECTORS), (0x06, FAT_START, FAT_SECTORS)):
        entries += b"\0" + cylinder_head_sector(start)
        entries += bytes([kind]) + cylinder_head_sector(start + size - 1)
        entries += struct.pack("<II", start, size)
    return bytes(440) + b"P5LB\0\0" + entries.ljust(64, b"\0") + b"\x55\xaa"


def fat() -> dict[int, bytes]:
    """Returns the non-zero sectors of an empty FAT16 file system, by sector number."""
    boot = b"\xeb\x3c\x90MSDOS5.0" + struct.pack(
        "<HBHBHHBHHHII",
        SECTOR,
        UNIT,
        1,
        2,
        ROOT,
        0,
        0xF8,
        TABLE,
        TRACK,
        HEADS,
        FAT_START,
        FAT_SECTORS,
    )
    boot += b"\x80\0\x29" + b"P5LB" + b"NO NAME    FAT16   "
    table = b"\xf8\xff\xff\xff".ljust(SECTOR, b"\0")
    return {0: boot.ljust(510, b"\0") + b"\x55\xaa", 1: table, 1 + TABLE: table}


def extents(image: Path) -> Iterator[tuple[int, bytes]]:
    """Yields each run of non-zero sectors in a file: the number of its first sector, and its
    content."""
    number, run = 0, b""
    with image.open("rb") as file:
        while block := file.read(BLOCK):
            if block.count(0) == len(block) and not run:
                number += len(block) // SECTOR
                continue
            for offset in range(0, len(block), SECTOR):
                sector = block[offset : offset + SECTOR]
                if sector != ZEROS:
                    run += sector
                elif run:
                    yield number - len(run) // SECTOR, run
                    run = b""
                number += 1
    if run:
        yield number - len(run) // SECTOR, run


def make(output: Path) -> None:
    """Writes the content of the disk. Raises DiskError if mke2fs is missing or fails."""
    with tempfile.TemporaryDirectory() as tmp:
        image = Path(tmp) / "ext2.img"
        mkdisk.make(image, EXT2_SECTORS // 2, mkdisk.OPTIONS)
        parts = [(0, partition_table())]
        parts += [(EXT2_START + first, data) for first, data in extents(image)]
    parts += [(FAT_START + first, data) for first, data in fat().items()]
    with output.open("wb") as file:
        file.write(MAGIC)
        for first, data in parts:
            file.write(struct.pack("<QQ", first, len(data) // SECTOR) + data)


def main() -> int:
    """Parses the command line and writes the file. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    try:
        make(args.output)
    except (mkdisk.DiskError, OSError, subprocess.CalledProcessError) as error:
        print(f"mkscsi: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
