# SPDX-License-Identifier: MIT
"""The kinds of machine keys. A kind defines which values a key accepts, and their canonical form.

A declaration, such as `engine/p5/keys.toml`, gives each key one of KINDS. The engine has the same
kinds (`engine/base/declaration.hh`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import UserError

Value = int | float | bool | str
# The file into which p5lab writes a key: boot.conf for the model, bochsrc for Bochs, or only the
# record.
Target = Literal["engine", "bochsrc", "record"]
# The type of a value in the engine.
Form = Literal["integer", "real", "flag", "text"]

_SUFFIX = {"": 1, "K": 1024, "M": 1024 * 1024}
_BURST = "[1-9][0-9]?(-[1-9][0-9]?)+"
_RANGE = "0x[0-9a-f]+-0x[0-9a-f]+"
_ZONE = "[1-9][0-9]{0,4}x[1-9][0-9]{0,2}"


class BadValue(ValueError):
    """A wrong value. The message describes the expected value, but does not contain the word
    "expected"."""


@dataclass(frozen=True)
class Key:
    """One machine key. `parse` accepts a TOML value or the text of `--set`, and returns the
    canonical value. For a wrong value, `parse` raises BadValue, which describes the expected
    form."""

    name: str
    kind: str
    unit: str
    doc: str
    expected: str
    parse: Callable[[object], Value]
    form: Form = "text"
    target: Target = "engine"
    show: Callable[[Value], str] = str
    low: float = 0  # smallest allowed value of a number
    high: float = 0  # largest allowed value of a number
    choices: tuple[str, ...] = ()
    pattern: str = ""  # a regular expression for canonical texts
    default: Value | None = None  # the value if a machine file does not set the key
    geometry: bool = False  # may differ between the geometries of a run (events = "misses")
    given_by: str = ""  # the key that names the file with this value
    files: str = ""  # the directory of the files that the key can name

    def canonical(self, value: Value) -> str:
        """The value in the form of boot.conf and of the run's identity."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return f"{value:.6g}"
        return self.show(value)


def size_text(size: int) -> str:
    """Bytes in short form: 8192 -> 8K."""
    for suffix in ("M", "K"):
        if size and size % _SUFFIX[suffix] == 0:
            return f"{size // _SUFFIX[suffix]}{suffix}"
    return str(size)


def _whole(text: object) -> int | None:
    """A whole number, from a number or the text of a command line (decimal or 0x...); None for
    anything else."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str) and re.fullmatch(r"[0-9]{1,18}|0[xX][0-9a-fA-F]{1,16}", text):
        return int(text, 0) if text[:2].lower() == "0x" else int(text)
    return None


def _bytes(text: object) -> int | None:
    """A number of bytes, from a whole number or a text with suffix K or M; None for anything
    else."""
    if isinstance(text, str) and (match := re.fullmatch(r"([0-9]{1,18})([KM])", text)):
        return int(match[1]) * _SUFFIX[match[2]]
    return _whole(text)


def integer(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A whole number of `unit` in `range`. With `hexadecimal`, the canonical form is 0x..."""
    low, high = table.items("range")
    show: Callable[[Value], str] = hex if table.flag("hexadecimal", False) else str  # type: ignore[assignment]
    of = f" of {unit}" if unit else ""
    expected = f"a whole number{of}, {show(low)} to {show(high)}"

    def parse(value: object) -> Value:
        number = _whole(value)
        if number is None or not low <= number <= high:
            raise BadValue(expected)
        return number

    return Key(
        name, "integer", unit, doc, expected, parse, "integer", show=show, low=low, high=high
    )


def _real(name: str, unit: str, doc: str, low: float, high: float, what: str) -> Key:
    expected = f"{what}, {low:g} to {high:g}"

    def parse(value: object) -> Value:
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadValue(expected)
        if not low <= value <= high:
            raise BadValue(expected)
        return float(value)

    return Key(name, "number", unit, doc, expected, parse, "real", low=low, high=high)


def number(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A number of `unit` in `range`."""
    low, high = table.items("range")
    return _real(name, unit, doc, low, high, f"a number of {unit}")


def probability(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A probability from 0 to 0.9. If network frames were lost with probability 1, no frame would
    ever arrive."""
    return _real(name, unit, doc, 0, 0.9, "a probability")


def size(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A number of bytes in `range`."""
    low, high = (_bytes(text) or 0 for text in table.texts("range"))
    limits = f"bytes, {size_text(low)} to {size_text(high)}"
    expected = f'{limits}, as a whole number or a text with suffix K or M (1024), such as "256K"'

    def parse(value: object) -> Value:
        number = _bytes(value)
        if number is None:
            raise BadValue(expected)
        if not low <= number <= high:
            raise BadValue(limits)
        return number

    return Key(name, "size", "bytes", doc, expected, parse, "integer", low=low, high=high)


def flag(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """true or false. The command line also accepts on and off."""
    expected = "true or false"

    def parse(value: object) -> Value:
        if value in ("true", "on", "false", "off"):
            return value in ("true", "on")
        if not isinstance(value, bool):
            raise BadValue(expected)
        return value

    return Key(name, "flag", unit, doc, expected, parse, "flag")


def choice(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """One of `choices`. For the kinds `policy` and `file`, the choices are names of files or
    directories."""
    choices = tuple(table.texts("choices"))
    expected = "one of " + ", ".join(f'"{choice}"' for choice in choices)

    def parse(value: object) -> Value:
        if not isinstance(value, str) or value not in choices:
            raise BadValue(expected)
        return value

    return Key(name, "choice", unit, doc, expected, parse, choices=choices)


def text(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A text that matches the regular expression `pattern`; `expected` describes this form in
    messages. The engine reads the pattern as an extended regular expression of POSIX."""
    pattern = table.text("pattern")
    if "\\" in pattern:
        raise UserError(f"{table.at('pattern')}: expected no backslash; write [0-9] for a digit")
    return _matching(name, unit, doc, pattern, table.text("expected"))


def label(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """A text in capitals of at most `length` characters. Devices report such texts about
    themselves."""
    length = table.number("length")
    expected = f"a text of at most {length} characters: A-Z, 0-9, - and space"
    return _matching(name, unit, doc, f"[A-Z0-9][A-Z0-9 -]{{0,{length - 1}}}", expected)


def burst(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """The bus clocks of each transfer of a line."""
    expected = 'bus clocks of each 8-byte transfer of a line, such as "3-2-2-2"'
    return _matching(name, "bus clocks", doc, _BURST, expected)


def _matching(name: str, unit: str, doc: str, pattern: str, expected: str) -> Key:
    def parse(value: object) -> Value:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise BadValue(expected)
        return value

    return Key(name, "text", unit, doc, expected, parse, pattern=pattern)


def _words(value: object, expected: str) -> list[str]:
    """The texts of a list, or those between the commas of a text."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise BadValue(expected)
    return [part.strip() if isinstance(part, str) else "" for part in parts]


def ranges(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """Ranges of physical addresses, sorted."""
    expected = 'a list of physical address ranges, such as ["0xA0000-0xFFFFF"]'

    def parse(value: object) -> Value:
        result = []
        for part in _words(value, expected):
            match = re.fullmatch(r"0[xX]([0-9a-fA-F]{1,8})-0[xX]([0-9a-fA-F]{1,8})", part)
            if not match or int(match[1], 16) > int(match[2], 16):
                raise BadValue(expected)
            result.append((int(match[1], 16), int(match[2], 16)))
        return ",".join(f"0x{first:x}-0x{last:x}" for first, last in sorted(result))

    pattern = f"{_RANGE}(,{_RANGE})*"
    return Key(name, "ranges", "physical addresses", doc, expected, parse, pattern=pattern)


def zones(name: str, unit: str, doc: str, table: TomlTable) -> Key:
    """The zones of a disk. A zone has a number of cylinders and a number of sectors in each
    track."""
    expected = 'a list of CYLINDERSxSECTORS from the outside in, such as ["351x130", "351x126"]'

    def parse(value: object) -> Value:
        words = _words(value, expected)
        if not 1 <= len(words) <= 64 or not all(re.fullmatch(_ZONE, word) for word in words):
            raise BadValue(expected)
        return ",".join(words)

    pattern = f"{_ZONE}(,{_ZONE}){{0,63}}"
    return Key(name, "zones", "cylinders x sectors", doc, expected, parse, pattern=pattern)


KINDS: dict[str, Callable[[str, str, str, TomlTable], Key]] = {
    "integer": integer,
    "number": number,
    "probability": probability,
    "size": size,
    "flag": flag,
    "choice": choice,
    "policy": choice,
    "file": choice,
    "text": text,
    "label": label,
    "burst": burst,
    "ranges": ranges,
    "zones": zones,
}
