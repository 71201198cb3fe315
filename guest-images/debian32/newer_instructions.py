#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""List the instructions of a distribution for i386 that a Pentium does not have.

Disassembles the programs and libraries of a root file system (build/images/GUEST/rootfs.tar) and
prints, for each kind of newer instruction, how many instructions and files have it, and the files
with most of them. The guest's ISA level, pentium+cmov, has the kinds `cmov`, `fcmov`, `fcomi`
and `hint`. A program executes the other kinds only after it has asked CPUID for them, or it fails.
"""

from __future__ import annotations

import argparse
import re
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check_isa import disassemble, findings

KINDS = {
    "cmov": r"cmov\w+",
    "fcmov": r"fcmov\w+",
    "fcomi": r"fu?comip?",
    "hint": r"nop|endbr(32|64)|prefetch\w*|rdssp[dq]|bnd\w+|cldemote",
    "MMX, SSE and others": r"\S+",
}
"""The kinds, in the order in which a mnemonic is compared with them."""


def kind(text: str) -> str:
    """Returns the kind of an instruction that a Pentium does not have.

    >>> kind("cmove eax,ebx"), kind("nop DWORD PTR [eax+0x0]"), kind("lock sfence")
    ('cmov', 'hint', 'MMX, SSE and others')
    """
    words = [word for word in text.split() if not re.fullmatch("lock|rep\\w*|data16|notrack", word)]
    return next(name for name, pattern in KINDS.items() if re.fullmatch(pattern, words[0]))


def census(archive: Path, under: str) -> dict[str, Counter[str]]:
    """Returns how many instructions of each kind each ELF file has, by kind and path."""
    found: dict[str, Counter[str]] = {name: Counter() for name in KINDS}
    with tarfile.open(archive) as tar, tempfile.TemporaryDirectory() as tmp:
        for member in tar:
            content = tar.extractfile(member) if member.isreg() else None
            if not content or not member.name.startswith(under) or content.read(4) != b"\x7fELF":
                continue
            content.seek(0)
            file = Path(tmp) / "program"
            file.write_bytes(content.read())
            try:
                for one in findings(disassemble(file, "objdump", "i386"), member.name):
                    found[kind(one.text)][member.name] += 1
            except ValueError as error:  # for example a file without code
                print(f"newer_instructions: {member.name}: {error}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--under", default="", metavar="PATH", help="only files below this path")
    parser.add_argument("archive", type=Path)
    args = parser.parse_args()
    try:
        found = census(args.archive, args.under.lstrip("/"))
    except (OSError, tarfile.TarError) as error:
        print(f"newer_instructions: {args.archive}: {error}", file=sys.stderr)
        return 1
    for name, files in found.items():
        print(f"{name}: {files.total():,} instructions in {len(files)} files")
        for path, count in files.most_common(12):
            print(f"  {count:8,}  /{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
