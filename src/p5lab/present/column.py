# SPDX-License-Identifier: MIT
"""The columns that a user can choose with --metric: metrics of the report, and events."""

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from p5lab.errors import UserError, nearest, unknown
from p5lab.present.comparison import Cell
from p5stats import compare, declared
from p5stats.dimensions import per_call
from p5stats.metrics import ratios

T = TypeVar("T")
OPTION = "--metric"
EXAMPLES = ("L2 misses", "l2_read_misses")  # a row of a report and an event, for a message
LONGEST = 11  # a longer head continues on a second line


@dataclass(frozen=True)
class Column:
    """A metric of p5stats.metrics, or an event. `unit`: the unit of the metric or the event."""

    name: str
    unit: str
    is_event: bool

    @property
    def head(self) -> str:
        """The head of the column, with line breaks."""
        return head_of(self.name) or _broken(self.name)

    @property
    def is_ratio(self) -> bool:
        """Whether the value is a number divided by another, so that those of parts do not add
        up."""
        return per_call(self.name) is not None or self.name in ratios()

    def of(self, cell: Cell) -> float:
        """Returns the mean over the seeds, for one operation. Returns NaN if the value was not
        counted."""
        return cell.event(self.name) if self.is_event else cell.mean(self.name)

    def spread(self, cell: Cell) -> tuple[float, float]:
        """Returns the lowest and the highest value of the seeds."""
        if not self.is_event:
            return cell.spread(self.name)
        values = cell.counted(self.name)
        return min(values), max(values)


def of_metric(name: str) -> Column:
    """Returns the column of a metric. Raises KeyError for a name that is no metric."""
    return Column(name, _units()[name], is_event=False)


def parse(options: Iterable[str]) -> tuple[Column, ...]:
    """Returns the columns that the values of --metric name (NAME,NAME,...), without repetitions.

    Upper and lower case are equal, and so are spaces, hyphens and underscores. Raises UserError for
    an unknown name.
    """
    known = {
        **{_plain(event.name): Column(event.name, event.unit, True) for event in _events()},
        **{_plain(name): of_metric(name) for name in _units()},
    }
    known = _with_short(known)
    columns = []
    for option in options:
        for word in _words(option, known):
            if not word.strip():
                raise UserError(f"{OPTION} {option}: expected NAME,NAME,..., such as cycles")
            if _plain(word) not in known:
                raise _unknown(word.strip())
            columns.append(known[_plain(word)])
    return tuple(dict.fromkeys(columns))


def names(option: str) -> list[str]:
    """The names in a value of --metric, as the user wrote them. One may contain a comma."""
    known = {_plain(name) for name in _units()}
    return [word for word in _words(option, known) if word.strip()]


def metric_named(word: str, metrics: Iterable[str]) -> str | None:
    """The metric that a word names: by its own name or by one of Shown.short, as --metric takes
    them. None if there is none. metrics: the names of the metrics."""
    return _with_short({_plain(name): name for name in metrics}).get(_plain(word))


def names_of(metrics: Iterable[str]) -> list[str]:
    """The names of metrics, and their short names."""
    own = list(metrics)
    return [*own, *(short for short, name in _short().items() if name in own)]


def _with_short(known: dict[str, T]) -> dict[str, T]:
    """Adds the short names for what is in `known`, by its plain name."""
    more = {_plain(short): _plain(name) for short, name in _short().items()}
    return known | {short: known[name] for short, name in more.items() if name in known}


def _words(option: str, known: Container[str]) -> Iterator[str]:
    """The names in a value of --metric. A name may contain a comma: `CR3 loads, changed`."""
    left = option.split(",")
    while left:
        ends = (end for end in range(len(left), 1, -1) if _plain(",".join(left[:end])) in known)
        end = next(ends, 1)
        yield ",".join(left[:end])
        left = left[end:]


def words() -> list[str]:
    """Returns values of --metric without spaces: the short names, and the names of the metrics and
    events. A hyphen replaces the space in a metric's name."""
    units = (name for name in (*_short(), *_units()) if not re.search("[()/,]", name))
    names = (name.replace(" ", "-") for name in units)
    return list(dict.fromkeys([*names, *(event.name for event in _events())]))


def _unknown(word: str) -> UserError:
    """The error for an unknown name. The list of all names is too long for a message."""
    every = [*_short(), *_units(), *(event.name for event in _events())]
    if nearest(word, every):
        return unknown("metric or event", word, every, where=OPTION)
    return UserError(
        f"{OPTION}: unknown metric or event {word!r}; known: {', '.join(sorted(_short()))}, rows of"
        f" a report such as {EXAMPLES[0]!r}, and events such as {EXAMPLES[1]!r}"
    )


def head_of(name: str) -> str:
    """Returns the declared head of a metric's column; empty for another column."""
    return next((metric.shown.head for metric in compare.metrics(0) if metric.name == name), "")


def _short() -> dict[str, str]:
    """Short names, each with the name of its metric."""
    return {short: metric.name for metric in compare.metrics(0) for short in metric.shown.short}


def _units() -> dict[str, str]:
    return {metric.name: metric.unit for metric in compare.metrics(0)}


def _events() -> list[declared.Event]:
    return [*declared.events().values(), *declared.nominal().values()]


def _plain(name: str) -> str:
    return re.sub(r"[ _-]+", " ", name.strip().lower())


def _broken(name: str) -> str:
    """Returns a name with a line break after the separator that is nearest to the middle, if the
    name is longer than LONGEST."""
    places = [match.end() for match in re.finditer(r"[ _./]", name)]
    if len(name) <= LONGEST or not places:
        return name
    place = min(places, key=lambda end: abs(end - len(name) / 2))
    return f"{name[:place].rstrip()}\n{name[place:]}"
