# SPDX-License-Identifier: MIT
"""The records: what runs gave, as JSON files in docs/evidence/records.

The generated tables of the documents follow from the records (p5lab.evidence.pages), and the
end-to-end tests compare the records with new runs. runs.json has the records of everything that
p5lab itself builds. The other files need what a host may lack: a disk with programs of Debian, the
user's media, or gem5.
"""

import json
from pathlib import Path
from typing import Any

from p5lab.errors import UserError, writing
from p5lab.files import replace_text

Record = Any  # what json.load returns
PLACE = "docs/evidence/records"
RUNS = "runs"
WIDTH = 260  # characters of a line
DIGITS = 9  # significant digits of a recorded number


def path(root: Path, name: str) -> Path:
    """The file of a record in a checkout."""
    return root / PLACE / f"{name}.json"


def load(root: Path, name: str) -> Record:
    """Reads a record. Raises UserError if the file is missing or is no JSON."""
    file = path(root, name)
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {PLACE}/{name}.json: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{PLACE}/{name}.json: expected JSON: {error}") from None


def save(file: Path, text: str, *, check: bool = False) -> bool:
    """Writes the text of a record or a document in one step. Returns whether it differs from the
    file. With `check`, no file is written. Raises UserError if the file cannot be written."""
    if file.is_file() and file.read_text(encoding="utf-8") == text:
        return False
    with writing(file):
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_text(file, text)
    return True


def text(record: Record) -> str:
    """A record as JSON. What fits on a line stands on one, so a difference names what changed. The
    order of the keys is the order of the record."""
    return _text(record, "") + "\n"


def _text(value: Record, indent: str) -> str:
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or (indent and len(line) <= WIDTH):
        return line
    more = indent + " "
    if isinstance(value, dict):
        parts = [f"{more}{json.dumps(key)}: {_text(inner, more)}" for key, inner in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{more}{_text(inner, more)}" for inner in value) + f"\n{indent}]"


def short(value: float) -> float:
    """A number with DIGITS significant digits. A whole number has no fraction."""
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
