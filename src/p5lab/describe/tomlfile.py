# SPDX-License-Identifier: MIT
"""Reads TOML files. The errors name the file and the key."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p5lab.errors import UserError, unknown

TYPE_NAMES = {
    str: "a text in quotes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list [...]",
    dict: "a table",
}


def type_name(value: object) -> str:
    """The description of a TOML value in a message: its type, and the value itself if it is
    short."""
    shown = repr(value) if not isinstance(value, bool) else str(value).lower()
    kind = TYPE_NAMES.get(type(value), type(value).__name__)
    return f"{kind}, {shown}" if len(shown) <= 40 else kind


@dataclass(frozen=True)
class Table:
    """One table of a TOML file. Each getter raises UserError for a value of another type, and for a
    missing key if the caller gives no default. `only` refuses unknown keys."""

    where: str  # file (and table) for messages
    data: dict[str, Any]

    def _get(self, key: str, kind: type, default: Any) -> Any:  # noqa: ANN401
        if key not in self.data:
            if default is ...:
                raise UserError(f"{self.where}: missing key {key!r} ({TYPE_NAMES[kind]})")
            return default
        value = self.data[key]
        # In Python, bool is a subclass of int. In TOML, the two types are different.
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UserError(
                f"{self.where}: {key}: expected {TYPE_NAMES[kind]}, found {type_name(value)}"
            )
        return value

    def text(self, key: str, default: Any = ...) -> str:  # noqa: ANN401
        """The value of a key: a text."""
        return self._get(key, str, default)

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """The value of a key: a text that must be one of `choices`."""
        value = self.text(key)
        if value not in choices:
            expected = " or ".join(f'"{choice}"' for choice in choices)
            raise UserError(f"{self.where}: {key}: expected {expected}, found {value!r}")
        return value

    def number(self, key: str, default: Any = ...) -> int:  # noqa: ANN401
        """The value of a key: a whole number."""
        return self._get(key, int, default)

    def flag(self, key: str, default: Any = ...) -> bool:  # noqa: ANN401
        """The value of a key: true or false."""
        return self._get(key, bool, default)

    def items(self, key: str, default: Any = ...) -> list[Any]:  # noqa: ANN401
        """The value of a key: a list with items of any type."""
        return self._get(key, list, default)

    def texts(self, key: str, default: Any = ...) -> list[str]:  # noqa: ANN401
        """The value of a key: a list of texts."""
        values = self.items(key, default)
        for value in values:
            if not isinstance(value, str):
                raise UserError(
                    f"{self.where}: {key}: expected a list of texts, found {type_name(value)}"
                )
        return values

    def table(self, key: str, default: Any = ...) -> "Table":  # noqa: ANN401
        """The value of a key: a table."""
        return Table(f"{self.where}: {key}", self._get(key, dict, default))

    def tables(self, key: str) -> list["Table"]:
        """The value of a key: an array of tables ([[key]]). The list is empty if the file has no
        such array."""
        result = []
        for number, value in enumerate(self.items(key, [])):
            where = f"{self.where}: {key}[{number}]"
            if not isinstance(value, dict):
                raise UserError(f"{where}: expected a table, found {type_name(value)}")
            result.append(Table(where, value))
        return result

    def only(self, known: Iterable[str]) -> None:
        """Raises UserError for a key that is not in `known`. The message names the nearest known
        key."""
        known = list(known)
        for key in self.data:
            if key not in known:
                raise unknown("key", key, known, where=self.where)


def load(path: Path, *, schema_version: int) -> Table:
    """Parses a file and checks its schema_version.

    A newer version is refused, because this program does not support it. An older version is
    refused too. Version 1 is the first version, so no code converts older files yet. Raises
    UserError for a file that cannot be read, and for a file that is not valid TOML.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}") from None
    except (RecursionError, ValueError):  # deep nesting, or a number with thousands of digits
        raise UserError(f"{path}: not valid TOML") from None
    if not _is_sound(data):
        raise UserError(f"{path}: not valid TOML: expected whole numbers of at most 64 bits")
    table = Table(str(path), data)
    version = table.number("schema_version")
    if version != schema_version:
        raise UserError(
            f"{path}: schema_version: expected {schema_version}, found {version}"
            + (" (written for a newer p5lab)" if version > schema_version else "")
        )
    del data["schema_version"]
    return table


def _is_sound(value: object) -> bool:
    """Whether all whole numbers have at most 64 bits, as TOML requires. Python's parser accepts
    longer numbers."""
    if isinstance(value, dict):
        return all(map(_is_sound, value.values()))
    if isinstance(value, list):
        return all(map(_is_sound, value))
    return not isinstance(value, int) or -(1 << 63) <= value < 1 << 63


def flatten(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys: {l2: {size: ..}} and {"l2.size": ..} give the same result."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat.update(flatten(value, f"{name}."))
        else:
            flat[name] = value
    return flat
