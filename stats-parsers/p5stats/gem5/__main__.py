# SPDX-License-Identifier: MIT
"""python -m p5stats.gem5: statistics of gem5 as CSV, JSON or a plain list."""

import argparse
import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from p5stats.gem5 import names, sections
from p5stats.gem5.section import Number, full_name
from p5stats.problems import StatsError
from p5stats.untrusted import for_terminal

COLUMNS = ("section", "statistic", "element", "value", "unit", "description")
Dumps = Iterator[tuple[int, list[tuple[str, str, Number]]]]  # number; statistic and element


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 for success, 1 for a malformed or incomplete file.

    A wrong option ends the process with status 2.
    """
    parser = argparse.ArgumentParser(
        prog="python -m p5stats.gem5",
        description="Prints statistics that gem5 wrote: stats.txt (also .gz), stats.json or HDF5.",
        epilog="Example: python -m p5stats.gem5 m5out/stats.txt '*.dcache.*' --format csv",
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("pattern", nargs="*", help="print only matching names; * matches any text")
    parser.add_argument(
        "--section",
        type=int,
        action="append",
        metavar="N",
        help="print only dump N; the first dump is 0; may be repeated",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="csv: a row for each number; json: a line for each dump (default: text)",
    )
    parser.add_argument(
        "--modern", action="store_true", help="convert names of older releases to gem5 24"
    )
    args = parser.parse_intermixed_args(argv)
    try:
        FORMATS[args.format](_chosen(args))
    except StatsError as error:
        sys.stdout.flush()
        print(f"p5stats: {for_terminal(str(error))}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _chosen(args: argparse.Namespace) -> Dumps:
    rename = names.modern if args.modern else str

    def wanted(name: str) -> bool:
        return any(fnmatchcase(rename(name), pattern) for pattern in args.pattern)

    missing = set(args.section or ())
    for section in sections(args.file, wanted if args.pattern else None):
        if not args.section or section.number in args.section:
            missing.discard(section.number)
            yield (
                section.number,
                [(rename(name), element, number) for name, element, number in section],
            )
    if missing:
        raise StatsError(f"{args.file}: no section {min(missing)}: expected 0 to {section.number}")


def _csv(dumps: Dumps) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for section, rows in dumps:
        for statistic, element, number in rows:
            writer.writerow(
                (
                    section,
                    for_terminal(statistic),
                    for_terminal(element),
                    number.value,
                    for_terminal(number.unit),
                    for_terminal(number.description),
                )
            )


def _json(dumps: Dumps) -> None:
    """Prints a line of JSON for each dump. A value of nan or inf is null."""
    for section, rows in dumps:
        values = {
            full_name(statistic, element): number.value if math.isfinite(number.value) else None
            for statistic, element, number in rows
        }
        print(json.dumps({"section": section, "statistics": values}))


def _text(dumps: Dumps) -> None:
    for section, rows in dumps:
        print(f"section {section}")
        for statistic, element, number in rows:
            name = for_terminal(full_name(statistic, element))
            print(f"  {name:<60} {number.value:>14} {for_terminal(number.unit)}".rstrip())


FORMATS: dict[str, Callable[[Dumps], None]] = {
    "text": _text,
    "csv": _csv,
    "json": _json,
}


if __name__ == "__main__":
    sys.exit(main())
