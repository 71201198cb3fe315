# SPDX-License-Identifier: MIT
"""A floppy of 1.44 MB with a FAT12 file system, made from files.

The layout is that of DOS for this format: one sector in a cluster, two tables of 9 sectors, 224
entries in the root directory (Microsoft, FAT32 File System Specification 1.03, with the values of
a floppy). The same files give the same bytes: the entries are in alphabetical order, and every file
has the same date.
"""

import re
import struct
from collections.abc import Mapping

SECTOR, SECTORS = 512, 2880
TABLE_SECTORS, TABLES, ROOT_ENTRIES, ENTRY = 9, 2, 224, 32
ROOT = 1 + TABLES * TABLE_SECTORS  # the first sector of the root directory
DATA = ROOT + ROOT_ENTRIES * ENTRY // SECTOR  # the sector of cluster 2
FIRST = 2
CLUSTERS = SECTORS - DATA
MEDIA = 0xF0  # the descriptor of a floppy of 1.44 MB
END = 0xFFF  # of a chain of clusters
ARCHIVE = 0x20
DATE = (1995 - 1980) << 9 | 12 << 5 | 3  # the first day of SOSP 1995
SERIAL = 0x19951203
# A jump, and code that gives control back to the BIOS: the floppy boots no system.
JUMP, CODE = b"\xeb\x3c\x90", b"\xcd\x18\xeb\xfe"
# The names of devices, which DOS finds in every directory.
DEVICES = {"CON", "PRN", "AUX", "NUL", "CLOCK$"} | {
    f"{device}{number}" for device in ("COM", "LPT") for number in range(1, 10)
}
_NAME = re.compile(r"[A-Z0-9!#$%&'()@^_`{}~-]{1,8}(\.[A-Z0-9!#$%&'()@^_`{}~-]{1,3})?")


def name_of(name: str) -> str:
    """The name of a file on the floppy, in capitals. Raises ValueError with a text for people if
    DOS has no such name."""
    capital = name.upper()
    if not _NAME.fullmatch(capital):
        raise ValueError(
            "expected a name of 1 to 8 characters and an ending of at most 3 (letters, digits and"
            " !#$%&'()-@^_`{}~)"
        )
    if capital.partition(".")[0] in DEVICES:
        raise ValueError("DOS uses this name for a device")
    return capital


def image(files: Mapping[str, bytes]) -> bytes:
    """The image of a floppy with these files, by the names that `name_of` returned. Raises
    ValueError with a text for people if the files do not fit."""
    if len(files) > ROOT_ENTRIES:
        raise ValueError(f"{len(files)} files: the floppy has room for {ROOT_ENTRIES} names")
    needed = sum(_clusters(content) for content in files.values())
    if needed > CLUSTERS:
        raise ValueError(
            f"the files need {needed * SECTOR:,} bytes; the floppy has {CLUSTERS * SECTOR:,}"
        )
    chain = [0xF00 | MEDIA, END]  # the first two entries of the table belong to no cluster
    root, data = b"", b""
    for name, content in sorted(files.items()):
        count = _clusters(content)
        first = len(chain) if count else 0
        chain += range(len(chain) + 1, len(chain) + count)
        chain += [END] * bool(count)
        root += _entry(name, first, len(content))
        data += content.ljust(count * SECTOR, b"\0")
    root_bytes = ROOT_ENTRIES * ENTRY
    made = _boot_sector() + _table(chain) * TABLES + root.ljust(root_bytes, b"\0") + data
    return made.ljust(SECTORS * SECTOR, b"\0")


def _clusters(content: bytes) -> int:
    return -(-len(content) // SECTOR)


def _boot_sector() -> bytes:
    """The first sector, with the parameters of the file system."""
    parameters = struct.pack(
        "<HBHBHHBHHHII",
        SECTOR,
        1,  # sectors in a cluster
        1,  # sectors before the tables
        TABLES,
        ROOT_ENTRIES,
        SECTORS,
        MEDIA,
        TABLE_SECTORS,
        18,  # sectors in a track
        2,  # heads
        0,  # sectors before the file system
        0,  # only for more than 65535 sectors
    )
    label = struct.pack("<BBBI", 0, 0, 0x29, SERIAL) + b"P5LAB".ljust(11) + b"FAT12".ljust(8)
    start = JUMP + b"P5LAB".ljust(8) + parameters + label + CODE
    return start.ljust(SECTOR - 2, b"\0") + b"\x55\xaa"


def _table(chain: list[int]) -> bytes:
    """The allocation table: 12 bits for each cluster, two entries in three bytes."""
    packed = bytearray()
    for low, high in zip(chain[::2], [*chain[1::2], 0], strict=False):
        packed += (high << 12 | low).to_bytes(3, "little")
    return bytes(packed).ljust(TABLE_SECTORS * SECTOR, b"\0")


def _entry(name: str, first: int, size: int) -> bytes:
    """The entry of a file in the root directory."""
    stem, _, ending = name.partition(".")
    packed = f"{stem:8}{ending:3}".encode("ascii")
    return struct.pack("<11sB10xHHHI", packed, ARCHIVE, 0, DATE, first, size)
