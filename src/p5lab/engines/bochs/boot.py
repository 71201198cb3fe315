# SPDX-License-Identifier: MIT
"""Places a guest in memory, as the Linux/x86 boot protocol (Linux, Documentation/x86/boot.rst) and
the Multiboot Specification require from a boot loader.

The boot ROM requests the guest from the engine. The engine copies files into memory and jumps to
the entry point. This module chooses the addresses, as a boot loader would. The real-mode setup code
with its completed header is at 0x90000. The command line is above this code. The kernel is at 1 MB,
and the initial RAM disk is near the top of memory. A multiboot kernel is an ELF file with physical
addresses. In memory, the modules come after the multiboot kernel.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from p5lab.describe.elf import PT_LOAD, Elf
from p5lab.errors import UserError

BASE = 0x90000  # real-mode code
# An offset from BASE: the end of heap and stack, where the command line begins ("sample boot
# configuration").
HEAP_END = 0xE000
KERNEL = 0x100000
PAGE = 4096
# The BIOS stores its ACPI and MP tables in the last 64 KB of memory and just below these 64 KB
# (rombios.h: ACPI_DATA_SIZE). The BIOS reports this memory to the guest. The RAM disk must not
# overlap these tables.
TOP_RESERVED = 0x20000
TYPE_OF_LOADER = 0xFF  # "unassigned"
CAN_USE_HEAP = 0x80
LOADED_HIGH = 0x01
VID_MODE_NORMAL = 0xFFFF
# Linux, Documentation/fb/vesafb.rst: the number of a VESA mode in the field vid_mode.
VID_MODE_VESA = 0x200


@dataclass(frozen=True)
class Blob:
    """Bytes [offset, offset + length) of a file, and their physical address in memory."""

    address: int
    offset: int
    length: int
    file: Path


@dataclass(frozen=True)
class BootLayout:
    """The blobs that the engine loads, and the start address. `setup` is the content of the run's
    file setup.bin."""

    setup: bytes
    blobs: list[Blob]
    segment: int
    entry: tuple[int, int]
    stack: int

    def conf(self) -> dict[str, str]:
        """The boot.* lines of boot.conf. File names are relative to the run directory."""
        lines = {}
        for number, blob in enumerate(self.blobs):
            place = f"0x{blob.address:x} 0x{blob.offset:x} 0x{blob.length:x}"
            lines[f"boot.blob.{number}"] = f"{place} {blob.file}"
        lines["boot.entry"] = f"0x{self.entry[0]:04x}:0x{self.entry[1]:04x}"
        lines["boot.segment"] = f"0x{self.segment:04x}"
        lines["boot.sp"] = f"0x{self.stack:04x}"
        return lines


def linux(
    kernel: bytes,
    kernel_file: Path,
    initramfs_file: Path,
    initramfs_size: int,
    cmdline: str,
    memory: int,
    setup_file: Path,
    vesa_mode: int = 0,
) -> BootLayout:
    """Lays out a bzImage. `memory` is in bytes. Raises UserError if kernel and RAM disk do not fit.

    `vesa_mode` is the graphics mode that the kernel sets through the BIOS; 0: a text mode.
    `initramfs_size` is 0 without a RAM disk. The kernel then mounts the root file system that the
    kernel's command line names.
    """

    def field(offset: int, kind: str) -> int:
        return struct.unpack_from("<" + kind, kernel, offset)[0]

    if len(kernel) < 0x268 or kernel[0x202:0x206] != b"HdrS":
        raise UserError(f"{kernel_file}: not a Linux bzImage (no HdrS at 0x202)")
    version = field(0x206, "H")
    if version < 0x0203 or not field(0x211, "B") & LOADED_HIGH:
        raise UserError(
            f"{kernel_file}: boot protocol {version >> 8}.{version & 255:02}: expected a bzImage of"
            " 2.03 or newer"
        )
    sectors = field(0x1F1, "B") or 4  # 0 means 4, for very old kernels
    setup_size = (sectors + 1) * 512
    if setup_size >= len(kernel):
        raise UserError(f"{kernel_file}: cut short: {len(kernel)} bytes")
    limit = field(0x238, "I") if version >= 0x0206 else 255
    if len(cmdline) > limit:
        raise UserError(f"kernel command line: {len(cmdline)} bytes, expected at most {limit}")

    top = min(memory - TOP_RESERVED, field(0x22C, "I") + 1)
    ramdisk = (top - initramfs_size) & ~(PAGE - 1) if initramfs_size else 0
    # The kernel decompresses itself in place. In version 2.10 and later versions of the boot
    # protocol, init_size is the number of bytes that the kernel uses, counted from its start
    # address.
    needed = field(0x260, "I") if version >= 0x020A else len(kernel) - setup_size
    if (ramdisk or top) < KERNEL + needed:
        raise UserError(
            f"{kernel_file}: kernel ({needed} bytes) and RAM disk ({initramfs_size} bytes) do not"
            f" fit into {memory} bytes of memory (dram.size)"
        )

    setup = bytearray(kernel[:setup_size])
    mode = VID_MODE_VESA + vesa_mode if vesa_mode else VID_MODE_NORMAL
    struct.pack_into("<H", setup, 0x1FA, mode)
    struct.pack_into("<B", setup, 0x210, TYPE_OF_LOADER)
    struct.pack_into("<B", setup, 0x211, setup[0x211] | CAN_USE_HEAP)
    struct.pack_into("<II", setup, 0x218, ramdisk, initramfs_size)
    struct.pack_into("<H", setup, 0x224, HEAP_END - 0x200)
    struct.pack_into("<I", setup, 0x228, BASE + HEAP_END)
    command = cmdline.encode("ascii") + b"\0"
    blobs = [
        Blob(BASE, 0, setup_size, setup_file),
        Blob(BASE + HEAP_END, setup_size, len(command), setup_file),
        Blob(KERNEL, setup_size, len(kernel) - setup_size, kernel_file),
    ]
    if ramdisk:
        blobs.append(Blob(ramdisk, 0, initramfs_size, initramfs_file))
    return BootLayout(
        setup=bytes(setup) + command,
        blobs=blobs,
        segment=BASE >> 4,
        entry=((BASE >> 4) + 0x20, 0),
        stack=HEAP_END,
    )


# --- multiboot --------------------------------------------------------------------------------

MULTIBOOT_HEADER = struct.pack("<I", 0x1BADB002)
MULTIBOOT_SEARCH = 8192  # the header is in the first bytes of the kernel's file
MB_MEMORY, MB_CMDLINE, MB_MODULES, MB_MAP = 1 << 0, 1 << 2, 1 << 3, 1 << 6  # flags of the structure
USABLE, RESERVED = 1, 2
LOW_END = 0x9FC00  # conventional memory below the BIOS's extended data area
UPPER = 0x100000


@dataclass(frozen=True)
class Module:
    """A file that is loaded together with the kernel, and the command line of this file."""

    name: Path  # in boot.conf
    size: int
    text: str


def multiboot(
    kernel: bytes,
    kernel_file: Path,
    modules: Sequence[Module],
    cmdline: str,
    memory: int,
    loader: bytes,
    setup_file: Path,
) -> BootLayout:
    """Lays out an ELF kernel and its modules as the Multiboot Specification (0.6.96) requires.

    `loader` is the code of guest-images/parts/bootrom/multiboot.S. This code is at BASE. The data
    for the kernel follow directly after this code. The modules follow the kernel. Raises UserError
    for a file that is not a multiboot kernel, and for files that do not fit into `memory` bytes.
    """
    if MULTIBOOT_HEADER not in kernel[:MULTIBOOT_SEARCH]:
        raise UserError(f"{kernel_file}: not a multiboot kernel (no header in its first 8 KB)")
    entry, segments = _segments(kernel, kernel_file)
    end = max(address + size for address, _, _, size in segments)
    blobs = [Blob(address, at, length, kernel_file) for address, at, length, _ in segments]
    (bss, bss_size) = max(
        (address + length, size - length) for address, _, length, size in segments
    )

    top = memory - TOP_RESERVED
    table, texts, address = b"", [], end
    for module in modules:
        address = -(-address // PAGE) * PAGE
        blobs.append(Blob(address, 0, module.size, module.name))
        texts.append((address, address + module.size, module.text.encode("ascii") + b"\0"))
        address += module.size
    if address > top:
        raise UserError(
            f"{kernel_file}: kernel and modules end at {address} bytes: they do not fit into"
            f" {memory} bytes of memory (dram.size)"
        )

    ranges = [
        (0, LOW_END, USABLE),
        (LOW_END, 0xA0000 - LOW_END, RESERVED),
        (0xF0000, 0x10000, RESERVED),
        (UPPER, top - UPPER, USABLE),
        (top, TOP_RESERVED, RESERVED),
    ]
    maps = b"".join(struct.pack("<IQQI", 20, *area) for area in ranges)
    information = BASE + -(-len(loader) // 16) * 16
    maps_at = information + 116  # the structure's size
    table_at = maps_at + len(maps)
    text_at = table_at + 16 * len(texts)
    text = cmdline.encode("ascii") + b"\0"
    for begin, stop, words in texts:
        table += struct.pack("<IIII", begin, stop, text_at + len(text), 0)
        text += words
    fields = struct.pack(
        "<12I",
        MB_MEMORY | MB_CMDLINE | MB_MODULES | MB_MAP,
        LOW_END >> 10,
        (top - UPPER) >> 10,
        0,
        text_at,
        len(texts),
        table_at,
        0,
        0,
        0,
        0,
        len(maps),
    ) + struct.pack("<I", maps_at)
    setup = bytearray(loader.ljust(information - BASE, b"\0"))
    struct.pack_into("<4I", setup, 4, entry, information, bss, -(-bss_size // 4))
    setup += fields.ljust(116, b"\0") + maps + table + text
    if len(setup) > HEAP_END:
        raise UserError(f"{kernel_file}: command line and module texts: {len(setup)} bytes")
    return BootLayout(
        setup=bytes(setup),
        blobs=[Blob(BASE, 0, len(setup), setup_file), *blobs],
        segment=BASE >> 4,
        entry=(BASE >> 4, 0),
        stack=HEAP_END,
    )


def _segments(kernel: bytes, name: Path) -> tuple[int, list[tuple[int, int, int, int]]]:
    """The physical entry point of an ELF kernel, and its segments: address, offset, bytes in the
    file, bytes in memory."""
    if kernel[:6] != b"\x7fELF\x01\x01":
        raise UserError(f"{name}: not an ELF file of 32 bits")
    try:
        elf = Elf(kernel)
        entry, headers = elf.entry, elf.headers
    except ValueError:
        raise UserError(f"{name}: its program headers are cut short") from None
    segments = []
    for number, header in enumerate(headers):
        if header.kind != PT_LOAD:
            continue
        if header.offset + header.stored > len(kernel) or header.stored > header.memory:
            raise UserError(f"{name}: segment {number} is cut short")
        segments.append((header.physical, header.offset, header.stored, header.memory))
        if header.address <= entry < header.address + header.memory:
            entry += header.physical - header.address
    if not segments:
        raise UserError(f"{name}: expected a segment to load")
    return entry, segments
