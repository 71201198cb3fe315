# SPDX-License-Identifier: MIT
"""A floppy of 1.44 MB that holds a tar archive from its first byte on, as Unix systems exchanged
files: `tar xf /dev/fd1`.

The archive has the format of POSIX 1003.1-1988 (ustar), which older programs also read. The same
files give the same bytes: the entries are in alphabetical order, and every file has the same date.
"""

import io
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime

SIZE = 1_474_560
LONGEST = 14  # characters of a name in the file system of MINIX 1 and in early Unix
DATE = int(datetime(1995, 12, 3, tzinfo=UTC).timestamp())  # the first day of SOSP 1995
ALL_MAY_EXECUTE = 0o755


def name_of(name: str) -> str:
    """The name of a file on the floppy. Raises ValueError with a text for people if old systems
    have no such name."""
    usable = name.isascii() and name.isprintable() and " " not in name
    if not (usable and 0 < len(name) <= LONGEST):
        raise ValueError(f"expected a name of at most {LONGEST} characters of ASCII, without space")
    return name


def image(files: Mapping[str, bytes]) -> bytes:
    """The image of a floppy with these files. Raises ValueError with a text for people if the files
    do not fit."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), DATE, ALL_MAY_EXECUTE
            archive.addfile(entry, io.BytesIO(content))
    archived = packed.getvalue()
    if len(archived) > SIZE:
        raise ValueError(f"the archive has {len(archived):,} bytes; the floppy has {SIZE:,}")
    return archived.ljust(SIZE, b"\0")
