#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile one C file to a stripped ELF program under Linux: for a Pentium or for x86-64.

The program is static, or linked to the C library of the guest's distribution (`--glibc`). The
compiler is Zig's clang, and the static C library is musl. Zig compiles musl for the same processor.
The Python package `ziglang` contains Zig, and also the symbols of each version of glibc. Run this
script with the interpreter of the environment that contains the package. The first use compiles
musl into the cache directory, which takes about half a minute. Later uses take a second. The output
depends only on the sources and the ziglang version, not on paths.

The linker makes the program with its symbol table (`--symbols`), and the script removes the table.
The linker optimizes the program together with the C library. It therefore takes most of the time,
and runs once for each program.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
from building import BuildError, keep, keep_program, status_of
from stripping import stripped
from zig_commands import commands

TARGETS = {
    "pentium": ("x86-linux", "pentium"),
    # The instructions of every processor of this kind, up to SSE2.
    "x86-64": ("x86_64-linux", "x86_64"),
}
"""Target and processor by ISA level (guest.toml)."""
FLAGS = ["-std=gnu11", "-O2", "-s", "-fno-stack-protector", "-Wall", "-Wextra", "-Werror"]


def build(args: argparse.Namespace) -> None:
    target, processor = TARGETS[args.isa]
    # --as-needed: link only the libraries that the program uses.
    libc = (
        [f"{target}-gnu.{args.glibc}", "-Wl,--as-needed"]
        if args.glibc
        else [f"{target}-musl", "-static"]
    )
    zig = commands(args.cache, ["-target", *libc, f"-mcpu={processor}", *FLAGS])
    with tempfile.TemporaryDirectory() as tmp:
        # Use fixed relative names, because a compiler may record the names of its inputs.
        work = Path(tmp)
        shutil.copyfile(args.source, work / args.source.name)
        options = []
        for number, directory in enumerate(args.include):
            shutil.copytree(directory, work / f"include{number}")
            options += ["-I", f"include{number}"]
        options += [f"-D{name}" for name in args.define]
        for step, command in (
            ("compiler", zig.compile(args.source.name, "object.o", options)),
            ("linker", zig.link("object.o", "program")),
        ):
            status = subprocess.run(command, cwd=work, check=False).returncode
            if status != 0:
                raise BuildError(f"{args.source.name}: {step} status {status}")
        program = (work / "program").read_bytes()
        (work / "stripped").write_bytes(stripped(program))
        keep_program(work / "stripped", args.output)
        if args.symbols:
            keep(work / "program", args.symbols)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="the same program, not stripped")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's caches")
    parser.add_argument("--isa", choices=TARGETS, default="pentium")
    parser.add_argument(
        "--glibc",
        metavar="VERSION",
        help="link to the guest's C library, of this version or a newer one",
    )
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--define", action="append", default=[], metavar="NAME")
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    return status_of("build_workload", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
