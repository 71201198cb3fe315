# SPDX-License-Identifier: MIT
"""Converts an archive of a distribution's root file system to the archive from which p5lab makes
the disk of a guest.

The result is a plain tar archive of directories, files and symbolic links in the order of their
paths. All members have the same time stamp. The result omits files that a guest with only one
program never reads. If two inputs contain the same files, the results are equal byte for byte, even
if different programs packed the inputs. The input is checked member by member and never unpacked.
"""

import fnmatch
import lzma
import re
import stat
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from p5lab.describe.program import GLIBC
from p5lab.errors import UserError

TIME = 788918400
"""1995-01-01, the date in the guest at its start. No file has a later date."""

EMPTIED = (
    "boot",
    "dev",
    "proc",
    "run",
    "sys",
    "tmp",
    "etc/apt",
    "var/cache",
    "var/lib/apt",
    "var/log",
    "usr/share/bash-completion",
    "usr/share/bug",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
)
"""Directories that are emptied: mount points, caches, documentation, translations, and records that
name the mirror."""
KEPT = ("usr/share/doc/*/demos/*",)
"""Programs among the documentation, which are not left out: the widget demonstration of Tk."""
LEFT_OUT = (
    "etc/hostname",
    "etc/machine-id",
    "etc/resolv.conf",
    "etc/*-",
    "var/lib/dpkg/[!s]*",
    "var/lib/dpkg/status-*",
)
"""Files that are omitted: files of the host that made the archive, previous versions of files, and
files of the package manager except its list of packages. A pattern for a directory also matches
everything below the directory."""


@dataclass(frozen=True)
class _Libc:
    """The paths of glibc's loader and of glibc, for one architecture of a distribution."""

    processor: str
    loader: re.Pattern[str]
    libc: re.Pattern[str]


def _libc(processor: str, loader: str, directory: str) -> _Libc:
    place = rf"(?:usr/)?lib/{directory}"
    return _Libc(
        processor,
        re.compile(rf"(?:usr/)?{loader}|{place}/ld-.*"),
        re.compile(rf"{place}/libc(?:-2\.\d+\.so|\.so\.6)"),
    )


LIBCS = {
    "amd64": _libc("x86-64", r"lib64/ld-linux-x86-64\.so\.2", "x86_64-linux-gnu"),
    "i386": _libc("32-bit x86", r"lib/ld-linux\.so\.2", "i386-linux-gnu"),
}
"""By the architecture of the distribution."""

LIBC_VERSION = re.compile(rb"GNU C Library \([^)\n]*\) \w+ release version (2\.\d+)")
OS_RELEASE = ("usr/lib/os-release", "etc/os-release")
NAMES = {"ID": True, "PRETTY_NAME": True, "VERSION_ID": False, "VERSION_CODENAME": False}
"""The fields of os-release(5) that are recorded, and whether each is required."""
PLAIN = re.compile(r"[\w .,:;/()+~-]+", re.ASCII)
"""The form of the values of these fields. The build writes the values into a command line."""
DPKG_STATUS = "var/lib/dpkg/status"
UNREADABLE = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError)


@dataclass(frozen=True)
class Contents:
    """Facts about a root file system, from its own files. `packages`: versions by name."""

    os_release: dict[str, str]
    glibc: str
    packages: dict[str, str]
    files: int
    bytes: int


@dataclass(frozen=True)
class _Member:
    """A member of the new archive. The content of a file begins at `offset` of the spool file."""

    info: tarfile.TarInfo
    offset: int = 0


_Members = dict[str, _Member]  # by path


def repack(archive: Path, output: Path, architecture: str = "amd64") -> Contents:
    """Writes the archive from which disk images are made.

    Raises UserError if the given archive is not a root file system for `architecture` with glibc.
    Also raises UserError if the archive contains members that a root file system must not contain.
    """
    where = str(archive)
    with tempfile.TemporaryFile() as spool:
        packed = _read(archive, where, spool)
        kept = {place for path in packed if _kept(path) for place in (path, *_parents(path))}
        members = {
            path: member for path, member in packed.items() if path in kept or not _left_out(path)
        }
        contents = _contents(members, where, spool, architecture)
        with tarfile.open(output, "w", format=tarfile.GNU_FORMAT) as tar:
            for path in sorted(members, key=lambda path: path.split("/")):
                spool.seek(members[path].offset)
                tar.addfile(members[path].info, spool)
    return contents


def _read(archive: Path, where: str, spool: IO[bytes]) -> _Members:
    """All members. The archive is read from front to back, because it may be compressed."""
    members: _Members = {}
    try:
        with _opened(archive) as tar:
            for info in tar:
                if path := _path(info.name, where):
                    members[path] = _member(tar, info, path, where, members, spool)
    except UNREADABLE as error:
        raise UserError(f"{where}: cannot be read as a tar archive: {error}") from None
    except OSError as error:
        raise UserError(f"{where}: {error.strerror or error}") from None
    for path in list(members):
        for parent in _parents(path):
            if not members.setdefault(parent, _directory(parent)).info.isdir():
                raise UserError(f"{where}: {path}: lies below {parent}, which is no directory")
    return members


def _opened(archive: Path) -> tarfile.TarFile:
    try:
        return tarfile.open(archive, "r|*")
    except TypeError:  # tarfile raises it for a file that ends within gzip's header
        raise tarfile.ReadError("cut short") from None


def _path(name: str, where: str) -> str:
    """The path of a member from the root, without a leading slash. The path of the root is empty.
    Raises UserError for a path that leads out of the archive."""
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise UserError(f"{where}: {name}: leads out of the archive; expected paths below its root")
    return _printable("/".join(parts), where)


def _printable(name: str, where: str) -> str:
    """Returns the name of a file or the target of a link unchanged. Raises UserError if mkrootfs.py
    (guest-images/parts/rootfs) cannot use the name in a command of debugfs."""
    if not name.isprintable() or '"' in name:
        raise UserError(f"{where}: {name!r}: expected printable characters without quotes")
    return name


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _directory(path: str) -> _Member:
    info = tarfile.TarInfo(path)
    info.type, info.mode, info.mtime = tarfile.DIRTYPE, 0o755, TIME
    return _Member(info)


def _member(
    tar: tarfile.TarFile,
    given: tarfile.TarInfo,
    path: str,
    where: str,
    members: _Members,
    spool: IO[bytes],
) -> _Member:
    """One member, with only those properties that the image needs."""
    info = tarfile.TarInfo(path)
    info.mode, info.uid, info.gid = stat.S_IMODE(given.mode), given.uid, given.gid
    info.mtime, info.type = TIME, given.type
    if given.isdir():
        return _Member(info)
    if given.issym():
        info.linkname = _printable(given.linkname, where)  # any target in the guest is allowed
        return _Member(info)
    info.type = tarfile.REGTYPE
    if given.islnk():  # a hard link becomes a separate file
        target = members.get(_path(given.linkname, where))
        if target is None or not target.info.isreg():
            raise UserError(
                f"{where}: {path}: a link to {given.linkname}: expected this file before the link"
            )
        info.size = target.info.size
        return _Member(info, target.offset)
    if given.isdev() and path.startswith("dev/"):
        return _Member(info)  # left out later; the guest's kernel makes its own devices
    content = tar.extractfile(given) if given.isreg() else None
    if content is None:
        raise UserError(f"{where}: {path}: expected a file, a directory or a link")
    info.size = given.size
    offset = spool.seek(0, 2)
    while piece := content.read(1 << 20):
        spool.write(piece)
    return _Member(info, offset)


def _kept(path: str) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in KEPT)


def _left_out(path: str) -> bool:
    return any(path.startswith(f"{directory}/") for directory in EMPTIED) or any(
        fnmatch.fnmatchcase(path, pattern) for pattern in LEFT_OUT
    )


def _contents(members: _Members, where: str, spool: IO[bytes], architecture: str) -> Contents:
    known = LIBCS[architecture]

    def content(path: str) -> bytes:
        member = members.get(path)
        if member is None or not member.info.isreg():
            return b""
        spool.seek(member.offset)
        return spool.read(member.info.size)

    os_release = next(filter(None, map(content, OS_RELEASE)), b"")
    if not os_release:
        raise UserError(
            f"{where}: no etc/os-release; expected the root file system of a distribution"
        )
    versions = [
        match[1].decode()
        for path in members
        if known.libc.fullmatch(path) and (match := LIBC_VERSION.search(content(path)))
    ]
    if not versions or not any(map(known.loader.fullmatch, members)):
        raise UserError(
            f"{where}: no glibc for {known.processor} in it; expected a distribution for"
            f" {architecture}"
        )
    if _number(versions[0]) < _number(GLIBC):
        raise UserError(f"{where}: glibc {versions[0]}; expected {GLIBC} or newer")
    sizes = [member.info.size for member in members.values() if member.info.isreg()]
    return Contents(
        os_release=_assignments(os_release.decode(errors="replace"), where),
        glibc=versions[0],
        packages=_packages(content(DPKG_STATUS).decode(errors="replace")),
        files=len(sizes),
        bytes=sum(sizes),
    )


def _assignments(text: str, where: str) -> dict[str, str]:
    """The fields of os-release(5) by name, from lines NAME=value. Values are often in quotes."""
    fields = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name not in NAMES:
            continue
        value = value.strip().strip("\"'")
        if not PLAIN.fullmatch(value):
            raise UserError(f"{where}: os-release: {name}: expected plain text, found {value!r}")
        fields[name] = value
    for name, needed in NAMES.items():
        if needed and name not in fields:
            raise UserError(f"{where}: os-release: no {name} in it")
    return fields


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _packages(status: str) -> dict[str, str]:
    """The version of each package in the text of dpkg's status file. The text may be empty."""
    stanzas = (
        dict(re.findall(r"^(Package|Version): (.+)$", stanza, re.M))
        for stanza in status.split("\n\n")
    )
    return {fields["Package"]: fields["Version"] for fields in stanzas if len(fields) == 2}
