# SPDX-License-Identifier: MIT
"""The CPI stack: the component to which each busy clock belongs.

A run with --cpi counts the events cpi.* (engine/p5/events.toml). In each bracket, ring and address
space, their sum equals the event cycles.busy. `check` verifies this. With nominal clocks, the names
of all these events begin with declared.NOMINAL. A run has the events of one kind of clock only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from p5stats import declared
from p5stats.lazy import pd
from p5stats.problems import StatsError

PREFIX = "cpi."
BUSY, IDLE, INSTRUCTIONS = "cycles.busy", "cycles.idle", "instructions"
EMPTY = "empty"
COLUMNS = ("phase", "ring", "event", "value")
# The components in groups, for figures: the short name of a group for columns, its name, and its
# components.
_GROUPS = (
    (
        "issue",
        "pairs and single instructions",
        (
            "cpi.pairs",
            "cpi.single.first",
            "cpi.single.second",
            "cpi.single.registers",
            "cpi.single.new_code",
            "cpi.single.other",
        ),
    ),
    (
        "long",
        "long instructions",
        ("cpi.long", "cpi.x87", "cpi.x87.waits", "cpi.strings", "cpi.segments"),
    ),
    (
        "transfers",
        "transfers, interrupts, ports",
        ("cpi.transfers", "cpi.interrupts", "cpi.serializing", "cpi.ports"),
    ),
    (
        "pipes",
        "prefixes, AGI, banks, alignment",
        ("cpi.prefixes", "cpi.agi", "cpi.banks", "cpi.misaligned"),
    ),
    ("branches", "branches", ("cpi.branches",)),
    ("code", "waits for code", ("cpi.code.l2", "cpi.code.dram", "cpi.code.fill", "cpi.itlb")),
    (
        "data",
        "waits for data",
        (
            "cpi.data.l2",
            "cpi.data.dram",
            "cpi.data.fill",
            "cpi.dtlb",
            "cpi.locked",
            "cpi.uncached",
            "cpi.page_tables",
        ),
    ),
    (
        "bus",
        "waits for the bus",
        (
            "cpi.writes.buffers",
            "cpi.writes.order",
            "cpi.bus.writes",
            "cpi.bus.reads",
            "cpi.bus.others",
        ),
    ),
)
GROUPS = {name: components for _, name, components in _GROUPS}
SHORT = {short: name for short, name, _ in _GROUPS}


@cache
def components() -> tuple[str, ...]:
    """The events of all components, in the order of their declaration."""
    return tuple(name for name in declared.events() if name.startswith(PREFIX))


def reference() -> str:
    """The table of all components, in Markdown."""
    rows = [f"| `{name}` | {declared.events()[name].counts} |\n" for name in components()]
    return "".join(["| Component | Clocks |\n|---|---|\n", *rows])


def is_in(events: Iterable[str]) -> bool:
    """Whether the components are among these events: the run was made with --cpi."""
    return any(plain(event).startswith(PREFIX) for event in events)


def plain(event: str) -> str:
    """The name of an event without the prefix of nominal clocks."""
    return event.removeprefix(declared.NOMINAL)


def check(where: str, counts: Mapping[str, int]) -> None:
    """Raises StatsError if the sum of the components is not the number of busy cycles. `counts`: of
    one ring and address space in one bracket, by event. An event that is not among them counts 0. A
    run without --cpi has no components."""
    if not is_in(counts):
        return
    own = {plain(event): count for event, count in counts.items()}
    busy = own.get(BUSY, 0)
    if (total := _sum(own)) != busy:
        raise StatsError(
            f"{where}: the components of the CPI stack add up to {total} cycles, and"
            f" {BUSY} is {busy}"
        )


def check_clocks(where: str, clocks: int, counts: Mapping[str, int]) -> None:
    """Raises StatsError if the components and the idle cycles do not add up to `clocks`. `counts`:
    the events in an interval, which may belong to several rings. An event that is not among them
    counts 0. Without --cpi, there are no components."""
    if is_in(counts) and (total := _sum(counts) + counts.get(IDLE, 0)) != clocks:
        raise StatsError(
            f"{where}: the components of the CPI stack and {IDLE} add up to"
            f" {total} cycles; the clock advances by {clocks}"
        )


def _sum(counts: Mapping[str, int]) -> int:
    return sum(value for event, value in counts.items() if event.startswith(PREFIX))


def stack(frame: pd.DataFrame, empty: str = EMPTY) -> pd.DataFrame:
    """The mean of one bracket of each phase and ring, in the columns COLUMNS.

    frame: the tidy table of one run with --cpi. The events are the components, cycles.busy,
    cycles.idle and instructions. The empty bracket is subtracted, as in the reports: its cycles are
    the median over all empty brackets, and its components are those of the brackets in the middle.
    For each phase and ring, the components therefore still add up to the busy cycles. A value can
    be negative. With nominal clocks, the events have the names without the prefix. StatsError if
    the run has no components.
    """
    own = frame.assign(event=frame["event"].map({name: plain(name) for name in _names(frame)}))
    own = own[own["event"].isin([*components(), BUSY, IDLE, INSTRUCTIONS])]
    if not is_in(_names(own)):
        raise StatsError("no CPI stack: expected a run with --cpi (in Python: cpi=True)")
    keys = ["phase", "iteration", "ring", "event"]
    counts = own.groupby(keys, sort=False)["value"].sum()
    wide = counts.unstack(["ring", "event"], fill_value=0)
    is_empty = wide.index.get_level_values("phase") == empty
    phases = wide[~is_empty].groupby(level="phase", sort=False).mean()
    if is_empty.any():
        phases = phases - _cost(wide[is_empty])
    values = phases.stack(["ring", "event"], future_stack=True)
    return values.rename("value").reset_index()[list(COLUMNS)]


def _names(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame["event"].unique()]


def _cost(brackets: pd.DataFrame) -> pd.Series[float]:
    """The mean of the one or two brackets in the middle, ordered by their busy cycles."""
    busy = brackets.xs(BUSY, axis="columns", level="event").sum(axis="columns")
    order = busy.sort_values(kind="stable").index
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    return brackets.loc[middle].mean()
