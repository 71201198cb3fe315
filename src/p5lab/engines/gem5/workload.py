# SPDX-License-Identifier: MIT
"""The content of memory at the machine's start: kernel, initial RAM disk, command line.

gem5 starts a 64-bit kernel at the entry point of the kernel's ELF file. gem5 puts the boot
parameters at 0x90200 and the command line at 0x90000, but gem5 does not announce a RAM disk. Two
fields of the setup header announce a RAM disk (Linux, Documentation/x86/boot.rst). gem5 does not
change the zeros in these fields. So the run writes the values of the fields to a file of 16 bytes,
and gem5 loads this file at the address of the fields.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from p5lab.engines.bochs.boot import TOP_RESERVED
from p5lab.errors import UserError

M5_MARKERS = "P5LAB_MARKERS=m5"  # kernel parameter: gem5's own instructions are the markers
BOOT_PARAMETERS = 0x90200
TYPE_OF_LOADER, RAMDISK_IMAGE = 0x210, 0x218  # offsets in the boot parameters
UNASSIGNED_LOADER = 0xFF
COMMAND_LINE_LIMIT = 511  # bytes between 0x90000 and 0x90200, without the final zero
PAGE = 4096
ELF64_X86 = b"\x7fELF\x02\x01"
MACHINE_X86_64 = 62
LOADED_SEGMENT = 1  # PT_LOAD


@dataclass(frozen=True)
class Layout:
    """`header`: the content of the file that is loaded at `header_address`. `initramfs_address`: 0
    without a RAM disk."""

    header: bytes
    header_address: int
    initramfs_address: int


def layout(kernel: Path, initramfs: Path | None, memory: int) -> Layout:
    """Places the RAM disk, if the guest has one, where the embedded engine places it. Raises
    UserError if the RAM disk does not fit."""
    size = initramfs.stat().st_size if initramfs else 0
    address = (memory - TOP_RESERVED - size) & ~(PAGE - 1)
    end = kernel_end(kernel)
    if address < end:
        raise UserError(
            f"{kernel} ends at 0x{end:x} and the RAM disk has {size} bytes: they do not fit into"
            f" {memory} bytes of memory (dram.size)"
        )
    if not initramfs:
        address = 0
    header = struct.pack("<B7xII", UNASSIGNED_LOADER, address, size)
    return Layout(header, BOOT_PARAMETERS + TYPE_OF_LOADER, address)


def kernel_end(kernel: Path) -> int:
    """The address after the last byte of a kernel in memory. The kernel's uninitialized data (bss)
    are included."""
    with kernel.open("rb") as file:
        start = file.read(64)
        if start[:6] != ELF64_X86 or struct.unpack_from("<H", start, 18)[0] != MACHINE_X86_64:
            raise UserError(f"{kernel}: expected an x86-64 ELF kernel (vmlinux)")
        offset = struct.unpack_from("<Q", start, 32)[0]
        entry_size, entries = struct.unpack_from("<HH", start, 54)
        file.seek(offset)
        table = file.read(entry_size * entries)
    ends = [0]
    for at in range(0, len(table), entry_size):
        kind, _, _, _, physical, _, bytes_in_memory = struct.unpack_from("<IIQQQQQ", table, at)
        if kind == LOADED_SEGMENT:
            ends.append(physical + bytes_in_memory)
    return max(ends)


def command_line(guest: str, core_hz: int, seed: int, *, chip: bool = False) -> str:
    """The guest's own command line with the words that gem5 needs.

    The kernel passes P5LAB_MARKERS to init as an environment variable. P5CPU (`chip`) has the
    markers of the embedded engine, so that the same code runs there. The word lpj contains the
    number of steps that the time-stamp counter makes in 10 ms, the time of one tick. The kernel's
    delay loop uses lpj, so the kernel does not calibrate this loop.
    """
    words = [guest, *([] if chip else [M5_MARKERS]), f"lpj={core_hz // 100}"]
    if seed:
        words.append(f"p5seed={seed}")
    line = " ".join(words)
    if len(line) > COMMAND_LINE_LIMIT:
        raise UserError(
            f"kernel command line: {len(line)} bytes, expected at most {COMMAND_LINE_LIMIT}"
        )
    return line
