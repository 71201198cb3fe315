#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Link the UNIX server of guest mach and the archive of its first process into one boot module."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from building import BuildError, find_zig, keep, status_of

# Two segments, text and data. The archive is constant data.
FLAGS = [
    "-m",
    "elf_i386",
    "-static",
    "--gc-sections",
    "--no-rosegment",
    "-z",
    "norelro",
    "-z",
    "noexecstack",
    "-e",
    "_start",
]


def link(args: argparse.Namespace) -> None:
    zig = find_zig()
    with tempfile.TemporaryDirectory() as tmp:
        # Use fixed names, because the archive's file name is part of two symbols.
        shutil.copyfile(args.archive, Path(tmp) / "archive.cpio")
        for name in ("server.o", "crti.o", "crtn.o", "libc.a", "libcompiler_rt.a"):
            shutil.copyfile(args.user / name, Path(tmp) / name)
        for strip, output in ((["-s"], args.output), ([], args.symbols)):
            if not output:
                continue
            command = [
                zig,
                "ld.lld",
                *FLAGS,
                *strip,
                "-o",
                "server",
                "crti.o",
                "server.o",
                "--format=binary",
                "archive.cpio",
                "--format=elf",
                "libc.a",
                "libcompiler_rt.a",
                "crtn.o",
            ]
            if subprocess.run(command, cwd=tmp, check=False).returncode != 0:
                raise BuildError("linker failed")
            keep(Path(tmp) / "server", output)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", type=Path, required=True, help="output of build_user.py")
    parser.add_argument("--archive", type=Path, required=True, help="cpio archive, newc")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="the same module, not stripped")
    args = parser.parse_args()
    return status_of("link_server", lambda: link(args))


if __name__ == "__main__":
    sys.exit(main())
