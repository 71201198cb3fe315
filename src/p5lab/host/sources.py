# SPDX-License-Identifier: MIT
"""Which files does the build download? Reads sources.toml. Only the standard library is used,
because the build graph imports this module."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.errors import UserError


@dataclass(frozen=True)
class Pinned:
    """A file of the Debian archive, identified by its digest. `path` is relative to the mirror."""

    name: str
    version: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Moving:
    """A Debian package with a range of accepted versions. The package index contains the digest of
    each version."""

    name: str
    package: str
    suite: str
    first: str
    below: str
    size: int
    tested: Mapping[str, str] = field(default_factory=dict)

    def accepts(self, version: str) -> bool:
        """Whether a version lies in the range."""
        return version_key(self.first) <= version_key(version) < version_key(self.below)

    @property
    def range(self) -> str:
        """The range of versions as a text for messages."""
        return f">= {self.first} and < {self.below}"


Source = Pinned | Moving


@dataclass(frozen=True)
class Resolved:
    """One exact file. The fields contain no host, path or date, so a build key can contain them."""

    name: str
    version: str
    file: str
    size: int
    sha256: str


def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version: `6.1.192-2` gives (6, 1, 192, 2). For one Debian package, the order
    of these tuples is the order of the versions."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def read_sources(path: Path) -> dict[str, Source]:
    """The entries of sources.toml by name. Raises UserError for a wrong entry."""
    return {name: _source(name, entry) for name, entry in tomlfile.load(path).inner().items()}


def _source(name: str, entry: tomlfile.TomlTable) -> Source:
    entry.number("size", least=1)
    if "path" not in entry.data:
        moving = entry.record(Moving, ["from"], name=name, first="")
        return replace(moving, first=entry.text("from"))
    pinned = entry.record(Pinned, name=name)
    if not re.fullmatch(r"[0-9a-f]{64}", pinned.sha256):
        raise UserError(f"{entry.at('sha256')}: expected 64 hexadecimal digits")
    if pinned.path.startswith("/") or ".." in pinned.path.split("/"):
        raise UserError(
            f"{entry.at('path')}: expected a path below the mirror, found {pinned.path!r}"
        )
    return pinned
