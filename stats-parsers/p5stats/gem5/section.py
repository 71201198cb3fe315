# SPDX-License-Identifier: MIT
"""One dump of gem5's statistics, independent of the file format."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from p5stats.problems import StatsError

SEPARATOR = "::"  # between a statistic and one of its elements
TOTAL = "total"


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a statistic. `share` and `cumulative` are the percentages that gem5's text
    puts beside the elements of some vectors and distributions, 1 for 100 %."""

    value: int | float
    unit: str = ""
    description: str = ""
    share: float | None = None
    cumulative: float | None = None


@dataclass
class Section:
    """One dump. `statistics` has the numbers of each statistic by element.

    A scalar has one element with an empty name. A vector, distribution or histogram has its
    subnames (`total`, `mean`, `0-9`). Each row of a matrix is a vector, as in gem5's text.

    A statistic that is declared `nozero` is absent from text and JSON while it is zero.
    """

    number: int  # from 0, in the order of the file
    where: str  # file and section, for messages
    statistics: dict[str, dict[str, Number]] = field(default_factory=dict)

    def add(self, name: str, number: Number) -> None:
        """Adds a number by its name, `component.statistic` or `component.statistic::element`.

        StatsError if the name lacks the statistic.
        """
        statistic, _, element = name.partition(SEPARATOR)
        if not statistic:
            raise StatsError(f"{self.where}: expected the name of a statistic, found {name[:60]!r}")
        self.statistics.setdefault(statistic, {})[element] = number

    def __contains__(self, name: str) -> bool:
        statistic, _, element = name.partition(SEPARATOR)
        return element in self.statistics.get(statistic, ())

    def __getitem__(self, name: str) -> int | float:
        statistic, _, element = name.partition(SEPARATOR)
        try:
            return self.statistics[statistic][element].value
        except KeyError:
            raise StatsError(
                f"{self.where}: no statistic {name!r}: it is zero, or this simulation has none"
            ) from None

    def get(self, name: str, default: int | float = 0) -> int | float:
        """The number of `section[name]`, or `default` if it is absent."""
        statistic, _, element = name.partition(SEPARATOR)
        number = self.statistics.get(statistic, {}).get(element)
        return default if number is None else number.value

    def total(self, name: str, default: int | float = 0) -> int | float:
        """The value of a scalar or the `::total` of a vector; `default` if it is absent.

        If gem5 did not write the total (HDF5, JSON, some vectors), it is the sum of the elements.
        """
        numbers = self.statistics.get(name)
        if not numbers:
            return default
        for element in (TOTAL, ""):
            if element in numbers:
                return numbers[element].value
        return sum(number.value for number in numbers.values())

    def only(self, wanted: Callable[[str], bool]) -> "Section":
        """A copy of the dump with only those numbers whose full name `wanted` accepts."""
        found = Section(self.number, self.where)
        for statistic, element, number in self:
            name = full_name(statistic, element)
            if wanted(name):
                found.add(name, number)
        return found

    def __iter__(self) -> Iterator[tuple[str, str, Number]]:
        """Yields statistic, element and number, in the order of the file."""
        for statistic, numbers in self.statistics.items():
            for element, number in numbers.items():
                yield statistic, element, number


def full_name(statistic: str, element: str) -> str:
    """`component.statistic::element`, of a scalar `component.statistic`."""
    return f"{statistic}{SEPARATOR}{element}" if element else statistic


def whole(value: float) -> int | float:
    """Converts a whole number to int, because gem5 keeps counts as double too."""
    return int(value) if math.isfinite(value) and value == int(value) else value
