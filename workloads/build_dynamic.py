#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile one C file to a dynamically linked ELF program, or a shared library, for a Pentium.

The compiler is that of build_workload.py. The C library and the loader are our own build of musl
(guest-images/parts/musl). As with linkers of the nineties, a program has two segments, text and
data, at fixed addresses, and no relocation-only pages. The output depends only on the inputs and
the ziglang version, not on paths.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

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


def main() -> int:
    """Parses the command line, compiles and links. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="path of a copy with its symbols")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's caches")
    parser.add_argument("--libc", type=Path, required=True, help="directory lib/ of musl")
    parser.add_argument("--loader", default=LOADER, help="path of it (default: %(default)s)")
    parser.add_argument("--rpath", help="where the loader looks for libraries first")
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--shared", action="store_true", help="a library, not a program")
    parser.add_argument(
        "--needed",
        type=Path,
        action="append",
        default=[],
        help="a library that the program needs, in this order",
    )
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        print("build_dynamic: the Python package ziglang is missing", file=sys.stderr)
        return 1
    zig = Path(spec.origin).parent / "zig"
    cache = args.cache.resolve()
    environment = {
        **os.environ,
        "ZIG_GLOBAL_CACHE_DIR": str(cache),
        "ZIG_LOCAL_CACHE_DIR": str(cache / "local"),
    }
    with tempfile.TemporaryDirectory() as tmp:
        # The tools see only fixed relative names, so their output cannot contain other paths.
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
                print(
                    f"build_dynamic: {args.source.name}: {command[0]}: status {result.returncode}",
                    file=sys.stderr,
                )
                return 1
        args.output.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(work / "output", args.output)
        args.output.chmod(0o755)
        if args.symbols:
            args.symbols.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(work / "symbols", args.symbols)
    return 0


if __name__ == "__main__":
    sys.exit(main())
