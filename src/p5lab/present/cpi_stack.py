# SPDX-License-Identifier: MIT
"""Prints CPI stacks, for `./p5lab show RUN... --cpi`: what the processor spends its clocks on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console

from p5lab.describe.observation import Cpi
from p5lab.describe.observation.clocks import is_nominal
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present import breakdown, tables
from p5lab.present.breakdown import PLAIN, BreakdownQuestion
from p5lab.present.comparison import differing, operation_of, system_of
from p5lab.present.tables import MISSING, Grid, clocks, percent
from p5stats import cpi, tidy
from p5stats.dimensions import DIMENSIONS

RING = "ring"
CYCLES, NOMINAL_CYCLES = "cycles", "nominal cycles"
SMALL = 0.005  # the table sums up components with a smaller share of the cycles in all runs
NOTE = (
    "Each number is the mean of one operation over the iterations, without the empty bracket. The"
    " components add up to the busy cycles. docs/concepts/cpi-stack.md explains the components."
)


@dataclass(frozen=True)
class Stack:
    """The CPI stack of one phase of one run, for one operation. `cycles`: by component, ring and
    place. The place is a function or another value of dimensions (`of_places`), or empty.
    `instructions`, `idle`: the instructions and the idle cycles of all rings."""

    stored: Stored
    phase: str
    cycles: dict[tuple[str, int, str], float]
    instructions: float
    idle: float = 0.0

    @property
    def unit(self) -> str:
        """The unit of all cycles: CYCLES or NOMINAL_CYCLES."""
        return NOMINAL_CYCLES if is_nominal(self.stored.record) else CYCLES

    @property
    def busy(self) -> float:
        """The busy cycles."""
        return sum(self.cycles.values())

    def of(self, component: str) -> float:
        """The cycles of a component in all rings."""
        return sum(value for (name, *_), value in self.cycles.items() if name == component)

    @property
    def rings(self) -> list[int]:
        """The rings with cycles, the innermost first."""
        return sorted({ring for (_, ring, _), value in self.cycles.items() if value})


def is_in(stored: Stored) -> bool:
    """Whether a run with status ok has counted a CPI stack."""
    return stored.status == "ok" and bool(stored.record.get("request", {}).get(Cpi.name))


def first_in(same: Iterable[Stored]) -> Stored | None:
    """Returns the first of these runs that has a CPI stack."""
    return next(filter(is_in, same), None)


def of_run(stored: Stored) -> list[Stack]:
    """The stacks of all phases of a run. Raises UserError if the run has no CPI stack."""
    if not is_in(stored):
        raise selection.without(stored, "CPI stack", "--cpi")
    frame, _ = tidy.read_run(stored.directory)
    operations = stored.record["workload"]["operations"]
    stacks = []
    for phase, rows in cpi.stack(frame).groupby("phase", sort=False):
        values = {
            (str(event), int(ring), ""): value / operations
            for ring, event, value in zip(rows["ring"], rows["event"], rows["value"], strict=True)
        }
        stacks.append(_stack(stored, str(phase), values))
    return stacks


def of_places(stored: Stored, question: BreakdownQuestion) -> list[Stack]:
    """The stacks of all phases of a run, except the empty bracket. The dimensions of the question
    become the place, without the ring; one of them must be the ring. Nothing is subtracted. Raises
    UserError if the run has no CPI stack by these dimensions."""
    dimensions = [name for name in question.by if name != RING]
    if not is_in(stored):
        options = {DIMENSIONS[name].options for name in dimensions} - {Cpi.option, ""}
        raise selection.without(
            stored,
            f"CPI stack by {', '.join(dimensions)}",
            " ".join([Cpi.option, *sorted(options)]),
        )
    frame = breakdown.counted(stored, question).frame
    counts, _ = tidy.read_run(stored.directory)
    brackets = counts.groupby("phase")["iteration"].nunique()
    stacks = []
    for phase, rows in frame.groupby("phase", sort=False):
        if phase == cpi.EMPTY or phase not in brackets.index:
            continue
        each = stored.record["workload"]["operations"] * int(brackets[phase])
        values: dict[tuple[str, int, str], float] = {}
        sums = rows.groupby(["event", RING, *dimensions])["count"].sum()
        for (event, ring, *place), value in sums.items():
            key = cpi.plain(str(event)), int(ring), ", ".join(filter(None, place))
            values[key] = values.get(key, 0.0) + float(value) / each
        stacks.append(_stack(stored, str(phase), values))
    return stacks


def _stack(stored: Stored, phase: str, values: dict[tuple[str, int, str], float]) -> Stack:
    """A stack from the counts of all events."""
    parts = {key: value for key, value in values.items() if key[0].startswith(cpi.PREFIX)}
    retired, idle = (
        sum(value for (event, *_), value in values.items() if event == name)
        for name in (cpi.INSTRUCTIONS, cpi.IDLE)
    )
    return Stack(stored, phase, parts, retired, idle)


def show(console: Console, runs: Sequence[Stored], form: str) -> None:
    """Prints the stacks of runs as table, markdown, csv or json. The table has a column for each
    run of the same workload; for one run, it has a column for each ring. Raises UserError for a run
    without a CPI stack."""
    stacks = [stack for stored in runs for stack in of_run(stored)]
    grids = [_grid(title, of_phase) for title, of_phase in by_phase(stacks).items()]
    tables.show(console, form, grids, [NOTE], _rows(stacks))


def _rows(stacks: Sequence[Stack]) -> list[dict[str, object]]:
    # Nominal cycles have a column of their own.
    units = {stack.unit: "" for stack in stacks}
    return [
        {
            "run": stack.stored.id,
            "phase": stack.phase,
            "component": component,
            "ring": ring,
            **units,
            stack.unit: value,
        }
        for stack in stacks
        for (component, ring, _), value in stack.cycles.items()
    ]


def by_phase(stacks: Sequence[Stack]) -> dict[str, list[Stack]]:
    """The stacks of each phase of each workload, by the name of the workload and the phase. A phase
    with the name of its workload is not named twice. Stacks of nominal cycles are apart."""
    same: dict[str, list[Stack]] = {}
    for stack in stacks:
        what = selection.subject(stack.stored.record)
        title = what if stack.phase == what else f"{what}, {stack.phase}"
        title += f" ({NOMINAL_CYCLES})" if stack.unit == NOMINAL_CYCLES else ""
        same.setdefault(title, []).append(stack)
    return same


def _grid(title: str, stacks: Sequence[Stack]) -> Grid:
    """The table of one phase, with two columns for each run; for one run, also with a column for
    each ring."""
    unit, alone = stacks[0].unit, len(stacks) == 1
    rings = stacks[0].rings if alone else []
    runs = [""] if alone else [f"{name}\n" for name in names(stacks)]
    heads = ["component", *(f"{run}{what}" for run in runs for what in (unit, "%"))]
    operation = operation_of(stacks[0].stored.record, stacks[0].phase)
    title = f"CPI stack of {title}: {unit} of one {operation}"
    grid = Grid(title, [*heads, *(f"ring {ring}" for ring in rings)])
    for name, parts in (*_chosen(stacks), (f"busy {unit}", cpi.components())):
        cycles = [(sum(map(stack.of, parts)), stack.busy) for stack in stacks]
        cells = [cell for own, busy in cycles for cell in (clocks(own), percent(own, busy))]
        own = stacks[0].cycles
        each = [sum(own.get((part, ring, ""), 0.0) for part in parts) for ring in rings]
        grid.add(name, *cells, *map(clocks, each))
    retired = [clocks(stack.instructions) for stack in stacks]
    rates = [_per(stack.busy, stack.instructions) for stack in stacks]
    for name, values in (("instructions", retired), (f"{unit}/instruction", rates)):
        grid.add(name, *(cell for value in values for cell in (value, "")))
    return grid


def names(stacks: Sequence[Stack]) -> list[str]:
    """A name for each stack, with the parts of its system that differ between the stacks, one on
    each line."""
    records = [stack.stored.record for stack in stacks]
    parts = [(selection.called(own), *system_of(own), f"seed {own['seed']}") for own in records]
    names = ["\n".join(part or PLAIN for part in own) for own in differing(parts, [1])]
    is_clear = len(set(names)) == len(names)
    return names if is_clear else [stack.stored.id[:8] for stack in stacks]


def _chosen(stacks: Sequence[Stack]) -> list[tuple[str, tuple[str, ...]]]:
    """The rows: the name and the components of each, in the order of the declaration. One row sums
    up the small components."""
    rows: list[tuple[str, tuple[str, ...]]] = []
    small = []
    for component in cpi.components():
        shares = [stack.of(component) / stack.busy if stack.busy else 0 for stack in stacks]
        if max(map(abs, shares)) >= SMALL:
            rows.append((component.removeprefix(cpi.PREFIX), (component,)))
        elif any(shares):
            small.append(component)
    if small:
        rows.append((f"({len(small)} others)", tuple(small)))
    return rows


def _per(cycles: float, instructions: float) -> str:
    return f"{cycles / instructions:.2f}" if instructions else MISSING
