# SPDX-License-Identifier: MIT
"""Machines: configs/machines/NAME.toml plus overlays, checked against the schema."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p5lab.describe import keys, tomlfile
from p5lab.describe.keys import BY_NAME, DISK_FILE, KEYS, BadValue, Value, bad_value
from p5lab.errors import UserError, unknown
from p5lab.lab import Lab

SCHEMA_VERSION = 1
# What a value's comment may name. chen95 and lai96 are papers, the rest manuals and measurements;
# configs/machines/README.md spells them out.
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
    "lmbench",
    "SEAGATE-2LP",
    "RW94",
    "SCSI-2",
    "IEEE-802.3",
    "P996",
    "estimate",
    "choice",
)
_LINE = re.compile(r"^\s*([A-Za-z0-9_]+)\s*=")
_TABLE = re.compile(r"^\s*\[([A-Za-z0-9_.]+)\]")


@dataclass(frozen=True)
class Machine:
    """A resolved machine: every key of the schema has a value."""

    name: str
    values: dict[str, Value]
    overlay: dict[str, str] = field(default_factory=dict)  # canonical values that differ
    sources: dict[str, str] = field(default_factory=dict)  # key -> comment of its line

    @property
    def clock_hz(self) -> int:
        return round(float(self.values["cpu.clock_mhz"]) * 1_000_000)

    @property
    def geometry(self) -> str:
        """The overlay in canonical form, empty for the machine as its file describes it."""
        return " ".join(f"{key}={value}" for key, value in sorted(self.overlay.items()))

    def canonical(self, *targets: keys.Target) -> dict[str, str]:
        """Canonical texts of the keys that go to the given places, in schema order."""
        return {
            key.name: key.canonical(self.values[key.name]) for key in KEYS if key.target in targets
        }

    def engine_conf(self) -> dict[str, str]:
        """What the model is told. PCI space is spelt out, so the model needs no rule for it."""
        conf = self.canonical("engine")
        pci = f"0x{self.values['dram.size']:x}-0xffffffff"
        conf["memory.uncached"] = ",".join(filter(None, (conf["memory.uncached"], pci)))
        return conf

    def with_set(self, settings: dict[str, object], where: str) -> "Machine":
        """This machine with an overlay; `where` names its origin in messages."""
        changes: dict[str, Value] = {}
        for name, raw in settings.items():
            if name not in BY_NAME:
                raise unknown("machine key", name, BY_NAME, where=where)
            key = BY_NAME[name]
            if key.target == "record":
                raise UserError(f"{where}: {name} cannot be set: it names the machine")
            changes[name] = _parse(where, key, raw)
        values, sources = dict(self.values), dict(self.sources)
        if "disk.model" in changes:
            # Another drive; what was set over the one before stays set.
            drive, about = _drive(str(changes["disk.model"]))
            values |= {name: value for name, value in drive.items() if name not in self.overlay}
            sources |= about
        values |= changes
        check(values, where)
        overlay = dict(self.overlay)
        for name, value in changes.items():
            overlay[name] = BY_NAME[name].canonical(value)
        return Machine(self.name, values, overlay, sources)


def names(directory: Path) -> list[str]:
    return sorted(path.stem for path in directory.glob("*.toml"))


def load(directory: Path, name: str) -> Machine:
    """Loads one machine: every key present, typed, in range, sourced, and consistent."""
    if name not in names(directory):
        raise unknown("machine", name, names(directory))
    path = directory / f"{name}.toml"
    flat = tomlfile.flatten(tomlfile.load(path, schema_version=SCHEMA_VERSION).data)
    values: dict[str, Value] = {}
    for key_name, raw in flat.items():
        if key_name not in BY_NAME:
            raise unknown("machine key", key_name, BY_NAME, where=str(path))
        values[key_name] = _parse(str(path), BY_NAME[key_name], raw)
    sources = _sources(path)
    if "disk.model" in values:
        drive, about = _drive(str(values["disk.model"]))
        values, sources = drive | values, about | sources
    for key in KEYS:
        if key.name not in values:
            raise UserError(f"{path}: missing key {key.name}: expected {key.expected}")
    if values["machine.name"] != name:
        raise UserError(
            f"{path}: machine.name: expected the file's name, {name!r};"
            f" found {values['machine.name']!r}"
        )
    check(values, str(path))
    return Machine(name, values, sources=sources)


def _drive(name: str) -> tuple[dict[str, Value], dict[str, str]]:
    """What a file of configs/disks says: values by key, and their sources."""
    path = Lab.here().disks / f"{name}.toml"
    flat = tomlfile.flatten(tomlfile.load(path, schema_version=SCHEMA_VERSION).data)
    known = {key.name: key for key in DISK_FILE}
    values: dict[str, Value] = {}
    for key_name, raw in flat.items():
        if key_name not in known:
            raise unknown("key of a disk", key_name, known, where=str(path))
        values[key_name] = _parse(str(path), known[key_name], raw)
    for key in DISK_FILE:
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
        result[name.strip()] = value.strip()
    return result


def check(values: dict[str, Value], where: str) -> None:
    """Rules between keys. A single key's range is the schema's business."""

    def number(name: str) -> int:
        value = values[name]
        assert isinstance(value, int)
        return value

    def fail(name: str, expected: str) -> None:
        key = BY_NAME[name]
        raise UserError(f"{where}: {name} = {key.canonical(values[name])}: {expected}")

    for cache in ("l1i", "l1d", "l2"):
        size, ways, line = (number(f"{cache}.{part}") for part in ("size", "ways", "line"))
        if not _power_of_two(line):
            fail(f"{cache}.line", "expected a power of two")
        if size % (ways * line) or not _power_of_two(size // (ways * line)):
            fail(
                f"{cache}.size",
                f"expected {ways} ways x {line} bytes x a power of two sets",
            )
    for tlb in ("itlb", "dtlb", "dtlb_large"):
        entries, ways = number(f"{tlb}.entries"), number(f"{tlb}.ways")
        if entries % ways or not _power_of_two(entries // ways):
            fail(f"{tlb}.entries", f"expected {ways} ways x a power of two sets")
    for part in ("l1i", "l1d", "l2", "itlb", "dtlb", "dtlb_large"):
        if values[f"{part}.replacement"] == "plru" and not _power_of_two(number(f"{part}.ways")):
            fail(f"{part}.ways", "replacement plru (a tree of bits) needs a power of two ways")
    if values["l1i.line"] != values["l1d.line"]:
        fail("l1i.line", f"expected the data cache's line length, {values['l1d.line']}")
    if number("l2.line") < number("l1d.line"):
        fail("l2.line", f"expected at least the data cache's line length, {values['l1d.line']}")
    beats = number("l1d.line") // 8
    for burst in ("l2.read", "l2.write", "dram.read", "dram.write"):
        if str(values[burst]).count("-") + 1 != beats:
            fail(burst, f"expected {beats} transfers of 8 bytes for a line of {beats * 8} bytes")
    if number("disk.count") > 15 * number("disk.adapters"):
        fail("disk.count", "expected at most 15 for each of disk.adapters")
    if number("disk.segments") * 512 > number("disk.buffer"):
        fail("disk.segments", "expected at least a sector of disk.buffer for each")
    for what in ("read", "write"):
        single, average, full = (
            float(values[f"disk.{what}_seek_{part}_ms"]) for part in ("single", "average", "full")
        )
        if not single < average < full:
            fail(f"disk.{what}_seek_average_ms", "expected between the single and the full seek")
    if float(values["disk.write_seek_single_ms"]) < float(values["disk.read_seek_single_ms"]):
        fail("disk.write_seek_single_ms", "expected not less than disk.read_seek_single_ms")
    ratio = float(values["cpu.clock_mhz"]) / float(values["cpu.bus_mhz"])
    # Clock ratios are multiples of one half; published clocks are rounded (66.67 MHz).
    if ratio < 0.99 or abs(ratio * 2 - round(ratio * 2)) > 0.01:
        fail("cpu.clock_mhz", f"expected 1, 1.5, 2, ... times cpu.bus_mhz; found {ratio:.3g} times")


def _power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _parse(where: str, key: keys.Key, raw: Any) -> Value:  # noqa: ANN401
    try:
        return key.parse(raw)
    except BadValue as error:
        raise UserError(bad_value(where, key, raw, str(error))) from None


def _sources(path: Path) -> dict[str, str]:
    """Key -> the comment at the end of its line, which must name a source."""
    table, found = "", {}
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
            found[name] = comment
    return found
