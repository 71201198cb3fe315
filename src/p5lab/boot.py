# SPDX-License-Identifier: MIT
"""The loader's half of the Linux/x86 boot protocol (Linux, Documentation/x86/boot.rst).

The boot ROM asks the engine for the guest; the engine copies files into memory and jumps. What is
copied where is decided here, as a loader would: the real-mode setup code with its header filled in
at 0x90000, the command line above it, the kernel at 1 MB, the initial RAM disk near the top of
memory.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError

BASE = 0x90000  # real-mode code
# Offset from BASE: end of heap and stack, then the command line ("sample boot configuration").
HEAP_END = 0xE000
KERNEL = 0x100000
PAGE = 4096
# The BIOS keeps its ACPI and MP tables in the last 64 KB and just below (rombios.h:
# ACPI_DATA_SIZE) and tells the guest so; the RAM disk stays clear of them.
TOP_RESERVED = 0x20000
TYPE_OF_LOADER = 0xFF  # "unassigned"
CAN_USE_HEAP = 0x80
LOADED_HIGH = 0x01
VID_MODE_NORMAL = 0xFFFF


@dataclass(frozen=True)
class Blob:
    """Bytes [offset, offset + length) of a file go to a physical address."""

    address: int
    offset: int
    length: int
    file: Path


@dataclass(frozen=True)
class Layout:
    """What the engine loads and where it starts. `setup` becomes the per-run file setup.bin."""

    setup: bytes
    blobs: list[Blob]
    segment: int
    entry: tuple[int, int]
    stack: int

    def conf(self) -> dict[str, str]:
        """The boot.* lines of engine.conf. File names are relative to the run directory."""
        lines = {}
        for number, blob in enumerate(self.blobs):
            place = f"0x{blob.address:x} 0x{blob.offset:x} 0x{blob.length:x}"
            lines[f"boot.blob.{number}"] = f"{place} {blob.file}"
        lines["boot.entry"] = f"0x{self.entry[0]:04x}:0x{self.entry[1]:04x}"
        lines["boot.segment"] = f"0x{self.segment:04x}"
        lines["boot.sp"] = f"0x{self.stack:04x}"
        return lines


def linux(
    kernel: bytes, kernel_file: Path, initramfs_file: Path, initramfs_size: int, cmdline: str,
    memory: int, setup_file: Path,
) -> Layout:  # fmt: skip
    """Lays out a bzImage. `memory` is in bytes; UserError when the pieces do not fit.

    A RAM disk of no bytes is none: the kernel mounts the root that its command line names.
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
    # Where the kernel runs it also decompresses: init_size bytes from its address (2.10).
    needed = field(0x260, "I") if version >= 0x020A else len(kernel) - setup_size
    if (ramdisk or top) < KERNEL + needed:
        raise UserError(
            f"{kernel_file}: kernel ({needed} bytes) and RAM disk ({initramfs_size} bytes) do not"
            f" fit into {memory} bytes of memory (dram.size)"
        )

    setup = bytearray(kernel[:setup_size])
    struct.pack_into("<H", setup, 0x1FA, VID_MODE_NORMAL)
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
    return Layout(
        setup=bytes(setup) + command,
        blobs=blobs,
        segment=BASE >> 4,
        entry=((BASE >> 4) + 0x20, 0),
        stack=HEAP_END,
    )
