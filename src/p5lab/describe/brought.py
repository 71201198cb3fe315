# SPDX-License-Identifier: MIT
"""What a run brings along for a program of a distribution: files, standard input and arguments.

`run --program guest:PATH --file HOST:GUEST --stdin FILE --args "..."`. p5lab puts everything into
one archive (tar, format ustar). The engine delivers the archive to the guest's init, in the place
of a program file. init unpacks the archive before the bracket of the program begins
(guest-images/parts/rootfs/distribution.h). The archive is in build/brought, with its digest as its
name.
"""

import hashlib
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from p5lab.errors import UserError
from p5lab.host.files import read_at_most, store_bytes
from p5lab.lab import Lab

FILE, STDIN, PROGRAMS = "--file", "--stdin", "--programs"
# Members with a special meaning, and the longest arguments (distribution.h).
ARGUMENTS_MEMBER, STDIN_MEMBER = "p5/arguments", "p5/stdin"
ARGUMENTS, ARGUMENTS_BYTES = 1023, 65536
MOST_BYTES = 64 << 20
REMEDY = "put larger files into a package or a tarball of `./p5lab image`"
TIME = 788918400  # 1995-01-01, the date in the guest at its start
RESERVED = ("/dev", "/p5", "/proc", "/sys")  # of the kernel, and of p5lab


@dataclass(frozen=True)
class Brought:
    """What the user gave. `files`: files of the host with their paths in the guest. `programs`: the
    system of --programs, `supplied` its files, and `phases` the names of its phases."""

    files: tuple[tuple[Path, str], ...] = ()
    stdin: Path | None = None
    programs: str = ""
    supplied: tuple[tuple[Path, str], ...] = ()
    phases: Mapping[int, str] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were given."""
        given = {FILE: self.files, STDIN: self.stdin, PROGRAMS: self.programs}
        return tuple(option for option, value in given.items() if value)

    @property
    def parameters(self) -> dict[str, str]:
        """The names of the files, as parameters of a workload."""
        given = {
            "files": ",".join(path for _, path in self.files),
            "stdin": self.stdin.name if self.stdin else "",
            "programs": self.programs,
        }
        return {name: text for name, text in given.items() if text}


NOTHING = Brought()


def parse(files: Sequence[str], stdin: Path | None) -> Brought:
    """The options --file HOST:GUEST and --stdin FILE. Raises UserError for a path that init cannot
    use."""
    found: list[tuple[Path, str]] = []
    for text in files:
        host, _, inside = text.rpartition(":")
        _check_path(text, host, inside)
        if inside in (path for _, path in found):
            raise UserError(f"{FILE} {text}: a second file for {inside}")
        found.append((Path(host), inside))
    return Brought(tuple(found), stdin)


def _check_path(text: str, host: str, inside: str) -> None:
    where = f"{FILE} {text}"
    plain = str(PurePosixPath(inside)) == inside and ".." not in PurePosixPath(inside).parts
    if not host or not inside.startswith("/") or inside == "/" or not plain:
        raise UserError(
            f"{where}: expected HOST:GUEST, a file of this host and an absolute path in the guest,"
            " such as notes.txt:/root/notes.txt"
        )
    if not inside.isascii() or not inside.isprintable():
        raise UserError(f"{where}: expected a path in the guest of printable ASCII")
    for directory in RESERVED:
        if inside == directory or inside.startswith(f"{directory}/"):
            raise UserError(f"{where}: {directory} belongs to the guest; use for example /root")


def archive(lab: Lab, brought: Brought, arguments: Sequence[str]) -> Path | None:
    """The archive, or None if there is nothing to bring along. Raises UserError for a file that
    cannot be read, and for too much data."""
    if not brought.options and not arguments:
        return None
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        if arguments:
            _add(tar, ARGUMENTS_MEMBER, _arguments(arguments), 0o644)
        if brought.stdin:
            _add(tar, STDIN_MEMBER, _content(brought.stdin, f"{STDIN} {brought.stdin}"), 0o644)
        for host, inside in (*brought.files, *brought.supplied):
            where = f"{FILE} {host}:{inside}"
            content = _content(host, where)
            mode = 0o755 if host.stat().st_mode & 0o100 else 0o644
            try:
                _add(tar, inside.lstrip("/"), content, mode)
            except ValueError:  # of tarfile: the format has no place for this name
                raise UserError(f"{where}: the path in the guest is too long") from None
    content = stream.getvalue()
    if len(content) > MOST_BYTES:
        raise UserError(
            f"{FILE}, {STDIN}: {len(content):,} bytes; expected at most {MOST_BYTES:,} bytes;"
            f" {REMEDY}"
        )
    path = lab.root / "build/brought" / f"{hashlib.sha256(content).hexdigest()[:16]}.tar"
    store_bytes(path, content)
    return path


def _add(tar: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(content), mode, TIME
    tar.addfile(info, io.BytesIO(content))


def _arguments(arguments: Sequence[str]) -> bytes:
    """The arguments, each with a zero byte at its end."""
    try:
        text = b"".join(argument.encode() + b"\0" for argument in arguments)
    except UnicodeEncodeError:  # a byte of the command line that is not UTF-8
        raise UserError("--args: expected text in UTF-8") from None
    if len(arguments) > ARGUMENTS or len(text) > ARGUMENTS_BYTES:
        raise UserError(
            f"--args: {len(arguments)} arguments, {len(text)} bytes; expected at most"
            f" {ARGUMENTS} arguments and {ARGUMENTS_BYTES} bytes"
        )
    return text


def _content(file: Path, where: str) -> bytes:
    return read_at_most(MOST_BYTES, file, where, REMEDY)
