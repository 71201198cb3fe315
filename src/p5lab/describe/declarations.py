# SPDX-License-Identifier: MIT
"""The declarations in `engine/`: machine keys, the rules between keys, and replacement policies.

    engine/*/keys.toml, engine/devices/NAME/device.toml      keys and rules
    engine/p5/replacement/NAME/policy.toml                   a replacement policy

This module reads these files for the Python code. `tools/declare.py` translates the files to C++
for the engine. `p5stats.declared` reads the events in the same files.

A file of keys has a `title` and an `order` (its place among the files). The file of a device also
has `present`, a list of its keys: a machine has the device if one of them does not have its
default. A key has a `kind` (`kinds.py`), the fields that this kind needs, `unit` and `doc`. A key
may also have `target`, `geometry`, `default` and `from`. `from` is the name of a second key. The
value of the second key names a file, and this file contains the value of the first key. A
`[[rule]]` has a `key`, an expression `holds` and a text `expected`. If `holds` is false, the error
message contains the text `expected`. The rules are checked here alone: the engine, which reads only
what this code has checked, checks types and ranges.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

from p5lab.describe import tomlfile
from p5lab.describe.expressions import Expression, Template, Value, Values
from p5lab.describe.kinds import KINDS, BadValue, Key, Target
from p5lab.describe.tomlfile import TomlTable
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

FILES = ("*/keys.toml", "devices/*/device.toml")
POLICIES = "p5/replacement/*/policy.toml"
_COMMON = ("kind", "unit", "doc", "target", "geometry", "default", "from")
_OF_KIND = {
    "integer": ("range", "hexadecimal"),
    "number": ("range",),
    "size": ("range",),
    "choice": ("choices",),
    "policy": (),
    "file": ("files",),
    "text": ("pattern", "expected"),
    "label": ("length",),
}


@dataclass(frozen=True)
class Policy:
    """A replacement policy. `holds`: the policy's condition on the number of ways (`ways`); None if
    the policy accepts every number. `gem5`: the name of the same policy in gem5; empty if gem5 has
    no such policy."""

    name: str
    doc: str
    source: str
    gem5: str
    holds: Expression | None
    expected: str


@dataclass(frozen=True)
class KeyRule:
    """A condition on several keys. If the condition is false, the error message is about
    `key`."""

    key: str
    holds: Expression
    expected: Template


@dataclass(frozen=True)
class KeyFile:
    """A file of keys, which describes one part of the machine. `present`: the keys with their
    defaults, of which one has another value in a machine with this part; empty if every machine
    has the part."""

    name: str
    path: Path
    title: str
    present: Mapping[str, Value | None]
    keys: tuple[Key, ...]
    rules: tuple[KeyRule, ...]

    def in_machine(self, values: Values) -> bool:
        """Whether a machine with these values has this part."""
        return not self.present or any(values[name] != self.present[name] for name in self.present)


@cache
def policies(engine: Path) -> dict[str, Policy]:
    """The replacement policies of a directory `engine`, by name."""
    by_name = {}
    for path in sorted(engine.glob(POLICIES)):
        table = tomlfile.load(path, ("doc", "source", "gem5", "holds", "expected"))
        holds = table.text("holds", "")
        name = path.parent.name
        if not re.fullmatch("[a-z][a-z0-9]*", name):
            raise UserError(f"{path}: expected a name of a-z and 0-9, found {name!r}")
        by_name[name] = Policy(
            name,
            table.text("doc"),
            table.text("source"),
            table.text("gem5", ""),
            Expression.parse(holds, f"{path}: holds") if holds else None,
            table.text("expected") if holds else "",
        )
    return by_name


@cache
def parts(engine: Path) -> tuple[KeyFile, ...]:
    """The files of keys below a directory `engine`, sorted by `order`."""
    paths = [path for pattern in FILES for path in sorted(engine.glob(pattern))]
    tables = {path: tomlfile.load(path) for path in paths}
    paths.sort(key=lambda path: (tables[path].number("order", 50), path.parent.name))
    declared = tuple(_part(engine, path, tables[path]) for path in paths)
    known: dict[str, str] = {}
    for part in declared:
        for key in part.keys:
            if key.name in known:
                raise UserError(f"{part.path}: {key.name} is also declared in {known[key.name]}")
            known[key.name] = str(part.path)
    for part in declared:
        used: list[Expression] = []
        for rule in part.rules:
            used += [rule.holds, Expression.parse(rule.key, str(part.path))]
            used += [piece for piece in rule.expected.parts if isinstance(piece, Expression)]
        for expression in used:
            for name in expression.keys:
                if name not in known:
                    raise unknown("machine key", name, known, where=expression.where)
    return declared


def _part(engine: Path, path: Path, table: TomlTable) -> KeyFile:
    table.only(("title", "order", "present", "what", "keys", "rule", "events"))
    keys = [
        _key(engine, name, own, table.table("what", {}).data)
        for pattern in table.table("keys", {}).data
        for name, own in _expanded(table.table("keys"), pattern)
    ]
    # Sort the keys so that all keys of one array are neighbours, even if different lines declare
    # them.
    places: dict[str, int] = {}
    for key in keys:
        places.setdefault(key.name.rpartition(".")[0], len(places))
    keys.sort(key=lambda key: places[key.name.rpartition(".")[0]])
    rules = [rule for rule_table in table.tables("rule") for rule in _rules(rule_table)]
    rules += _policy_rules(engine, keys)
    engine_keys = (key for key in keys if key.target == "engine")  # the engine decides, too
    defaults = {key.name: key.default for key in engine_keys if key.default is not None}
    for name in table.texts("present", []):
        if name not in defaults:
            raise unknown("key with a default", name, defaults, where=table.at("present"))
    return KeyFile(
        path.parent.name,
        path,
        table.text("title"),
        {name: defaults[name] for name in table.texts("present", [])},
        tuple(keys),
        tuple(rules),
    )


def _expanded(keys: TomlTable, pattern: str) -> Iterator[tuple[str, TomlTable]]:
    """The names in a pattern such as "{l1i,l1d}.ways", each with the table of the key."""
    table = keys.table(pattern)
    before, brace, rest = pattern.partition("{")
    inner, _, after = rest.partition("}")
    for name in inner.split(",") if brace else [""]:
        yield f"{before}{name}{after}", table


def _key(engine: Path, name: str, table: TomlTable, what: dict[str, Any]) -> Key:
    kind = table.choice("kind", tuple(KINDS))
    table.only((*_COMMON, *_OF_KIND.get(kind, ())))
    made = table
    if kind == "policy":
        made = table.with_data({"choices": list(policies(engine))})
    elif kind == "file":
        files = engine.parent / table.text("files")
        made = table.with_data({"choices": sorted(path.stem for path in files.glob("*.toml"))})
    doc = table.text("doc").replace("{what}", str(what.get(name.partition(".")[0], "")))
    key = KINDS[kind](name, table.text("unit", ""), doc, made)
    default = table.data.get("default")
    try:
        return replace(
            key,
            kind=kind,
            target=table.choice("target", get_args(Target), "engine"),
            geometry=table.flag("geometry", False),
            given_by=table.text("from", ""),
            files=table.text("files", ""),
            default=None if default is None else key.parse(default),
        )
    except BadValue as error:
        raise UserError(f"{table.at('default')}: expected {error}") from None


def _rules(table: TomlTable) -> Iterator[KeyRule]:
    """Yields one rule, or one rule for each word of the list `each`. In the texts of this rule, the
    word replaces $."""
    table.only(("each", "key", "holds", "expected"))
    for word in table.texts("each", [""]):
        key, holds, expected = (
            table.text(name).replace("$", word) for name in ("key", "holds", "expected")
        )
        where = f"{table.label}: {key}"
        yield KeyRule(key, Expression.parse(holds, where), Template.parse(expected, where))


def _policy_rules(engine: Path, keys: list[Key]) -> Iterator[KeyRule]:
    """Yields the rules on the number of ways. If an array has a key for its replacement policy,
    the rules of all policies apply to this array."""
    for key in keys:
        if key.kind != "policy":
            continue
        ways = f"{key.name.rpartition('.')[0]}.ways"
        for policy in policies(engine).values():
            if policy.holds:
                needs = re.sub(r"\bways\b", ways, policy.holds.text)
                holds = f"{key.name} != '{policy.name}' or ({needs})"
                yield KeyRule(
                    ways,
                    Expression.parse(holds, policy.holds.where),
                    Template.parse(policy.expected, policy.holds.where),
                )


def of(lab: Lab) -> tuple[KeyFile, ...]:
    """The parts of the machine that a checkout declares."""
    return parts(lab.root / "engine")
