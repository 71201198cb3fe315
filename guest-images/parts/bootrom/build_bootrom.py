#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Assemble the boot ROM: GNU as and ld, then padding and the ROM checksum.

With `--plain`, the source is not a ROM, and the program writes its code without padding and
checksum.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROM_SIZE = 2048
"""Bytes. The BIOS searches for ROMs in steps of this size."""
NUMBERS = Path(__file__).resolve().parents[3] / "workloads/lib/marker_numbers.h"
DEFINED = re.compile(r"^#define (P5_\w+) (\w+)", re.MULTILINE)


def symbols() -> list[str]:
    """The options of GNU as that define the numbers of the markers."""
    numbers = DEFINED.findall(NUMBERS.read_text(encoding="ascii"))
    return [word for name, number in numbers for word in ("--defsym", f"{name}={number}")]


def finish_rom(code: bytes) -> bytes:
    """Pads `code` to ROM_SIZE. Returns the ROM; its last byte makes the sum of all bytes 0 modulo
    256.

    Raises ValueError if the code has no option ROM header or does not fit.
    """
    if code[:2] != b"\x55\xaa":
        raise ValueError("boot ROM: the code does not start with 55 AA")
    if code[2] * 512 != ROM_SIZE:
        raise ValueError(f"boot ROM: header says {code[2] * 512} bytes, expected {ROM_SIZE}")
    if len(code) >= ROM_SIZE:
        raise ValueError(f"boot ROM: {len(code)} bytes of code, limit {ROM_SIZE - 1}")
    padded = code.ljust(ROM_SIZE - 1, b"\0")
    return padded + bytes([-sum(padded) & 0xFF])


def assemble(source: Path, assembler: str, linker: str) -> bytes:
    """Returns the flat binary of a 16-bit source that is linked for offset 0."""
    with tempfile.TemporaryDirectory() as tmp:
        obj, flat = Path(tmp, "rom.o"), Path(tmp, "rom.bin")
        subprocess.run([assembler, "--32", *symbols(), "-o", obj, source], check=True)
        subprocess.run(
            [
                linker,
                "-m",
                "elf_i386",
                "-Ttext=0",
                "-e",
                "_start",
                "--oformat=binary",
                "-o",
                flat,
                obj,
            ],
            check=True,
        )
        return flat.read_bytes()


def main() -> int:
    """Parses the command line and writes the ROM or the plain code. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--plain", action="store_true", help="no padding, no checksum")
    parser.add_argument("--as", dest="assembler", default="as")
    parser.add_argument("--ld", dest="linker", default="ld")
    args = parser.parse_args()
    try:
        code = assemble(args.source, args.assembler, args.linker)
        rom = code if args.plain else finish_rom(code)
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"build_bootrom: {error}", file=sys.stderr)
        return 1
    args.output.write_bytes(rom)
    return 0


if __name__ == "__main__":
    sys.exit(main())
