# SPDX-License-Identifier: MIT
"""The keys of a PC's keyboard with the US layout: their names, and what they send.

Each key has its code of scan code set 1, as hexadecimal digits of the bytes that the key sends when
it is pressed. The emulator converts this code to the set that the guest has chosen.
"""

from p5lab.errors import UserError, unknown

# Rows of keys with successive codes: the first code, and the characters of the keys without and
# with the Shift key.
_ROWS = (
    (0x02, "1234567890-=", "!@#$%^&*()_+"),
    (0x10, "qwertyuiop[]", "QWERTYUIOP{}"),
    (0x1E, "asdfghjkl;'`", 'ASDFGHJKL:"~'),
    (0x2B, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
)
SHIFT = "2a"
# Names have no hyphen, because hyphens join the keys of a combination.
NAMED = {
    "esc": "01",
    "minus": "0c",
    "backspace": "0e",
    "tab": "0f",
    "enter": "1c",
    "ctrl": "1d",
    "shift": SHIFT,
    "rightshift": "36",
    "alt": "38",
    "space": "39",
    "capslock": "3a",
    **{f"f{number}": f"{0x3A + number:02x}" for number in range(1, 11)},
    "f11": "57",
    "f12": "58",
    "numlock": "45",
    "scrolllock": "46",
    "print": "e02ae037",
    "pause": "e11d45e19dc5",
    "rightctrl": "e01d",
    "rightalt": "e038",
    "home": "e047",
    "up": "e048",
    "pageup": "e049",
    "left": "e04b",
    "right": "e04d",
    "end": "e04f",
    "down": "e050",
    "pagedown": "e051",
    "insert": "e052",
    "delete": "e053",
    # The keypad.
    "kpdivide": "e035",
    "kpmultiply": "37",
    "kpminus": "4a",
    "kpplus": "4e",
    "kpenter": "e01c",
    "kpperiod": "53",
    "kp0": "52",
    **{f"kp{digit}": f"{0x40 + digit:02x}" for digit in (7, 8, 9)},
    **{f"kp{digit}": f"{0x47 + digit:02x}" for digit in (4, 5, 6)},
    **{f"kp{digit}": f"{0x4E + digit:02x}" for digit in (1, 2, 3)},
}
_CONTROL = {"\n": "enter", "\t": "tab", "\b": "backspace", "\x1b": "esc", " ": "space"}
PLAIN = {
    character: f"{first + number:02x}"
    for first, plain, _ in _ROWS
    for number, character in enumerate(plain)
}
_SHIFTED = {
    character: f"{first + number:02x}"
    for first, _, shifted in _ROWS
    for number, character in enumerate(shifted)
}
# The codes of keys that are pressed together, the first key first.
Chord = tuple[str, ...]


def typed(text: str, where: str) -> tuple[Chord, ...]:
    """The keys that type a text. A line feed is the Enter key. Raises UserError for a character
    that the keyboard does not have; `where` begins its message."""
    chords: list[Chord] = []
    for character in text:
        if character in _CONTROL:
            chords.append((NAMED[_CONTROL[character]],))
        elif character in PLAIN:
            chords.append((PLAIN[character],))
        elif character in _SHIFTED:
            chords.append((SHIFT, _SHIFTED[character]))
        else:
            raise UserError(
                f"{where}: {character!r} is not on a US keyboard; expected ASCII characters, \\n,"
                " \\t, \\b or \\u001b (`press` has the other keys)"
            )
    return tuple(chords)


def pressed(names: str, where: str) -> Chord:
    """The keys of a combination such as `ctrl-alt-delete`. Each part is the name of a key, or the
    character of a key without Shift. Raises UserError for an unknown key; `where` begins its
    message."""
    known = NAMED | PLAIN
    parts = names.split("-")
    for name in parts:
        if name not in known:
            raise unknown("key", name, known, where=where)
    if len(set(parts)) < len(parts):
        raise UserError(f"{where}: {names!r}: expected each key only once")
    return tuple(known[name] for name in parts)
