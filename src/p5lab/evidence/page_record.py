# SPDX-License-Identifier: MIT
"""The record in a document: the counts of the last runs with disks that are not always there.

Without the disks, the document's tables follow from its record. With them, the record is new.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from p5lab.describe.run import Run
from p5lab.describe.tomlfile import Table
from p5lab.errors import UserError
from p5lab.evidence import block
from p5lab.execute.runner import Result
from p5lab.present.tables import Grid
from p5stats.claims import FAILS, HOLDS, meets

Execute = Callable[[list[Run]], list[Result]]
Record = dict[str, Any]  # by system or column: counts[phase][event], and more
DIGITS = 9  # significant digits of a recorded number


def read(text: str) -> Record:
    """The record in a document. Raises UserError if there is none."""
    found = re.search(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise UserError("expected the record of the runs, in a fence ```json")
    record: Record = json.loads(found[1])
    return record


def written(text: str, command: str, tables: Mapping[str, Grid], record: Record) -> str:
    """The document with these tables and this record. `command`: the command that writes it.
    `tables`: by the names of their blocks. The other text does not change."""
    contents = {name: table.markdown() + "\n" for name, table in tables.items()}
    contents["record"] = f"```json\n{json.dumps(record, indent=0)}\n```\n"
    for name, content in contents.items():
        text = block.replace(text, f"{command}: {name}", content)
    return text


def short(value: float) -> float:
    """A count with DIGITS significant digits."""
    return float(f"{value:.{DIGITS}g}")


def claims(table: Table, record: Record) -> Grid:
    """The verdicts on the claims that `table` describes."""
    grid = Grid("", ["Published", "Tag", "Paper", "Here", "Verdict", "Source"], left={1, 4, 5})
    for claim in table.tables("claim"):
        claim.only(("source", "quantity", "value", "tag", "event", "of", "over", "each"))
        event, value = claim.text("event"), float(claim.data["value"])
        here = _count(record, claim.texts("of"), event) / claim.number("each", 1)
        if "over" in claim.data:
            here /= _count(record, claim.texts("over"), event)
        tag = claim.text("tag")
        verdict = HOLDS if meets(tag, value, here) else FAILS
        grid.add(
            claim.text("quantity"), tag, f"{value:g}", f"{here:.3g}", verdict, claim.text("source")
        )
    return grid


def _count(record: Mapping[str, Any], place: Sequence[str], event: str) -> float:
    column, phase = place
    return float(record[column]["counts"][phase][event])
