#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile one C file to a stripped ELF program: for a Pentium or for x86-64.

A program for a Pentium is static, and its C library is one of our builds of musl (`--libc`): for
Linux or for Mach. A program for x86-64 runs under Linux. It is static, with the musl of Zig, or
linked to the C library of the guest's distribution (`--glibc`). The Python package `ziglang`
contains the compiler, and also the symbols of each version of glibc. Run this script with the
interpreter of the environment that contains the package. The first program for x86-64 compiles
Zig's musl into the cache directory, which takes about half a minute. Other programs take a second
or less. The output depends only on the sources and the ziglang version, not on paths.

The linker makes the program with its symbol table (`--symbols`), and the script removes the table.
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
from archives import extract
from building import BuildError, keep, keep_program, status_of, zig_caches
from pentium_programs import compiling, linking
from stripping import stripped
from zig_commands import commands

FLAGS = ["-std=gnu11", "-O2", "-fno-stack-protector", "-Wall", "-Wextra", "-Werror"]
LIBC = Path(__file__).resolve().parents[1] / "build/libc/musl/lib"
# The instructions of every x86-64 processor, up to SSE2.
TARGET_64, PROCESSOR_64 = "x86_64-linux", "x86_64"


def compiler_and_linker(
    args: argparse.Namespace, options: list[str]
) -> tuple[list[str], list[str]]:
    """The commands that make object.o from the source file, and the program from object.o."""
    source = args.source.name
    if args.isa == "pentium":
        if not (args.libc / "libc.a").is_file():
            raise BuildError(f"--libc {args.libc}: no libc.a; `./p5lab build` makes it")
        return (
            compiling(source, "object.o", [*FLAGS, *options]),
            linking(args.libc.resolve(), ["object.o"], "program"),
        )
    # --as-needed: link only the libraries that the program uses.
    libc = (
        [f"{TARGET_64}-gnu.{args.glibc}", "-Wl,--as-needed"]
        if args.glibc
        else [f"{TARGET_64}-musl", "-static"]
    )
    zig = commands(args.cache, ["-target", *libc, f"-mcpu={PROCESSOR_64}", *FLAGS, "-s"])
    return zig.compile(source, "object.o", options), zig.link("object.o", "program")


def build(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as tmp:
        # Use fixed relative names, because a compiler may record the names of its inputs.
        work = Path(tmp)
        shutil.copyfile(args.source, work / args.source.name)
        options = []
        for number, directory in enumerate(args.include):
            shutil.copytree(directory, work / f"include{number}")
            options += ["-I", f"include{number}"]
        if args.headers:
            extract(args.headers, work / "headers")
            options += ["-I", "headers"]
        options += [f"-D{definition}" for definition in args.define]
        environment = {**os.environ, **zig_caches(args.cache)}
        for step, command in zip(
            ("compiler", "linker"), compiler_and_linker(args, options), strict=True
        ):
            done = subprocess.run(command, cwd=work, env=environment, check=False)
            if done.returncode != 0:
                raise BuildError(f"{args.source.name}: {step} status {done.returncode}")
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
    parser.add_argument("--isa", choices=("pentium", "x86-64"), default="pentium")
    parser.add_argument(
        "--libc",
        type=Path,
        default=LIBC,
        help="for a Pentium: the directory of the C library and its start files",
    )
    parser.add_argument("--headers", type=Path, help="an archive of further headers")
    parser.add_argument(
        "--glibc",
        metavar="VERSION",
        help="link to the guest's C library, of this version or a newer one",
    )
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--define", action="append", default=[], metavar="NAME[=VALUE]")
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    return status_of("build_workload", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
