# SPDX-License-Identifier: MIT
"""Finds the lines of the keys and tables of a TOML file, for error messages.

Python's parser reports no lines for values. Each statement of TOML (a key with its value, or the
head of a table) is itself valid TOML. So this module joins lines until the parser accepts them, and
the first of these lines is the line of the statement.
"""

import tomllib
from collections.abc import Iterator
from typing import Any

Place = tuple[str | int, ...]  # names of keys, and the numbers of tables in arrays, from 0
LONGEST = 1000  # lines of a statement; the search ends at a longer statement


def of(text: str) -> dict[Place, int]:
    """The first line of each key and table of a valid file, from 1. The parts of an inline table
    have the line on which their statement begins."""
    lines: dict[Place, int] = {}
    table: Place = ()
    sizes: dict[Place, int] = {}  # the number of tables so far in each array of tables
    for line, statement, data in _statements(text):
        if not statement.startswith("["):
            for place in _places(data):
                lines.setdefault(table + place, line)
            continue
        names = _names(data)
        table = ()
        for name in names[:-1]:
            table = _inside((*table, name), sizes)
        table = (*table, names[-1])
        if statement.startswith("[["):
            sizes[table] = sizes.get(table, 0) + 1
            table = _inside(table, sizes)
        for length in range(1, len(table) + 1):
            lines.setdefault(table[:length], line)
    return lines


def unfinished(text: str) -> int:
    """The first line of the statement that does not end, in a file that ends too early."""
    line = 1
    for start, statement, _ in _statements(text):
        line = start + statement.count("\n")
    lines = text.split("\n")
    while line < len(lines) and not _content(lines[line - 1]):
        line += 1
    return line


def _statements(text: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yields the first line, the text and the content of each statement, until a statement that
    does not end. The text ends with a line break."""
    first, statement = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        if not statement and not _content(line):
            continue
        first = first if statement else number
        statement += f"{line}\n"
        try:
            data = tomllib.loads(statement)
        except (ValueError, RecursionError):
            if number - first >= LONGEST:
                return
            continue
        yield first, statement.lstrip(), data
        statement = ""


def _content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _names(data: dict[str, Any]) -> list[str]:
    """The names in the head of a table, from the content of the head alone."""
    names = []
    inner: Any = data
    while inner := inner[0] if isinstance(inner, list) else inner:
        ((name, inner),) = inner.items()
        names.append(name)
    return names


def _inside(place: Place, sizes: dict[Place, int]) -> Place:
    """The last table of an array of tables; any other place remains as it is."""
    return (*place, sizes[place] - 1) if place in sizes else place


def _places(value: object, place: Place = ()) -> Iterator[Place]:
    """Yields the places of all keys in the content of a statement."""
    if place:
        yield place
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _places(part, (*place, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            if isinstance(part, dict):
                yield from _places(part, (*place, number))
