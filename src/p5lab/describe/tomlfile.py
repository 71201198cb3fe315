# SPDX-License-Identifier: MIT
"""Reads TOML files. The errors name the file, the line and the key."""

import pickle
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, NoReturn, TypeVar, get_args, get_type_hints

from p5lab.describe import tomllines
from p5lab.describe.tomllines import Place
from p5lab.errors import UserError, unknown

SCHEMA_VERSION = 1  # of every kind of file; none has had another form yet
C = TypeVar("C", bound=str)
R = TypeVar("R")
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


# The beginning of a message about a value: a text, or a function from the name of the key, such as
# TomlTable.near.
Where = str | Callable[[str], str]


def begin(where: Where, key: str) -> str:
    """The beginning of a message about the value of a key."""
    return where if isinstance(where, str) else where(key)


@dataclass(frozen=True)
class TomlFile:
    """A TOML file and its text. The lines of the keys are searched only for an error message."""

    name: str
    text: str

    @cached_property
    def lines(self) -> dict[Place, int]:
        """The line of each key and table."""
        return tomllines.of(self.text)

    def where(self, place: Place) -> str:
        """The file and the line of a place, such as `FILE:12`. The line is that of the innermost
        table around the place if the file does not contain the place. The result is the file alone
        for the whole file."""
        while place and place not in self.lines:
            place = place[:-1]
        return f"{self.name}:{self.lines[place]}" if place else self.name


@dataclass(frozen=True)
class TomlTable:
    """One table of a TOML file. Each getter raises UserError for a value of another type, and for a
    missing key if the caller gives no default. `only` refuses unknown keys."""

    file: TomlFile
    data: dict[str, Any]
    place: Place = ()

    @property
    def where(self) -> str:
        """The file, the line and the name of this table, for messages."""
        return ": ".join([self.file.where(self.place), *self._label])

    @property
    def label(self) -> str:
        """The file and the name of this table. Unlike `where`, it has no line, so it takes no
        search in the text."""
        return ": ".join([self.file.name, *self._label])

    @property
    def _label(self) -> list[str]:
        """The names of this table: ["run[0]", "parameters"]."""
        names: list[str] = []
        for part in self.place:
            if isinstance(part, int):
                names[-1] += f"[{part}]"
            else:
                names.append(part)
        return names

    def near(self, key: str) -> str:
        """The file, the line of a key of this table, and the name of this table. A dotted key also
        stands for a key of an inner table."""
        place = (*self.place, key)
        if place not in self.file.lines:
            place = (*self.place, *key.split("."))
        return ": ".join([self.file.where(place), *self._label])

    def at(self, key: str) -> str:
        """The file, the line and the name of a key of this table, for messages."""
        return f"{self.near(key)}: {key}"

    def with_data(self, data: dict[str, Any]) -> "TomlTable":
        """A table at the same place of the file with other content."""
        return replace(self, data=data)

    def beside(self, directory: Path, *keys: str) -> None:
        """Replaces ./ at the beginning of the texts of these keys, single or in a list, with a
        directory."""

        def placed(value: object) -> object:
            if isinstance(value, list):
                return [placed(part) for part in value]
            if isinstance(value, str) and value.startswith("./"):
                return str(directory / value)
            return value

        self.data.update({key: placed(self.data[key]) for key in keys if key in self.data})

    def _get(self, key: str, kind: type, default: Any) -> Any:  # noqa: ANN401
        if key not in self.data:
            if default is ...:
                raise UserError(f"{self.where}: missing key {key!r} ({TYPE_NAMES[kind]})")
            return default
        value = self.data[key]
        # In Python, bool is a subclass of int. In TOML, the two types are different. A number may
        # be a whole number.
        if type(value) is not kind and (type(value), kind) != (int, float):
            raise UserError(
                f"{self.at(key)}: expected {TYPE_NAMES[kind]}, found {type_name(value)}"
            )
        return kind(value) if kind is float else value

    def text(self, key: str, default: Any = ...) -> str:  # noqa: ANN401
        """The value of a key: a text."""
        return self._get(key, str, default)

    def choice(self, key: str, choices: tuple[C, ...], default: Any = ...) -> C:  # noqa: ANN401
        """The value of a key: a text that must be one of `choices`."""
        value = self.text(key, default)
        for choice in choices:
            if value == choice:
                return choice
        expected = " or ".join(f'"{choice}"' for choice in choices)
        raise UserError(f"{self.at(key)}: expected {expected}, found {value!r}")

    def number(self, key: str, default: Any = ..., *, least: int | None = None) -> int:  # noqa: ANN401
        """The value of a key: a whole number, and not below `least`."""
        value = self._get(key, int, default)
        if least is not None and value < least:
            raise UserError(f"{self.at(key)}: expected at least {least}, found {value}")
        return value

    def real(self, key: str, default: Any = ...) -> float:  # noqa: ANN401
        """The value of a key: a number, with or without a fraction."""
        return self._get(key, float, default)

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
                    f"{self.at(key)}: expected a list of texts, found {type_name(value)}"
                )
        return values

    def table(self, key: str, default: Any = ...) -> "TomlTable":  # noqa: ANN401
        """The value of a key: a table."""
        return TomlTable(self.file, self._get(key, dict, default), (*self.place, key))

    def inner(self) -> dict[str, "TomlTable"]:
        """The values of all keys, which must be tables."""
        return {key: self.table(key) for key in self.data}

    def pairs(self) -> dict[str, str]:
        """The values of all keys, which must be texts."""
        return {key: self.text(key) for key in self.data}

    def numbers(self) -> dict[str, int]:
        """The values of all keys, which must be whole numbers."""
        return {key: self.number(key) for key in self.data}

    def tables(self, key: str) -> list["TomlTable"]:
        """The value of a key: an array of tables ([[key]]). The list is empty if the file has no
        such array."""
        result = []
        for number, value in enumerate(self.items(key, [])):
            table = TomlTable(self.file, value, (*self.place, key, number))
            if not isinstance(value, dict):
                raise UserError(f"{table.where}: expected a table, found {type_name(value)}")
            result.append(table)
        return result

    def record(self, kind: type[R], keys: Iterable[str] = (), /, **given: Any) -> R:  # noqa: ANN401
        """A dataclass with the values of this table: each field that is not `given` has the key of
        its name, and its type is one of those in `read`. A key may be missing if its field has a
        default. `keys`: those from which the caller made what is given. Raises UserError for any
        other key."""
        read: dict[object, Callable[[str], object]] = {
            str: self.text,
            int: self.number,
            float: self.real,
            bool: self.flag,
            tuple[str, ...]: lambda key: tuple(self.texts(key)),
            Mapping[str, str]: lambda key: self.table(key).pairs(),
            Mapping[str, int]: lambda key: self.table(key).numbers(),
        }
        whole: Any = kind  # mypy does not know that it is a dataclass
        hints = _types(whole)
        own = [field for field in fields(whole) if field.init and field.name not in given]
        self.only([*keys, *(field.name for field in own)])
        for field in own:
            needed = field.default is MISSING and field.default_factory is MISSING
            if needed or field.name in self.data:
                hint = hints[field.name]  # without the None of an optional field
                hint = get_args(hint)[0] if isinstance(hint, UnionType) else hint
                given[field.name] = read[hint](field.name)
        return kind(**given)

    def only(self, known: Iterable[str]) -> None:
        """Raises UserError for a key that is not in `known`. The message names the nearest known
        key."""
        known = list(known)
        for key in self.data:
            if key not in known:
                raise unknown("key", key, known, where=self.near(key))


def load(path: Path, keys: Iterable[str] | None = None) -> TomlTable:
    """Parses a file and checks its schema_version. `keys`: all keys that the file may have; without
    them, the caller checks the keys.

    A newer version is refused, because this program does not support it. An older version is
    refused too. Version 1 is the first version, so no code converts older files yet. Raises
    UserError for a file that cannot be read, for a file that is not valid TOML, and for an unknown
    key.
    """
    if path.exists() and not path.is_file():
        raise UserError(f"cannot read {path}: expected a regular file")
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors begin a file with a BOM
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        byte = error.object[error.start]
        raise UserError(
            f"{path}:{line}: byte 0x{byte:02x} is not UTF-8; save it as UTF-8"
        ) from None
    try:
        parsed, unsound = _parsed(text)
    except tomllib.TOMLDecodeError as error:
        _refuse(path, text, str(error))
    except (RecursionError, ValueError):  # deep nesting, or a number with thousands of digits
        raise UserError(f"{path}: not valid TOML") from None
    data = pickle.loads(parsed)
    table = TomlTable(TomlFile(str(path), text), data)
    if unsound is not None:
        raise UserError(
            f"{table.file.where(unsound)}: not valid TOML: expected whole numbers of at most 64"
            " bits"
        )
    version = table.number("schema_version")
    if version != SCHEMA_VERSION:
        raise UserError(
            f"{table.at('schema_version')}: expected {SCHEMA_VERSION}, found {version}"
            + (" (written for a newer p5lab)" if version > SCHEMA_VERSION else "")
        )
    del data["schema_version"]
    if keys is not None:
        table.only(keys)
    return table


@cache
def _types(kind: type[Any]) -> dict[str, Any]:
    """The types of the fields of a dataclass, by name."""
    return get_type_hints(kind)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> tuple[bytes, Place | None]:
    """Parses a text once, because a command that expands many experiments reads the same files
    often. Returns the data, pickled because a caller may change its copy, and the first place that
    is unsound."""
    data = tomllib.loads(text)
    return pickle.dumps(data), next(_unsound(data), None)


def _refuse(path: Path, text: str, message: str) -> NoReturn:
    """Raises UserError for an error of the parser. The parser writes the position at the end of its
    message, but gives no line for a file that ends too early."""
    if match := re.fullmatch(r"(.*) \(at line ([0-9]+), column ([0-9]+)\)", message, re.DOTALL):
        what, line, column = match.groups()
        raise UserError(f"{path}:{line}: not valid TOML: {what} (column {column})") from None
    what = message.removesuffix(" (at end of document)")
    raise UserError(
        f"{path}:{tomllines.unfinished(text)}: not valid TOML: {what}; the file ends before the end"
        " of what begins on this line"
    ) from None


def _unsound(value: object, place: Place = ()) -> Iterator[Place]:
    """Yields the places of whole numbers with more than 64 bits. TOML has no such numbers, but
    Python's parser accepts them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _unsound(part, (*place, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _unsound(part, (*place, number))
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        yield place


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
