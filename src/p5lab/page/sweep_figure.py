# SPDX-License-Identifier: MIT
"""Figures of a sweep over a machine key: the value of the key is on the horizontal axis."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe.keys import overlay_of, readable
from p5lab.keep import swept_keys
from p5lab.page.figure import TIMES, WIDE_RANGE, mark, title_of
from p5lab.present.column import Column
from p5lab.present.comparison import Cell, Comparison, Question, System
from p5lab.present.tables import ratio


@dataclass(frozen=True)
class SweepAxis:
    """The horizontal axis of a sweep. `values`: the value of the key for each system. `series`: a
    name for each system, without the key of the axis."""

    key: str
    values: dict[System, float]
    series: dict[System, str]

    @property
    def title(self) -> str:
        """The name and the unit of the key."""
        unit = swept_keys.unit(self.key)
        return f"{self.key}, {unit}" if unit else self.key

    @property
    def is_size(self) -> bool:
        """Whether the axis is in bytes."""
        return swept_keys.is_size(self.key)

    @property
    def log(self) -> bool:
        """Whether the axis is logarithmic: for sizes, and for values with a wide range."""
        low, high = min(self.values.values()), max(self.values.values())
        return low > 0 and (self.is_size or high / low >= WIDE_RANGE)

    def first(self, system: System) -> System:
        """Of the systems in the series of `system`, returns the one with the lowest value."""
        same = [other for other in self.values if self.series[other] == self.series[system]]
        return min(same, key=lambda other: self.values[other])


def axis(compared: Comparison) -> SweepAxis | None:
    """Returns the axis of a sweep: the swept machine key with the most values, if all its values
    are numbers. Returns None if no swept machine key has numbers as values, or if each benchmark
    ran on one system only."""
    words = {system: overlay_of(system.geometry) for system in compared.systems}
    values = {
        key: {system: swept_keys.number(words[system].get(key, "")) for system in compared.systems}
        for key in compared.keys
    }
    different = {
        key: len(set(by_system.values()))
        for key, by_system in values.items()
        if None not in by_system.values()
    }
    key = max(different, key=lambda key: different[key], default="")
    swept = any(is_swept(compared, question) for question in compared.questions)
    if different.get(key, 0) < 2 or not swept:
        return None
    names = compared.names()
    series = {}
    for system in compared.systems:
        point = readable(f"{key}={words[system][key]}")
        parts = [part for part in names[system].split("\n") if part != point]
        series[system] = ", ".join(parts) or system.guest
    numbers = {system: value for system, value in values[key].items() if value is not None}
    return SweepAxis(key, numbers, series)


def is_swept(compared: Comparison, question: Question) -> bool:
    """Whether a benchmark has measurements on at least two systems. A page about all programs may
    contain the sweep of one program and single runs of other programs."""
    return sum(cell is not None for cell in compared.cells(question)) > 1


def relative(
    compared: Comparison, where: SweepAxis, labels: dict[Question, str], column: Column
) -> Iterator[dict[str, Any]]:
    """Yields the marks of a panel with a curve for each benchmark: the value of a column, divided
    by the value at the lowest point of the axis. `labels`: the benchmarks and their names."""
    several = len(set(where.series.values())) > 1
    for question, label in labels.items():
        for system, cell in _cells(compared, where, question):
            first = compared.cell(question, where.first(system))
            value = ratio(column.of(cell), column.of(first)) if first else math.nan
            if not math.isnan(value):
                yield mark(
                    benchmark=label,
                    phase=question.phase,
                    point=where.values[system],
                    series=f"{label}, {where.series[system]}" if several else label,
                    metric=f"{title_of(column.name)}, relative to the lowest {where.key}",
                    unit=TIMES,
                    value=value,
                    runs=cell.runs,
                )


def panels(
    compared: Comparison,
    where: SweepAxis,
    question: Question,
    label: str,
    columns: Sequence[Column],
) -> Iterator[dict[str, Any]]:
    """Yields the marks of a figure with a panel for each column and a curve for each series."""
    for column in columns:
        for system, cell in _cells(compared, where, question):
            each = [column.of(Cell([measured])) for measured in cell.seeds]
            if not math.isnan(column.of(cell)):
                yield mark(
                    benchmark=label,
                    phase=question.phase,
                    point=where.values[system],
                    series=where.series[system],
                    metric=column.name,
                    unit=column.unit,
                    value=column.of(cell),
                    lowest_seed=min(each),
                    highest_seed=max(each),
                    runs=cell.runs,
                )


def _cells(
    compared: Comparison, where: SweepAxis, question: Question
) -> Iterator[tuple[System, Cell]]:
    """The systems with measurements of a question, in the order of the axis."""
    for system in sorted(where.values, key=lambda system: where.values[system]):
        if cell := compared.cell(question, system):
            yield system, cell
