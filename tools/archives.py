# SPDX-License-Identifier: MIT
"""Unpack a tar archive without trust in its content.

The Python of Debian 12 (3.11.2) has no `filter` argument in `tarfile`, so this module has the rules
itself, and they are the same with every Python. A file gets the mode 644 or 755 and our
owner. Every other kind of member ends the unpacking: a device, a path outside of the
directory, a path through a link of the archive, a link that leaves the directory.
"""

from __future__ import annotations

import copy
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath


class UnsafeArchive(tarfile.TarError):
    """A member of an archive is not unpacked. The message names the archive and the member."""


def extract(
    archive: Path, directory: Path, wanted: Callable[[str], object] = lambda name: True
) -> None:
    """Unpacks the members of `archive` whose names are `wanted` into `directory`, which is new or
    empty. Raises UnsafeArchive before anything is written, and tarfile.TarError or OSError if the
    archive cannot be read."""
    with tarfile.open(archive) as tar:
        members = list(_checked(archive.name, [member for member in tar if wanted(member.name)]))
        # Pythons that have filters warn if there is none.
        tar.extraction_filter = lambda member, _: member
        tar.extractall(directory, members)


def _checked(archive: str, members: list[tarfile.TarInfo]) -> Iterator[tarfile.TarInfo]:
    """The members as they are unpacked. Raises UnsafeArchive."""
    links, files = set[PurePosixPath](), set[PurePosixPath]()
    for member in members:
        path = PurePosixPath(member.name)

        def refused(reason: str, name: str = member.name) -> UnsafeArchive:
            return UnsafeArchive(f"{archive}: {name}: {reason}; nothing was unpacked")

        if path.is_absolute() or ".." in path.parts:
            raise refused("a path outside of the directory")
        if path in links or links.intersection(path.parents):
            raise refused("a path through a link")
        if member.issym():
            if not _stays_inside(path, PurePosixPath(member.linkname)):
                raise refused(f"a link to {member.linkname}, outside of the directory")
            links.add(path)
        elif member.islnk():
            if PurePosixPath(member.linkname) not in files:
                raise refused(f"a link to {member.linkname}, which is no file before it")
            files.add(path)
        elif member.isreg():
            files.add(path)
        elif not member.isdir():
            raise refused("neither a file, a directory nor a link")
        yield _plain(member)


def _stays_inside(path: PurePosixPath, target: PurePosixPath) -> bool:
    """Whether a symbolic link at `path` leads to a place in the directory. Every link of an archive
    does, and no directory above `path` is a link, so a target may also lead through links."""
    up = 0
    for part in target.parts:
        if part != "..":
            break
        up += 1
    return not (target.is_absolute() or ".." in target.parts[up:] or up > len(path.parts) - 1)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """The member with our owner and a plain mode."""
    member = copy.copy(member)
    member.uid = member.gid = -1
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member
