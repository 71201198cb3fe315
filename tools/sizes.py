# SPDX-License-Identifier: MIT
"""Print the median and the largest length of files and functions in each part of a checkout.

    usage: python tools/sizes.py [CHECKOUT]

The length of a function is the number of its lines, from the first to the last, with comments and
blank lines.
"""

import argparse
import ast
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lizard

PARTS = ("engine", "src", "stats-parsers")
ENDINGS = (".cc", ".hh", ".h", ".py")


@dataclass(frozen=True)
class Function:
    """A function, its file, and the numbers of its first and last line. Line numbers begin at 1."""

    path: Path
    name: str
    first: int
    last: int

    @property
    def lines(self) -> int:
        """The number of lines from the first to the last."""
        return self.last - self.first + 1


def files(place: Path) -> list[Path]:
    """The Python and C++ files below a folder."""
    return sorted(path for path in place.rglob("*") if path.suffix in ENDINGS)


def functions(path: Path) -> tuple[Function, ...]:
    """The functions of a file, including methods and inner functions. Raises SyntaxError for Python
    that cannot be parsed.
    """
    return _functions(path, path.read_text(encoding="utf-8"))


@cache
def _functions(path: Path, text: str) -> tuple[Function, ...]:
    if path.suffix == ".py":
        return tuple(
            Function(path, node.name, node.lineno, node.end_lineno or node.lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
    parsed = lizard.analyze_file.analyze_source_code(str(path), text).function_list
    return tuple(
        Function(path, function.name, function.start_line, function.end_line) for function in parsed
    )


def rows(root: Path) -> Iterator[tuple[str, ...]]:
    """One row for each part: the number of files, the median and largest file, the number of
    functions, the median and largest function.
    """
    for part in PARTS:
        every = files(root / part)
        lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in every}
        parsed = [function for path in every for function in functions(path)]
        if not parsed:
            continue
        largest = max(lengths, key=lengths.__getitem__)
        longest = max(parsed, key=lambda function: function.lines)
        yield (
            part,
            str(len(every)),
            f"{statistics.median(lengths.values()):g}",
            f"{lengths[largest]} ({largest.relative_to(root / part)})",
            str(len(parsed)),
            f"{statistics.median(function.lines for function in parsed):g}",
            f"{longest.lines} ({longest.name})",
        )


def main(words: Sequence[str] | None = None) -> int:
    """Prints the table of a checkout. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(), help="default: here")
    root = parser.parse_args(words).checkout
    table = list(rows(root))
    if not table:
        print(f"sizes: {root}: expected a checkout with {', '.join(PARTS)}", file=sys.stderr)
        return 2
    print("| Part | Files | Median | Largest | Functions | Median | Largest |")
    print("|---|--:|--:|---|--:|--:|---|")
    for row in table:
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
