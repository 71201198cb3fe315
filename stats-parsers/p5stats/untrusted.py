# SPDX-License-Identifier: MIT
"""Makes text of unknown origin safe to print: the output of a guest, or a file of another person.

A terminal obeys control sequences. A control sequence can change the title of a window, write to
the clipboard (OSC 52), hide a line, or make the terminal send input that the user did not type. A
carriage return overwrites the line. A bidirectional override (Trojan Source, CVE-2021-42574) shows
words in another order. The functions here therefore replace each invisible character with an escape
that contains the character's number. No information is lost, because every such character has its
own escape.
"""

import unicodedata

# The Unicode categories of invisible characters: control, format (bidirectional, zero-width, tags),
# lone surrogate, line separator, paragraph separator.
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def for_terminal(text: str, *, lines: bool = False) -> str:
    """Returns the text on one line. \\xNN, \\uNNNN or \\UNNNNNNNN replaces invisible characters.

    If `lines` is true, line feeds and tabs are not replaced. A backslash is never replaced.
    """
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
