# SPDX-License-Identifier: MIT
"""Reads and writes files safely. This module uses only the standard library, because gem5's Python
and the build graph import it."""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from p5lab.errors import UserError, disk_error

# If a file changes twice within the resolution of its time stamp, the second change does not change
# the time stamp. On every file system, the resolution of time stamps is at least as fine as this
# time.
SETTLED_SECONDS = 3.0


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's content.

    Runs share most of their files. A process therefore reads a file only once, unless the file
    changed in the last SETTLED_SECONDS.
    """
    facts = path.stat()
    if time.time() - facts.st_ctime < SETTLED_SECONDS:
        return sha256_of(path)
    return _digest_of_settled(path, facts.st_ino, facts.st_size, facts.st_ctime_ns)


@lru_cache(maxsize=4096)
def _digest_of_settled(path: Path, inode: int, size: int, changed: int) -> str:
    return sha256_of(path)


def read_at_most(most: int, path: Path, where: str, remedy: str) -> bytes:
    """The content of a file that the user names. `where`: the beginning of messages. Raises
    UserError if the file cannot be read. Also raises UserError if the file has more than `most`
    bytes; this message ends with `remedy`."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{where}: {'a directory' if path.is_dir() else 'not a file'}")
        size = path.stat().st_size
        if size > most:
            raise UserError(f"{where}: {size:,} bytes; expected at most {most:,} bytes; {remedy}")
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{where}: {(error.strerror or str(error)).lower()}") from None


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """The object in a JSON file. Raises UserError if the file cannot be read or contains no object.
    If the file contains no object, the message ends with `remedy`."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise UserError(f"{path}: damaged; {remedy}")
    return content


def last_lines(path: Path) -> list[str]:
    """Returns the lines in the last 64 KB of a log. The lines may contain unprintable characters.
    The list is empty if there is no log."""
    try:
        return path.read_bytes()[-65536:].decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def replace_json(path: Path, record: Mapping[str, Any]) -> None:
    """Writes a record to a JSON file, as `replace_text` writes a text."""
    replace_text(path, json.dumps(record, indent=1) + "\n")


def replace_text(path: Path, text: str) -> None:
    """Writes a text to a file in one step. A reader sees the complete old content or the complete
    new content, even after a crash of the host. A link, a pipe or a device stays what it is: it is
    opened and written. Raises OSError on failure."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_text(text, encoding="utf-8")
        return
    _replace(path, path.with_name(f"{path.name}.tmp"), text.encode())


def store_bytes(path: Path, content: bytes) -> Path:
    """Writes a file in one step, and makes its directory. Leaves a file that has this content as it
    is. Two processes may write the same file at the same time: each has a temporary file of its
    own. Returns the path. Raises UserError on failure."""
    try:
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, path.with_name(f"{path.name}.{os.getpid()}.tmp"), content)
    except OSError as error:
        raise disk_error(error, path) from None
    return path


def _replace(path: Path, temporary: Path, content: bytes) -> None:
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
