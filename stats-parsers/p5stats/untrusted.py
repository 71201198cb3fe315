# SPDX-License-Identifier: MIT
"""Text of which nobody knows who wrote it: what a guest prints, what stands in a file of others.

A terminal obeys what it is sent. A control sequence can retitle a window, write to the clipboard
(OSC 52), hide a line or answer as if its user had typed; a carriage return overwrites what stood
there; a bidirectional override (Trojan Source, CVE-2021-42574) shows words in another order. So
whatever is not a visible character is shown by its number instead. Nothing is lost: every such
character has its own escape.
"""

import unicodedata

# Control, format (bidirectional, zero-width, tags), lone surrogate, line and paragraph separator.
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def for_terminal(text: str, *, lines: bool = False) -> str:
    """The text with every invisible character as \\xNN, \\uNNNN or \\UNNNNNNNN, and so on one line;
    with `lines` its line feeds and tabs stay. A backslash is itself."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char.isprintable()
        or (lines and char in "\n\t")
        or unicodedata.category(char) not in _INVISIBLE
        else _escape(ord(char))
        for char in text
    )


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
