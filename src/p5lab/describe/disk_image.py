# SPDX-License-Identifier: MIT
"""Images of floppies, IDE disks and CD-ROMs: their sizes, geometries and boot records.

All images are raw: they contain the sectors of a medium in order, without a header. The functions
raise UserError with one line for an image that the machine could not use.
"""

import re
import struct
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from p5lab.errors import UserError

SECTOR, CD_SECTOR = 512, 2048
SIGNATURE = b"\x55\xaa"  # at the end of a boot sector
FIRST_OPCODE, EQUAL_WORDS = 0x06, 9  # what a BIOS of 1986 asks of a floppy without signature
# By the size in bytes: the emulator's name of the medium, and the drive for this medium.
FLOPPIES = {
    163_840: ("160k", "360k"),
    184_320: ("180k", "360k"),
    327_680: ("320k", "360k"),
    368_640: ("360k", "360k"),
    737_280: ("720k", "720k"),
    1_228_800: ("1_2", "1_2"),
    1_474_560: ("1_44", "1_44"),
    # More sectors than usual: 21, as Microsoft delivered programs (DMF), also on 82 tracks, and 23.
    1_720_320: ("1_44", "1_44"),
    1_763_328: ("1_44", "1_44"),
    1_884_160: ("1_44", "1_44"),
    2_949_120: ("2_88", "2_88"),
}
USUAL = 1_474_560  # the floppy of a PC of 1995
# The drives of 5.25" and of 3.5", each after the drives whose floppies it also takes.
DRIVES = (("360k", "1_2"), ("720k", "1_44", "2_88"))
MAX_DISK = 4 << 30  # bytes; the engine keeps the whole disk in the host's memory
# The limits of an IDE disk that a BIOS addresses by cylinder, head and sector (ATA-1, INT 13h).
MAX_CYLINDERS, MAX_HEADS, MAX_SECTORS = 65535, 16, 63
# The partition table of a disk: four entries at this offset of the first sector.
TABLE, ENTRY, ENTRIES = 446, 16, 4
LAST_CYLINDER = 1023  # the largest cylinder in an entry; higher ones do not fit
VOLUMES = 16 * CD_SECTOR  # the first volume descriptor (ISO 9660, 6.7.1)
EL_TORITO = b"EL TORITO SPECIFICATION"
# The boot catalog of El Torito (1.0, figures 2, 3 and 7): its sector is at this offset of the boot
# record, and the default entry follows the validation entry.
CATALOG_AT, DEFAULT_ENTRY, BOOTABLE, MEDIA_TYPE, FLOPPY_TYPES = 0x47, 32, 0x88, 0x0F, (1, 2, 3)


@dataclass(frozen=True)
class Geometry:
    """The geometry of a disk. `origin`: where the numbers come from. `translated`: the BIOS shows
    more heads to programs than the disk has."""

    cylinders: int
    heads: int
    sectors: int
    origin: str = "given"
    translated: bool = False

    def __str__(self) -> str:
        return f"{self.cylinders}/{self.heads}/{self.sectors}"

    @property
    def bytes(self) -> int:
        """The size of a disk with this geometry."""
        return self.cylinders * self.heads * self.sectors * SECTOR


def parse_geometry(text: str, where: str) -> Geometry:
    """The geometry in a text `CYLINDERS/HEADS/SECTORS`. Raises UserError for another text and for
    numbers that an IDE disk cannot have; `where` begins the message."""
    limits = (MAX_CYLINDERS, MAX_HEADS, MAX_SECTORS)
    match = re.fullmatch(r"(\d{1,6})/(\d{1,3})/(\d{1,3})", text)
    if match:
        cylinders, heads, sectors = map(int, match.groups())
        numbers = (cylinders, heads, sectors)
        if all(1 <= number <= most for number, most in zip(numbers, limits, strict=True)):
            return Geometry(cylinders, heads, sectors)
    raise UserError(
        f"{where}: {text!r}: expected CYLINDERS/HEADS/SECTORS, such as 306/4/17, at most"
        f" {'/'.join(map(str, limits))}"
    )


def size_of(path: Path, where: str) -> int:
    """The size of an image in bytes. Raises UserError for a file that cannot be read or is no
    regular file."""
    try:
        if path.is_dir():
            raise UserError(f"{where}: {path} is a directory; expected an image of a medium")
        if not path.is_file():
            raise UserError(f"{where}: {path}: {'not a file' if path.exists() else 'no such file'}")
        with path.open("rb") as file:
            return file.seek(0, 2)
    except OSError as error:
        raise UserError(f"{where}: {path}: cannot be read: {error.strerror}") from None


def floppy(path: Path, where: str, *, was_packed: bool = False) -> str:
    """The emulator's name of the floppy in an image, such as "1_44". A floppy that was packed has
    all of its sectors, so nothing can be missing at its end."""
    size = size_of(path, where)
    if size not in FLOPPIES:
        whole = min((length for length in FLOPPIES if length > size and length >= USUAL), default=0)
        longer = f"; if the rest is empty, `truncate -s {whole} COPY` makes a copy longer"
        raise UserError(
            f"{where}: {path}: {size:,} bytes is not the size of a floppy; expected one of"
            f" {', '.join(f'{length:,}' for length in FLOPPIES)} bytes"
            f"{longer if whole and not was_packed else ''}"
        )
    return FLOPPIES[size][0]


def drive(sizes: Collection[int]) -> str:
    """The emulator's name of the smallest drive that takes all floppies of these sizes in bytes;
    empty if there is none."""
    needed = {FLOPPIES[size][1] for size in sizes}
    for drives in DRIVES:
        if needed <= set(drives):
            return max(needed, key=drives.index)
    return ""


def disk(path: Path, given: Geometry | None, where: str) -> Geometry:
    """The geometry of the disk in an image: the given one, or the one of its partition table, or 16
    heads of 63 sectors. Sectors behind the last whole cylinder are not part of the disk."""
    size = size_of(path, where)
    if not size or size % SECTOR:
        raise UserError(
            f"{where}: {path}: {size:,} bytes; expected a multiple of {SECTOR} bytes (a raw image,"
            " complete and not compressed)"
        )
    if size > MAX_DISK:
        raise UserError(f"{where}: {path}: {size:,} bytes; expected at most {MAX_DISK:,}")
    if given:
        if given.bytes > size:
            raise UserError(
                f"{where}: {path}: geometry {given} has {given.bytes:,} bytes, but the image has"
                f" {size:,}"
            )
        return given
    with path.open("rb") as file:
        implied = of_table(file.read(SECTOR))
    heads, sectors = implied or (MAX_HEADS, MAX_SECTORS)
    origin = "partition table" if implied else "default"
    translated = not implied or heads > MAX_HEADS
    heads = min(heads, MAX_HEADS)
    cylinders = min(size // (heads * sectors * SECTOR), MAX_CYLINDERS)
    if not cylinders:
        raise UserError(
            f"{where}: {path}: {size:,} bytes are less than one cylinder of {heads} heads and"
            f" {sectors} sectors; the geometry of the disk must be given"
        )
    return Geometry(cylinders, heads, sectors, origin, translated)


def of_table(sector: bytes) -> tuple[int, int] | None:
    """The heads and the sectors of a track that a partition table implies, from the last sector of
    each partition. None if there is no table, or if its entries contradict each other."""
    if len(sector) < SECTOR or sector[510:512] != SIGNATURE:
        return None
    geometries = set()
    for number in range(ENTRIES):
        entry = sector[TABLE + number * ENTRY : TABLE + (number + 1) * ENTRY]
        if not entry[4]:  # the type of an unused entry
            continue
        first, last = _place(entry[1:4]), _place(entry[5:8])
        start, length = struct.unpack_from("<II", entry, 8)
        heads, sectors = last[1] + 1, last[2]
        for (cylinder, head, at), expected in ((first, start), (last, start + length - 1)):
            number_of = (cylinder * heads + head) * sectors + at - 1
            if not at or (cylinder < LAST_CYLINDER and number_of != expected):
                return None
        geometries.add((heads, sectors))
    return geometries.pop() if len(geometries) == 1 else None


def _place(entry: bytes) -> tuple[int, int, int]:
    """Cylinder, head and sector in an entry of a partition table."""
    return (entry[1] & 0xC0) << 2 | entry[2], entry[0], entry[1] & 0x3F


def cdrom(path: Path, where: str) -> None:
    """Checks the size of an image of a CD-ROM."""
    size = size_of(path, where)
    if not size or size % CD_SECTOR:
        raise UserError(
            f"{where}: {path}: {size:,} bytes; expected a multiple of {CD_SECTOR} bytes (an ISO"
            " image of data sectors, complete)"
        )


def check_cdrom_boots(path: Path, where: str) -> None:
    """Raises UserError for a CD-ROM without an El Torito boot record."""
    with path.open("rb") as file:
        if not _has_boot_record(file):
            raise UserError(
                f"{where}: {path}: the CD-ROM does not boot: it has no El Torito boot record"
            )


def check_disk_boots(path: Path, where: str) -> None:
    """Raises UserError for a disk without a boot sector."""
    if not has_signature(path):
        raise UserError(
            f"{where}: {path}: the image does not boot: its first sector does not end with 55 AA"
        )


def check_floppy_boots(path: Path, where: str) -> None:
    """Raises UserError for a floppy without a boot sector."""
    if not has_signature(path) and not has_unsigned_code(path):
        raise UserError(
            f"{where}: {path}: the image does not boot: its first sector neither ends with 55 AA"
            " nor begins with code"
        )


def has_unsigned_code(path: Path) -> bool:
    """Whether the first sector of a floppy has code, but not 55 AA at its end.

    The BIOSes of the time started such a floppy. They asked only whether the first byte is at least
    06h and whether the first words differ (IBM, PC AT Technical Reference, 1986, BIOS listing,
    BOOT_STRAP).
    """
    with path.open("rb") as file:
        sector = file.read(SECTOR)
    words = {sector[at : at + 2] for at in range(0, 2 * EQUAL_WORDS, 2)}
    return sector[510:512] != SIGNATURE and sector[0] >= FIRST_OPCODE and len(words) > 1


def boots_as_floppy(path: Path) -> bool:
    """Whether a CD-ROM boots from the image of a floppy in it. The BIOS then gives this image the
    drive 00h (the letter A), and the first real drive the number 01h (El Torito 1.0, 1.5)."""
    with path.open("rb") as file:
        if not _has_boot_record(file):
            return False
        file.seek(VOLUMES + CD_SECTOR + CATALOG_AT)
        file.seek(int.from_bytes(file.read(4), "little") * CD_SECTOR + DEFAULT_ENTRY)
        entry = file.read(2)
    return len(entry) == 2 and entry[0] == BOOTABLE and entry[1] & MEDIA_TYPE in FLOPPY_TYPES


def has_signature(path: Path) -> bool:
    """Whether the first sector of an image ends with 55 AA."""
    with path.open("rb") as file:
        return file.read(SECTOR)[510:512] == SIGNATURE


def _has_boot_record(file: BinaryIO) -> bool:
    """Whether the second volume descriptor is the boot record of El Torito (1.0, figure 7)."""
    file.seek(VOLUMES + CD_SECTOR)
    record = file.read(CD_SECTOR)
    return record[:6] == b"\0CD001" and record[7:].startswith(EL_TORITO)
