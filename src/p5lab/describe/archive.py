# SPDX-License-Identifier: MIT
"""The archive that the engine delivers to a guest for a run: the program, the files that it needs,
and for a program of a distribution also standard input and arguments.

The archive (tar, format ustar) reaches the guest's init after the boot. init unpacks it before the
first bracket of the run (guest-images/parts/rootfs/delivered.h). The archive is in build/brought,
with its digest as its name.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from p5lab.describe.program_files import FILE, STDIN, ProgramFiles
from p5lab.errors import STATUS_FAILED, UserError
from p5lab.files import read_at_most, store_bytes
from p5lab.lab import Lab, shown

# Members with a special meaning, and the longest arguments
# (guest-images/parts/rootfs/distribution.h).
ARGUMENTS_MEMBER, STDIN_MEMBER = "p5/arguments", "p5/stdin"
ARGUMENTS, ARGUMENTS_BYTES = 1023, 65536
MOST_BYTES = 64 << 20
REMEDY = "put larger files into a package or a tarball of `./p5lab image`"
TIME = 788918400  # 1995-01-01, the date in the guest at its start


def archive(lab: Lab, files: ProgramFiles, arguments: Sequence[str]) -> Path | None:
    """The archive, or None if there is nothing to bring along. Raises UserError for a file that
    cannot be read, and for too much data."""
    if not files.options and not arguments:
        return None
    stream = io.BytesIO()
    with _opened(stream) as tar:
        if arguments:
            _add(tar, ARGUMENTS_MEMBER, _arguments(arguments), 0o644)
        if files.stdin:
            _add(tar, STDIN_MEMBER, _content(files.stdin, f"{STDIN} {files.stdin}"), 0o644)
        for host, inside in (*files.files, *files.supplied):
            where = f"{FILE} {host}:{inside}"
            content = _content(host, where)
            mode = 0o755 if host.stat().st_mode & 0o100 else 0o644
            try:
                _add(tar, inside.lstrip("/"), content, mode)
            except ValueError:  # of tarfile: the format has no place for this name
                raise UserError(f"{where}: the path in the guest is too long") from None
    if len(stream.getvalue()) > MOST_BYTES:
        raise UserError(
            f"{FILE}, {STDIN}: {len(stream.getvalue()):,} bytes; expected at most {MOST_BYTES:,}"
            f" bytes; {REMEDY}"
        )
    return _stored(lab, stream)


def of_programs(lab: Lab, programs: Iterable[tuple[Path, str]]) -> Path:
    """The archive of programs, which are given by their files on the host and their absolute paths
    in the guest. Raises UserError for a file that is missing."""
    stream = io.BytesIO()
    with _opened(stream) as tar:
        for host, inside in programs:
            try:
                content = host.read_bytes()
            except FileNotFoundError:
                raise UserError(
                    f"missing program: {shown(host)}; run `./p5lab build`", status=STATUS_FAILED
                ) from None
            except OSError as error:
                raise UserError(f"{shown(host)}: {error.strerror}") from None
            _add(tar, inside.lstrip("/"), content, 0o755)
    return _stored(lab, stream)


def _opened(stream: io.BytesIO) -> tarfile.TarFile:
    return tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT)


def _stored(lab: Lab, stream: io.BytesIO) -> Path:
    content = stream.getvalue()
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
