# SPDX-License-Identifier: MIT
"""Every key a machine has: unit, type, range and meaning.

This table is the only place where keys are defined. Loading, `--set`, engine.conf, error messages
and docs/reference/machine-keys.md all come from it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from p5lab.describe.tomlfile import type_name
from p5lab.lab import Lab

Value = int | float | bool | str
# Where a resolved key goes: the model's engine.conf, the emulator's bochsrc, or the record only.
Target = Literal["engine", "bochsrc", "record"]

# The engine's policies, by the names that their classes give themselves.
REPLACEMENTS = tuple(
    re.findall(r'const char\* name = "([a-z0-9]+)"', Lab.here().replacement.read_text())
)
WRITE_POLICIES = ("write-back", "write-through")
_SUFFIX = {"": 1, "K": 1024, "M": 1024 * 1024}


class BadValue(ValueError):
    """The message completes "expected ..."."""


@dataclass(frozen=True)
class Key:
    """One machine key. `parse` takes a TOML value or the text of `--set` and returns the
    canonical value; it raises BadValue with what was expected instead."""

    name: str
    unit: str
    doc: str
    expected: str
    parse: Callable[[object], Value]
    target: Target = "engine"
    show: Callable[[Value], str] = str

    def canonical(self, value: Value) -> str:
        """The value as engine.conf and the run's identity have it."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, float):
            return f"{value:.6g}"
        return self.show(value)


def _whole(text: object) -> int | None:
    """A whole number, given as one or as the text of a command line (decimal or 0x...)."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if isinstance(text, str) and re.fullmatch(r"[0-9]{1,18}|0[xX][0-9a-fA-F]{1,16}", text):
        return int(text, 0) if text[:2].lower() == "0x" else int(text)
    return None


def _integer(name: str, low: int, high: int, unit: str, doc: str, *, hexa: bool = False) -> Key:
    form = (lambda v: f"0x{v:x}") if hexa else str
    expected = f"a whole number of {unit}, {form(low)} to {form(high)}"
    if unit == "":
        expected = f"a whole number, {form(low)} to {form(high)}"

    def parse(value: object) -> Value:
        number = _whole(value)
        if number is None or not low <= number <= high:
            raise BadValue(expected)
        return number

    return Key(name, unit, doc, expected, parse, show=form)


def _number(name: str, low: float, high: float, unit: str, doc: str, what: str = "") -> Key:
    expected = f"{what or f'a number of {unit}'}, {low:g} to {high:g}"

    def parse(value: object) -> Value:
        if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadValue(expected)
        if not low <= value <= high:
            raise BadValue(expected)
        return float(value)

    return Key(name, unit, doc, expected, parse)


def _probability(name: str, doc: str) -> Key:
    return _number(name, 0, 0.9, "", doc, "a probability")


def _size(name: str, low: int, high: int, doc: str) -> Key:
    expected = (
        f"bytes, {size_text(low)} to {size_text(high)}, as a whole number or a text with suffix"
        ' K or M (1024), such as "256K"'
    )

    def parse(value: object) -> Value:
        size = _whole(value)
        if size is None and isinstance(value, str):
            match = re.fullmatch(r"([0-9]{1,18})([KM])", value)
            size = int(match[1]) * _SUFFIX[match[2]] if match else None
        if size is None or not low <= size <= high:
            raise BadValue(expected)
        return size

    return Key(name, "bytes", doc, expected, parse)


def size_text(size: int) -> str:
    """Bytes in the form people write: 8192 -> 8K."""
    for suffix in ("M", "K"):
        if size and size % _SUFFIX[suffix] == 0:
            return f"{size // _SUFFIX[suffix]}{suffix}"
    return str(size)


def readable(geometry: str) -> str:
    """An overlay in canonical form with sizes as people write them: `l2.size=131072` becomes
    `l2.size=128K`. Names of geometries stay as they are."""

    def word(text: str) -> str:
        name, equals, value = text.partition("=")
        key = BY_NAME.get(name)
        if key is None or key.unit != "bytes" or not re.fullmatch(r"[0-9]{1,18}", value):
            return text
        return name + equals + size_text(int(value))

    return " ".join(word(text) for text in geometry.split(" "))


def _flag(name: str, doc: str) -> Key:
    def parse(value: object) -> Value:
        if value in ("true", "on", "false", "off"):
            return value in ("true", "on")
        if not isinstance(value, bool):
            raise BadValue("true or false")
        return value

    return Key(name, "", doc, "true or false", parse)


def _choice(name: str, choices: tuple[str, ...], doc: str, *, target: Target = "engine") -> Key:
    expected = "one of " + ", ".join(f'"{choice}"' for choice in choices)

    def parse(value: object) -> Value:
        if not isinstance(value, str) or value not in choices:
            raise BadValue(expected)
        return value

    return Key(name, "", doc, expected, parse, target)


def _burst(name: str, doc: str) -> Key:
    expected = 'bus clocks of each 8-byte transfer of a line, such as "3-2-2-2"'

    def parse(value: object) -> Value:
        if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]?(-[1-9][0-9]?)+", value):
            raise BadValue(expected)
        return value

    return Key(name, "bus clocks", doc, expected, parse)


def _ranges(name: str, doc: str) -> Key:
    expected = 'a list of physical address ranges, such as ["0xA0000-0xFFFFF"]'

    def parse(value: object) -> Value:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list):
            raise BadValue(expected)
        result = []
        for part in parts:
            match = isinstance(part, str) and re.fullmatch(
                r"0[xX]([0-9a-fA-F]{1,8})-0[xX]([0-9a-fA-F]{1,8})", part.strip()
            )
            if not match or int(match[1], 16) > int(match[2], 16):
                raise BadValue(expected)
            result.append((int(match[1], 16), int(match[2], 16)))
        return ",".join(f"0x{first:x}-0x{last:x}" for first, last in sorted(result))

    return Key(name, "physical addresses", doc, expected, parse)


def _text(name: str, doc: str, pattern: str, expected: str) -> Key:
    def parse(value: object) -> Value:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise BadValue(expected)
        return value

    return Key(name, "", doc, expected, parse, "record")


def _zones(name: str, doc: str) -> Key:
    expected = 'a list of CYLINDERSxSECTORS from the outside in, such as ["351x130", "351x126"]'

    def parse(value: object) -> Value:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not 1 <= len(parts) <= 64:
            raise BadValue(expected)
        result = []
        for part in parts:
            match = isinstance(part, str) and re.fullmatch(
                r"([1-9][0-9]{0,4})x([1-9][0-9]{0,2})", part.strip()
            )
            if not match:
                raise BadValue(expected)
            result.append(f"{match[1]}x{match[2]}")
        return ",".join(result)

    return Key(name, "cylinders x sectors", doc, expected, parse)


def _seek(name: str, what: str) -> list[Key]:
    return [
        _number(f"{name}_single_ms", 0.1, 50, "ms", f"seek by one cylinder before a {what}"),
        _number(f"{name}_average_ms", 0.1, 100, "ms", f"seek before a {what}, mean of random ones"),
        _number(f"{name}_full_ms", 0.1, 200, "ms", f"seek over all cylinders before a {what}"),
    ]


def _label(name: str, length: int, doc: str) -> Key:
    expected = f"a text of at most {length} characters: A-Z, 0-9, - and space"

    def parse(value: object) -> Value:
        if not isinstance(value, str) or not re.fullmatch("[A-Z0-9][A-Z0-9 -]*", value):
            raise BadValue(expected)
        if len(value) > length:
            raise BadValue(expected)
        return value

    return Key(name, "", doc, expected, parse)


def _cache(level: str, what: str) -> list[Key]:
    return [
        _size(f"{level}.size", 512, 16 * 1024 * 1024, f"{what}: capacity"),
        _integer(f"{level}.ways", 1, 32, "ways", f"{what}: associativity, 1 = direct-mapped"),
        _integer(f"{level}.line", 16, 128, "bytes", f"{what}: line length"),
        _choice(f"{level}.replacement", REPLACEMENTS, f"{what}: victim choice within a set"),
    ]


def _write_policy(level: str, what: str) -> list[Key]:
    return [
        _choice(f"{level}.write_policy", WRITE_POLICIES, f"{what}: what a write hit does"),
        _flag(f"{level}.write_allocate", f"{what}: whether a write miss fills a line"),
    ]


def _tlb(name: str, what: str) -> list[Key]:
    return [
        _integer(f"{name}.entries", 1, 1024, "entries", f"{what}: capacity"),
        _integer(f"{name}.ways", 1, 64, "ways", f"{what}: associativity"),
        _choice(f"{name}.replacement", REPLACEMENTS, f"{what}: victim choice within a set"),
    ]


def _memory_timing(level: str, what: str) -> list[Key]:
    return [
        _burst(f"{level}.read", f"{what}: line fill, requested 8 bytes first"),
        _burst(f"{level}.write", f"{what}: line write-back"),
        _integer(f"{level}.single_read", 1, 99, "bus clocks", f"{what}: read of up to 8 bytes"),
        _integer(f"{level}.single_write", 1, 99, "bus clocks", f"{what}: write of up to 8 bytes"),
    ]


# The drives that there are, and what a file of configs/disks says of one.
DISKS = tuple(sorted(path.stem for path in Lab.here().disks.glob("*.toml")))
DISK_FILE: tuple[Key, ...] = (
    _label("disk.vendor", 8, "INQUIRY: vendor"),
    _label("disk.product", 16, "INQUIRY: product"),
    _zones("disk.zones", "zones of equal tracks"),
    _integer("disk.heads", 1, 64, "heads", "surfaces that hold data"),
    _number("disk.rpm", 60, 60000, "rounds a minute", "rotation"),
    _number(
        "disk.track_skew_ms",
        0,
        20,
        "ms",
        "first sector of a track behind that of the track before, in whole sectors",
    ),
    _number("disk.cylinder_skew_ms", 0, 20, "ms", "the same where the cylinder changes"),
    _number("disk.head_switch_ms", 0, 20, "ms", "another head of the same cylinder"),
    *_seek("disk.read_seek", "read"),
    *_seek("disk.write_seek", "write"),
    _integer(
        "disk.seek_knee", 2, 99999, "cylinders", "where seek time goes on in proportion to distance"
    ),
    _number("disk.command_us", 0, 100000, "us", "the drive's own work on a request"),
    _size("disk.buffer", 512, 64 * 1024 * 1024, "the drive's buffer"),
    _integer(
        "disk.segments", 1, 64, "segments", "parts of the buffer, one for each run of sectors"
    ),
    _flag("disk.read_ahead", "the drive reads on into the buffer until it is full"),
    _flag("disk.write_cache", "a write is over when it is in the buffer; lost in a power cut"),
    _number("disk.bus_mb_s", 0.1, 1000, "MB/s", "SCSI bus, millions of bytes"),
)


KEYS: tuple[Key, ...] = (
    _text(
        "machine.name",
        "name, the same as the file's",
        r"[a-z0-9][a-z0-9.-]*",
        'a name such as "p90-premiere2" (a-z, 0-9, - and .)',
    ),
    _text("machine.title", "one line for people", r"[ -~]{1,100}", "one line of text"),
    _number("cpu.clock_mhz", 16, 400, "MHz", "core clock; virtual time is counted in it"),
    _number(
        "cpu.bus_mhz",
        16,
        100,
        "MHz",
        "external bus clock; the core runs at 1, 1.5, 2, ... times it",
    ),
    _choice(
        "cpu.isa",
        ("pentium", "pentium+cmov", "x86-64"),
        "instructions accepted, all others are refused with #UD;"
        " pentium+cmov adds CMOV, FCMOV and FCOMI; x86-64 is what guests of that level get on every"
        " machine, and no others",
    ),
    _integer(
        "cpu.signature", 0x500, 0x5FF, "", "CPUID leaf 1 EAX: family, model, stepping", hexa=True
    ),
    _choice("cpu.timing", ("p54c",), "table of instruction clocks: p54c is engine/p5/timing.csv"),
    *_cache("l1i", "code cache"),
    *_cache("l1d", "data cache"),
    *_write_policy("l1d", "data cache"),
    _flag(
        "l1d.write_once",
        "data cache: a line is filled shared and the first write to it goes to the bus as well"
        " (WB/WT# low during fills)",
    ),
    _flag("l2.present", "board cache: whether there is one"),
    *_cache("l2", "board cache"),
    *_write_policy("l2", "board cache"),
    *_memory_timing("l2", "board cache"),
    *_tlb("itlb", "code TLB"),
    *_tlb("dtlb", "data TLB, 4 KB pages"),
    *_tlb("dtlb_large", "data TLB, 4 MB pages"),
    _integer("btb.entries", 1, 4096, "entries", "branch target buffer: capacity"),
    _integer("btb.ways", 1, 64, "ways", "branch target buffer: associativity"),
    _choice(
        "btb.index",
        ("pair", "branch"),
        "what tells an entry: the instruction in U before the branch's pair, as on the chip, or the"
        " branch itself",
    ),
    _size(
        "dram.size",
        1024 * 1024,
        512 * 1024 * 1024,
        "main memory. Every address above it is PCI space and never cached",
    ),
    *_memory_timing("dram", "main memory, in its open page"),
    _size("dram.page", 512, 65536, "main memory: page (row) that stays open after an access"),
    _integer(
        "dram.page_miss",
        0,
        99,
        "bus clocks",
        "main memory: closing the open page and opening another, on top of the access",
    ),
    _integer(
        "bus.post_buffer_qwords",
        0,
        64,
        "8-byte words",
        "posted CPU writes the chipset holds before the CPU's bus waits for main memory",
    ),
    _integer(
        "bus.snoop_bus_clocks",
        0,
        99,
        "bus clocks",
        "one inquire cycle: a line that a bus master reads or writes is looked up in the L1 caches",
    ),
    _flag(
        "counters.miscounts",
        "counter registers count wrongly what the chip counted wrongly"
        " (docs/reference/counters.md); the"
        " engine's own events are exact in any case",
    ),
    _integer("penalty.agi", 0, 99, "clocks", "address register written in the clock before"),
    _integer(
        "penalty.misaligned",
        0,
        99,
        "clocks",
        "data access across a 4-byte (8-byte operand: 8-byte) boundary",
    ),
    _integer("penalty.l1_miss", 0, 99, "clocks", "core overhead of a read miss, beside the bus"),
    _integer("penalty.walk", 0, 99, "clocks", "core overhead of a page walk, beside its bus reads"),
    _integer("penalty.mispredict", 0, 99, "clocks", "branch predicted wrongly"),
    _integer("penalty.mispredict_v", 0, 99, "clocks", "conditional branch in V predicted wrongly"),
    _integer("penalty.prefix", 0, 99, "clocks", "each prefix byte"),
    _ranges("memory.uncached", "addresses within main memory that no cache holds"),
    _integer("io.isa_ns", 0, 100000, "ns", "one access to an ISA port"),
    _integer(
        "io.isa16_ns",
        0,
        100000,
        "ns",
        "one access of 16 bits to an ISA port that has so many: the network card's data port",
    ),
    _integer("io.pci_ns", 0, 100000, "ns", "one access to a PCI configuration or device port"),
    _integer(
        "io.inta_bus_clocks",
        0,
        9999,
        "bus clocks",
        "the interrupt-acknowledge bus cycles of one hardware interrupt",
    ),
    _choice("disk.model", DISKS, "the drive: a file of configs/disks, which has the keys below"),
    _integer("disk.count", 0, 24, "disks", "SCSI disks of the machine; 0: no host adapter either"),
    _integer("disk.adapters", 1, 4, "adapters", "SCSI host adapters that the disks are dealt to"),
    _flag("disk.tagged_queueing", "the drive takes several requests at a time and sorts them"),
    _number("disk.adapter_us", 0, 10000, "us", "the host adapter's own work on a request"),
    _number("disk.select_us", 0, 10000, "us", "SCSI bus, until a drive has got a command"),
    _number("disk.reselect_us", 0, 10000, "us", "SCSI bus, a drive coming back, and its status"),
    *DISK_FILE,
    _choice(
        "net.card",
        ("none", "ne2000"),
        "network card: ne2000 is at port 300h, interrupt 3, with a remote host at the other end of"
        " its wire; with none there is neither (docs/concepts/network.md)",
    ),
    _integer(
        "net.bit_rate",
        1_000_000,
        1_000_000_000,
        "bits/s",
        "the wire, half duplex; Ethernet's is 10 million",
    ),
    _flag(
        "net.collisions",
        "two stations that have waited for the same moment collide; off: one goes after the other",
    ),
    _number("net.latency_us", 0, 1_000_000, "us", "between wire and remote host, each way"),
    _probability("net.loss", "by the run's seed, on that way: a frame is lost"),
    _probability("net.duplicate", "... it comes twice"),
    _probability("net.reorder", "... it comes behind the next, or after 20 ms if there is none"),
    _number(
        "net.remote.cpu_us_per_packet",
        0,
        1_000_000,
        "us",
        "the remote host's processor, for each frame that it takes or sends",
    ),
    _number("net.remote.cpu_us_per_kb", 0, 1_000_000, "us", "... and for each 1024 bytes of it"),
    _choice(
        "devices.chipset",
        ("i430fx",),
        "PCI chipset the emulator presents to the guest",
        target="bochsrc",
    ),
)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}
# What the geometries that one run feeds may differ in. Not the length of L1's lines: the pieces in
# which code and data are asked for depend on it.
GEOMETRY = frozenset(
    f"{array}.{part}"
    for array, parts in {
        "l1i": ("size", "ways", "replacement"),
        "l1d": ("size", "ways", "replacement", "write_policy", "write_allocate"),
        "l2": ("present", "size", "ways", "line", "replacement", "write_policy", "write_allocate"),
        **dict.fromkeys(("itlb", "dtlb", "dtlb_large"), ("entries", "ways", "replacement")),
    }.items()
    for part in parts
)


def bad_value(where: str, key: Key, value: object, expected: str) -> str:
    """The one line for a value of the wrong type, unit or range."""
    return f"{where}: {key.name}: expected {expected}; found {type_name(value)}"


def reference() -> str:
    """docs/reference/machine-keys.md."""
    lines = [
        "# Machine keys",
        "",
        "Generated by `./p5lab keys --markdown` from `src/p5lab/describe/keys.py`; do not edit.",
        "",
        "A machine is a file in `configs/machines/`. It sets every key below; each line ends with",
        "a comment that names the source of the value, or `estimate`, or `choice` where the value",
        "is a decision of the model and not a fact about hardware. A variant is an overlay:",
        '`--set l2.size=512K`, or `set = { l2.size = "512K" }` in an experiment.',
        "",
        "*Goes to*: `engine` keys are handed to the Pentium model (engine.conf), `bochsrc` keys to",
        "the emulator; both are part of a run's identity. `record` keys are only recorded.",
        "",
        "| Key | Unit | Accepted | Meaning | Goes to |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{key.name}` | {key.unit} | {key.expected} | {key.doc} | {key.target} |" for key in KEYS
    ]
    return "\n".join(lines) + "\n"
