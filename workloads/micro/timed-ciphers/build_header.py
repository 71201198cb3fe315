#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a C header with the assembly language of OpenSSL's ciphers and message digests.

OpenSSL's Perl scripts print the assembly language. They run unmodified, with the options of a build
for Linux on i386 that is not position-independent. The header contains this text as inline
assembly, and only the names of local labels are changed, because two scripts may use the same name.
Run this script with a Python interpreter that has the package `ziglang`: its preprocessor is used.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
from archives import extract
from building import BuildError, find_zig, keep, run, status_of, zig_caches

# In the directory crypto/ of OpenSSL.
SCRIPTS = (
    "sha/asm/sha1-586.pl",
    "sha/asm/sha256-586.pl",
    "sha/asm/sha512-586.pl",
    "aes/asm/aes-586.pl",
    "rc4/asm/rc4-586.pl",
    "poly1305/asm/poly1305-x86.pl",
    "chacha/asm/chacha-x86.pl",
    "modes/asm/ghash-x86.pl",
    "bf/asm/bf-586.pl",
)
# The code for later processors is in the text too, as in OpenSSL's default. The routines choose
# when they run. sha256-586.pl has its unrolled loop for a Pentium only with this option.
OPTIONS = ("elf", "-DOPENSSL_IA32_SSE2")
HEAD = "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by build_header.py from OpenSSL. */\n"


def scripts_of(archive: Path, directory: Path) -> Path:
    """Unpacks OpenSSL's Perl scripts. Returns the directory crypto/."""
    extract(archive, directory, re.compile(r"[^/]+/crypto/.*\.pl").fullmatch)
    (crypto,) = directory.glob("*/crypto")
    return crypto


def inline(name: str, text: str) -> str:
    """Inline assembly for C with the text of one script. `name`: a prefix for local labels."""
    lines = re.sub(r"\.L(?=\w)", f".L_{name}_", text).splitlines()
    quoted = (line.replace("\\", r"\\").replace('"', r"\"") for line in [*lines, ".text"])
    return "__asm__(\n" + "".join(f'"{line}\\n"\n' for line in quoted if line.strip()) + ");\n"


def build(args: argparse.Namespace) -> None:
    perl = shutil.which("perl")
    if not perl:
        raise BuildError("perl is missing: it makes the assembly language of OpenSSL's ciphers")
    parts = [HEAD]
    with tempfile.TemporaryDirectory(prefix="p5lab-openssl-") as tmp:
        crypto = scripts_of(args.source, Path(tmp))
        # The scripts ask CC for its version, and print code for AVX if it is new enough.
        env = {**os.environ, **zig_caches(args.cache), "CC": "true"}
        for script in SCRIPTS:
            made = Path(tmp, Path(script).with_suffix(".S").name)
            run([perl, script, *OPTIONS, made], crypto, env)
            text = run([find_zig(), "cc", "-E", "-P", made.name], Path(tmp), env).stdout
            parts.append(inline(made.stem.replace("-", "_"), text))
        header = Path(tmp, "header")
        header.write_text("\n".join(parts))
        keep(header, args.output)


def main() -> int:
    """Parses the command line and makes the header. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="openssl_3.0.17.orig.tar.gz")
    parser.add_argument("--cache", type=Path, required=True, help="directory for Zig's cache")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    return status_of("build_header", lambda: build(args))


if __name__ == "__main__":
    sys.exit(main())
