#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compile one C file to a static program of guest mach.

The object file is the same as for workloads/build_workload.py: the same compiler with the same
flags for a Pentium. Only the C library is different (build_user.py).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workloads"))
from build_workload import FLAGS, TARGETS
from building import BuildError, keep, keep_program, status_of, zig_caches

LINK = [
    "-m",
    "elf_i386",
    "-static",
    "--gc-sections",
    "--no-rosegment",
    "-z",
    "norelro",
    "-z",
    "noexecstack",
]
"""Two segments, text and data, as from linkers of the 1990s."""


def build(args: argparse.Namespace) -> None:
    environment = {**os.environ, **zig_caches(args.cache)}
    zig = [sys.executable, "-m", "ziglang"]
    with tempfile.TemporaryDirectory() as tmp:
        # Work with fixed relative names, because the compiler could record the names of its inputs.
        work = Path(tmp)
        shutil.copyfile(args.source, work / args.source.name)
        includes = []
        for number, directory in enumerate(args.include):
            shutil.copytree(directory, work / f"include{number}")
            includes += ["-I", f"include{number}"]
        headers = args.libc / "headers.tar"  # headers of the kernel
        with tarfile.open(headers) as archive:
            archive.extractall(work / "kernel", filter="data")
        includes += ["-I", "kernel"]
        for name in ("crt1.o", "crti.o", "libc.a", "libcompiler_rt.a", "crtn.o"):
            shutil.copyfile(args.libc / name, work / name)
        includes.append('-DOTHER_DISK="/dev/hd0"')  # for init.c: the kernel's first IDE disk
        target, processor = TARGETS["pentium"]
        link = [
            *zig,
            "ld.lld",
            *LINK,
            "crt1.o",
            "crti.o",
            "object.o",
            "libc.a",
            "libcompiler_rt.a",
            "crtn.o",
        ]
        for command in (
            [
                *zig,
                "cc",
                "-target",
                f"{target}-musl",
                f"-mcpu={processor}",
                *(flag for flag in FLAGS if flag != "-s"),
                "-g0",
                *includes,
                "-c",
                "-o",
                "object.o",
                args.source.name,
            ],
            [*link, "-s", "-o", "program"],
            [*link, "-o", "symbols"],
        ):
            done = subprocess.run(command, cwd=work, env=environment, check=False)
            if done.returncode != 0:
                raise BuildError(f"{args.source.name}: {command[3]}: status {done.returncode}")
        keep_program(work / "program", args.output)
        if args.symbols:
            keep(work / "symbols", args.symbols)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="the same program, not stripped")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's caches")
    parser.add_argument("--libc", type=Path, required=True, help="output of build_user.py")
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("source", type=Path)
    args = parser.parse_args()
    return status_of("build_program", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
