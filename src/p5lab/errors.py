# SPDX-License-Identifier: MIT
"""UserError, the class of all errors for the user, and the common forms of their messages.

Also Stopped, the exception for a command that the user stops.
"""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

STATUS_FAILED = 1  # what the command ran has failed: a run, a build, a test, a write
STATUS_BAD_INPUT = 2  # the request is wrong, or asks for what no stored run has; nothing ran
NAMED = 3  # a message suggests at most this number of names


class UserError(Exception):
    """One clear line: what is wrong, where (file, key), and what was expected.

    `status`: the exit status of the command. This error ends the command.
    """

    def __init__(self, message: str, *, status: int = STATUS_BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status

    def _render_traceback_(self) -> list[str]:
        """Returns what IPython prints in the place of the trace."""
        return [f"UserError: {self}"]


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


def unknown(what: str, name: object, known: Iterable[str], *, where: str = "") -> UserError:
    """The error for an unknown name. The message suggests the nearest known names. If no known name
    is near, the message lists all known names. `what`: the kind of the name, such as "guest".
    `where`: the beginning of the message."""
    names = sorted(known)
    hint = suggestion(str(name), names)
    if not hint:
        hint = f"known: {', '.join(names)}" if names else "no name is known here"
    prefix = f"{where}: " if where else ""
    return UserError(f"{prefix}unknown {what} {name!r}; {hint}")


def refuse(given: Mapping[str, object], why: str) -> None:
    """Raises UserError, which says why, for the first option of `given` that has a value."""
    for option, value in given.items():
        if value:
            raise UserError(f"{option}: {why}")


def suggestion(name: str, names: Iterable[str]) -> str:
    """The question whether the user means one of the nearest names: `did you mean 'l2.size'?`. The
    text is empty if no name is near."""
    near = nearest(name, names)
    return f"did you mean {listed(near)}?" if near else ""


def listed(names: Sequence[str], word: str = "or", form: Callable[[str], str] = repr) -> str:
    """A list of names in quotes: 'a', 'b' or 'c'."""
    *first, last = map(form, names)
    return f" {word} ".join(filter(None, (", ".join(first), last)))


def few(names: Iterable[str]) -> str:
    """The first NAMED of these names, and the number of the others."""
    every = list(names)
    others = len(every) - NAMED
    return ", ".join(every[:NAMED]) + (f" and {others} more" if others > 0 else "")


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The known names that are closest to a mistyped name: at most NAMED names that are equally
    close, and none if no known name is close.

    A known name that begins with the mistyped name is close, and so is a name that is spelt
    similarly. If there is none, the last part of a dotted key counts in the same way: `siz` and
    `sise` find the keys that end in `size`. The first part of a name with hyphens counts, too, and
    last the first part of a dotted name: `cycels` finds `cycles.busy`.
    """
    wanted = name.lower()
    names = list(dict.fromkeys(names))
    whole = [(candidate, candidate.lower()) for candidate in names]
    parts = [(candidate, part) for candidate, form in whole for part in _parts(form)]
    begun = _begun(wanted, whole) or _begun(wanted, parts)
    groups = [(candidate, form.partition(".")[0]) for candidate, form in whole]
    close = begun or _spelt(wanted, whole) or _spelt(wanted, parts) or _spelt(wanted, groups)
    return list(dict.fromkeys(close))[:NAMED]


def _parts(form: str) -> tuple[str, str]:
    return form.rpartition(".")[2], form.partition("-")[0]


def _begun(wanted: str, forms: Sequence[tuple[str, str]]) -> list[str]:
    """The names with a form that begins with `wanted`. `forms`: names, each with a form of it."""
    return [name for name, form in forms if len(wanted) > 1 and form.startswith(wanted)]


def _spelt(wanted: str, forms: Sequence[tuple[str, str]]) -> list[str]:
    """The names with the forms that are most similar to `wanted`."""
    near = difflib.get_close_matches(wanted, {form for _, form in forms}, n=NAMED, cutoff=0.6)
    best = {form for form in near if _likeness(form, wanted) == _likeness(near[0], wanted)}
    return [name for name, form in forms if form in best]


def _likeness(form: str, wanted: str) -> float:
    return difflib.SequenceMatcher(None, form, wanted).ratio()


def disk_error(error: OSError, path: Path | str) -> UserError:
    """The error for a failed write. The message contains the reason that the operating system
    reports, such as a full disk."""
    reason = error.strerror or str(error)
    return UserError(f"cannot write {path}: {reason}", status=STATUS_FAILED)


@contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Raises UserError (`disk_error`) if the block cannot write a file."""
    try:
        yield
    except OSError as error:
        raise disk_error(error, path) from None


def status_of(command: Callable[[], None]) -> int:
    """Runs a command and returns its exit status. Prints a UserError as one line on stderr."""
    try:
        command()
    except UserError as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return error.status
    return 0
