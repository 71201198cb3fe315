# SPDX-License-Identifier: MIT
"""What would make a program faster: the changes of a machine that `./p5lab whatif` tries, and the
table of their gains."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from p5lab.describe import ideal
from p5lab.describe.keys import overlay_of, readable
from p5lab.describe.machine import Machine
from p5lab.describe.observation import Shadow
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import tables
from p5lab.present.comparison import CYCLES, Cell, Comparison, Question, System
from p5lab.present.ideal_parts import CODE, COMPONENTS, DATA, WRITES
from p5lab.present.tables import MISSING, Grid, clocks, percent
from p5stats import cpi

LEAST = 0.01  # of the cycles; a change that can gain less is not tried
NEW_CODE = (*CODE, "cpi.single.new_code")
L2_WAITS = ("cpi.code.dram", "cpi.data.dram", *WRITES)
L1I_MISSES, L1D_MISSES = ("code_misses",), ("data_read_misses",)
L2_MISSES = ("l2_read_misses", "l2_write_misses")
# Keys that are doubled: the components of the CPI stack that they can shorten, and the misses.
DOUBLED = {
    "l1i.size": (NEW_CODE, L1I_MISSES),
    "l1i.ways": (NEW_CODE, L1I_MISSES),
    "l1d.size": ((*DATA, *WRITES), L1D_MISSES),
    "l1d.ways": ((*DATA, *WRITES), L1D_MISSES),
    "l2.size": (L2_WAITS, L2_MISSES),
    "l2.ways": (L2_WAITS, L2_MISSES),
    "itlb.entries": (("cpi.itlb",), ("itlb_misses",)),
    "dtlb.entries": (("cpi.dtlb",), ("dtlb_misses",)),
    "btb.entries": (("cpi.branches",), ()),
    "bus.post_buffer_qwords": (WRITES, ()),
}
# Keys with another value, and the components that this can shorten.
CHANGED = {
    "l1d.write_allocate": ("true", WRITES),
    "l2.write_allocate": ("true", L2_WAITS),
    "l2.write_policy": ("write-back", WRITES),
    "fetch.ahead": ("true", CODE),
    "dram.page_miss": ("0", L2_WAITS),
    "dram.pipelined": ("true", L2_WAITS),
}
DRAM_READ, BEAT = "dram.read", 2  # bus clocks for each transfer of a burst, as of EDO DRAM
NOTE = (
    "gain: the cycles of one operation that disappear with this change alone, with those in which"
    " the processor is halted. A change is tried only if the components of the CPI stack that it"
    f" can shorten, times the share of misses that it avoids, are {LEAST:.0%} of the cycles or"
    " more. docs/concepts/cpi-stack.md explains the changes."
)


@dataclass(frozen=True)
class Change:
    """A change of the machine. `settings`: its keys with canonical values. `components`: events
    whose clocks it can shorten. `misses`: events of misses that it can avoid, which a shadow
    geometry counts; empty if no shadow can."""

    settings: Mapping[str, str]
    components: tuple[str, ...]
    misses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The keys with their canonical values."""
        return " ".join(f"{key}={value}" for key, value in self.settings.items())

    @property
    def shown(self) -> str:
        """The keys with their values, as people write them."""
        return readable(self.name)


@dataclass(frozen=True)
class Effect:
    """What is known about a change for one benchmark on one system. `most`: the cycles that it
    could gain, by the CPI stack and the avoided misses. `avoided`: the share of misses that it
    avoids; None if it is not known. `gain`: measured cycles; None if the change was not tried."""

    change: Change
    most: float
    avoided: float | None
    gain: float | None = None


@dataclass(frozen=True)
class Effects:
    """The changes for one benchmark on one system. `cycles`: of the unchanged machine."""

    label: str
    system: str
    cycles: float
    every: tuple[Effect, ...]


def changes(board: Machine) -> list[Change]:
    """The changes to try on a machine: each ideal part, and each key of the tables above that the
    machine has and that can have the other value."""
    candidates: list[tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]] = [
        ({f"{ideal.PREFIX}{part}": "true"}, components, ())
        for part in ideal.PARTS
        for components in (NEW_CODE if part == "l1i" else COMPONENTS.get(part, (cpi.IDLE,)),)
    ]
    for key, (components, misses) in DOUBLED.items():
        candidates.append(({key: str(2 * int(board.values[key]))}, components, misses))
    for key, (value, components) in CHANGED.items():
        candidates.append(({key: value}, components, ()))
    first, *others = map(int, str(board.canonical("engine")[DRAM_READ]).split("-"))
    if max(others, default=0) > BEAT:
        text = "-".join([str(first), *[str(BEAT)] * len(others)])
        candidates.append(({DRAM_READ: text}, L2_WAITS, ()))
    return [change for wanted in candidates if (change := _change(board, *wanted))]


def _change(
    board: Machine, settings: dict[str, str], components: tuple[str, ...], misses: tuple[str, ...]
) -> Change | None:
    """The change with canonical values. None if the machine has this value already, lacks the
    part, or cannot have the value."""
    if not all(board.has(key) for key in settings):
        return None
    try:
        changed = board.with_set(dict(settings), "whatif")
    except UserError:
        return None
    own = board.canonical("engine")
    values = {key: changed.canonical("engine")[key] for key in settings}
    if all(own[key] == value for key, value in values.items()):
        return None
    return Change({key: changed.overlay[key] for key in settings}, components, misses)


def shadows(changes: Iterable[Change]) -> tuple[Shadow, ...]:
    """The geometries whose misses the run of the unchanged machine counts, too."""
    return tuple(Shadow(change.name, dict(change.settings)) for change in changes if change.misses)


def effects(plain: Sequence[Stored], changes: Sequence[Change]) -> list[Effects]:
    """What each change could gain, from the runs of the unchanged machine, which counted the CPI
    stack and the shadows."""
    compared = Comparison(plain)
    result = []
    for question, system, cell in _measured(compared):
        beside = {
            other.geometry: compared.cell(question, other)
            for other in compared.systems
            if other.guest == system.guest
        }
        every = tuple(_effect(change, cell, beside.get(change.name)) for change in changes)
        name = " ".join(filter(None, (system.guest, system.machine, system.geometry)))
        result.append(Effects(compared.label(question), name, _elapsed(cell), every))
    return result


def _measured(compared: Comparison) -> Iterator[tuple[Question, System, Cell]]:
    """The cells that are not those of shadows."""
    for question in compared.questions:
        for system in compared.systems:
            cell = compared.cell(question, system)
            if cell and cell.record["machine"]["geometry"] == system.geometry:
                yield question, system, cell


def _effect(change: Change, cell: Cell, shadow: Cell | None) -> Effect:
    waits = sum(_count(cell, name) for name in change.components)
    if not (change.misses and shadow):
        return Effect(change, waits, None)
    own, other = (sum(_count(side, name) for name in change.misses) for side in (cell, shadow))
    avoided = (own - other) / own if own else 0.0
    return Effect(change, waits * max(avoided, 0), avoided)


def _count(cell: Cell, event: str) -> float:
    count = cell.event(event)
    return 0.0 if math.isnan(count) else count


def _elapsed(cell: Cell) -> float:
    return cell.mean(CYCLES) + _count(cell, cpi.IDLE)


def worth_trying(effects: Sequence[Effects]) -> list[Change]:
    """The changes that could gain at least LEAST for one of the benchmarks."""
    tried = {
        effect.change.name: effect.change
        for benchmark in effects
        for effect in benchmark.every
        if effect.most >= LEAST * benchmark.cycles
    }
    return list(tried.values())


def with_gains(
    effects: Sequence[Effects], plain: Sequence[Stored], tried: Sequence[Stored]
) -> list[Effects]:
    """The effects with the measured gains. `tried`: the runs with the changes."""
    compared = Comparison([*plain, *tried])
    base = overlay_of(plain[0].record["machine"]["geometry"])
    gains: dict[tuple[str, str, str], float] = {}
    for question, system, cell in _measured(compared):
        overlay = overlay_of(system.geometry)
        name = " ".join(f"{k}={v}" for k, v in overlay.items() if base.get(k) != v)
        gains[compared.label(question), system.guest, name] = _elapsed(cell)

    def gained(benchmark: Effects, effect: Effect) -> Effect:
        cycles = gains.get((benchmark.label, benchmark.system.split(" ")[0], effect.change.name))
        return effect if cycles is None else replace(effect, gain=benchmark.cycles - cycles)

    return [
        replace(benchmark, every=tuple(gained(benchmark, effect) for effect in benchmark.every))
        for benchmark in effects
    ]


def show(console: Console, effects: Sequence[Effects], form: str) -> None:
    """Prints the gains as table, markdown, csv or json, the largest first."""
    said = []
    for benchmark in effects:
        if rest := [effect.change.shown for effect in benchmark.every if effect.gain is None]:
            where = f"{benchmark.label} on {benchmark.system}: not" if len(effects) > 1 else "Not"
            said.append(f"{where} tried, because they can gain less: {', '.join(rest)}.")
    tables.show(console, form, list(map(_grid, effects)), [*said, NOTE], rows(effects))


def _sorted(every: Sequence[Effect]) -> list[Effect]:
    """Those with the largest gain first; then those that were not tried."""
    return sorted(every, key=lambda effect: math.inf if effect.gain is None else -effect.gain)


def _grid(benchmark: Effects) -> Grid:
    grid = Grid(
        f"{benchmark.label} on {benchmark.system}: what would help,"
        f" of {clocks(benchmark.cycles)} cycles",
        ["change", "gain", "%", "misses avoided"],
    )
    for effect in _sorted(benchmark.every):
        if (gain := effect.gain) is None:
            break  # this one and those after it were not tried
        avoided = MISSING if effect.avoided is None else f"{effect.avoided:.0%}"
        grid.add(effect.change.shown, clocks(gain), percent(gain, benchmark.cycles), avoided)
    return grid


def rows(effects: Sequence[Effects]) -> list[dict[str, object]]:
    """A row for each change, those with the largest gain first; then those that were not tried."""
    return [
        {
            "benchmark": benchmark.label,
            "system": benchmark.system,
            "change": effect.change.shown,
            "cycles": benchmark.cycles,
            "gain": effect.gain,
            "at_most": effect.most,
            "misses_avoided": effect.avoided,
        }
        for benchmark in effects
        for effect in _sorted(benchmark.every)
    ]
