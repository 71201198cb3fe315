# SPDX-License-Identifier: MIT
"""The format of an image file, by its first bytes.

The machine needs raw images: the sectors of a medium in order, without a header. The table has the
formats that users have in their place. p5lab turns those with `unpack` into raw images by itself
(p5lab.prepare.raw_image), because this is exact and quick. For the others, `command` is the command
that does.
"""

from dataclasses import dataclass
from pathlib import Path

from p5lab.describe.disk_image import FLOPPIES, SECTOR

GZIP, XZ, BZIP2, ZIP = "gzip", "xz", "bzip2", "zip"
IMD, DOSEMU = "imd", "dosemu"
START = 0x8006  # bytes that decide: the last ones are those of the first volume of an ISO image
END = 512  # bytes at the end of the file


@dataclass(frozen=True)
class Format:
    """`name`: for messages. `unpack`: how p5lab makes the raw image; empty if it does not.
    `command`: a command of a shell that makes the raw image RAW of FILE. `qemu`: the name of the
    format in qemu-img, which makes the raw image if the user asks for it (--convert)."""

    name: str
    command: str = ""
    unpack: str = ""
    qemu: str = ""

    def command_for(self, file: Path) -> str:
        """The command that makes the raw image of this file, beside the user's place."""
        if self.qemu:
            return f"qemu-img convert -f {self.qemu} -O raw {file.name} {file.stem}.raw.img"
        raw = file.stem if file.stem.endswith((".img", ".ima")) else f"{file.stem}.raw.img"
        return self.command.replace("FILE", file.name).replace("RAW", raw)


def _qemu(name: str, qemu: str) -> Format:
    return Format(name, qemu=qemu)


def _floppy(name: str, libdsk: str) -> Format:
    """A floppy that the tools of libdsk read."""
    return Format(name, f"dsktrans -itype {libdsk} -otype raw FILE RAW")


FLUX = "hxcfe -finput:FILE -conv:RAW_IMG -foutput:RAW"  # of the HxC floppy emulator
# Bytes at the beginning of the file. A longer beginning stands before a shorter one.
BEGINS: tuple[tuple[bytes, Format], ...] = (
    # Disks of emulators (docs/interop in QEMU's sources, and its block/*.c).
    (b"QFI\xfb\0\0\0\1", _qemu("qcow", "qcow")),
    (b"QFI\xfb", _qemu("qcow2", "qcow2")),
    (b"QED\0", _qemu("QED", "qed")),
    (b"KDMV", _qemu("VMDK", "vmdk")),
    (b"COWD", _qemu("VMDK", "vmdk")),
    (b"# Disk DescriptorFile", _qemu("VMDK", "vmdk")),
    (b"conectix", _qemu("VHD", "vpc")),
    (b"vhdxfile", _qemu("VHDX", "vhdx")),
    (b"WithoutFreeSpace", _qemu("Parallels", "parallels")),
    (b"WithouFreSpacExt", _qemu("Parallels", "parallels")),
    (b"Bochs Virtual HD Image", _qemu("Bochs", "bochs")),
    (b"#!/bin/sh\n#V2.0 Format", _qemu("cloop", "cloop")),
    (b"LUKS\xba\xbe", Format("LUKS (encrypted)", "cryptsetup open FILE NAME")),
    (b"DOSEMU\0", Format("DOSEMU", "tail -c +129 FILE > RAW", DOSEMU)),
    (b"MComprHD", Format("CHD (MAME)", "chdman extracthd -i FILE -o RAW")),
    (b"EVF\x09\x0d\x0a\xff\0", Format("EWF (EnCase)", "ewfexport -f raw -t RAW FILE")),
    (b"\x3a\xff\x26\xed", Format("a sparse image of Android", "simg2img FILE RAW")),
    # Compressed files and archives.
    (b"\x1f\x8b", Format("gzip", "gzip -dc FILE > RAW", GZIP)),
    (b"\xfd7zXZ\0", Format("xz", "xz -dc FILE > RAW", XZ)),
    (b"]\0\0", Format("lzma", "xz --format=lzma -dc FILE > RAW", XZ)),
    (b"BZh", Format("bzip2", "bzip2 -dc FILE > RAW", BZIP2)),
    (b"PK\3\4", Format("ZIP", "unzip FILE", ZIP)),
    (b"PK\5\6", Format("ZIP", "unzip FILE", ZIP)),
    (b"PK00PK\3\4", Format("ZIP", "unzip FILE", ZIP)),
    (b"\x28\xb5\x2f\xfd", Format("zstd", "zstd -dc FILE > RAW")),
    (b"\x04\x22\x4d\x18", Format("lz4", "lz4 -dc FILE > RAW")),
    (b"LZIP", Format("lzip", "lzip -dc FILE > RAW")),
    (b"\x89LZO\0", Format("lzop", "lzop -dc FILE > RAW")),
    (b"\x1f\x9d", Format("compress", "gzip -dc FILE > RAW")),
    (b"\x1f\xa0", Format("compress", "gzip -dc FILE > RAW")),
    (b"\x1f\x1e", Format("pack", "gzip -dc FILE > RAW")),
    (b"7z\xbc\xaf\x27\x1c", Format("7z", "7z x FILE")),
    (b"Rar!\x1a\x07", Format("RAR", "unrar x FILE")),
    (b"\x60\xea", Format("ARJ", "arj x FILE")),
    (b"MSCF", Format("a cabinet of Microsoft", "cabextract FILE")),
    (b"MSWIM\0\0\0", Format("WIM", "wimlib-imagex extract FILE 1")),
    # Floppies.
    (b"IMD ", Format("ImageDisk (IMD)", "dsktrans -itype imd -otype raw FILE RAW", IMD)),
    (b"MV - CPC", _floppy("CPC DSK (CPCEMU)", "dsk")),
    (b"EXTENDED", _floppy("extended CPC DSK (CPCEMU)", "edsk")),
    (b"CQ\x14", _floppy("CopyQM", "copyqm")),
    (b"QRST", _floppy("Compaq Quick Release Sector Transfer (QRST)", "qrst")),
    (b"ACT Apricot disk image", _floppy("ApriDisk", "apridisk")),
    (b"TD\0", _floppy("Teledisk (TD0)", "tele")),
    (b"td\0", _floppy("Teledisk (TD0), compressed", "tele")),
    (b"\xaa\x58", Format("SaveDskF", "LOADDSKF FILE A: (in DOS or OS/2)")),
    (b"\xaa\x59", Format("SaveDskF", "LOADDSKF FILE A: (in DOS or OS/2)")),
    (b"\xaa\x5a", Format("SaveDskF, compressed", "LOADDSKF FILE A: (in DOS or OS/2)")),
    (b"HXCPICFE", Format("HFE", FLUX)),
    (b"HXCHFEV3", Format("HFE", FLUX)),
    (b"CAPS\0\0\0\x0c", Format("IPF", FLUX)),
    (b"SCP", Format("SuperCard Pro (SCP)", FLUX)),
    (b"A2R", Format("Applesauce (A2R)", FLUX)),
    (b"WOZ", Format("Applesauce (WOZ)", FLUX)),
    (b"86BF", Format("86F", FLUX)),
    (b"Formatted Disk Image file", Format("FDI", FLUX)),
    (b"PSI ", Format("PSI (PCE)", "psi convert FILE RAW")),
    (b"PRI ", Format("PRI (PCE)", "pri decode pc-mfm FILE RAW")),
    # CD-ROMs.
    (
        b"\0" + b"\xff" * 10 + b"\0",
        Format("a CD-ROM with raw sectors (BIN)", "bchunk FILE CUE RAW"),
    ),
    (b"CISO", Format("CSO", "ciso 0 FILE RAW")),
    (b"IsZ!", Format("ISZ (UltraISO)", "iat FILE RAW")),
    (b"MEDIA DESCRIPTOR", Format("MDS (Alcohol 120%)", "iat FILE.mdf RAW, with the file .mdf")),
    # No images.
    (b"\x7fELF", Format("a program (ELF)")),
    (b"MZ", Format("a program of DOS or Windows", "unzip FILE, if it unpacks itself")),
)
# Bytes at an offset.
AT: tuple[tuple[int, bytes, Format], ...] = (
    (0x40, b"\x7f\x10\xda\xbe", _qemu("VDI (VirtualBox)", "vdi")),
    (2, b"-lh", Format("LHA", "lha x FILE")),
    (2, b"-lz", Format("LHA", "lha x FILE")),
    (20, b"\xdc\xa7\xc4\xfd", Format("ZOO", "zoo x FILE")),
    (257, b"ustar", Format("a tar archive", "tar xf FILE")),
    (0xAB, b"DIFC HEADER", Format("DIM", FLUX)),
)
# Bytes at an offset from the end.
AT_END: tuple[tuple[int, bytes, Format], ...] = (
    (512, b"conectix", _qemu("VHD of a fixed size", "vpc")),
    (511, b"conectix", _qemu("VHD of a fixed size", "vpc")),
    (512, b"koly", _qemu("DMG", "dmg")),
    (8, b"NERO", Format("NRG (Nero)", "nrg2iso FILE RAW")),
    (12, b"NER5", Format("NRG (Nero)", "nrg2iso FILE RAW")),
)
ISO = Format("an ISO image of a CD-ROM")
ISO_AT = ((0x8001, b"CD001"), (0x8001, b"BEA01"))
SIGNATURE_AT, SIGNATURE = 510, b"\x55\xaa"


def of(path: Path) -> Format | None:
    """The format of a file that is no raw image; None for a raw image. Raises OSError if the file
    cannot be read."""
    with path.open("rb") as file:
        start = file.read(START)
        size = file.seek(0, 2)
        file.seek(max(0, size - END))
        end = file.read(END)
    # A boot sector can begin with any bytes. Two or three bytes decide nothing in a file of sectors
    # that has the signature, and in one of the size of a floppy.
    signed = start[SIGNATURE_AT : SIGNATURE_AT + 2] == SIGNATURE and size % SECTOR == 0
    if signed or size in FLOPPIES:
        certain = [form for begin, form in BEGINS if len(begin) > 3 and start.startswith(begin)]
    else:
        certain = [form for begin, form in BEGINS if start.startswith(begin)]
        certain += [form for at, text, form in AT if start[at : at + len(text)] == text]
    ends = [form for at, text, form in AT_END if end[len(end) - at :].startswith(text)]
    return next(iter(certain + ends), None)


def is_iso(path: Path) -> bool:
    """Whether a file has the first volume of a CD-ROM (ISO 9660 or UDF)."""
    with path.open("rb") as file:
        start = file.read(START)
    return any(start[at : at + len(text)] == text for at, text in ISO_AT)
