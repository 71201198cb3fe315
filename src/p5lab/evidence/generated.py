# SPDX-License-Identifier: MIT
"""Reads numbers from the generated tables of documents.

A document can quote such a number. The name of the number is "FILE | TABLE | ROW | COLUMN", such
as "docs/evidence/chen95-method.md | method of dup | cycles (RDTSC) | method". TABLE is the text in
the comment above the generated block. If a cell contains several numbers, a fifth part gives the
position of the number: "... | until | 2" is the second number. `./p5lab docs` generates these
tables.
"""

import re
from pathlib import Path

from p5lab.errors import UserError
from p5lab.evidence import document_file

NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def is_document(source: str) -> bool:
    """Whether the first part of a number's name is a document and not a source of runs."""
    return source.endswith(".md")


def number(root: Path, name: str) -> float:
    """The number with this name. Without a position, the first number of the cell.

    Raises UserError if the document cannot be read or has no such table, row or column, or if the
    cell contains no such number.
    """
    parts = [part.strip() for part in name.split(" | ")]
    if len(parts) == 4:
        parts.append("1")
    if len(parts) != 5 or not parts[4].isdecimal():
        raise UserError(f"{name}: expected FILE | TABLE | ROW | COLUMN, or also a position")
    file, table, row, column, position = parts
    text = document_file.read(root, file)
    found = re.search(rf"^<!-- {re.escape(table)} -->\n(.*?)^<!-- end -->", text, re.M | re.S)
    if not found:
        raise UserError(f"{name}: {file} has no block <!-- {table} -->")
    lines = [_cells(line) for line in found[1].splitlines() if line.startswith("|")]
    heads = lines[0]
    if column not in heads:
        raise UserError(f"{name}: expected one of the columns {', '.join(filter(None, heads))}")
    cells = [line for line in lines[1:] if line[0] == row]
    if len(cells) != 1:
        raise UserError(f"{name}: {len(cells)} rows begin with {row!r}, expected one")
    values = NUMBER.findall(cells[0][heads.index(column)])
    if not 1 <= int(position) <= len(values):
        raise UserError(f"{name}: the cell contains {len(values)} numbers")
    return float(values[int(position) - 1].replace(",", ""))


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]
