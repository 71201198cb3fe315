# SPDX-License-Identifier: MIT
"""What a user calls a stored run: a label, a note and tags.

They are the entry `user` of the run's record. They change no result and do not belong to the run's
identity, so they can be changed at any time. A run that is repeated keeps them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from p5lab.describe import experiment
from p5lab.errors import UserError, writing
from p5lab.keep import store
from p5lab.lab import Lab

KEY = "user"  # the entry of the record
LABEL, NOTE = 40, 400  # characters
TAG = re.compile(r"[\w.+-]{1,40}")


@dataclass(frozen=True)
class Named:
    """`label`: the name that tables, pages and figures show. `note`: a sentence. `tags`: words."""

    label: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()


def of(record: Mapping[str, Any]) -> Named:
    """Returns what the user calls a run. Wrong entries of a record are left out."""
    found = record.get(KEY)
    if not isinstance(found, dict):
        return Named()
    texts = {key: found.get(key) for key in ("label", "note")}
    tags = found.get("tags")
    return Named(
        **{key: text for key, text in texts.items() if isinstance(text, str)},
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
    )


def shown(record: Mapping[str, Any]) -> str:
    """Returns the name of a run for lists: its label, what it ran, and its tags."""
    named = of(record)
    label = f"{named.label}: " if named.label else ""
    return " ".join([f"{label}{record['label']}", *(f"#{tag}" for tag in named.tags)])


def kept(before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the entry that the record of a repeated run takes from the record before."""
    return {KEY: before[KEY]} if before and KEY in before else {}


def check_label(lab: Lab, label: str, option: str) -> None:
    """Raises UserError for a text that cannot be a label, because it means something else as a word
    of a command line, or because a table cannot show it."""
    what = ""
    if label != label.strip() or not label.isprintable():
        what = "printable characters, without spaces around them"
    elif len(label) > LABEL:
        what = f"at most {LABEL} characters"
    elif re.fullmatch(r"[0-9a-f]{4,}", label):
        what = "a text that does not look like the id of a run"
    elif label in (*experiment.names(lab), *experiment.OWN):
        what = "a text that is not the name of an experiment"
    if what:
        raise UserError(f"{option} {label!r}: expected {what}")


def check_note(note: str) -> None:
    """Raises UserError for a note that is too long or not printable."""
    if not note.isprintable() or len(note) > NOTE:
        raise UserError(f"--note: expected at most {NOTE} printable characters in one line")


def check_tags(tags: Sequence[str], option: str) -> None:
    """Raises UserError for a tag that is not one word."""
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise UserError(f"{option} {tag!r}: expected one word of letters, digits, and _ . + -")


def change(
    directory: Path,
    *,
    label: str | None = None,
    note: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> Named:
    """Changes what the user calls a run, and returns it. None leaves a text as it is, and an empty
    text removes it. Raises UserError if the run is being executed, or if its record cannot be read
    or written."""
    with writing(directory), store.locked(directory) as lock:
        record = store.read(directory)
        if lock is None or record is None:
            why = "is being executed" if lock is None else "has no readable record"
            raise UserError(f"run {directory.name} {why}; its label stays as it is")
        named = of(record)
        tags = dict.fromkeys([*named.tags, *add])
        named = replace(
            named,
            label=named.label if label is None else label,
            note=named.note if note is None else note,
            tags=tuple(tag for tag in tags if tag not in remove),
        )
        if named != of(record):
            others = {key: value for key, value in record.items() if key != KEY}
            entry = {KEY: {**asdict(named), "tags": list(named.tags)}} if named != Named() else {}
            store.write(directory, {**others, **entry})
    return named
