# SPDX-License-Identifier: MIT
"""Mutations of valid files. The same seed gives the same mutations.

Some mutations are faults of disks and networks: a wrong bit, a hole, a repeated piece, a missing
end. Other mutations are errors that people make: a repeated line, a number with a sign, a wrong
token. In JSON and TOML files, values of the tree also change. A file with a syntax error would test
only a small part of the reader.
"""

import copy
import json
import random
import re
import tomllib

TOKENS = (
    b"\0",
    b"\xff\xfe",
    b"\n",
    b'"',
    b"{",
    b"]",
    b"-1",
    b"0",
    b"NaN",
    b"1e999",
    b"18446744073709551616",
    b"9" * 5000,
    b"[" * 2000,
    b"../../etc/passwd",
    "\u202e\u2028".encode(),
    b"\x1b[2J",
)
VALUES = (
    None,
    True,
    False,
    -1,
    0,
    1,
    3.5,
    2**31,
    2**63,
    2**64,
    10**30,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x",
    "-1",
    "0",
    "\0",
    "\x1b]52;c;eA==\x07",
    "../..",
    "a b=c",
    [],
    {},
    [[]],
    [1],
    ["x"],
    {"x": 1},
)
NUMBER = re.compile(rb"\d+")


class Mutator:
    """Draws mutations of `seeds`. `form` is bytes, text, json, jsonl or toml."""

    def __init__(self, seeds, form, start=0):
        self._seeds = list(seeds)
        self._form = form
        self._draw = random.Random(start)

    def __call__(self):
        while (data := self._mutated()) in self._seeds:
            pass
        return data

    def _mutated(self):
        draw = self._draw
        data = draw.choice(self._seeds)
        if self._form in ("json", "jsonl", "toml") and draw.random() < 0.6:
            data = self._tree(data)
        else:
            data = self._bytes(data)
        return data if draw.random() < 0.7 else self._bytes(data)

    def _bytes(self, data):
        draw = self._draw
        at, length = draw.randrange(len(data) + 1), draw.randrange(1, 17)
        kind = draw.randrange(8)
        if kind == 0 and data:
            at = min(at, len(data) - 1)
            return data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        if kind == 1:
            return data[:at]
        if kind == 2:
            return data[:at] + data[at + length :]
        if kind == 3:
            return data[:at] + data[at : at + length] * 2 + data[at + length :]
        if kind == 4:
            return data[:at] + draw.choice(TOKENS) + data[at:]
        if kind == 5 and (numbers := list(NUMBER.finditer(data))):
            number = draw.choice(numbers)
            return data[: number.start()] + draw.choice(TOKENS) + data[number.end() :]
        if kind == 6 and self._form != "bytes":
            lines = data.splitlines(keepends=True) or [b""]
            one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
            if draw.random() < 0.5:
                lines[one], lines[other] = lines[other], lines[one]
            else:
                lines.insert(other, lines[one])
            return b"".join(lines)
        return data[:at] + draw.choice(self._seeds)[at:]

    def _tree(self, data):
        if self._form == "json":
            return json.dumps(self._wrong(json.loads(data))).encode()
        if self._form == "toml":
            return dump_toml(self._wrong(tomllib.loads(data.decode())))
        lines = data.splitlines()
        one = self._draw.randrange(len(lines))
        lines[one] = json.dumps(self._wrong(json.loads(lines[one]))).encode()
        return b"\n".join(lines) + b"\n"

    def _wrong(self, tree):
        """Returns the tree with one node changed, added, removed or moved."""
        tree, draw = copy.deepcopy(tree), self._draw
        parents = [one for one in _containers(tree) if one]
        if not parents:
            return draw.choice(VALUES)
        parent = draw.choice(parents)
        key = draw.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        kind = draw.randrange(5)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, dict):
            parent[draw.choice(["x", "", "schema_version", "a.b", key + "x"])] = parent.pop(key)
        elif kind == 1:
            parent.insert(key, copy.deepcopy(parent[key]))
        elif kind == 2:
            other = draw.choice(parents)
            parent[key] = copy.deepcopy(
                draw.choice(list(other.values() if isinstance(other, dict) else other))
            )
        else:
            parent[key] = draw.choice(VALUES)
        return tree


def _containers(tree):
    if isinstance(tree, dict | list):
        yield tree
        for part in tree.values() if isinstance(tree, dict) else tree:
            yield from _containers(part)


def dump_toml(tree):
    """Returns a table as TOML, without null values, which TOML does not have."""
    text = (
        "".join(
            f"{_text(key)} = {_toml(value)}\n" for key, value in tree.items() if value is not None
        )
        if isinstance(tree, dict)
        else "x = 1\n"
    )
    return text.encode()


def _toml(value):
    if isinstance(value, dict):
        parts = (f"{_text(k)} = {_toml(v)}" for k, v in value.items() if v is not None)
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value if one is not None) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text):
    return json.dumps(text).replace("\x7f", "\\u007f")
