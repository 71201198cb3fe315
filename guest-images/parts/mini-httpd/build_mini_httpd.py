#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build mini_httpd, a web server with a process for each connection, from Debian's source: one
static program for a Pentium.

The compiler is Zig's clang with musl, as for the workloads: run this with the interpreter of the
environment that has the Python package `ziglang`. Without HTTPS. The product depends on the source
and the ziglang version only.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path

SOURCES = ("mini_httpd.c", "match.c", "tdate_parse.c")
# Its own tables, which its makefile turns into headers.
TABLES = ("mime_encodings", "mime_types")


class BuildError(Exception):
    """The build cannot go on; the message says why, the end of the output came before."""


def header(table: str) -> str:
    """Lines `extension type`, `#` begins a comment, as initializers of { ext, 0, type, 0 }."""
    lines = (re.sub(r"#.*", "", line).split() for line in table.splitlines())
    return "".join(f'{{ "{words[0]}", 0, "{words[1]}", 0 }},\n' for words in lines if words)


def main() -> int:
    """Parses the command line and builds the program. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="mini-httpd_1.30.orig.tar.gz")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    try:
        if find_spec("ziglang") is None:
            raise BuildError("the Python package ziglang is missing")
        with tempfile.TemporaryDirectory(prefix="p5lab-mini-httpd-") as tmp:
            with tarfile.open(args.source) as archive:
                archive.extractall(tmp, filter="data")
            (tree,) = Path(tmp).iterdir()
            for table in TABLES:
                (tree / f"{table}.h").write_text(header((tree / f"{table}.txt").read_text()))
            cache = args.cache.resolve()
            environment = {
                **os.environ,
                "ZIG_GLOBAL_CACHE_DIR": str(cache),
                "ZIG_LOCAL_CACHE_DIR": str(cache / "local"),
            }
            command = [
                sys.executable,
                "-m",
                "ziglang",
                "cc",
                "-target",
                "x86-linux-musl",
                "-static",
                "-mcpu=pentium",
                "-std=gnu89",
                "-O2",
                "-s",
                "-fno-stack-protector",
                "-w",
                "-D_GNU_SOURCE",
                "-o",
                "mini_httpd",
                *SOURCES,
            ]
            done = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                check=False,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            if done.returncode != 0:
                print(done.stdout[-4000:], file=sys.stderr)
                raise BuildError(f"compiler status {done.returncode}")
            program = tree / "mini_httpd"
            check = [sys.executable, args.check_isa, program]
            if subprocess.run(check, check=False).returncode != 0:
                raise BuildError("code that a Pentium does not have")
            args.output.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(program, args.output)
            args.output.chmod(0o755)
    except (BuildError, OSError) as error:
        print(f"build_mini_httpd: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
