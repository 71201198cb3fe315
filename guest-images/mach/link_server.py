#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Link the UNIX server of guest mach and the archive of its programs to one boot module."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

# Two segments, text and data. The archive is data that never changes.
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


def main() -> int:
    """Parses the command line and links. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--user", type=Path, required=True, help="output of build_user.py")
    parser.add_argument("--archive", type=Path, required=True, help="cpio archive, newc")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--symbols", type=Path, help="path of a copy with its symbols")
    args = parser.parse_args()
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        print("link_server: the Python package ziglang is missing", file=sys.stderr)
        return 1
    zig = Path(spec.origin).parent / "zig"
    with tempfile.TemporaryDirectory() as tmp:
        # Fixed names, because two symbols contain the name of the archive.
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
                print("link_server: linker failed", file=sys.stderr)
                return 1
            output.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(Path(tmp) / "server", output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
