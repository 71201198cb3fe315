# SPDX-License-Identifier: MIT
"""The places of recorded numbers in documents: docs/numbers.toml.

A place is a piece of text with numbers, a table, or a statement in words. Each place can be
compared with the record (evidence/recorded.py) and rewritten (docs/evidence/numbers.md).
"""

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.describe.expressions import Expression
from p5lab.errors import UserError
from p5lab.evidence import generated
from p5lab.evidence.document_file import read
from p5lab.evidence.recorded import SEPARATOR
from p5lab.present import tables

FILE = "docs/numbers.toml"
SCHEMA_VERSION = 1
COMMAND = "./p5lab docs numbers"
NUMBER = generated.NUMBER.pattern
PIECE = re.compile(r"\{([^{}]+)\}")
NAMED = re.compile(r"\[([^\[\]]+)\]")
FORM = re.compile(r"^(.*\S)\s*:\s*(number|times|thousands|\d+ digits|,?\.\d+f)$")
# A block of text, or a table in Markdown below its first line.
TABLE = re.compile(
    r"```text\n(?P<block>.*?)^```|^\|[^\n]*\n(?P<pipes>(?:^\|[^\n]*\n)+)", re.MULTILINE | re.DOTALL
)
ELLIPSIS = "..."
ALL = "*"

Lookup = Callable[[str], float]


@dataclass(frozen=True)
class Value:
    """A number of a document: an expression over named numbers, and the form of the number.

    A named number is in square brackets. The brackets may be left out if the expression is only a
    name. Forms: `number` (four significant digits, as `./p5lab run` prints numbers; the default),
    `times` (a ratio, as `./p5lab run` prints ratios), `3 digits` (rounded to three significant
    digits), `thousands` (rounded to thousands), and Python's `.1f` and `,.0f`.
    """

    expression: Expression
    names: tuple[str, ...]
    form: str

    @classmethod
    def parse(cls, text: str, where: str) -> "Value":
        """Reads a value such as "[a | b] / [c | d]: times". Raises UserError for an invalid
        expression."""
        shaped = FORM.match(text)
        body, form = (shaped[1], shaped[2]) if shaped else (text.strip(), "number")
        if "[" not in body and SEPARATOR in body:
            body = f"[{body}]"
        names = tuple(dict.fromkeys(name.strip() for name in NAMED.findall(body)))
        plain = NAMED.sub(lambda found: f"n{names.index(found[1].strip())}", body)
        return cls(Expression.parse(plain, where), names, form)

    def number(self, of: Lookup) -> float:
        """The value of the expression. `of` returns a named number."""
        values = {f"n{at}": of(name) for at, name in enumerate(self.names)}
        return float(self.expression.value(values))

    def shown(self, of: Lookup) -> str:
        """The value as the document prints it."""
        value = self.number(of)
        if self.form == "number":
            return tables.number(value)
        if self.form == "times":
            return tables.times(value)
        if self.form == "thousands":
            return f"{round(value, -3):,.0f}"
        if self.form.endswith("digits"):
            digits = int(self.form.split()[0])
            short = float(f"{value:.{digits}g}")
            return f"{short:,.0f}" if abs(short) >= 10 ** (digits - 1) else f"{short:g}"
        return format(value, self.form)


@dataclass(frozen=True)
class Spot:
    """One number in the text of a document: its first and last position, and its value."""

    start: int
    end: int
    value: Value


@dataclass(frozen=True)
class Text:
    """A piece of a document's text, with values in braces. It occurs once in the document. A space
    stands for any number of spaces."""

    file: str
    says: str

    @property
    def values(self) -> list[Value]:
        """The values in braces, in the order of the text."""
        return [Value.parse(piece, FILE) for piece in PIECE.findall(self.says)]

    def spots(self, text: str) -> Iterator[Spot]:
        """Yields the numbers of this place. Raises UserError if the document does not contain the
        text exactly once, whatever its numbers are."""
        parts = PIECE.split(self.says)
        pattern = f"({NUMBER})".join(re.escape(part).replace(r"\ ", " +") for part in parts[0::2])
        found = list(re.finditer(rf"(?<![\d.,]){pattern}", text))
        if len(found) != 1:
            raise UserError(
                f"{self.file}: expected the text {PIECE.sub('…', self.says)!r} once, found it"
                f" {len(found)} times; if you changed the document, also change {FILE}"
            )
        for number, value in enumerate(self.values, 1):
            yield Spot(*found[0].span(number), value)


@dataclass(frozen=True)
class Table:
    """A table of numbers: a block of text or a table in Markdown.

    The table is the first one below the text `below`. `columns` has one value for each column of
    numbers; an empty text stands for a column that is not compared. In a value, `*` stands for the
    label of the row. `rows` replaces labels. `skip` lists the labels of rows that are not compared;
    `only` lists the labels of the compared rows (empty: all rows). `part`: the part of the block
    between lines with three dots, from 1; 0 for all parts.
    """

    file: str
    below: str
    columns: tuple[str, ...]
    rows: dict[str, str] = field(default_factory=dict)
    skip: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    part: int = 0

    def spots(self, text: str) -> Iterator[Spot]:
        """Yields the numbers of the table. Raises UserError if there is no such table."""
        for label, cells in self._rows(text):
            if label in self.skip or (self.only and label not in self.only):
                continue
            for column, (start, end) in zip(self.columns, cells, strict=False):
                found = re.search(NUMBER, text[start:end])
                if column and found:
                    named = column.replace("*", self.rows.get(label, label))
                    value = Value.parse(named, f"{FILE}: row {label!r}")
                    yield Spot(start + found.start(), start + found.end(), value)

    def _rows(self, text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """Yields the label and the positions of the cells of each row that has a number."""
        if text.count(self.below) != 1:
            raise UserError(
                f"{self.file}: expected the text {self.below!r} once, found it"
                f" {text.count(self.below)} times; if you changed the document, also change"
                f" {FILE}"
            )
        begin = text.index(self.below) + len(self.below)
        found = TABLE.search(text, begin)
        if not found:
            raise UserError(f"{self.file}: expected a table below {self.below!r} ({FILE})")
        kind = "block" if found["block"] is not None else "pipes"
        at, part, any_row = found.start(kind), 1, False
        for line in found[kind].splitlines(keepends=True):
            part += line.strip() == ELLIPSIS
            cells = list(_cells(line, at, pipes=kind == "pipes"))
            at += len(line)
            numbers = [text[slice(*cell)] for cell in cells[1:]]
            if self.part in (0, part) and any(map(_is_number, numbers)):
                any_row = True
                yield text[slice(*cells[0])], cells[1:]
        if not any_row:
            raise UserError(f"{self.file}: expected rows of numbers below {self.below!r}")


def _cells(line: str, at: int, *, pipes: bool) -> Iterator[tuple[int, int]]:
    """Yields the positions of the cells of a line that begins at `at`, without the spaces around
    a cell."""
    pattern = r"(?<=\|)\s*([^|\n]*?)\s*(?=\|)" if pipes else r"(\S+(?: \S+)*)"
    for found in re.finditer(pattern, line):
        yield at + found.start(1), at + found.end(1)


def _is_number(cell: str) -> bool:
    return re.fullmatch(rf"\W*{NUMBER}\W*|{NUMBER} \(\d+\)", cell) is not None


@dataclass(frozen=True)
class Words:
    """A statement in words, such as "almost thirty times". The text occurs once in the document,
    and the comparison `holds` must be true."""

    file: str
    says: str
    holds: str

    @property
    def condition(self) -> Value:
        """The comparison, as an expression whose value is 1 (true) or 0."""
        return Value.parse(self.holds, FILE)

    def complaint(self, of: Lookup) -> str:
        """One line that says that the comparison is false, with its numbers."""
        numbers = ", ".join(f"{name} = {tables.number(of(name))}" for name in self.condition.names)
        return f"{self.file}: {self.says!r} is no longer true: {self.holds}; {numbers}"


@dataclass(frozen=True)
class Foreign:
    """Texts of a document with numbers of another origin, such as a paper or a clock of the host.

    `why`: the origin. `texts`: pieces of the document that contain the numbers; ALL stands for all
    numbers of the document.
    """

    file: str
    why: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Places:
    """The content of docs/numbers.toml. `sources`: the tables of the sources by name."""

    texts: list[Text]
    tables: list[Table]
    words: list[Words]
    sources: dict[str, tomlfile.Table]
    foreign: list[Foreign]

    @property
    def files(self) -> list[str]:
        """The documents with places, in the order of docs/numbers.toml."""
        printed: list[Text | Table | Words] = [*self.texts, *self.tables, *self.words]
        return list(dict.fromkeys(one.file for one in printed))

    def spots(self, file: str, text: str) -> list[Spot]:
        """The numbers of all places of a document, in the order of the text. Raises UserError if
        the document does not contain a place, or if two places overlap."""
        printed: list[Text | Table] = [*self.texts, *self.tables]
        found = [spot for one in printed if one.file == file for spot in one.spots(text)]
        found.sort(key=lambda spot: spot.start)
        for one, other in itertools.pairwise(found):
            if other.start < one.end and one != other:
                raise UserError(f"{file}: two places contain {text[one.start : one.end]!r}")
        return list(dict.fromkeys(found))

    def wanted(self, root: Path) -> dict[str, set[str]]:
        """The names that the documents need from each source."""
        names = {name for one in self.words for name in one.condition.names}
        for file in self.files:
            text = read(root, file)
            names |= {name for spot in self.spots(file, text) for name in spot.value.names}
        found: dict[str, set[str]] = {}
        for name in sorted(names):
            source, _, rest = name.partition(SEPARATOR)
            if not generated.is_document(source):
                if source not in self.sources:
                    raise UserError(f"{FILE}: unknown source {source!r} in {name!r}")
                found.setdefault(source, set()).add(rest)
        return found


def load(root: Path) -> Places:
    """Reads docs/numbers.toml of a checkout. Raises UserError if the file is invalid."""
    data = tomlfile.load(root / FILE, schema_version=SCHEMA_VERSION)
    data.only(("source", "text", "table", "words", "foreign"))
    texts, found, words = [], [], []
    for one in data.tables("text"):
        one.only(("file", "says"))
        texts += [Text(one.text("file"), says) for says in one.texts("says")]
    for one in data.tables("table"):
        one.only(("file", "below", "columns", "rows", "skip", "only", "part"))
        found.append(
            Table(
                one.text("file"),
                one.text("below"),
                tuple(one.texts("columns")),
                one.table("rows", {}).data,
                tuple(one.texts("skip", [])),
                tuple(one.texts("only", [])),
                one.number("part", 0),
            )
        )
    for one in data.tables("words"):
        one.only(("file", "says", "holds"))
        words.append(Words(one.text("file"), one.text("says"), one.text("holds")))
    foreign = []
    for one in data.tables("foreign"):
        one.only(("file", "why", "texts"))
        foreign.append(Foreign(one.text("file"), one.text("why"), tuple(one.texts("texts"))))
    sources = data.table("source", {})
    return Places(
        texts,
        found,
        words,
        {name: sources.table(name) for name in sources.data},
        foreign,
    )


def rewritten(text: str, spots: list[Spot], of: Lookup) -> str:
    """The text with new numbers. In a block of text a number keeps its last position if there is
    room, so that the columns stay aligned."""
    pieces, at = [], 0
    for spot in spots:
        new, old = spot.value.shown(of), text[spot.start : spot.end]
        before = text[at : spot.start]
        if before.endswith("  ") and new != old:
            longer = len(new) - len(old)
            before = before + " " * -longer if longer < 0 else _shorter(before, longer)
        pieces += [before, new]
        at = spot.end
    return "".join([*pieces, text[at:]])


def _shorter(before: str, by: int) -> str:
    """The text with `by` fewer spaces at its end. At least one space remains."""
    room = len(before) - len(before.rstrip(" ")) - 1
    return before[: len(before) - min(by, room)]


def problems(places: Places, root: Path, of: Lookup) -> list[str]:
    """Compares all documents with the record. Returns one line for each number that differs and for
    each statement in words that is not true."""
    lines = []
    for file in places.files:
        text = read(root, file)
        for spot in places.spots(file, text):
            printed, expected = text[spot.start : spot.end], spot.value.shown(of)
            if printed != expected:
                line = text.count("\n", 0, spot.start) + 1
                names = ", ".join(spot.value.names)
                lines.append(f"{file}:{line}: {printed}, expected {expected} ({names})")
    for one in places.words:
        if read(root, one.file).count(one.says) != 1:
            lines.append(f"{one.file}: expected the text {one.says!r} once ({FILE})")
        elif not one.condition.number(of):
            lines.append(one.complaint(of))
    return lines
