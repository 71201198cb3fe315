# SPDX-License-Identifier: MIT
"""What a user calls a stored run: labels, a note and tags.

They are the entry `user` of the run's record. They change no result and do not belong to the run's
identity, so they can be changed at any time. A run that is repeated keeps them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    """`label`: the name that tables, pages and figures show. `note`: a sentence. `tags`: words.
    `earlier`: labels of earlier commands that made the same run, by which it is found, too."""

    label: str = ""
    note: str = ""
    tags: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels of the run, the newest first."""
        return tuple(filter(None, (self.label, *self.earlier)))

    def with_label(self, label: str, instead_of: str = "") -> "Named":
        """The same with a further label, which is shown, and without the label `instead_of`. An
        empty text is no label; without `instead_of`, it removes all labels."""
        left = self.labels if label or instead_of else ()
        labels = (label, *(old for old in left if old not in (label, instead_of)))
        first, *earlier = [*filter(None, labels), ""]
        return replace(self, label=first, earlier=tuple(filter(None, earlier)))


def of(record: Mapping[str, Any]) -> Named:
    """Returns what the user calls a run. Wrong entries of a record are left out."""
    entry = record.get(KEY)
    if not isinstance(entry, dict):
        return Named()
    label, note = (entry.get(key) for key in ("label", "note"))
    tags, earlier = (entry.get(key) for key in ("tags", "earlier"))
    return Named(
        label if isinstance(label, str) else "",
        note if isinstance(note, str) else "",
        tuple(map(str, tags)) if isinstance(tags, list) else (),
        tuple(map(str, earlier)) if isinstance(earlier, list) else (),
    )


def found_by(record: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Returns the record of a run that is shown with the label by which it was found."""
    own = of(record)
    return {**record, KEY: _entry(own.with_label(label))} if own.label != label else {**record}


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
    instead_of: str = "",
    note: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> Named:
    """Changes what the user calls a run, and returns it. None leaves a text as it is, and an empty
    text removes it. `instead_of`: the label that the new one replaces; without it, a run keeps its
    earlier labels. Raises UserError if the run is being executed, or if its record cannot be read
    or written."""
    with writing(directory), store.locked(directory) as lock:
        record = store.read(directory)
        if lock is None or record is None:
            why = "is being executed" if lock is None else "has no readable record"
            raise UserError(f"run {directory.name} {why}; its label stays as it is")
        named = of(record)
        tags = dict.fromkeys([*named.tags, *add])
        if label is not None:
            named = named.with_label(label, instead_of)
        named = replace(
            named,
            note=named.note if note is None else note,
            tags=tuple(tag for tag in tags if tag not in remove),
        )
        if named != of(record):
            others = {key: value for key, value in record.items() if key != KEY}
            entry = {KEY: _entry(named)} if named != Named() else {}
            store.write(directory, {**others, **entry})
    return named


def _entry(named: Named) -> dict[str, Any]:
    """The entry of a record; `earlier` only if there is an earlier label."""
    earlier = {"earlier": list(named.earlier)} if named.earlier else {}
    return {"label": named.label, "note": named.note, "tags": list(named.tags), **earlier}
