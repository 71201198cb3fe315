# SPDX-License-Identifier: MIT
"""All machine keys, and the text of their reference document.

The keys are declared in `engine/` (`declarations.py`). This module provides the keys for loading,
`--set`, boot.conf, error messages, completion and docs/reference/machine-keys.md. No build is
needed.
"""

import re

from p5lab.describe import declarations
from p5lab.describe.kinds import BadValue, Key, Target, Value, size_text
from p5lab.describe.tomlfile import type_name
from p5lab.errors import UserError, suggestion
from p5lab.lab import Lab

__all__ = ["BadValue", "Key", "Target", "Value", "size_text"]

PARTS = declarations.of(Lab.here())
KEYS: tuple[Key, ...] = tuple(key for part in PARTS for key in part.keys)
BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}
# The geometries of one run may differ in these keys. The line length of L1 is not such a key,
# because the size of the accesses depends on it.
GEOMETRY = frozenset(key.name for key in KEYS if key.geometry)
# The names of all drives, and the keys in a file of configs/disks.
DISKS = BY_NAME["disk.model"].choices
# Words of the field for parts of names and meanings of keys.
SYNONYMS = {
    "associativity": ("ways",),
    "associative": ("ways",),
    "assoc": ("ways",),
    "sets": ("size", "ways", "line"),
    "colour": ("l2.size", "l2.ways"),
    "color": ("l2.size", "l2.ways"),
    "capacity": ("size",),
    "block": ("line",),
    "line size": (".line",),
    "cache line": (".line",),
    "allocat": ("write_allocate",),
    "write through": ("write_policy",),
    "write back": ("write_policy",),
    "eviction": ("replacement",),
    "victim": ("replacement",),
    "lru": ("replacement",),
    "random": ("replacement",),
    "prefetch": ("fetch.ahead",),
    "clock rate": ("clock_mhz", "bus_mhz"),
    "frequency": ("clock_mhz", "bus_mhz"),
    "speed": ("clock_mhz", "bus_mhz"),
    "mhz": ("clock_mhz", "bus_mhz"),
    "latency": ("l2.read", "dram.read"),
    "memory": ("dram.",),
    "ram": ("dram.",),
    "main memory": ("dram.",),
    "page size": ("tlb", "dram.page"),
    "page": ("tlb", "dram.page"),
    "branch": ("btb",),
    "predict": ("btb", "penalty.mispredict"),
    "board cache": ("l2.",),
    "instruction cache": ("l1i.",),
    "data cache": ("l1d.",),
    "translation": ("tlb",),
    "write buffer": ("write_buffer",),
    "superscalar": ("pairing",),
    "pipe": ("pairing",),
    "seek": ("disk",),
    "ethernet": ("net",),
    "network": ("net",),
}
HOW_TO_LIST = "`./p5lab keys` shows all keys"
# What a user may want to set or sweep as a key, although it has its own option.
OPTIONS = ("machine", "guest", "workload", "seed")


def readable(geometry: str) -> str:
    """An overlay in canonical form, with sizes in short form: `l2.size=131072` becomes
    `l2.size=128K`. Names of geometries remain as they are."""

    def word(text: str) -> str:
        name, equals, value = text.partition("=")
        key = BY_NAME.get(name)
        if key is None or key.unit != "bytes" or not re.fullmatch(r"[0-9]{1,18}", value):
            return text
        return name + equals + size_text(int(value))

    return " ".join(word(text) for text in geometry.split(" "))


def overlay_of(geometry: str) -> dict[str, str]:
    """The keys and values in the text of an overlay. Names of geometries are left out."""
    words = (word.partition("=") for word in geometry.split(" "))
    return {key: value for key, equals, value in words if equals}


def bad_value(where: str, key: Key, value: object, expected: str) -> str:
    """The message for a value of the wrong type, unit or range: one line. `where`: a place in a
    file, or an option. The message shows the text of an option as the user typed it."""
    # A text that the key accepts in principle is shown without its type, because only its range is
    # wrong.
    out_of_range = key.kind == "size" and expected != key.expected
    typed = isinstance(value, str) and value.isprintable() and (out_of_range or _is_option(where))
    shown = value if typed else type_name(value)
    present = f"{key.name.partition('.')[0]}.present"
    without = f"; {present}=false leaves it out" if str(value) == "0" and present in BY_NAME else ""
    return f"{where}: {key.name}: expected {expected}; found {shown}{without}"


def matching(text: str) -> list[Key]:
    """The keys whose names contain a text. Without any, those whose names contain what the text
    means in the field (SYNONYMS), and those whose meaning contains it. Letters of both cases, and
    spaces, `-` and `_`, are equal."""
    wanted = _plain(text)
    if named := [key for key in KEYS if wanted in _plain(key.name)]:
        return named
    words = [word for term, parts in SYNONYMS.items() if term in wanted for word in parts]
    return [
        key
        for key in KEYS
        if any(_plain(word) in _plain(key.name) for word in words) or wanted in _plain(key.doc)
    ]


def _plain(text: str) -> str:
    return re.sub(r"[ _-]+", " ", text.lower()).strip()


def unknown_key(name: str, where: str) -> UserError:
    """The error for an unknown machine key. `where`: a place in a file, or an option. The message
    suggests the option for this name, or the nearest keys. It does not list the many keys."""
    option = name.removesuffix("s")
    near = suggestion(name, BY_NAME)
    if _is_option(where) and option in OPTIONS:
        hint = f"did you mean the option --{option}?"
    else:
        hint = f"{near} ({HOW_TO_LIST})" if near else HOW_TO_LIST
    return UserError(f"{where}: unknown machine key {name!r}; {hint}")


def _is_option(where: str) -> bool:
    """Whether the beginning of a message names an option of the command line, such as --set."""
    return where.startswith("--")


def reference() -> str:
    """The content of docs/reference/machine-keys.md."""
    lines = [
        "# Machine keys",
        "",
        "Generated by `./p5lab keys --markdown` from the declarations in `engine/`; do not edit.",
        "",
        "A machine is a file in `configs/machines/`. The file sets each key that has no default.",
        'A file with `base = "NAME"` sets only the keys that differ from that machine. Each line',
        "ends with a comment. The comment names the source of the value, or it is `estimate` or",
        "`choice`. A `choice` is a decision of the model, not a fact about hardware. A variant is",
        'an overlay: `--set l2.size=512K`, or `set = { l2.size = "512K" }` in an experiment.',
        "",
        "*Target*: the Pentium model reads `engine` keys (boot.conf), and Bochs reads `bochsrc`",
        "keys. These keys are part of a run's identity. `record` keys are only recorded.",
    ]
    policies = declarations.policies(Lab.here().root / "engine").values()
    for part in PARTS:
        lines += [
            "",
            f"## {part.title}",
            "",
            f"Declared in `{Lab.here().short(part.path)}`.",
            "",
            "| Key | Unit | Accepted | Default | Meaning | Target |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| `{key.name}` | {key.unit} | {key.expected} |"
            f" {'' if key.default is None else key.canonical(key.default)} | {key.doc} |"
            f" {key.target} |"
            for key in part.keys
        ]
    lines += [
        "",
        "## Replacement policies",
        "",
        "A policy is a directory of `engine/p5/replacement/`.",
        "",
        "| Policy | Meaning | Ways | Source | gem5 |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| `{policy.name}` | {policy.doc} | {policy.expected or 'any'} | {policy.source} |"
        f" {policy.gem5 or '-'} |"
        for policy in policies
    ]
    return "\n".join(lines) + "\n"
