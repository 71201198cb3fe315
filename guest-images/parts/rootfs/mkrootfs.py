#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the image of a guest's root disk: the files of an archive and our own programs, in ext2.

The archive is a root file system from src/p5lab/host/rootfs.py, a plain tar file of files,
directories and symbolic links. mke2fs makes the empty file system and debugfs fills it. These two
programs need no root rights and no mount. The archive's names never become names of host files. The
same inputs give the same bytes. The program writes all files in the order of their paths, and all
files have the same time (mkdisk.TIME). (`mke2fs -d` would copy the owner and the change time of
each file from the host.)
"""

from __future__ import annotations

import argparse
import shutil
import stat
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

import mkdisk
from mkdisk import CYLINDER, DiskError

IDENTITY = "50354c42-0000-4000-8000-000000000002"
OPTIONS = [
    "-q",
    "-F",
    "-t",
    "ext2",
    "-T",
    "small",
    "-b",
    "4096",
    "-I",
    "128",
    "-i",
    "8192",
    "-m",
    "0",
    "-L",
    "root",
    "-U",
    IDENTITY,
    "-E",
    f"hash_seed={IDENTITY},root_owner=0:0",
]
MOUNT_POINTS = ("data", "dev", "p5/bin", "proc", "sys", "tmp")
"""Directories on which init.c mounts file systems."""


@dataclass(frozen=True)
class Node:
    """One file of the image. `mode` has type and permissions. `target` is the target of a link.
    For a regular file, `content` is the file on the host that contains the bytes.
    """

    path: str
    mode: int
    uid: int = 0
    gid: int = 0
    target: str = ""
    content: Path | None = None


def read_archive(archive: Path, directory: Path) -> list[Node]:
    """Returns the nodes of an archive. Writes the contents to numbered files in `directory`."""
    nodes = []
    with tarfile.open(archive) as tar:
        for number, member in enumerate(tar):
            mode = stat.S_IMODE(member.mode)
            if member.isdir():
                nodes.append(Node(member.name, stat.S_IFDIR | mode, member.uid, member.gid))
            elif member.issym():
                nodes.append(
                    Node(
                        member.name,
                        stat.S_IFLNK | 0o777,
                        member.uid,
                        member.gid,
                        target=member.linkname,
                    )
                )
            elif member.isreg():
                content = directory / str(number)
                with tar.extractfile(member) as source, content.open("wb") as file:  # type: ignore
                    shutil.copyfileobj(source, file)
                nodes.append(
                    Node(member.name, stat.S_IFREG | mode, member.uid, member.gid, content=content)
                )
            else:
                raise DiskError(
                    f"{archive}: {member.name}: expected a file, directory or symbolic link"
                )
    return nodes


def with_ours(nodes: list[Node], programs: dict[str, Path]) -> list[Node]:
    """Returns the nodes together with our programs and the mount points of init. `programs`
    contains our programs by their path in the image."""
    found = {node.path: node for node in nodes}
    for path, content in programs.items():
        for parent in reversed(Path(path).parents[:-1]):
            found.setdefault(str(parent), Node(str(parent), stat.S_IFDIR | 0o755))
        found[path] = Node(path, stat.S_IFREG | 0o755, content=content)
    for path in MOUNT_POINTS:
        found.setdefault(path, Node(path, stat.S_IFDIR | 0o755))
    return list(found.values())


def commands(nodes: list[Node]) -> str:
    """Returns the commands for debugfs, which creates all files with owner root and fixed time."""
    lines = []
    directory = ""
    for node in sorted(nodes, key=lambda node: node.path.split("/")):
        parent, _, name = node.path.rpartition("/")
        if parent != directory:
            lines.append(f"cd {quoted('/' + parent)}")
            directory = parent
        kind = stat.S_IFMT(node.mode)
        if kind == stat.S_IFDIR:
            lines.append(f"mkdir {quoted(name)}")
        elif kind == stat.S_IFLNK:
            lines.append(f"symlink {quoted(name)} {quoted(node.target)}")
        else:
            lines.append(f"write {quoted(str(node.content))} {quoted(name)}")
        fields = {"mode": f"0{node.mode:o}", "uid": node.uid, "gid": node.gid}
        lines += [
            f"set_inode_field {quoted(name)} {field} {value}"
            for field, value in fields.items()
            if value
        ]
    return "\n".join(lines) + "\n"


def quoted(word: str) -> str:
    """Returns a word of a debugfs command, in quotes. Names come from an archive, and some debugfs
    commands write to the host. The function therefore raises DiskError for a name that could end
    the quotes.
    """
    if not word or not word.isprintable() or '"' in word:
        raise DiskError(f"{word!r}: expected a name of printable characters without quotes")
    return f'"{word}"'


def make(output: Path, archive: Path, size: int, programs: dict[str, Path]) -> None:
    """Writes the image. The image has `size` bytes, rounded down to whole cylinders. Raises
    DiskError if the files do not fit.
    """
    with tempfile.TemporaryDirectory() as tmp:
        image = Path(tmp) / "root.img"
        nodes = with_ours(read_archive(archive, Path(tmp)), programs)
        mkdisk.make(image, size // CYLINDER * CYLINDER // 1024, OPTIONS)
        script = Path(tmp) / "commands"
        script.write_text(commands(nodes))
        # After an error, debugfs continues, and its exit status is still 0. The first line of
        # debugfs's output contains only the name of the program.
        for line in mkdisk.run("debugfs", "-w", "-f", script, image).splitlines()[1:]:
            if "Could not allocate" in line:
                content = sum(node.content.stat().st_size for node in nodes if node.content)
                raise DiskError(
                    f"{archive}: {len(nodes)} files of {content >> 20} MB do not fit"
                    f" into {size >> 20} MB; expected a larger --size"
                )
            raise DiskError(f"{archive}: debugfs: {line}")
        mkdisk.run("e2fsck", "-f", "-n", image)
        shutil.copyfile(image, output)


def main() -> int:
    """Parses the command line and writes the image. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archive", type=Path, required=True, help="the root file system, as tar")
    parser.add_argument("--size", type=int, required=True, help="bytes")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("programs", nargs="*", metavar="PATH=FILE", help="further file")
    args = parser.parse_args()
    pairs = (pair.partition("=") for pair in args.programs)
    programs = {path.strip("/"): Path(file) for path, _, file in pairs}
    try:
        make(args.output, args.archive, args.size, programs)
    except (DiskError, OSError, tarfile.TarError) as error:
        print(f"mkrootfs: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
