# SPDX-License-Identifier: MIT
"""Makes text from a guest, or from a file of others, safe to show.

`for_terminal` neutralises characters that a terminal would obey (p5stats.untrusted lists them with
the reasons). `markup` also neutralises text that rich would read as a style. Every output uses one
of them: tables (tables.py), progress (progress.py), the line of an error (cli.py). HTML has
html.escape. JSON is ASCII with escapes of its own. Records and logs keep the text byte for byte.

The console of `./p5lab shell` is the guest's own terminal. It gets the guest's output unchanged, as
on a serial line, because full-screen programs need that. If you do not trust a guest, read
serial.log.
"""

from rich.markup import escape

from p5stats.untrusted import for_terminal

__all__ = ["for_terminal", "markup"]


def markup(text: str, *, lines: bool = False) -> str:
    """The text in a form that rich prints unchanged, except the characters that `for_terminal`
    replaces."""
    return escape(for_terminal(text, lines=lines))
