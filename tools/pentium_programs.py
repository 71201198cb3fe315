# SPDX-License-Identifier: MIT
"""How C files become static programs for a Pentium.

The compiler and the linker are Zig's. The C library is one of our builds of musl: for Linux
(guest-images/parts/musl) or for Mach (guest-images/mach). The programs of both systems are compiled
and linked in the same way, so that only the system interface is different. A program looks like the
output of a linker of the 1990s: it has fixed addresses and two segments, text and data.
"""

from __future__ import annotations

from pathlib import Path

from building import find_zig

TARGET, PROCESSOR = "x86-linux-musl", "pentium"
# Zig does not give its option -fno-pic to clang, whose default is position-independent code.
FIXED_ADDRESSES = ["-Xclang", "-mrelocation-model", "-Xclang", "static"]
LINK = [
    "-m",
    "elf_i386",
    "-static",
    "--gc-sections",
    "--no-rosegment",
    "--strip-debug",
    "-z",
    "norelro",
    "-z",
    "noexecstack",
]


def compiling(source: str, target: str, options: list[str]) -> list[str]:
    """The command that compiles the C file `source` to the object `target`."""
    cc = [str(find_zig()), "cc", "-target", TARGET, f"-mcpu={PROCESSOR}"]
    return [*cc, *options, *FIXED_ADDRESSES, "-g0", "-c", "-o", target, source]


def linking(libc: Path, objects: list[str], target: str, *, debug: bool = False) -> list[str]:
    """The command that links objects, archives and further options of the linker to the program
    `target`. The program has a symbol table, and with `debug` also the debug information of the
    objects. libc: the directory with the C library and its start files."""
    begin, end = [str(libc / name) for name in ("crt1.o", "crti.o")], str(libc / "crtn.o")
    libraries = [str(libc / name) for name in ("libc.a", "libcompiler_rt.a")]
    options = [word for word in LINK if not (debug and word == "--strip-debug")]
    lld = [str(find_zig()), "ld.lld", *options]
    return [*lld, "-o", target, *begin, *objects, *libraries, end]
