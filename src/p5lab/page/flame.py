# SPDX-License-Identifier: MIT
"""A page with the functions of a run below their callers (an icicle), for any event, or with the
difference of two runs.

The page needs no other file and no network. Its only script is flame.js, which draws the bars; the
content security policy allows no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.page import offline
from p5lab.present.breakdown import SeedGroup, own_name
from p5lab.terminal import for_terminal
from p5stats import attribution, cpi, declared, phase_names, tidy
from p5stats.attribution import Attribution, Node

ROOT = "all"
FIRST = (cpi.BUSY, declared.NOMINAL + cpi.BUSY, cpi.INSTRUCTIONS)  # the first events of the choice
Names = tuple[str, ...]
Tree = Mapping[Names, tuple[str, Mapping[str, int]]]


@dataclass(frozen=True, repr=False)
class Profile(offline.Page):
    """The contents of a page. `lead`: what is shown, and for what the values are."""

    title: str
    lead: str
    data: Mapping[str, Any]

    def page(self) -> str:
        """The HTML of the page."""
        files = "flame.html", ["flame.css"], "flame.js"
        return offline.render(*files, self.data, profile=self)


def of(systems: Sequence[SeedGroup]) -> Profile:
    """The profile of one system, or the difference of two, each with one run. Raises UserError for
    a run without counts by function."""
    runs = [_read(system.stored[0]) for system in systems]
    phases = [
        name
        for name in dict.fromkeys(name for run in runs for name in run.phases)
        if all(name in run.phases for run in runs)
    ]
    if not phases:
        ids = (
            f"{system.stored[0].id[:8]} ({', '.join(run.phases)})"
            for system, run in zip(systems, runs, strict=True)
        )
        raise UserError(f"runs {' and '.join(ids)} have no phase with counts in common")
    events = _events([run.counts for run in runs])
    names: dict[str, int] = {}
    modules: dict[str, int] = {}
    parts = []
    for phase in phases:
        nodes = _merged([run.tree(phase) for run in runs], events)
        for node in nodes:
            node[0] = names.setdefault(node[0], len(names))
            node[2] = modules.setdefault(node[2], len(modules))
        parts.append({"name": phase, "nodes": nodes})
    labels = [system.name.replace("\n", ", ") for system in systems]
    known = declared.events() | declared.nominal()
    data = {
        "names": list(names),
        "modules": list(modules),
        "events": [
            {"name": name, "unit": known[name].unit if name in known else "events"}
            for name in events
        ],
        "systems": [
            {"name": label, "divisors": [run.divisors[phase] for phase in phases]}
            for label, run in zip(labels, runs, strict=True)
        ],
        "phases": parts,
    }
    record = systems[0].stored[0].record
    what = for_terminal(selection.subject(record))
    title = f"{what}: {' against '.join(reversed(labels))}"
    return Profile(title, _lead(systems, runs), data)


def _lead(systems: Sequence[SeedGroup], runs: Sequence[_Read]) -> str:
    operation = systems[0].stored[0].record["workload"]["operation"]
    ids = " and ".join(system.stored[0].id for system in systems)
    text = f"Counts of one {operation}, run {ids}. Nothing is subtracted."
    if len(systems) > 1:
        text += " Red: more than before. Blue: less."
    if not all(run.counts.stacks for run in runs):
        text += (
            " A run without callers (--by caller) shows functions below the reason for"
            " entering the kernel."
        )
    return text


@dataclass(frozen=True)
class _Read:
    """The counts of one run. `phases`: the number of each phase by name, without the empty bracket.
    `divisors`: the operations in all brackets of each phase. `names`: other names of processes, so
    that the versions of a program have one name."""

    counts: Attribution
    phases: Mapping[str, int]
    divisors: Mapping[str, int]
    names: Mapping[str, str]

    def tree(self, phase: str) -> Tree:
        """The module and the self counts of each path of functions, the outermost first."""
        spaces = self.counts.spaces()
        tree: dict[Names, tuple[str, dict[str, int]]] = {}
        for number, counts in self.counts.counts[self.phases[phase]].items():
            node = self.counts.nodes[number]
            _, own = tree.setdefault(
                self._path(number, node, spaces), (node.function.module, defaultdict(int))
            )
            for event, count in zip(self.counts.events, counts, strict=True):
                if count:
                    own[event] += count
        return tree

    def _path(self, number: int, node: Node, spaces: Mapping[int, str]) -> Names:
        if self.counts.stacks:
            return tuple(frame.function.name for frame in self.counts.stack(number))
        space = spaces[node.cr3]
        process = self.names.get(space, space)
        return tuple(filter(None, (process, node.crossing, node.function.name)))


def _read(stored: Stored) -> _Read:
    path = stored.directory / ATTRIBUTION
    if not path.is_file():
        raise selection.without(stored, "counts by function", "--by caller")
    counts = attribution.read(path)
    names = phase_names.of(stored.record)
    phases = {names.get(number, str(number)): number for number in counts.counts}
    phases.pop(cpi.EMPTY, None)
    frame, _ = tidy.read_run(stored.directory)
    brackets = frame.groupby("phase")["iteration"].nunique()
    operations = int(stored.record["workload"]["operations"])
    divisors = {name: operations * int(brackets.get(name, 1)) for name in phases}
    return _Read(counts, phases, divisors, own_name(stored))


def _events(runs: Iterable[Attribution]) -> list[str]:
    """The events that happened in one of the runs, the most important first."""
    happened: dict[str, None] = {}
    for run in runs:
        for by_node in run.counts.values():
            for counts in by_node.values():
                happened |= {event: None for event, n in zip(run.events, counts, strict=True) if n}
    first = [event for event in FIRST if event in happened]
    return [*first, *sorted(event for event in happened if event not in FIRST)]


def _merged(trees: Sequence[Tree], events: Sequence[str]) -> list[list[Any]]:
    """The nodes of all trees together, each with its name, its parent (-1 for the first node), its
    module, and its counts: for the number of an event, the count in each tree."""
    numbers = {event: number for number, event in enumerate(events)}
    nodes: list[list[Any]] = [[ROOT, -1, "", {}]]
    places: dict[Names, int] = {(): 0}
    for which, tree in enumerate(trees):
        for path, (module, counts) in tree.items():
            for depth in range(1, len(path) + 1):
                if path[:depth] not in places:
                    places[path[:depth]] = len(nodes)
                    nodes.append([path[depth - 1], places[path[: depth - 1]], "", {}])
            node = nodes[places[path]]
            node[2] = node[2] or module
            for event, count in counts.items():
                node[3].setdefault(numbers[event], [0] * len(trees))[which] += count
    return nodes
