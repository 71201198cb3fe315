# SPDX-License-Identifier: MIT
"""Profiles of a run in the formats of other programs: speedscope, callgrind and Chrome's traces.

speedscope: https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources. callgrind:
the manual of Valgrind, "Callgrind Format Specification". Chrome: "Trace Event Format", which
Perfetto reads as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from p5stats import cpi, misses
from p5stats.attribution import Attribution, Function, Node

if TYPE_CHECKING:
    from p5stats.crossings import CrossingsBracket
    from p5stats.intervals import Intervals

CPI = cpi.PREFIX.rstrip(".")  # all components of the CPI stack, as one event of `speedscope`
EXPORTER = "p5lab"


def speedscope(
    counted: Attribution, event: str, name: str, phases: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The stacks of a run in the JSON format of speedscope.

    Each phase is a profile of type `sampled`, with its name in `phases`. Each stack is one sample,
    and the counts of the event are the weights. The profile does not show the order in time. A
    negative count, of an older p5lab, corrects a count of another function and is left out. The
    event `cpi` means all components of the CPI stack: each stack then ends with a component, and
    its clocks are the weights.
    """
    frames: dict[Function, int] = {}
    profiles = []
    columns = _columns(counted, event)
    for phase, by_node in counted.counts.items():
        samples, weights = [], []
        for number, counts in by_node.items():
            stack = [node.function for node in counted.stack(number)]
            for column, leaf in columns.items():
                if counts[column] <= 0:
                    continue
                named = (frames.setdefault(function, len(frames)) for function in (*stack, *leaf))
                samples.append(list(named))
                weights.append(counts[column])
        profiles.append(
            {
                "type": "sampled",
                "name": f"{(phases or {}).get(phase, f'phase {phase}')}: {event}",
                "unit": "none",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        )
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": EXPORTER,
        "name": name,
        "shared": {"frames": [_frame(function) for function in frames]},
        "profiles": profiles,
    }


def has_event(counted: Attribution, event: str) -> bool:
    """Whether `speedscope` can use this event."""
    return bool(_columns(counted, event))


def _columns(counted: Attribution, event: str) -> dict[int, tuple[Function, ...]]:
    """The columns of the counts that belong to an event, and the leaves of the stacks."""
    if event != CPI:
        return {counted.events.index(event): ()} if event in counted.events else {}
    return {
        column: (Function(name, "CPI stack"),)
        for column, name in enumerate(counted.events)
        if cpi.plain(name).startswith(cpi.PREFIX)
    }


def _frame(function: Function) -> dict[str, Any]:
    """A frame in the format of speedscope."""
    if function.file:
        return {"name": function.name, "file": function.file, "line": function.line}
    return {"name": function.name, "file": function.module}


def callgrind(counted: Attribution, phases: Collection[int], name: str) -> str:
    """The sum of the counts of phases in callgrind's format, for callgrind_annotate and
    KCachegrind.

    Each function has its own counts by source line (0 without lines), and an inclusive cost for
    each function that it calls. The number of calls is not known, so it is 1: callgrind_annotate
    takes the cost of no call for the function's own. The format has no negative numbers: such
    corrections of an older p5lab are 0, and a comment in the file names the right sum.
    """
    own, calls = _costs(counted, phases)
    events = [re.sub(r"[^A-Za-z0-9]", "_", event) for event in counted.events]
    zero = [0] * len(events)
    every = [counts for lines in own.values() for counts in lines.values()]
    written, exact = _add(zero, *map(_positive, every)), _add(zero, *every)
    text = ["# callgrind format", "version: 1", f"creator: {EXPORTER}", f"cmd: {_plain(name)}"]
    for event, count, right in zip(events, written, exact, strict=True):
        if count != right:
            text.append(f"# negative counts are left out: the sum of {event} is {right}")
    text += ["positions: line", f"events: {' '.join(events)}", f"summary: {_numbers(written)}"]
    for place in dict.fromkeys((*own, *calls)):
        module, file, function = place
        text += ["", f"ob={module}", f"fl={file}", f"fn={function}"]
        for line, counts in sorted(own.get(place, {}).items()):
            text.append(f"{line} {_numbers(_positive(counts))}")
        for (line, (callee, callee_file, called)), counts in calls.get(place, {}).items():
            text += [f"cob={callee}", f"cfi={callee_file}", f"cfn={called}", "calls=1 0"]
            text.append(f"{line} {_numbers(_positive(counts))}")
    return "\n".join([*text, "", f"totals: {_numbers(written)}", ""])


def _costs(
    counted: Attribution, phases: Collection[int]
) -> tuple[dict[_Place, dict[int, list[int]]], dict[_Place, dict[tuple[int, _Place], list[int]]]]:
    """The own counts of each function by line, and the inclusive counts of each of its calls."""
    zero = [0] * len(counted.events)
    by_node: dict[int, list[int]] = {}
    for phase in phases:
        for number, counts in counted.counts[phase].items():
            by_node[number] = _add(counts, by_node.get(number, zero))
    totals = {number: by_node.get(number, zero) for number in counted.nodes}
    own: dict[_Place, dict[int, list[int]]] = {}
    calls: dict[_Place, dict[tuple[int, _Place], list[int]]] = {}
    # A parent is written before its children, so the children come first in this order.
    for number, node in reversed(counted.nodes.items()):
        counts, line = by_node.get(number, zero), node.function.line
        if any(counts):
            lines = own.setdefault(_place(node), {})
            lines[line] = _add(lines.get(line, zero), counts)
        if node.parent is not None and any(totals[number]):
            totals[node.parent] = _add(totals[node.parent], totals[number])
            parent = counted.nodes[node.parent]
            arcs = calls.setdefault(_place(parent), {})
            key = parent.function.line, _place(node)
            arcs[key] = _add(arcs.get(key, zero), totals[number])
    return own, calls


_Place = tuple[str, str, str]  # module, source file or module, function


def _place(node: Node) -> _Place:
    function = node.function
    return _plain(function.module), _plain(function.file or function.module), _plain(function.name)


def _plain(text: str) -> str:
    """A name on one line, that callgrind does not take for a compressed name such as (1)."""
    line = " ".join(text.split())
    return f"_{line}" if line.startswith("(") else line or "[unknown]"


def _add(first: Sequence[int], *others: Sequence[int]) -> list[int]:
    return [sum(column) for column in zip(first, *others, strict=True)]


def _positive(counts: Iterable[int]) -> list[int]:
    return [max(count, 0) for count in counts]


def _numbers(counts: Iterable[int]) -> str:
    return " ".join(map(str, counts))


def trace(
    brackets: Mapping[str, Sequence[CrossingsBracket]],
    intervals: Intervals | None,
    clock_hz: int,
    missed: Mapping[str, Sequence[misses.MissesBracket]] | None = None,
) -> dict[str, Any]:
    """A trace in Chrome's format. `brackets`: the traced brackets of each phase; each part of the
    system is a thread, and each step a slice with its counts. `intervals`: the counts of each
    interval become counters, for each ring. `missed`: the brackets of a trace of misses; each cache
    and TLB is a thread, and the misses of an instruction are a slice as long as the instruction,
    with the accesses before the first of them. Times are in microseconds since reset."""
    parts: dict[str, int] = {}
    rows = [event for phase, own in brackets.items() for event in _slices(phase, own, parts)]
    rows += _counters(intervals) if intervals else ()
    for phase, traced in (missed or {}).items() if not brackets else ():
        rows += [_bracket(phase, bracket.begin, bracket.end, parts) for bracket in traced]
    for bracket in _outermost(missed or {}):
        rows += _missed(bracket, parts)
    for event in rows:
        event["pid"] = 1
        for key in ("ts", "dur"):
            if key in event:
                event[key] = event[key] * 1e6 / clock_hz
    names = [
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": {"name": part}}
        for part, number in parts.items()
    ]
    return {"traceEvents": [*names, *rows], "displayTimeUnit": "ns"}


def _slices(
    phase: str, brackets: Sequence[CrossingsBracket], parts: dict[str, int]
) -> Iterator[dict[str, Any]]:
    """The slices of a phase, in clocks. `parts`: the thread of each part, which grows."""
    for bracket in brackets:
        now = bracket.begin
        yield _bracket(phase, now, now + bracket.clocks, parts)
        for step in bracket.steps:
            thread = parts.setdefault(step.who, len(parts) + 1)
            shape = {"name": step.end, "ph": "X", "ts": now, "dur": step.clocks, "tid": thread}
            yield {**shape, "args": {event: n for event, n in step.counts.items() if n}}
            now += step.clocks


def _bracket(phase: str, begin: int, end: int, parts: dict[str, int]) -> dict[str, Any]:
    thread = parts.setdefault("brackets", len(parts) + 1)
    shape = {"ph": "X", "ts": begin, "dur": end - begin, "tid": thread}
    return {"name": phase, **shape, "args": {}}


def _outermost(missed: Mapping[str, Sequence[misses.MissesBracket]]) -> list[misses.MissesBracket]:
    """The brackets that are not inside another one, which has their misses, too."""
    every = (bracket for own in missed.values() for bracket in own)
    kept: list[misses.MissesBracket] = []
    for bracket in sorted(every, key=lambda bracket: (bracket.begin, -bracket.end)):
        if not kept or bracket.begin >= kept[-1].end:
            kept.append(bracket)
    return kept


def _missed(bracket: misses.MissesBracket, parts: dict[str, int]) -> Iterator[dict[str, Any]]:
    slices: dict[tuple[str, int], dict[str, Any]] = {}
    for miss, row in zip(bracket.misses, misses.rows(bracket), strict=True):
        place = f"{miss.array} misses", miss.tsc
        if place not in slices:
            thread = parts.setdefault(place[0], len(parts) + 1)
            shape = {"ph": "X", "ts": miss.tsc, "dur": miss.clocks, "tid": thread}
            addresses = {name: hex(row[name]) for name in ("instruction", "address")}
            args = {"misses": 0, **row, **addresses}
            slices[place] = {"name": miss.site.function, **shape, "args": args}
        slices[place]["args"]["misses"] += 1
    return iter(slices.values())


def _counters(intervals: Intervals) -> Iterator[dict[str, Any]]:
    for number, interval in enumerate(intervals.intervals):
        for place, event in enumerate(intervals.events):
            values = {f"ring {ring}": counts[place] for ring, counts in interval.rings.items()}
            if any(values.values()):
                yield {"name": event, "ph": "C", "ts": interval.begin, "tid": 0, "args": values}
        if number == len(intervals.intervals) - 1:
            ends = {f"ring {ring}": 0 for ring in interval.rings}
            yield {"name": "end", "ph": "C", "ts": interval.end, "tid": 0, "args": ends}
