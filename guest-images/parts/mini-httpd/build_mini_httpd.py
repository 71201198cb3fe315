#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build mini_httpd, a web server with a process for each connection, from Debian's source.

The product is one static program for a Pentium, without HTTPS. The compiler is Zig's clang with our
musl, as for the workloads. Run this script with a Python interpreter that has the package
`ziglang`. The product depends on the source and the ziglang version only.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from building import check_isa, keep_program, run, status_of, unpack, zig_caches
from pentium_programs import compiling, linking
from stripping import stripped

SOURCES = ("mini_httpd.c", "match.c", "tdate_parse.c")
# mini_httpd's tables. Its makefile makes headers from them.
TABLES = ("mime_encodings", "mime_types")
FLAGS = ["-std=gnu89", "-O2", "-fno-stack-protector", "-w", "-D_GNU_SOURCE"]


def header(table: str) -> str:
    """Returns lines `extension type` as initializers { ext, 0, type, 0 }. `#` begins a comment."""
    lines = (re.sub(r"#.*", "", line).split() for line in table.splitlines())
    return "".join(f'{{ "{words[0]}", 0, "{words[1]}", 0 }},\n' for words in lines if words)


def build(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="p5lab-mini-httpd-") as tmp:
        tree = unpack(args.source, Path(tmp))
        for table in TABLES:
            (tree / f"{table}.h").write_text(header((tree / f"{table}.txt").read_text()))
        objects = [f"{source}.o" for source in SOURCES]
        for command in (
            *(
                compiling(source, made, FLAGS)
                for source, made in zip(SOURCES, objects, strict=True)
            ),
            linking(args.libc.resolve(), objects, "linked"),
        ):
            run(command, tree, {**os.environ, **zig_caches(args.cache)})
        program = tree / "mini_httpd"
        program.write_bytes(stripped((tree / "linked").read_bytes()))
        check_isa(args.check_isa, program)
        keep_program(program, args.output)


def main() -> int:
    """Parses the command line and builds the program. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="mini-httpd_1.30.orig.tar.gz")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--libc", type=Path, required=True, help="directory lib/ of musl")
    parser.add_argument("--check-isa", type=Path, required=True, help="check_isa.py")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    return status_of("build_mini_httpd", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
