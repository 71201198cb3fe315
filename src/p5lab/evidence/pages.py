# SPDX-License-Identifier: MIT
"""The generated tables of the documents.

A document is the template of its tables: it has two comments in Markdown, and the table stands
between them (`BLOCK`). A table follows from the records (p5lab.evidence.records) or from files of
the checkout, so no run is needed to make it.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from p5lab.describe import keys, outputs, papers
from p5lab.errors import UserError, unknown
from p5lab.evidence import (
    agreement,
    applications,
    boards,
    calls,
    counter_method,
    counts,
    gallery,
    gem5_programs,
    lower_bound,
    matrix,
    period,
    records,
    topbench,
    validate,
)
from p5lab.lab import Lab
from p5lab.present.tables import Grid
from p5stats import cpi
from p5stats.claims import SYSTEM

BLOCK = re.compile(r"(<!-- table: ([^\n]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
SUFFIXES = (".md", ".svg")  # of the documents
Make = Callable[[], str]


def tables(lab: Lab) -> dict[str, Make]:
    """The functions that make the tables, by the name of the table. Raises UserError if a record
    cannot be read."""
    runs, own = records.load(lab.root, records.RUNS), records.load
    claims = validate.recorded(lab, runs["claims"])
    systems = claims["role"] == SYSTEM
    made: dict[str, Make] = {
        "machine keys": keys.reference,
        "papers": papers.reference,
        "output files": outputs.reference,
        "components of the CPI stack": cpi.reference,
        "benchmarks and guests": lambda: matrix.block(matrix.cells(lab)),
        "claims about hardware": lambda: validate.block(claims[~systems]),
        "claims about systems": lambda: validate.block(claims[systems]),
        "four boards": lambda: _text(boards.grid(claims)),
        "lower bound": lambda: _text(lower_bound.grid(runs["lower bound"])),
        "counts of linking": lambda: _text(counts.grid(runs["counts"]["linking"])),
        "picture of dup": lambda: calls.picture(runs["calls"]),
        gallery.NAME: lambda: gallery.page(lab),
        "cross-check": lambda: _cross_check(own(lab.root, "cross-check")),
        gem5_programs.NAME: lambda: _text(gem5_programs.grid(own(lab.root, gem5_programs.NAME))),
    }
    for call, known in runs["calls"]["steps"].items():
        made[f"steps of {call}"] = partial(_text, calls.steps(calls.recorded_steps(known)))
    for call, known in runs["calls"]["services"].items():
        made[f"services of {call}"] = partial(_text, calls.services(calls.recorded_services(known)))
    for operation in runs["method"]:
        made[f"method of {operation}"] = partial(counter_method.recorded, operation, runs["method"])
    shown = ((period, "period"), (applications, "applications"), (topbench, "topbench"))
    for module, name in shown:
        for title, grid in module.tables(lab, own(lab.root, name)).items():
            made[f"{name}: {title}"] = partial(_text, grid)
    return made


def _text(grid: Grid) -> str:
    return grid.markdown() + "\n"


def _cross_check(record: records.Record) -> str:
    """The first table, the table of equal events, and the notes. The record has further tables."""
    first, *others = record["tables"]
    shown = [first, *(table for table in others if table["title"] == agreement.EQUAL)]
    texts = []
    for heads, *rows in (table["rows"] for table in shown):
        grid = Grid("", heads)
        for row in rows:
            grid.add(*row)
        texts.append(grid.markdown())
    return "\n\n".join([*texts, *record["notes"]]) + "\n"


def filled(text: str, made: dict[str, Make]) -> str:
    """A document with new tables. The text around them does not change. Raises UserError for an
    unknown table."""

    def table(match: re.Match[str]) -> str:
        if match[2] not in made:
            raise unknown("table", match[2], made)
        return match[1] + made[match[2]]() + match[4]

    return BLOCK.sub(table, text)


def update(lab: Lab, *, check: bool = False) -> Iterator[tuple[str, bool]]:
    """Makes the tables of all documents. Yields each document with a table, and whether its text
    has changed.

    With `check`, no file is written. Raises UserError if a document cannot be read or written, or
    has an unknown table. The message names the document.
    """
    made = tables(lab)
    files = (path for path in (lab.root / "docs").rglob("*") if path.suffix in SUFFIXES)
    for path in sorted(files):
        name, before = lab.short(path), path.read_text(encoding="utf-8")
        if not BLOCK.search(before):
            continue
        try:
            now = filled(before, made)
        except UserError as error:
            raise UserError(f"{name}: {error}", status=error.status) from None
        yield name, records.save(path, now, check=check)
