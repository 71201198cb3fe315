#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build musl for a Pentium from Debian's source: libraries, start files and headers.

The compiler is Zig's clang from the Python package `ziglang`. Run this script with a Python
interpreter that has this package. There is a static and a shared library. libc.so is also the
dynamic loader (/lib/ld-musl-i386.so.1). libcompiler_rt.a contains the functions of the compiler's
run-time library that musl and programs need, for example 64-bit division. The products depend on
the source and the ziglang version only.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from building import (
    check_isa,
    find_zig,
    keep,
    run,
    status_of,
    unpack,
    write_headers,
    zig_caches,
)
from many_files import compile_all, planned

TARGET = ["-target", "x86-linux-musl"]
CPU = "pentium"
# Optimize for size, because the loader is part of the guest's RAM disk, and programs map its pages.
CONFIGURE = [
    "--target=i586",
    "--prefix=/",
    "--syslibdir=/lib",
    "--enable-optimize=size",
    "--disable-wrapper",
]
START_FILES = ["crt1.o", "crti.o", "crtn.o", "Scrt1.o", "rcrt1.o"]
# These options are the options of musl's Makefile, except that the library has only two segments
# (text and data), as libraries of the 1990s had.
LINK = [
    "-m",
    "elf_i386",
    "-shared",
    "-e",
    "_dlstart",
    "--hash-style=both",
    "--sort-section=alignment",
    "--sort-common",
    "--gc-sections",
    "--no-undefined",
    "--exclude-libs=ALL",
    "--no-rosegment",
    "-z",
    "norelro",
]
GENERATED = [
    "obj/include/bits/alltypes.h",
    "obj/include/bits/syscall.h",
    "obj/src/internal/version.h",
]
"""Headers that make generates before it compiles the first file."""


def report(done: int, files: int) -> None:
    """Prints the progress of the step (src/p5lab/host/steps.py)."""
    print(f"musl: compile: {done} of about {files} files", flush=True)


def build(tree: Path, zig: Path, env: dict[str, str], jobs: int) -> None:
    """Configures, compiles and links below `tree`. The products are in `lib/` and `include/`
    of the tree."""
    # Use a path without spaces. The path of the checkout may contain spaces.
    plain = tree.parent / "ziglang"
    plain.symlink_to(zig.parent)
    settings = {
        **env,
        "CC": f"{plain}/zig cc {' '.join(TARGET)}",
        "CFLAGS": f"-march={CPU} -g0",
        "AR": f"{plain}/zig ar",
        "RANLIB": f"{plain}/zig ranlib",
    }
    run(["./configure", *CONFIGURE], tree, settings)
    files = ["lib/libc.a", *(f"lib/{name}" for name in START_FILES)]
    files += ["obj/ldso/dlstart.lo", "obj/ldso/dynlink.lo"]
    run(["make", *GENERATED], tree, env)
    compile_all(planned(tree, env, files), tree, env, jobs, report)
    run(["make", f"-j{jobs}", *files], tree, env)
    run(["make", "install-headers", "DESTDIR=.", "prefix="], tree, env)
    runtime = zig.parent / "lib/compiler_rt.zig"
    run(
        [
            zig,
            "build-lib",
            runtime,
            "--name",
            "compiler_rt",
            *TARGET,
            f"-mcpu={CPU}",
            "-OReleaseSmall",
            "-fPIC",
            "-fstrip",
            "-ffunction-sections",
            "-fno-unwind-tables",
            "-femit-bin=lib/libcompiler_rt.a",
        ],
        tree,
        env,
    )
    # make is not used, because zig's driver would add a run-time library that is not
    # position-independent.
    objects = sorted(str(path.relative_to(tree)) for path in (tree / "obj").rglob("*.lo"))
    for strip, name in ((["-s"], "libc.so"), ([], "libc.symbols")):
        run(
            [
                zig,
                "ld.lld",
                *LINK,
                *strip,
                "--dynamic-list=dynamic.list",
                "-o",
                f"lib/{name}",
                *objects,
                "lib/libcompiler_rt.a",
            ],
            tree,
            env,
        )


def make(args: argparse.Namespace) -> None:
    zig = find_zig()
    with tempfile.TemporaryDirectory(prefix="p5lab-musl-") as tmp:
        tree = unpack(args.source, Path(tmp))
        env = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C",
            **zig_caches(args.cache, Path(tmp) / "zig"),
        }
        build(tree, zig, env, args.jobs)
        lib, output = tree / "lib", args.output_dir
        checked = [lib / "libc.so", *(lib / name for name in START_FILES)]
        check_isa(args.check_isa, *checked, exceptions=args.isa_exceptions)
        for name in ("libc.a", "libc.so", "libcompiler_rt.a", *START_FILES):
            keep(lib / name, output / name)
        keep(lib / "libc.symbols", args.symbols)
        (output / "libc.so").chmod(0o755)  # run as a program, it is the loader
        write_headers(tree / "include", output / "include.tar")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="musl_1.2.5.orig.tar.gz")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--isa-exceptions", type=Path, required=True, help="list for check_isa.py")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--output-dir", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, required=True, help="libc.so, not stripped")
    args = parser.parse_args()
    return status_of("build_musl", lambda: make(args))


if __name__ == "__main__":
    sys.exit(main())
