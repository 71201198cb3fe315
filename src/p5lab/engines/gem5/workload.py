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

from p5lab.describe.elf import PT_LOAD, Elf
from p5lab.engines.bochs.boot import TOP_RESERVED
from p5lab.errors import UserError

M5_MARKERS = "P5LAB_MARKERS=m5"  # kernel parameter: gem5's own instructions are the markers
BOOT_PARAMETERS = 0x90200
TYPE_OF_LOADER, RAMDISK_IMAGE = 0x210, 0x218  # offsets in the boot parameters
UNASSIGNED_LOADER = 0xFF
COMMAND_LINE_LIMIT = 511  # bytes between 0x90000 and 0x90200, without the final zero
PAGE = 4096
ELF64_X86 = (2, 62)  # the class and the machine


@dataclass(frozen=True)
class KernelLayout:
    """`header`: the content of the file that is loaded at `header_address`. `initramfs_address`: 0
    without a RAM disk."""

    header: bytes
    header_address: int
    initramfs_address: int


def layout(kernel: Path, initramfs: Path | None, memory: int) -> KernelLayout:
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
    return KernelLayout(header, BOOT_PARAMETERS + TYPE_OF_LOADER, address)


def kernel_end(kernel: Path) -> int:
    """The address after the last byte of a kernel in memory. The kernel's uninitialized data (bss)
    are included."""
    try:
        elf = Elf(kernel.read_bytes())
        if elf.form != ELF64_X86:
            raise ValueError
        return max(
            header.physical + header.memory for header in elf.headers if header.kind == PT_LOAD
        )
    except ValueError:
        raise UserError(f"{kernel}: expected an x86-64 ELF kernel (vmlinux)") from None


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
