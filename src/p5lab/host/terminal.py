# SPDX-License-Identifier: MIT
"""What may come from a guest, or from a file of others, on its way to a person.

`for_terminal` neutralises what a terminal would obey (p5stats.untrusted says what and why), and
`markup` what rich would read as a style as well. Each way out uses one of them, whatever is said:
tables (tables.py), progress (progress.py), the one line of an error (cli.py). HTML has
html.escape. JSON is ASCII with escapes of its own. Records and logs keep what came, byte for byte.

The console of `./p5lab shell` is the guest's own terminal and gets what the guest sends, as a
serial line does: full-screen programs need it. Whoever does not trust a guest reads serial.log.
"""

from rich.markup import escape

from p5stats.untrusted import for_terminal

__all__ = ["for_terminal", "markup"]


def markup(text: str, *, lines: bool = False) -> str:
    """Text that rich prints as it is, but for what `for_terminal` replaces."""
    return escape(for_terminal(text, lines=lines))
