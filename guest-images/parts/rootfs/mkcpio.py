#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write an initramfs as an uncompressed `newc` cpio archive (cpio(5)).

The program needs no root rights and mounts nothing, because device nodes are entries of the
archive. The same inputs give the same bytes: entries are sorted by path, inode numbers count from
1, owner and time are 0.
"""

from __future__ import annotations

import argparse
import stat
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """One file of the archive. `mode` has type and permissions. `device` is (major, minor)."""

    path: str
    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def parse_list(text: str, name: str) -> list[Entry]:
    """Returns the entries of a list file. Raises ValueError with the wrong line in the message."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        match line.partition("#")[0].split():
            case []:
                continue
            case ["dir", path, mode]:
                entries.append(Entry(path, stat.S_IFDIR | int(mode, 8)))
            case ["nod", path, mode, ("c" | "b") as kind, major, minor]:
                node = stat.S_IFCHR if kind == "c" else stat.S_IFBLK
                entries.append(Entry(path, node | int(mode, 8), device=(int(major), int(minor))))
            case ["slink", path, target]:
                entries.append(Entry(path, stat.S_IFLNK | 0o777, target.encode()))
            case _:
                raise ValueError(
                    f"{name}:{number}: expected `dir PATH MODE`, `slink PATH TARGET` "
                    f"or `nod PATH MODE c|b MAJOR MINOR`, found `{line}`"
                )
    return entries


def pad(data: bytes) -> bytes:
    """Pads to the 4-byte boundary that newc requires."""
    return data + b"\0" * (-len(data) % 4)


def record(entry: Entry, inode: int) -> bytes:
    """Return header, name and data of one entry."""
    name = entry.path.lstrip("/").encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (inode, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, *entry.device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return pad(header + name) + pad(entry.data)


def archive(entries: list[Entry]) -> bytes:
    """Returns the archive. Raises ValueError if a path occurs twice or if the directory of a path
    is missing."""
    paths = {entry.path for entry in entries}
    if len(paths) != len(entries):
        raise ValueError("a path occurs twice")
    directories = {"/"} | {entry.path for entry in entries if stat.S_ISDIR(entry.mode)}
    for entry in entries:
        parent = entry.path.rpartition("/")[0] or "/"
        if not entry.path.startswith("/") or parent not in directories:
            raise ValueError(f"{entry.path}: directory {parent} is not in the archive")
    ordered = sorted(entries, key=lambda entry: entry.path)
    trailer = record(Entry("TRAILER!!!", 0), 0)
    return b"".join(record(entry, i) for i, entry in enumerate(ordered, 1)) + trailer


def main() -> int:
    """Parses the command line and writes the archive. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--list", type=Path, required=True, help="directories, links and device nodes"
    )
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument(
        "programs",
        nargs="*",
        metavar="GUEST_PATH=FILE",
        help="a program and its absolute path in the guest",
    )
    args = parser.parse_args()
    try:
        entries = parse_list(args.list.read_text(), args.list.name)
        for program in args.programs:
            path, equals, file = program.partition("=")
            if not equals:
                raise ValueError(f"`{program}`: expected GUEST_PATH=FILE")
            entries.append(Entry(path, stat.S_IFREG | 0o755, Path(file).read_bytes()))
        args.output.write_bytes(archive(entries))
    except (ValueError, OSError) as error:
        print(f"mkcpio: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
