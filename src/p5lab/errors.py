# SPDX-License-Identifier: MIT
"""UserError, the class of all errors for the user, and the common forms of their messages.

Also Stopped, the exception for a command that the user stops.
"""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS_FAILED = 1  # a run, a build or a test failed
STATUS_BAD_INPUT = 2  # the request is wrong; nothing ran


class UserError(Exception):
    """One clear line: what is wrong, where (file, key), and what was expected.

    `status`: the exit status of the command. This error ends the command.
    """

    def __init__(self, message: str, *, status: int = STATUS_BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


class Stopped(KeyboardInterrupt):
    """The user stopped the command. `str(error)` describes what was stopped, what is kept and how
    to continue."""


@contextmanager
def describes_stop(text: Callable[[], str]) -> Iterator[None]:
    """Raises Stopped with `text()` if the user stops the command while the block runs.

    `text` is called after the block has ended, so that the text can contain the final state. If
    blocks are nested, the innermost block describes the stop.
    """
    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        raise Stopped(text()) from None


def unknown(what: str, name: str, known: Iterable[str], *, where: str = "") -> UserError:
    """The error for an unknown name. The message suggests the nearest known name. If no known name
    is near, the message lists all known names. `what`: the kind of the name, such as "guest".
    `where`: the beginning of the message."""
    names = sorted(known)
    near = nearest(name, names)
    if near:
        hint = f"did you mean {near!r}?"
    elif names:
        hint = "known: " + ", ".join(names)
    else:
        hint = "no name is known here"
    prefix = f"{where}: " if where else ""
    return UserError(f"{prefix}unknown {what} {name!r}; {hint}")


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The known name that is closest to a mistyped name. Returns None if no known name is close.

    A known name that begins with the mistyped name is also close. For a dotted key, the function
    also compares the last part of the key: `sise` finds a key that ends in `size`. For a name with
    hyphens, it also compares the first part.
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
    """The error for a failed write. The message contains the reason that the operating system
    reports, such as a full disk."""
    reason = error.strerror or str(error)
    return UserError(f"cannot write {path}: {reason}", status=STATUS_FAILED)


def status_of(command: Callable[[], None]) -> int:
    """Runs a command and returns its exit status. Prints a UserError as one line on stderr."""
    try:
        command()
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return error.status
    return 0
