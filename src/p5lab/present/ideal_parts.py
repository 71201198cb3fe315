# SPDX-License-Identifier: MIT
"""Tables of ideal parts: how many cycles each part of a machine costs, for `run --ideal` and
`show --ideal`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from p5lab.describe import ideal
from p5lab.describe.keys import overlay_of
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import tables
from p5lab.present.comparison import CYCLES, Cell, Comparison, System
from p5lab.present.tables import MISSING, Grid, clocks, percent
from p5stats import cpi

NOTE = (
    "alone: the cycles that disappear if only this part takes no time. last: the cycles that"
    " disappear if this part takes no time either, when no other part takes time. Each number is"
    " the mean of one operation, with the cycles in which the processor is halted."
)
STACK_NOTE = (
    " stack: the cycles of the plain machine's CPI stack in the components of the part"
    " (docs/concepts/cpi-stack.md)."
)
# The components of the CPI stack that belong to a part. Waits of the processor for a disk or the
# network are no components: the processor is halted then.
CODE = ("cpi.code.l2", "cpi.code.dram", "cpi.code.fill")
DATA = ("cpi.data.l2", "cpi.data.dram", "cpi.data.fill")
WRITES = ("cpi.writes.buffers", "cpi.writes.order", "cpi.bus.writes")
COMPONENTS = {
    "l1i": CODE,
    "l1d": DATA,
    "l2": ("cpi.code.dram", "cpi.data.dram"),
    "memory": (*CODE, *DATA, *WRITES, "cpi.bus.reads", "cpi.bus.others"),
    "itlb": ("cpi.itlb",),
    "dtlb": ("cpi.dtlb",),
    "btb": ("cpi.branches",),
    "pairing": (
        "cpi.single.first",
        "cpi.single.second",
        "cpi.single.registers",
        "cpi.single.new_code",
        "cpi.single.other",
    ),
    "write_buffers": WRITES,
}


@dataclass(frozen=True)
class Cost:
    """The cycles of one operation by the set of ideal parts, with the idle cycles. `stack`: the
    cycles of the components of each part on the plain machine; empty without a CPI stack."""

    label: str
    system: str
    cycles: Mapping[frozenset[str], float]
    stack: Mapping[str, float] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are ideal in one of the runs, in the order of the keys."""
        used = frozenset().union(*self.cycles)
        return tuple(part for part in ideal.PARTS if part in used)

    @property
    def plain(self) -> float:
        """The cycles of the plain machine."""
        return self.cycles[ideal.PLAIN]

    def alone(self, part: str) -> float | None:
        """The cycles that the part costs alone; None without such a run."""
        own = self.cycles.get(frozenset({part}))
        return None if own is None else self.plain - own

    def last(self, part: str) -> float | None:
        """The cycles that the part costs when all other parts are ideal; None without such
        runs."""
        every = frozenset(self.parts)
        without, all_ideal = self.cycles.get(every - {part}), self.cycles.get(every)
        return None if without is None or all_ideal is None else without - all_ideal


def costs(runs: Sequence[Stored]) -> list[Cost]:
    """The costs in a set of runs, for each benchmark and each system without its ideal parts.
    Systems without a plain machine, without an ideal part or without clocks are left out."""
    compared = Comparison(runs)
    result = []
    for question in compared.questions:
        by_system: dict[str, dict[frozenset[str], Cell]] = {}
        for system, cell in zip(compared.systems, compared.cells(question), strict=True):
            if cell and not math.isnan(_elapsed(cell)):
                parts = ideal.of(cell.record["machine"]["values"])
                by_system.setdefault(_name(system), {})[parts] = cell
        result += [
            Cost(
                compared.label(question),
                name,
                {parts: _elapsed(cell) for parts, cell in cells.items()},
                _stack(cells[ideal.PLAIN]),
            )
            for name, cells in by_system.items()
            if ideal.PLAIN in cells and len(cells) > 1
        ]
    return result


def _elapsed(cell: Cell) -> float:
    """The busy and idle cycles of one operation. NaN without clocks."""
    return cell.mean(CYCLES) + cell.event(cpi.IDLE)


def _stack(cell: Cell) -> dict[str, float]:
    """The cycles of the components of each part; empty without a CPI stack."""
    if not cpi.is_in(cell.seeds[0].events):
        return {}
    return {part: sum(map(cell.event, names)) for part, names in COMPONENTS.items()}


def _name(system: System) -> str:
    """The name of a system without its ideal parts."""
    changed = overlay_of(system.geometry).items()
    others = [f"{key}={value}" for key, value in changed if not key.startswith(ideal.PREFIX)]
    return " ".join(filter(None, (system.guest, system.machine, *others)))


def show(console: Console, runs: Sequence[Stored], form: str) -> None:
    """Prints the costs as table, markdown, csv or json. Raises UserError if no runs with and
    without ideal parts are among them."""
    measured = costs([run for run in runs if run.status == "ok"])
    if not measured:
        raise UserError(f"no runs with and without ideal parts: expected runs with {ideal.OPTION}")
    note = NOTE + (STACK_NOTE if any(cost.stack for cost in measured) else "")
    tables.show(console, form, list(map(_grid, measured)), [note], _rows(measured))


def _rows(costs: Sequence[Cost]) -> list[dict[str, object]]:
    return [
        {
            "benchmark": cost.label,
            "system": cost.system,
            "part": part,
            "plain": cost.plain,
            "stack": cost.stack.get(part),
            "alone": cost.alone(part),
            "last": cost.last(part),
        }
        for cost in costs
        for part in cost.parts
    ]


def _grid(cost: Cost) -> Grid:
    grid = Grid(
        f"{cost.label} on {cost.system}: cycles that each part costs",
        ["part", *(["stack", "%"] if cost.stack else []), "alone", "%", "last", "%"],
    )
    for part in cost.parts:
        cells = []
        own = [cost.stack.get(part)] if cost.stack else []
        for cycles in (*own, cost.alone(part), cost.last(part)):
            if cycles is None:
                cells += [MISSING, MISSING]
            else:
                cells += [clocks(cycles), percent(cycles, cost.plain)]
        grid.add(part, *cells)
    every = cost.cycles.get(frozenset(cost.parts))
    grid.add("cycles", clocks(cost.plain))
    if every is not None:
        grid.add("with all ideal", clocks(every))
    return grid
