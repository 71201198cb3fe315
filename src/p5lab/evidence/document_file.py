# SPDX-License-Identifier: MIT
"""Reads and writes the documents of a checkout."""

from pathlib import Path

from p5lab.errors import UserError, disk_error
from p5lab.host.files import replace_text


def read(root: Path, file: str) -> str:
    """The text of a document. Raises UserError if the file cannot be read."""
    try:
        return (root / file).read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None


def write(root: Path, file: str, text: str) -> None:
    """Replaces the text of a document in one step. Raises UserError if the file cannot be
    written."""
    path = root / file
    try:
        replace_text(path, text)
    except OSError as error:
        raise disk_error(error, path) from None
