# SPDX-License-Identifier: MIT
"""Makes text from a guest, or from a file of unknown origin, safe to show.

`for_terminal` replaces unsafe characters (p5stats.untrusted lists these characters with the
reasons). `markup` also escapes text that the library `rich` would interpret as a style. Every
output to a terminal uses one of these functions: tables (tables.py), progress (progress.py) and
error messages (cli.py). HTML output uses html.escape. JSON output is ASCII with JSON's own escapes.
Records and logs contain the text byte for byte.

The console of `./p5lab shell` is the guest's own terminal. The console shows the guest's output
unchanged, as on a serial line, because full-screen programs need control sequences. If you do not
trust a guest, read serial.log.
"""

from rich.markup import escape

from p5stats.untrusted import for_terminal

__all__ = ["for_terminal", "markup"]


def markup(text: str, *, lines: bool = False) -> str:
    """Replaces unsafe characters with `for_terminal`. Then escapes the text, so that the library
    `rich` prints the text without styles."""
    return escape(for_terminal(text, lines=lines))
