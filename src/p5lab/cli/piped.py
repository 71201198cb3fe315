# SPDX-License-Identifier: MIT
"""The standard input for the user's program: the file of --stdin, or a pipe into the command."""

import hashlib
import os
import select
import stat
from pathlib import Path

from p5lab.describe.program_files import MOST_INPUT, STDIN
from p5lab.errors import UserError
from p5lab.files import store_bytes
from p5lab.lab import Lab
from p5lab.progress import Progress

PLACE = "build/brought"
HERE = "-"  # as the value of --stdin: the standard input of the command
DESCRIPTOR = 0
WAIT_SECONDS = 3  # for the first byte of a pipe, before a remark


def standard_input(lab: Lab, given: Path | None, *, is_program: bool) -> Path | None:
    """Returns the regular file with the program's standard input, or None if there is none.

    `given`: the value of --stdin. `-`, a device such as /dev/null and a named pipe are read to the
    end, and a pipe into a command with a program is read without --stdin. An empty pipe is no
    input, because many programs that start other programs leave one open. Raises UserError for a
    file that cannot be read, and for too much data.
    """
    if given is None:
        if not (is_program and _is_pipe()):
            return None
        piped = _read(DESCRIPTOR, "standard input")
        if not piped:
            Progress().say(
                f"The pipe on standard input is empty and is left out; {STDIN} /dev/null gives the"
                " program an empty input."
            )
        return _stored(lab, piped, "pipe") if piped else None
    if str(given) == HERE:
        return _stored(lab, _read(DESCRIPTOR, f"{STDIN} -"), "pipe")
    if given.is_file() or given.is_dir() or not given.exists():
        return given  # the reader of the file reports what is wrong
    try:
        descriptor = os.open(given, os.O_RDONLY)
    except OSError as error:
        raise UserError(f"{STDIN} {given}: {error.strerror}") from None
    try:
        return _stored(lab, _read(descriptor, f"{STDIN} {given}"), given.name)
    finally:
        os.close(descriptor)


def _is_pipe() -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(DESCRIPTOR).st_mode)
    except OSError:  # the descriptor is closed
        return False


def _read(descriptor: int, where: str) -> bytes:
    """Returns all bytes up to the end. Says so if the first of them does not come at once."""
    if not select.select([descriptor], [], [], WAIT_SECONDS)[0]:
        Progress().say(
            f"Waiting for the end of {where}, the program's input (run with `< /dev/null` for none)"
        )
    content = bytearray()
    try:
        while part := os.read(descriptor, 1 << 20):
            content += part
            if len(content) > MOST_INPUT:
                raise UserError(f"{where}: expected at most {MOST_INPUT:,} bytes")
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}") from None
    return bytes(content)


def _stored(lab: Lab, content: bytes, name: str) -> Path:
    digest = hashlib.sha256(content).hexdigest()[:16]
    return store_bytes(lab.root / PLACE / digest / name, content)
