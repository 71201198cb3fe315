# SPDX-License-Identifier: MIT
"""Figures of CPI stacks: what each system spends the clocks of one operation on."""

from collections.abc import Sequence

from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.page.figure import UNITS, Figure, mark, of_marks
from p5lab.present import cpi_stack
from p5lab.present.comparison import CYCLES, NOMINAL
from p5lab.present.cpi_stack import Stack
from p5stats import cpi

PLACE = 1
SHARE = "share of the busy cycles"
CAPTION = (
    "The figure shows what the processor spends the busy cycles of one operation on. The parts of a"
    " bar add up to the busy cycles. docs/concepts/cpi-stack.md explains the components, and the"
    " command ./p5lab show RUN --cpi prints all of them."
)


def has(run: Stored) -> bool:
    """Whether a run has a CPI stack."""
    return cpi_stack.is_in(run)


def of(runs: Sequence[Stored]) -> list[Figure]:
    """Returns a figure for each phase of each workload, with a bar for each run. Of a curve, only
    the last point has one."""
    stacks = []
    for stored in selection.as_versions(runs):
        of_run = cpi_stack.of_run(stored)
        stacks += of_run[-1:] if stored.record["workload"].get("curve") else of_run
    return [_figure(title, of_phase) for title, of_phase in cpi_stack.by_phase(stacks).items()]


def _figure(title: str, stacks: Sequence[Stack]) -> Figure:
    used = [
        group
        for group, components in cpi.GROUPS.items()
        if any(stack.of(component) for stack in stacks for component in components)
    ]
    cycles = CYCLES if stacks[0].unit == cpi_stack.CYCLES else NOMINAL
    marks = [
        mark(
            benchmark=name.replace("\n", " "),
            series=group,
            metric=metric,
            unit=unit,
            value=sum(map(stack.of, cpi.GROUPS[group])) * factor,
            runs=stack.stored.id,
        )
        for name, stack in zip(cpi_stack.names(stacks), stacks, strict=True)
        for metric, unit, factor in (
            (cycles, UNITS[cycles], 1.0),
            (SHARE, "%", 100 / stack.busy if stack.busy else 0.0),
        )
        for group in used
    ]
    name = f"cpi-{title}-{stacks[0].stored.id[:8]}"
    return of_marks(name, f"CPI stack of {title}", "stack", marks, CAPTION)
