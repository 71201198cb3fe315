# SPDX-License-Identifier: MIT
"""attribution.jsonl: counts by function, ring, address space and cause of the entry to the kernel.

If the run recorded stacks, the counts are also divided by caller. If the run recorded the causes of
misses, the misses are also divided by cause. In each phase, the counts of all nodes add up exactly
to the count of the phase's brackets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from p5stats import cpi, jsonl, known_calls, observers
from p5stats.crossings import PAGE_FAULT
from p5stats.known_calls import SYSTEM_CALL
from p5stats.lazy import pd

SCHEMA_VERSION = 1
INSTRUCTIONS = "instructions"
USER_RING = 3
UNKNOWN = "[not known]"
VDSO, NO_MODULE = "vdso", "[unknown]"
COLUMNS = ["phase", "function", "module", "ring", "space", "crossing", "event", "count"]
_TEXTS = ("type", "name", "module", "kind", "cache", "cause", "lost", "won")
_LISTS = ("counts",)
_NODE = ("type", "id", "parent", "function", "cr3", "ring", "entrance")  # others are dimensions


@dataclass(frozen=True)
class Function:
    """A function of a guest. `module`: the program, library or kernel that contains the function.
    If the name is in brackets, the code has no symbol.

    file, line: the source line, if the run counted by line and the code belongs to a line. The
    functions of other source lines are then other objects. Without a line, `file` is empty.
    """

    name: str
    module: str
    file: str = ""
    line: int = 0

    @classmethod
    def read(cls, name: str, module: str) -> Self:
        """The function in a record. A tab and `FILE:LINE` may follow its name. Raises ValueError if
        LINE is not a number."""
        plain, _, place = name.partition("\t")
        file, _, line = place.rpartition(":")
        return cls(plain, module, file, int(line)) if place else cls(plain, module)


@dataclass(frozen=True)
class Node:
    """A function in a ring of an address space (`cr3`).

    crossing: the reason why execution entered this ring. parent: the node that called this node, or
    None if the run did not record stacks or the caller is unknown. others: the values of the
    dimensions of other observers (joint counts).
    """

    parent: int | None
    function: Function
    cr3: int
    ring: int
    crossing: str
    others: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Eviction:
    """In the brackets of `phase`, the function `loser` had `count` misses of lines or pages that
    the function `winner` had evicted or removed. An older p5lab did not record the phase (None).

    cache: L1I, L1D, L2, ITLB or DTLB. cause: the class of the misses. lost: the use of the entry
    (code, data or page table). won: the use of the entry that replaced it, or `device` (another bus
    master) or `flush` if it was removed. colour: the page of the cache (of one way), or the set of
    the TLB, to which both belong.
    """

    phase: int | None
    cache: str
    cause: str
    loser: Function
    lost: str
    winner: Function
    won: str
    colour: int
    count: int


@dataclass
class Attribution:
    """The attribution of one run. `counts`: the counts by phase and node, in the order of
    `events`."""

    events: list[str]
    stacks: bool
    nodes: dict[int, Node] = field(default_factory=dict)
    counts: dict[int, dict[int, list[int]]] = field(default_factory=dict)
    evictions: list[Eviction] = field(default_factory=list)

    @cached_property
    def has_stack(self) -> bool:
        """Whether the run counted the CPI stack."""
        return cpi.is_in(self.events)

    def spaces(self) -> dict[int, str]:
        """The name of each address space, by CR3: the program with the most instructions in ring 3.

        If only library code ran in ring 3, the name is the library's name. If no code ran in ring
        3, the name is the value of CR3.
        """
        executed: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        instructions = self.events.index(INSTRUCTIONS)
        for by_node in self.counts.values():
            for number, counts in by_node.items():
                node = self.nodes[number]
                if node.ring == USER_RING:
                    executed[node.cr3][node.function.module] += counts[instructions]
        names: dict[int, str] = {}
        used: dict[str, int] = defaultdict(int)
        for cr3 in dict.fromkeys(node.cr3 for node in self.nodes.values()):
            modules = executed.get(cr3)
            if not modules:
                names[cr3] = f"{cr3:#010x}"
                continue
            programs = [name for name in modules if not _is_library(name)] or list(modules)
            name = max(programs, key=lambda module: modules[module]).rpartition("/")[2]
            used[name] += 1
            names[cr3] = name if used[name] == 1 else f"{name} #{used[name]}"
        return names

    def frame(self, *, callers: bool = False) -> pd.DataFrame:
        """A row for each count that is not zero. Counts are sums over brackets and callers.

        Columns: COLUMNS. `phase`, `ring` and `count` are integers, the other columns are texts. If
        the run counted by source line, the column `line` follows `module`. It contains
        `FILE:LINE`, where FILE is the end of the path that distinguishes the file from all others.
        The text is empty for code without a source line. With `callers`, the column `caller` has
        the name of the function that called the function, or an empty text. Joint counts have a
        column for each dimension of the other observers.
        """
        others = dict.fromkeys(name for node in self.nodes.values() for name in node.others)
        spaces = self.spaces()
        files = short_names({node.function.file for node in self.nodes.values()} - {""})
        sums: dict[tuple[Any, ...], int] = defaultdict(int)
        for phase, by_node in self.counts.items():
            for number, counts in by_node.items():
                node = self.nodes[number]
                where = (
                    phase,
                    node.function.name,
                    node.function.module,
                    *([_line(node.function, files)] if files else []),
                    *([self._caller(node)] if callers else []),
                    node.ring,
                    spaces[node.cr3],
                    node.crossing,
                    *(node.others.get(name, observers.REST) for name in others),
                )
                for event, count in zip(self.events, counts, strict=True):
                    if count:
                        sums[(*where, event)] += count
        more = [*(["line"] if files else []), *(["caller"] if callers else [])]
        columns = [*COLUMNS[:3], *more, *COLUMNS[3:-2], *others, *COLUMNS[-2:]]
        frame = pd.DataFrame([(*key, count) for key, count in sums.items()], columns=columns)
        return frame.astype({"phase": "int64", "ring": "int64", "count": "int64"})

    def _caller(self, node: Node) -> str:
        return "" if node.parent is None else self.nodes[node.parent].function.name

    def line_frame(self) -> pd.DataFrame:
        """A row for each source line and event with a count that is not zero.

        Columns: `phase`, `file` (the path that the compiler recorded), `line`, `event`, `count`.
        Code without a source line has the file "" and the line 0, so the sum of an event over all
        rows of a phase is the count of its brackets.
        """
        sums: dict[tuple[int, str, int, str], int] = defaultdict(int)
        for phase, by_node in self.counts.items():
            for number, counts in by_node.items():
                function = self.nodes[number].function
                for event, count in zip(self.events, counts, strict=True):
                    if count:
                        sums[phase, function.file, function.line, event] += count
        rows = [(*key, count) for key, count in sums.items()]
        return pd.DataFrame(rows, columns=["phase", "file", "line", "event", "count"])

    def eviction_frame(self) -> pd.DataFrame:
        """The evictions, most frequent first.

        Columns: `phase`, `cache`, `cause`, `loser`, `lost`, `winner`, `won`, `colour`, `count`.
        Functions of the same name in different modules share a row.
        """
        columns = ["phase", "cache", "cause", "loser", "lost", "winner", "won", "colour"]
        rows = [
            tuple(getattr(value, "name", value) for value in vars(eviction).values())
            for eviction in self.evictions
        ]
        frame = pd.DataFrame(rows, columns=[*columns, "count"])
        sums = frame.groupby(columns, sort=True, as_index=False, dropna=False)["count"].sum()
        return sums.sort_values(["count", *columns], ascending=[False] + [True] * len(columns))

    def stack(self, number: int) -> list[Node]:
        """A node and its callers, the outermost caller first."""
        nodes = [self.nodes[number]]
        while nodes[-1].parent is not None:
            nodes.append(self.nodes[nodes[-1].parent])
        return nodes[::-1]


def short_names(paths: Collection[str]) -> dict[str, str]:
    """The end of each path, with as many directories as are needed to distinguish the paths."""
    names: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            name = "/".join(parts[-count:])
            if not any(other != path and f"/{other}".endswith(f"/{name}") for other in paths):
                break
        names[path] = name
    return names


def _line(function: Function, files: Mapping[str, str]) -> str:
    return f"{files[function.file]}:{function.line}" if function.file else ""


def _is_library(module: str) -> bool:
    return ".so" in module or module in (VDSO, NO_MODULE)


def read(path: Path) -> Attribution:
    """Reads an attribution. StatsError if the file is malformed or incomplete."""
    counted = Attribution([], stacks=False)
    functions: dict[int, Function] = {}
    crossings = {0: UNKNOWN}

    def header(record: dict[str, Any]) -> None:
        counted.events.extend(jsonl.names(record["events"]))
        if INSTRUCTIONS not in counted.events:
            raise ValueError(f"expected the names of events, including {INSTRUCTIONS}")
        counted.stacks = bool(record["stacks"])

    def line(record: dict[str, Any]) -> None:
        _check(record)
        match record["type"]:
            case "function":
                functions[record["id"]] = Function.read(record["name"], record["module"])
            case "entrance":
                crossings[record["id"]] = crossing_name(
                    record["kind"], record["vector"], record["number"]
                )
            case "node" if record["id"] in counted.nodes:
                raise ValueError(f"a second node {record['id']}")
            case "node":
                counted.nodes[record["id"]] = _node(counted, record, functions, crossings)
            case "counts":
                _add_counts(counted, record)
            case "eviction":
                counted.evictions.append(
                    Eviction(
                        record.get("phase"),
                        record.get("cache", "L2"),
                        record.get("cause", "conflict"),  # the only ones of an older p5lab
                        functions[record["loser"]],
                        record["lost"],
                        functions[record["winner"]],
                        record["won"],
                        record["colour"],
                        record["count"],
                    )
                )
            case other:
                raise ValueError(f"unknown type {other!r}")

    jsonl.between(path, "an attribution", SCHEMA_VERSION, header, line)
    return counted


def _check(record: dict[str, Any]) -> None:
    """Checks a record. ValueError if a field has a wrong type, or if a number is less than 0 or
    greater than jsonl.LIMIT - 1."""
    for key, value in record.items():
        if key in _TEXTS:
            fits = isinstance(value, str) or (key == "kind" and value is None)
        elif record["type"] == "node" and key not in _NODE:
            fits = isinstance(value, str | int)
        elif key in _LISTS:
            fits = isinstance(value, list)
        else:
            fits = (type(value) is int and 0 <= value < jsonl.LIMIT) or (
                key == "vector" and value is None
            )
        if not fits:
            raise ValueError(f"{key}: found {str(value)[:40]!r}")


def _node(
    counted: Attribution,
    record: dict[str, Any],
    functions: dict[int, Function],
    crossings: dict[int, str],
) -> Node:
    parent = record["parent"] or None
    if parent is not None and parent not in counted.nodes:
        raise ValueError(f"no node {parent} before this one")
    ring = int(record["ring"])
    # For code in ring 3, the cause of an entry to the kernel has no meaning.
    crossing = "" if ring == USER_RING else crossings[record["entrance"]]
    others = observers.named({name: record[name] for name in record if name not in _NODE})
    return Node(parent, functions[record["function"]], int(record["cr3"]), ring, crossing, others)


def _add_counts(counted: Attribution, record: dict[str, Any]) -> None:
    counts = jsonl.counts(record["counts"], counted.events, cut=True)
    if record["node"] not in counted.nodes:
        raise ValueError("expected counts of a known node")
    by_node = counted.counts.setdefault(int(record["phase"]), {})
    if record["node"] in by_node:
        raise ValueError(f"counts of node {record['node']} twice")
    by_node[record["node"]] = counts
    if counted.has_stack:
        own = dict(zip(counted.events, by_node[record["node"]], strict=True))
        cpi.check(f"phase {record['phase']}, node {record['node']}", own)


def crossing_name(kind: str | None, vector: int | None, number: int) -> str:
    """The reason why execution entered a ring: a system call, a fault or an interrupt."""
    if kind == known_calls.GATE or (kind == known_calls.INT and vector == SYSTEM_CALL):
        return known_calls.read().system_call(vector, number)
    if kind == "exception" and vector == PAGE_FAULT:
        return "page fault"
    if kind == "start":
        return "new task"
    if kind is None:
        return UNKNOWN
    return kind if vector is None else f"{kind} {vector:#04x}"
