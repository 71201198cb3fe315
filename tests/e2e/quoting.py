# SPDX-License-Identifier: MIT
"""Compares quotations in documents with the output of programs.

Whole numbers from 1 to 20 must be equal. Other numbers may differ by a quarter, because the clocks
of a rebuilt kernel depend on the addresses of its code.
"""

TOLERANCE = 0.25


def number(token: str) -> float | None:
    try:
        return float(token.replace(",", ""))
    except ValueError:
        return None


def near(quoted: str, printed: str) -> bool:
    """Returns true if two words of a table agree."""
    a, b = number(quoted), number(printed)
    if a is None or b is None or (quoted.isdecimal() and 1 <= a <= 20):
        return quoted == printed
    return abs(a - b) <= max(0.05, TOLERANCE * max(abs(a), abs(b)))


def same(quoted: str, printed: str) -> bool:
    """Returns true if a printed line begins with the words of a quoted line."""
    left, right = quoted.split(), printed.split()
    return len(left) <= len(right) and all(map(near, left, right))


def missing(quote: str, output: str) -> list[str]:
    """Returns the quoted lines that are missing in the output."""
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


def quoted_rows(text: str, heading: str) -> str:
    """Returns the first quoted output below a heading of a document, without the heads."""
    quoted = text.split(heading)[1].split("```text\n")[1].split("```")[0]
    rows = quoted.splitlines()[1:]
    assert len(rows) >= 4
    return "\n".join(rows)
