# SPDX-License-Identifier: MIT
"""The first table of a page. Ratios come first, so that a narrow window shows them."""

from p5lab.present import one_system
from p5lab.present.comparison import CYCLES, TIME, Comparison
from p5lab.present.several_systems import COSTS, RATIO, VALUE, SystemColumn, by_benchmark
from p5lab.present.tables import Grid
from p5stats.metrics import View


def of(compared: Comparison) -> list[Grid]:
    """Returns the first table of a page, or [] if there are no results.

    With several systems, the ratios to the first system come first, then the values of all systems.
    With one system, each benchmark has its most important metrics.
    """
    if not compared.questions or compared.has_shadows:
        return []
    if len(compared.systems) == 1:
        return [one_system.benchmarks(compared, View.SUMMARY)]
    systems, cost, (what, unit) = range(len(compared.systems)), compared.cost, COSTS[compared.cost]
    reference = next(iter(compared.names().values())).replace("\n", ", ")
    columns = [SystemColumn(cost, RATIO, i, RATIO) for i in systems[1:]]
    columns += [SystemColumn(cost, VALUE, i, unit) for i in systems]
    columns += [SystemColumn(CYCLES, VALUE, i, "cycles") for i in systems if cost == TIME]
    return [by_benchmark(compared, f"{what} of one operation, with ratios to {reference}", columns)]
