# SPDX-License-Identifier: MIT
"""One dump of gem5's statistics, independent of the file format."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from p5stats.problems import StatsError

SEPARATOR = "::"  # between a statistic and one of its elements
TOTAL, SAMPLES = "total", "samples"


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a statistic. `share` and `cumulative` are the percentages that gem5's text
    prints beside the elements of some vectors and distributions. A value of 1 means 100 %."""

    value: int | float
    unit: str = ""
    description: str = ""
    share: float | None = None
    cumulative: float | None = None


@dataclass
class Section:
    """One dump. `statistics` contains the numbers of each statistic by element.

    The only element of a scalar has an empty name. The elements of a vector, distribution or
    histogram have gem5's subnames (`total`, `mean`, `0-9`). Each row of a matrix is a vector, as in
    gem5's text.

    If a statistic is declared `nozero` and its value is zero, gem5 does not write the statistic to
    text and JSON.
    """

    number: int  # from 0, in the order of the file
    where: str  # file and section, for messages
    statistics: dict[str, dict[str, Number]] = field(default_factory=dict)

    def add(self, name: str, number: Number) -> None:
        """Adds a number by its name, `component.statistic` or `component.statistic::element`.

        StatsError if the name does not contain a statistic.
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
                f"{self.where}: no statistic {name!r}: its value is zero and gem5 omitted it,"
                " or the simulation does not have it"
            ) from None

    def get(self, name: str, default: int | float = 0) -> int | float:
        """The value of `section[name]`, or `default` if the dump does not contain the name."""
        statistic, _, element = name.partition(SEPARATOR)
        number = self.statistics.get(statistic, {}).get(element)
        return default if number is None else number.value

    def total(self, name: str, default: int | float = 0) -> int | float:
        """The value of a scalar, the `::total` of a vector, or the `::samples` of a distribution
        without a total (gem5 before 2009). If there is no statistic of this name, the result is
        `default`.

        If gem5 did not write a total (HDF5, JSON, some vectors), the result is the sum of the
        elements.
        """
        numbers = self.statistics.get(name)
        if not numbers:
            return default
        for element in (TOTAL, "", SAMPLES):
            if element in numbers:
                return numbers[element].value
        return sum(number.value for number in numbers.values())

    def only(self, wanted: Callable[[str], bool]) -> "Section":
        """A copy of the dump. The copy contains each number whose full name `wanted` accepts."""
        section = Section(self.number, self.where)
        for statistic, element, number in self:
            name = full_name(statistic, element)
            if wanted(name):
                section.add(name, number)
        return section

    def __iter__(self) -> Iterator[tuple[str, str, Number]]:
        """Yields statistic, element and number, in the order of the file."""
        for statistic, numbers in self.statistics.items():
            for element, number in numbers.items():
                yield statistic, element, number


def full_name(statistic: str, element: str) -> str:
    """`component.statistic::element`, or `component.statistic` for a scalar."""
    return f"{statistic}{SEPARATOR}{element}" if element else statistic


def whole(value: float) -> int | float:
    """Returns a whole number as int, and any other number unchanged. gem5 stores counts as
    double."""
    return int(value) if math.isfinite(value) and value == int(value) else value
