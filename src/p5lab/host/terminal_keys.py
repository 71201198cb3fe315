# SPDX-License-Identifier: MIT
"""What a person presses in a terminal, as keys of a PC's keyboard.

A terminal sends characters, not keys: a letter for a key with or without Shift, a control character
for Ctrl and a letter, and a sequence that begins with ESC for the other keys (ECMA-48 and xterm).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from p5lab.describe import keyboard
from p5lab.describe.keyboard import Chord

_SEQUENCES = {
    **{
        f"{begin}{end}": name
        for begin in "[O"
        for end, name in zip("ABCDHF", "up down right left home end".split(), strict=True)
    },
    **{f"O{end}": f"f{number}" for number, end in enumerate("PQRS", 1)},
    **{f"[[{end}": f"f{number}" for number, end in enumerate("ABCDE", 1)},
    **{
        f"[{code}~": name
        for code, name in {
            1: "home",
            2: "insert",
            3: "delete",
            4: "end",
            5: "pageup",
            6: "pagedown",
            7: "home",
            8: "end",
            11: "f1",
            12: "f2",
            13: "f3",
            14: "f4",
            15: "f5",
            17: "f6",
            18: "f7",
            19: "f8",
            20: "f9",
            21: "f10",
            23: "f11",
            24: "f12",
        }.items()
    },
}
_SEQUENCE = re.compile(r"\x1b(\[\[[A-E]|\[[0-9;]*[A-Z~]|O[A-Z])")
_TYPED = {"\r": "\n", "\x7f": "\b"}


@dataclass(frozen=True)
class Typed:
    """A key. `action`: type or press, as in a script; `value`: the text or the names of keys."""

    action: str
    value: str

    @property
    def chord(self) -> Chord:
        """The codes of the keys that are pressed together."""
        if self.action == "press":
            return keyboard.pressed(self.value, "")
        return keyboard.typed(self.value, "")[0]


def typed(data: str) -> Iterator[Typed]:
    """The keys of what a terminal has sent in one piece. Characters that a PC's keyboard with the
    US layout does not have are left out."""
    while data:
        if match := _SEQUENCE.match(data):
            if name := _SEQUENCES.get(match[1]):
                yield Typed("press", name)
            data = data[match.end() :]
            continue
        first, data = data[0], data[1:]
        if first == "\x1b" and data[:1].isascii() and data[:1].isalnum():
            yield Typed("press", f"alt-{_name(data[0])}")
            data = data[1:]
        elif first == "\x1b":
            yield Typed("press", "esc")
        elif first in _TYPED or first == "\t" or first == "\b" or " " <= first <= "~":
            yield Typed("type", _TYPED.get(first, first))
        elif "\x01" <= first <= "\x1a":
            yield Typed("press", f"ctrl-{chr(ord(first) + 96)}")


def _name(character: str) -> str:
    """The name of the key of a letter or digit."""
    return f"shift-{character.lower()}" if character.isupper() else character
