# SPDX-License-Identifier: MIT
"""misses.jsonl: each miss of a cache or TLB inside the brackets, with the access that loaded the
entry last, and the access that took it away.

A run with `--trace misses` writes this file. The engine writes the first misses of each phase and
says in each bracket how many it left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from p5stats import jsonl
from p5stats.lazy import pd
from p5stats.metrics import MISSES
from p5stats.problems import StatsError

SCHEMA_VERSION = 1
NUMBERS = ("loaded_at", "loaded_before", "lost_at", "lost_before")  # columns that can lack a value
ARRAYS = {event: name for name, event in MISSES.items()}  # the array and kind of access


@dataclass(frozen=True)
class Site:
    """An instruction: its function, the program, library or kernel of the function, and its linear
    address. The address is 0 for an access before the guest was ready."""

    function: str
    module: str
    instruction: int


@dataclass(frozen=True)
class Past:
    """An access before the miss. `tsc`: the clock at which its instruction began. `address`: the
    line or page that it loaded, or removed; 0 if it emptied the array."""

    site: Site
    tsc: int
    address: int


@dataclass(frozen=True)
class Miss:
    """A miss.

    tsc: the clock at which the instruction began. clocks: from then until the next instruction
    began, for all misses of the instruction together. event: such as `code_misses`. cause: its
    class (`p5stats.dimensions.CAUSES`). address: the physical address of the access, for a TLB the
    linear one. use: code, data or table, of the entry. loaded: the access that loaded the entry
    last. lost: the access that evicted or removed it, and `by`, what for: code, data, table, device
    (another bus master) or flush. A compulsory miss has neither.
    """

    tsc: int
    clocks: int
    site: Site
    event: str
    cause: str
    address: int
    use: str
    loaded: Past | None
    lost: Past | None
    by: str

    @property
    def array(self) -> str:
        """The cache or TLB, and for L1D and L2 whether the access reads or writes."""
        return ARRAYS[self.event]


@dataclass
class MissesBracket:
    """The misses between a begin and an end marker, also those of brackets inside, and the clocks
    of both markers. `beyond`: the number of misses that the engine left out."""

    begin: int
    end: int = 0
    misses: list[Miss] = field(default_factory=list)
    beyond: int = 0

    @property
    def shape(self) -> tuple[tuple[str, str, Site], ...]:
        """What misses where, without clocks."""
        return tuple((miss.event, miss.cause, miss.site) for miss in self.misses)


def read(path: Path | str) -> dict[int, list[MissesBracket]]:
    """Brackets by phase. StatsError if the file is malformed or incomplete."""
    return _Reader().read(Path(path))


class _Reader:
    def __init__(self) -> None:
        self._sites: dict[int, Site] = {}
        self._open: list[tuple[int, MissesBracket]] = []
        self._brackets: dict[int, list[MissesBracket]] = {}

    def read(self, path: Path) -> dict[int, list[MissesBracket]]:
        jsonl.between(path, "a trace of misses", SCHEMA_VERSION, lambda _: None, self._line)
        if self._open:
            raise StatsError(f"{path}: ends inside a bracket: the run did not finish")
        return self._brackets

    def _line(self, record: dict[str, Any]) -> None:
        match record["type"]:
            case "site":
                texts = str(record["function"]).partition("\t")[0], str(record["module"])
                self._sites[record["id"]] = Site(*texts, jsonl.whole(record["instruction"]))
            case "begin":
                self._open.append((record["phase"], MissesBracket(jsonl.whole(record["tsc"]))))
            case "leave":
                self._leave(record)
            case "miss" if self._open:
                miss = self._miss(record, self._open[0][1].begin)
                for _, bracket in self._open:
                    bracket.misses.append(miss)
            case "miss":
                raise ValueError("expected a miss inside a bracket")
            case other:
                raise ValueError(f"unknown type {other!r}")

    def _leave(self, record: dict[str, Any]) -> None:
        phase, bracket = self._open.pop() if self._open else (None, MissesBracket(0))
        if phase != record["phase"]:
            raise ValueError("an end without its begin")
        bracket.end = jsonl.whole(record["tsc"])
        if bracket.end < bracket.begin:
            raise ValueError(f"tsc went back from {bracket.begin} to {bracket.end}")
        bracket.beyond += jsonl.whole(record["beyond"])
        for _, outer in self._open:
            outer.beyond += bracket.beyond
        self._brackets.setdefault(record["phase"], []).append(bracket)

    def _miss(self, record: dict[str, Any], begin: int) -> Miss:
        if record["event"] not in ARRAYS:
            raise ValueError(f"unknown event {record['event']!r}")
        tsc = jsonl.whole(record["tsc"])
        if tsc < begin:
            raise ValueError(f"tsc went back from {begin} to {tsc}")
        return Miss(
            tsc,
            jsonl.whole(record["clocks"]),
            self._sites[record["site"]],
            record["event"],
            str(record["cause"]),
            jsonl.whole(record["address"]),
            str(record["use"]),
            self._past(record["loaded"], tsc),
            self._past(record["lost"], tsc),
            str(record.get("by", "")),
        )

    def _past(self, value: list[int] | None, now: int) -> Past | None:
        if value is None:
            return None
        site, tsc, address = value
        return Past(self._sites[site], jsonl.whole(tsc, now + 1), jsonl.whole(address))


def typical(brackets: Sequence[MissesBracket]) -> MissesBracket:
    """Of the complete brackets, the middle one of those with the shape that most of them have; if
    no shape is that frequent, the one with the median clocks. If none is complete, the first
    bracket. StatsError if there is no bracket."""
    if not brackets:
        raise StatsError("the trace has no bracket")
    whole = [bracket for bracket in brackets if not bracket.beyond] or list(brackets[:1])
    (shape, times), *_ = Counter(bracket.shape for bracket in whole).most_common(1)
    if 2 * times > len(whole):
        return [bracket for bracket in whole if bracket.shape == shape][times // 2]
    return sorted(whole, key=lambda bracket: bracket.end - bracket.begin)[(len(whole) - 1) // 2]


def rows(bracket: MissesBracket) -> Iterator[dict[str, Any]]:
    """A row for each miss of a bracket, in the order of time.

    `at`: clocks from the begin marker. `clocks`, `event`, `cause`, `address`, `use`, `by`: as in
    Miss. `function`, `module`, `instruction`: the code that misses. `loaded_by`, `loaded_at` and
    `loaded_before`: the function and the instruction that loaded the entry last, and how many
    clocks before; None if there was none. `lost_to`, `lost_at`, `lost_before`: the same of the
    access that took it away. An access before the guest was ready has no instruction and no clock.
    """
    for miss in bracket.misses:
        yield {
            "at": miss.tsc - bracket.begin,
            "clocks": miss.clocks,
            "event": miss.event,
            "cause": miss.cause,
            "function": miss.site.function,
            "module": miss.site.module,
            "instruction": miss.site.instruction,
            "address": miss.address,
            "use": miss.use,
            **_ago(("loaded_by", "loaded_at", "loaded_before"), miss, miss.loaded),
            **_ago(("lost_to", "lost_at", "lost_before"), miss, miss.lost),
            "by": miss.by,
        }


def frame(brackets: dict[int, list[MissesBracket]]) -> "pd.DataFrame":
    """A row for each miss of a bracket: `phase`, `iteration` (the number of the bracket in its
    phase), and the columns of `rows`."""
    table = pd.DataFrame(
        {"phase": phase, "iteration": iteration, **row}
        for phase, own in brackets.items()
        for iteration, bracket in enumerate(own)
        for row in rows(bracket)
    )
    return table.astype(dict.fromkeys(NUMBERS, "Int64")) if len(table) else table


def _ago(names: tuple[str, str, str], miss: Miss, past: Past | None) -> dict[str, Any]:
    function, instruction, clocks = None, None, None
    if past:
        function = past.site.function
        if past.site.instruction:
            instruction, clocks = past.site.instruction, miss.tsc - past.tsc
    return dict(zip(names, (function, instruction, clocks), strict=True))
