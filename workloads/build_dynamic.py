#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile one C file to a dynamically linked ELF program, or a shared library, for a Pentium.

The compiler is the same as in build_workload.py. The C library and the loader are our own build of
musl (guest-images/parts/musl). The output looks like the output of a linker of the nineties: it has
two segments, text and data, and no separate pages for relocated data. A program has fixed
addresses. The output depends only on the inputs and the ziglang version, not on paths.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from building import BuildError, find_zig, keep, keep_program, status_of, zig_caches

LOADER = "/lib/ld-musl-i386.so.1"
COMPILE = [
    "-target",
    "x86-linux-musl",
    "-mcpu=pentium",
    "-std=gnu11",
    "-O2",
    "-g0",
    "-nostdinc",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-Wall",
    "-Wextra",
    "-Werror",
]
LINK = [
    "-m",
    "elf_i386",
    "--hash-style=both",
    "--no-rosegment",
    "-z",
    "norelro",
    "-z",
    "noexecstack",
    "--no-undefined",
]


def build(args: argparse.Namespace) -> None:
    zig = find_zig()
    environment = {**os.environ, **zig_caches(args.cache)}
    with tempfile.TemporaryDirectory() as tmp:
        # Use fixed relative names, because a tool may record the names of its inputs.
        work = Path(tmp)
        for file in (args.source, *args.libc.iterdir(), *args.needed):
            shutil.copyfile(file, work / file.name)
        libraries = [*(file.name for file in args.needed), "libc.so", "libcompiler_rt.a"]
        if args.shared:
            pic, link = "-fPIC", ["-shared", "-soname", args.output.name, "object.o", *libraries]
        else:
            pic, link = (
                "-fno-pic",
                [
                    "-dynamic-linker",
                    args.loader,
                    "crt1.o",
                    "crti.o",
                    "object.o",
                    *libraries,
                    "crtn.o",
                ],
            )
        if args.rpath:
            link += ["-rpath", args.rpath]
        defines = [f"-D{definition}" for definition in args.define]
        for command in (
            ["cc", *COMPILE, pic, *defines, "-c", "-o", "object.o", args.source.name],
            ["ld.lld", *LINK, "-s", "-o", "output", *link],
            ["ld.lld", *LINK, "-o", "symbols", *link],
        ):
            result = subprocess.run([zig, *command], cwd=work, env=environment, check=False)
            if result.returncode != 0:
                raise BuildError(f"{args.source.name}: {command[0]}: status {result.returncode}")
        keep_program(work / "output", args.output)
        if args.symbols:
            keep(work / "symbols", args.symbols)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="the same output, not stripped")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's caches")
    parser.add_argument("--libc", type=Path, required=True, help="directory lib/ of musl")
    parser.add_argument("--loader", default=LOADER, help="the loader (default: %(default)s)")
    parser.add_argument("--rpath", help="directory in which the loader looks for libraries first")
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--shared", action="store_true", help="make a library, not a program")
    parser.add_argument(
        "--needed",
        type=Path,
        action="append",
        default=[],
        help="a library that the program needs; the order matters",
    )
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    return status_of("build_dynamic", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
