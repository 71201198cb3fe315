# SPDX-License-Identifier: MIT
"""The one error class a user ever sees, and the wording all of them share."""

import difflib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

STATUS_FAILED = 1  # something that was asked for ran and failed
STATUS_BAD_INPUT = 2  # what was asked for makes no sense; nothing ran


class UserError(Exception):
    """One clear line: what is wrong, where (file, key), and what was expected.

    `status` is the exit status of the command that ends with it.
    """

    def __init__(self, message: str, *, status: int = STATUS_BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


def unknown(what: str, name: str, known: Iterable[str], *, where: str = "") -> UserError:
    """An unknown name: says the nearest valid one, or lists the valid ones when none is near."""
    names = sorted(known)
    near = nearest(name, names)
    if near:
        hint = f"did you mean {near!r}?"
    elif names:
        hint = "known: " + ", ".join(names)
    else:
        hint = "none is known here"
    prefix = f"{where}: " if where else ""
    return UserError(f"{prefix}unknown {what} {name!r}; {hint}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The valid name closest to a mistyped one, or None when nothing is close.

    A dotted key is also found by its last part (`sise` leads to a `size`), a name with
    hyphens by its first part, and any by its beginning.
    """
    names = list(names)
    begun = [candidate for candidate in names if len(name) > 1 and candidate.startswith(name)]
    if begun:
        return begun[0]
    by_form: dict[str, str] = {}
    for candidate in names:
        by_form.setdefault(candidate.rpartition(".")[2].lower(), candidate)
        by_form.setdefault(candidate.partition("-")[0].lower(), candidate)
    for candidate in names:
        by_form[candidate.lower()] = candidate
    close = difflib.get_close_matches(name.lower(), by_form, n=1, cutoff=0.6)
    return by_form[close[0]] if close else None


def disk_error(error: OSError, path: Path | str) -> UserError:
    """A failed write in one line; the reason (disk full, file too large, ...) is the system's."""
    reason = error.strerror or str(error)
    return UserError(f"cannot write {path}: {reason}", status=STATUS_FAILED)


def status_of(command: Callable[[], None]) -> int:
    """The exit status of a command: its UserError is told in one line."""
    try:
        command()
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return error.status
    return 0
