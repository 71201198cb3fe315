# SPDX-License-Identifier: MIT
"""The marks of figures: measured values and published values."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe import engine
from p5lab.page.figure import BANDWIDTH, PUBLISHED, UNITS, mark
from p5lab.present.comparison import CYCLES, Cell, Comparison, Question, System
from p5stats import claims
from p5stats.claims import PLATEAU_END, PLATEAU_START, Claim


@dataclass
class Marks:
    """Makes rows with p5lab.page.figure.COLUMNS from a comparison and from the claims about
    its cells."""

    compared: Comparison
    claims: Sequence[Claim]

    def __post_init__(self) -> None:
        names = self.compared.names()
        self.names = {system: name.replace("\n", ", ") for system, name in names.items()}

    def drawn(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """Yields a row for each system, and the rows of published values."""
        yield from self.systems(question, metric, label)
        yield from self._published(question, metric, label)

    def systems(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """Yields a row for each system. In a row without a value, `why` contains the reason."""
        for system in self.compared.systems:
            cell = self.compared.cell(question, system)
            row = self._row(question, metric, label, system)
            if cell is None or not cell.has(metric):
                why = "not counted" if cell else self.compared.why_missing(question, system)
                yield row | {"why": why}
                continue
            low, high = cell.spread(metric)
            yield row | {
                "value": cell.mean(metric),
                "lowest seed": low,
                "highest seed": high,
                "runs": cell.runs,
            }

    def _row(self, question: Question, metric: str, label: str, system: System) -> dict[str, Any]:
        return mark(
            benchmark=label,
            phase=question.phase,
            series=self.names[system],
            metric=metric,
            unit=UNITS[metric],
        )

    def shown(self, metrics: Iterable[str], questions: Sequence[Question]) -> list[str]:
        """Returns the metrics that get a panel.

        A metric gets a panel if at least two systems have values for it, and if at least one value
        is not zero. If only one system has measurements, its values are enough.
        """
        by_system = [
            [cell for question in questions if (cell := self.compared.cell(question, system))]
            for system in self.compared.systems
        ]
        needed = min(2, sum(map(bool, by_system)))

        def is_shown(metric: str) -> bool:
            having = [
                [cell.mean(metric) for cell in cells if cell.has(metric)] for cells in by_system
            ]
            counted = [values for values in having if values]
            return len(counted) >= needed and any(any(values) for values in counted)

        return [metric for metric in metrics if is_shown(metric)]

    def _published(self, question: Question, metric: str, label: str) -> Iterator[dict[str, Any]]:
        """Yields the claims about a phase. A claim is about a level, or about the size at which a
        plateau begins or ends."""
        for system in self.compared.systems:
            cell = self.compared.cell(question, system)
            for claim in self.claims:
                if not cell or not _is_of(claim, cell) or _metric(claim, cell) != metric:
                    continue
                row = self._row(question, metric, label, system) | {
                    "kind": PUBLISHED,
                    "claim": f"{claim.source}: {claim.quantity}",
                    "why": claim.tag,
                }
                assert claim.measure is not None
                phases = claim.measure.select.phases
                if claim.measure.statistic in (PLATEAU_END, PLATEAU_START):
                    if question.phase == claim.measure.at:
                        yield row | {"point": claims.size_of(f"{claim.value:g} {claim.unit}")}
                elif not phases or question.phase in phases:
                    yield row | {"value": claim.value}


def _is_of(claim: Claim, cell: Cell) -> bool:
    """Whether a claim is about a cell. The machine of the cell must have no overlay."""
    measure, record = claim.measure, cell.record
    if measure is None or measure.less or measure.over:
        return False
    texts = {name: str(value) for name, value in record["parameters"].items()}
    return (
        (record["engine"], record["machine"]["name"], record["machine"]["geometry"])
        == (engine.DEFAULT, claim.machine, "")
        and (record["guest"]["name"], record["workload"]["name"])
        == (measure.guest, measure.workload)
        and measure.select.parameters.items() <= texts.items()
    )


def _metric(claim: Claim, cell: Cell) -> str:
    """Returns the metric with the same quantity and unit as the claim. Returns an empty text if no
    figure draws the claim."""
    measure, record = claim.measure, cell.record
    assert measure is not None
    workload, parameters = record["workload"], record["parameters"]
    if measure.per == (claims.MICROSECONDS,) and len(measure.count) == 1:
        moved = float(parameters.get(measure.count[0], 0)) * measure.times
        return BANDWIDTH if moved == workload["bytes"] * workload["operations"] else ""
    divisor = math.prod(float(parameters.get(name, 0)) for name in measure.per)
    if divisor == 0 or not math.isclose(measure.times / divisor, 1 / workload["operations"]):
        return ""
    metrics = {"cycles.busy": CYCLES, "instructions": "instructions"}
    return metrics.get(measure.count[0], "") if len(measure.count) == 1 else ""
