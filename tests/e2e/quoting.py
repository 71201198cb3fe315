# SPDX-License-Identifier: MIT
"""Whether what a document quotes is what a program printed.

Counts up to 20 are exact; other numbers may be off by a quarter, because the clocks of a kernel
that was built anew move with the place of its code.
"""

TOLERANCE = 0.25


def number(token: str) -> float | None:
    try:
        return float(token.replace(",", ""))
    except ValueError:
        return None


def near(quoted: str, printed: str) -> bool:
    """Whether two words of a table say the same."""
    a, b = number(quoted), number(printed)
    if a is None or b is None or (quoted.isdecimal() and 1 <= a <= 20):
        return quoted == printed
    return abs(a - b) <= max(0.05, TOLERANCE * max(abs(a), abs(b)))


def same(quoted: str, printed: str) -> bool:
    """Whether the words of a quoted line begin a printed one."""
    left, right = quoted.split(), printed.split()
    return len(left) <= len(right) and all(map(near, left, right))


def missing(quote: str, output: str) -> list[str]:
    """The quoted lines that the output does not have."""
    printed, absent = output.splitlines(), []
    for line in quote.splitlines():
        if line.strip() in ("", "..."):
            continue
        found = next((at for at, other in enumerate(printed) if same(line, other)), None)
        if found is None:
            absent.append(line)
        else:
            printed = printed[found + 1 :]
    return absent
