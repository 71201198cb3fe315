# SPDX-License-Identifier: MIT
"""Machines: configs/machines/NAME.toml plus overlays, checked against the declared keys.

A file may have `base = "NAME"`. If the file does not set a key, the machine inherits the key from
its base. A machine without a device may leave out the keys of that device. These keys have
defaults.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from p5lab.describe import keys, tomlfile
from p5lab.describe.declarations import KeyRule
from p5lab.describe.keys import BY_NAME, KEYS, PARTS, BadValue, Key, Value, bad_value, unknown_key
from p5lab.describe.kinds import size_text
from p5lab.describe.tomlfile import Where, begin
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

# The sources that the comment of a value may cite. configs/machines/README.md gives the full titles
# of these sources.
SOURCES = (
    "INTEL-DM",
    "INTEL-OPT",
    "INTEL-SU",
    "INTEL-290479",
    "INTEL-290518",
    "AGN-MA",
    "AGN-IT",
    "86BOX",
    "chen95",
    "lai96",
    "talagala97",
    "brown97",
    "lmbench",
    "SEAGATE-2LP",
    "RW94",
    "SCSI-2",
    "IEEE-802.3",
    "JEDEC",
    "P996",
    "estimate",
    "choice",
)
_LINE = re.compile(r"^\s*([A-Za-z0-9_.]+)\s*=")
_TABLE = re.compile(r"^\s*\[([A-Za-z0-9_.]+)\]")


@dataclass(frozen=True)
class Machine:
    """A resolved machine: every declared key has a value."""

    name: str
    values: dict[str, Value]
    overlay: dict[str, str] = field(default_factory=dict)  # changed keys, with canonical values
    sources: dict[str, str] = field(default_factory=dict)  # comments of the lines, by key

    @property
    def clock_hz(self) -> int:
        """The clock of the processor in Hz."""
        return round(float(self.values["cpu.clock_mhz"]) * 1_000_000)

    @property
    def geometry(self) -> str:
        """The overlay as a text in canonical form, empty for a machine without an overlay."""
        return " ".join(f"{key}={value}" for key, value in sorted(self.overlay.items()))

    def has(self, name: str) -> bool:
        """Whether this machine has the part that declares a key, such as a network card."""
        part = next(part for part in PARTS if BY_NAME[name] in part.keys)
        return part.in_machine(self.values)

    def canonical(self, *targets: keys.Target) -> dict[str, str]:
        """The canonical texts of the keys with these targets, in the order of the declarations."""
        return {
            key.name: key.canonical(self.values[key.name]) for key in KEYS if key.target in targets
        }

    def engine_conf(self) -> dict[str, str]:
        """The machine's lines of boot.conf. The line `memory.uncached` also contains the address
        range of PCI devices, so the model needs no special rule for this range."""
        conf = self.canonical("engine")
        pci = f"0x{self.values['dram.size']:x}-0xffffffff"
        conf["memory.uncached"] = ",".join(filter(None, (conf["memory.uncached"], pci)))
        return conf

    def with_set(self, settings: dict[str, object], where: Where) -> "Machine":
        """This machine with an overlay. `where` names the overlay in messages. Raises UserError for
        an unknown key, a wrong value, and values that do not fit together."""
        changes: dict[str, Value] = {}
        for name, raw in settings.items():
            if name not in BY_NAME:
                raise unknown_key(name, begin(where, name))
            key = BY_NAME[name]
            if key.target == "record":
                raise UserError(f"{begin(where, name)}: {name} cannot be set: it names the machine")
            changes[name] = _parse(where, key, raw)
        values, sources = dict(self.values), dict(self.sources)
        for name in [name for name in changes if BY_NAME[name].kind == "file"]:
            # A new drive brings new values for its keys. But if an earlier overlay has set a key,
            # this key keeps the value of the overlay.
            given, about = _given_by(BY_NAME[name], str(changes[name]))
            values |= {key: value for key, value in given.items() if key not in self.overlay}
            sources |= about
        values |= changes
        check(values, where)
        overlay = dict(self.overlay)
        for name, value in changes.items():
            overlay[name] = BY_NAME[name].canonical(value)
        return Machine(self.name, values, overlay, sources)


@cache
def _defaults() -> tuple[dict[str, Value], dict[str, str]]:
    """The values of keys that a machine file need not have, and the sources of these values."""
    values = {key.name: key.default for key in KEYS if key.default is not None}
    sources = {
        key.name: f"default of {place}"
        for part, place in ((part, Lab.here().short(part.path)) for part in PARTS)
        for key in part.keys
        if key.name in values
    }
    return values, sources


def names(where: Lab | Path) -> list[str]:
    """All machines of a laboratory, or of one directory, in alphabetical order."""
    return list(_files(where))


def load(where: Lab | Path, name: str, place: Where = "") -> Machine:
    """One machine of a laboratory, or of one directory. `place`: what names it, for the message
    about an unknown name. Raises UserError if a value is missing, is out of range or has no source,
    or if the values do not fit together."""
    known = _files(where)
    if name not in known:
        raise unknown("machine", name, known, where=begin(place, "machines"))
    path = known[name]
    own, own_sources = _resolved(path)
    default, default_sources = _defaults()
    values, sources = default | own, default_sources | own_sources
    for key in KEYS:
        if key.kind == "file" and key.name in values:
            given, about = _given_by(key, str(values[key.name]))
            values, sources = given | values, about | sources
    for key in KEYS:
        if key.name not in values:
            raise UserError(f"{path}: missing key {key.name}: expected {key.expected}")
    if values["machine.name"] != name:
        raise UserError(
            f"{_near(path, 'machine.name')}: machine.name: expected the file's name, {name!r};"
            f" found {values['machine.name']!r}"
        )
    check(values, partial(_near, path))
    return Machine(name, values, sources=sources)


def _near(path: Path, key: str) -> str:
    """The file and the line of a key, for a message after the file was read."""
    return tomlfile.load(path).near(key)


def _files(where: Lab | Path) -> dict[str, Path]:
    if isinstance(where, Lab):
        return where.files("machine")
    return {path.stem: path for path in sorted(where.glob("*.toml"))}


def _resolved(
    path: Path, variants: tuple[Path, ...] = ()
) -> tuple[dict[str, Value], dict[str, str]]:
    """The values and sources in a file and in its base. `variants`: the files that have this file
    as a base, directly or through other bases. A machine does not inherit its name and its title
    (the keys with target `record`)."""
    table = tomlfile.load(path)
    values: dict[str, Value] = {}
    sources: dict[str, str] = {}
    if "base" in table.data:
        base = _base(path, table)
        if base in (path, *variants):
            raise UserError(
                f"{table.at('base')}: {base.stem!r} is itself a variant of {path.stem!r}"
            )
        values, sources = _resolved(base, (path, *variants))
        values = {k: value for k, value in values.items() if BY_NAME[k].target != "record"}
        del table.data["base"]
    return values | _values(table, BY_NAME), sources | _sources(path)


def _base(path: Path, table: tomlfile.TomlTable) -> Path:
    """The file of a base, which lies beside the variant or among the machines of the checkout."""
    name = table.text("base")
    known = {
        machine: directory / f"{machine}.toml"
        for directory in (Lab.here().machines, path.parent)
        for machine in names(directory)
    }
    if name not in known:
        raise unknown("machine", name, known, where=table.at("base"))
    return known[name]


def _values(
    table: tomlfile.TomlTable, known: Mapping[str, Key], what: str = ""
) -> dict[str, Value]:
    """The values in a file. Raises UserError for an unknown key, a wrong type, and a value out of
    range."""
    values = {}
    for name, raw in tomlfile.flatten(table.data).items():
        if name not in known:
            where = table.near(name)
            raise unknown(what, name, known, where=where) if what else unknown_key(name, where)
        values[name] = _parse(table.near, known[name], raw)
    return values


def _given_by(file_key: Key, name: str) -> tuple[dict[str, Value], dict[str, str]]:
    """The values and sources in the file that a key names, such as a drive of configs/disks."""
    path = Lab.here().root / file_key.files / f"{name}.toml"
    known = {key.name: key for key in KEYS if key.given_by == file_key.name}
    what = f"key of a {file_key.name.partition('.')[0]}"
    values = _values(tomlfile.load(path), known, what)
    for key in known.values():
        if key.name not in values:
            raise UserError(f"{path}: missing key {key.name}: expected {key.expected}")
    return values, _sources(path)


def parse_settings(settings: list[str]) -> dict[str, object]:
    """The arguments of --set: KEY=VALUE."""
    result: dict[str, object] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name or not value:
            raise UserError(f"--set {setting}: expected KEY=VALUE, such as l2.size=512K")
        if name.strip() in result:
            raise UserError(f"--set {setting}: another --set already sets this key")
        result[name.strip()] = value.strip()
    return result


def check(values: dict[str, Value], where: Where) -> None:
    """Checks the values against the rules of the declarations.

    The caller has already checked each single value. Raises UserError with the name of the wrong
    key. `where`: the place of the values in a file, or the option that set the values.
    """
    for part in PARTS:
        for rule in part.rules:
            if not rule.holds.value(values):
                key = BY_NAME[rule.key]
                expected = rule.expected.fill(values, lambda name, _: _shown(name, values))
                expected = re.sub(r"\b1 ways\b", "1 way", expected)
                raise UserError(
                    f"{begin(where, key.name)}: {key.name} = {_shown(key.name, values)}:"
                    f" expected {expected}{_possible(rule, values)}"
                )


def _possible(rule: KeyRule, values: dict[str, Value]) -> str:
    """The end of a message: the nearest possible values of the rule's key below and above the
    wrong value, and the other keys of the rule, which may be the wrong ones. Empty if there is no
    possible value on one of the two sides, or if the rule has more than two other keys."""
    key, wrong = BY_NAME[rule.key], values[rule.key]
    others = [name for name in rule.holds.keys if name != key.name]
    if isinstance(wrong, str | bool) or len(others) > 2:
        return ""
    tried: set[int | float] = {odd << bits for odd in range(1, 64, 2) for bits in range(30)}
    if isinstance(wrong, float):  # a clock rate is a multiple of half of another one
        numbers = [number for name in others if isinstance(number := values[name], float)]
        tried = {round(number * halves / 2, 2) for number in numbers for halves in range(2, 13)}
    good = sorted(
        number
        for number in tried
        if key.low <= number <= key.high and rule.holds.value({**values, key.name: number})
    )
    below = [number for number in good if number < wrong][-1:]
    above = [number for number in good if number > wrong][:1]
    if not (below and above):
        return ""
    near = " or ".join(_shown(key.name, {key.name: number}) for number in below + above)
    given = " and ".join(f"{name} = {_shown(name, values)}" for name in others)
    return f"; for example {near}{f' with {given}' if given else ''}"


def _shown(name: str, values: dict[str, Value]) -> str:
    key, value = BY_NAME[name], values[name]
    return (
        size_text(value) if key.kind == "size" and isinstance(value, int) else key.canonical(value)
    )


def _parse(where: Where, key: keys.Key, raw: Any) -> Value:  # noqa: ANN401
    try:
        return key.parse(raw)
    except BadValue as error:
        raise UserError(bad_value(begin(where, key.name), key, raw, str(error))) from None


def _sources(path: Path) -> dict[str, str]:
    """The comment at the end of each key's line, by key. Raises UserError for a comment without a
    source."""
    table, comments = "", {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := _TABLE.match(line):
            table = match[1] + "."
        elif match := _LINE.match(line):
            name = table + match[1]
            if name not in BY_NAME or BY_NAME[name].target == "record":
                continue
            comment = line.partition("#")[2].strip()
            if not any(source in comment for source in SOURCES):
                raise UserError(
                    f"{path}:{number}: {name} has no source: expected the line to end with a"
                    f" comment that names one of {', '.join(SOURCES)}"
                )
            comments[name] = comment
    return comments
