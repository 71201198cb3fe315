# SPDX-License-Identifier: MIT
"""gem5's text format, stats.txt (gem5 src/base/stats/text.cc).

A file contains a section for each dump, between a begin line and an end line. A line contains a
name and a value. For some statistics, two percentages follow the value. If gem5 writes
descriptions, the line ends with a comment. The comment contains the description, and the unit in
parentheses. A statistic that is declared `oneline` has all its elements on one line. Bars separate
these elements, and the elements have no names.

Releases before May 2012 print `no_value`, `no value` or `<err: div-0>` for a value that is not a
number. Releases before April 2009 print a distribution as a block of lines between
`name.start_dist` and `name.end_dist`; elements without the name of the statistic are indented.
"""

import gzip
import math
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

from p5stats.gem5.section import SEPARATOR, Number, Section
from p5stats.problems import StatsError

BEGIN = "---------- Begin Simulation Statistics ----------"
END = "---------- End Simulation Statistics   ----------"
GZIP = b"\x1f\x8b"
NO_NUMBER = ("no_value", "no value", "<err: div-0>")
_NUMBER = rf"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|(?i:nan|inf))|{'|'.join(NO_NUMBER)}"
_SHARE = r"[+-]?(?:[\d.]+|(?i:nan|inf))"
_SHARES = rf"(?: +({_SHARE})%)?(?: +({_SHARE})%)?"
_NAME = r"([^\s|][^|]*?)"
# Almost all names are one word; some of 2006 contain a bar, as `l2c.WriteReqNoAck|Writeback_hits`.
_LINE = re.compile(rf"(\S+) +({_NUMBER}){_SHARES}")
_WORDS = re.compile(rf"{_NAME} +({_NUMBER}){_SHARES}")
_ONE_LINE = re.compile(rf"{_NAME}((?: +\| *(?:{_NUMBER}){_SHARES})+)")
_ELEMENT = re.compile(rf"\| *({_NUMBER}){_SHARES}")
_PERCENTAGE = re.compile(r"(?<= )\d+(?:\.\d+)?(?=%)")
_START, _STOP = ".start_dist", ".end_dist"
# Only these texts in parentheses are units. Other text in parentheses at the end of a description
# is part of the description. (Releases before 21.0 wrote no units.)
_BASE = r"(?:Cycle|Tick|Second|Bit|Byte|Watt|Joule|Volt|Celsius|Count|Ratio|Unspecified)"
_RATE = rf"\({_BASE}/{_BASE}\)"
_UNIT = rf"{_BASE}|{_RATE}|\((?:{_BASE}|{_RATE})/(?:{_BASE}|{_RATE})\)"
_COMMENT = re.compile(rf"(.*?) ?(?:\(({_UNIT})\))?")
COMMENT = " # "


def sections(path: Path, wanted: Callable[[str], bool] | None = None) -> Iterator[Section]:
    """Yields the sections of a file in order. At most one section is in memory.

    `wanted` chooses lines by their first column. The parser skips all other lines. StatsError names
    the section and the line of an error. The function yields all sections before the error, and
    then raises StatsError.
    """
    section: Section | None = None
    ended, number = 0, 0
    for number, line in _unfolded(path):
        text = line.rstrip()
        if not text or text.startswith("#"):
            continue
        if text == BEGIN:
            if section:
                raise StatsError(
                    f"{section.where}, line {number}: expected {END!r} before the next section"
                )
            section = Section(ended, f"{path}: section {ended} from line {number}")
        elif text == END:
            if not section:
                raise StatsError(f"{path}, line {number}: {END!r} without its beginning")
            yield section
            section, ended = None, ended + 1
        elif section is None:
            raise StatsError(f"{path}, line {number}: expected {BEGIN!r}, found {text[:60]!r}")
        elif not line.endswith("\n"):
            raise StatsError(
                f"{section.where}: cut short in line {number}: expected more after {text[-60:]!r}"
            )
        elif wanted is None or wanted(text.split(maxsplit=1)[0]):
            _add(section, number, text)
    if section:
        raise StatsError(f"{section.where}: cut short after line {number}: expected {END!r}")
    if not ended:
        raise StatsError(f"{path}: no statistics: expected {BEGIN!r}")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the numbers and texts of the lines. gem5 compresses a file if its name ends in .gz."""
    number = 0
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == GZIP
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8", "replace").replace("\t", " ")
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise StatsError(
            f"{path}: cut short after line {number}: expected more packed data"
        ) from None
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None


def _unfolded(path: Path) -> Iterator[tuple[int, str]]:
    """Yields the numbers and texts of the lines. The blocks of old distributions have the form that
    they have since 2009, `name::element`."""
    lines = _lines(path)
    for number, line in lines:
        if _START in line and (name := line.split(maxsplit=1)[0]).endswith(_START):
            yield from _block(lines, name.removesuffix(_START), f"{path}, line {number}")
        else:
            yield number, line


def _block(lines: Iterator[tuple[int, str]], name: str, where: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of an old distribution up to its end. A distribution of samples has its
    percentages a hundred times too large (gem5 of 2006, base/stats/text.cc, DistPrint). `where`:
    the place of its first line, for messages."""
    of_samples = False
    for number, line in lines:
        text = line.lstrip()
        if text.rstrip() == f"{name}{_STOP}":
            return
        if text.rstrip() in (BEGIN, END) or _START in text or _STOP in text:
            raise StatsError(f"{where}: expected {name}{_STOP} before line {number}")
        of_samples |= text.startswith(f"{name}.samples")
        if of_samples:
            head, mark, comment = text.partition(COMMENT)
            text = _PERCENTAGE.sub(lambda share: f"{float(share[0]) / 100:.4f}", head)
            text += mark + comment
        if text:
            yield number, f"{name}{SEPARATOR}{text.removeprefix(f'{name}.')}"


def _add(section: Section, number: int, text: str) -> None:
    head, mark, comment = text.partition(COMMENT)
    if not mark:  # a statistic without a description still has its unit
        head, _, comment = text.partition(" (")
        comment = comment and f"({comment}"
    head, (description, unit) = head.rstrip(), _comment(comment)
    try:
        if match := _LINE.fullmatch(head) or _WORDS.fullmatch(head):
            name, *numbers = match.groups()
            section.add(name, _number(numbers, unit, description))
            return
        if match := _ONE_LINE.fullmatch(head):
            for index, element in enumerate(_ELEMENT.finditer(match[2])):
                section.add(
                    f"{match[1]}{SEPARATOR}{index}", _number(element.groups(), unit, description)
                )
            return
    except StatsError:
        raise
    except ValueError:  # a text such as 3.3.3 looks like a number but is not a number
        pass
    raise StatsError(
        f"{section.where}, line {number}: expected a name and a value, found {text[:60]!r}"
    )


@cache
def _comment(text: str) -> tuple[str, str]:
    """The description and the unit in a comment. Comments are the same in each section, so the
    results are cached."""
    match = _COMMENT.fullmatch(text)
    return (match[1], match[2] or "") if match else (text, "")


def _number(texts: Sequence[str | None], unit: str, description: str) -> Number:
    value, share, cumulative = texts
    return Number(_value(str(value)), unit, description, _share(share), _share(cumulative))


def _value(text: str) -> int | float:
    if text in NO_NUMBER:
        return math.nan
    try:
        return int(text)
    except ValueError:
        return float(text)


def _share(text: str | None) -> float | None:
    return None if text is None else float(text) / 100
