# SPDX-License-Identifier: MIT
"""Converts a gem5 run of configs/gem5 to events.jsonl (table in docs/reference/gem5-events.md).

gem5 dumps and resets its statistics at each marker. A section of the statistics therefore contains
the counts since the previous marker, and events.jsonl contains their sums. If the gem5 program of
the run does not count an event, the header omits the event. The events of P5Tracer and of the chip
of P5CPU (configs/gem5/extras) are divided by ring. All other counts of gem5 are not divided by
ring, and are written for ring 3. There is one address space, 0. If the run has the chip of P5CPU,
the chip counts all events, with the same model as the embedded engine, and gem5's own counts are
not used.

`python -m p5stats.gem5_events m5out` prints the tidy table of such a run as CSV.
"""

import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from p5stats import declared, events, jsonl
from p5stats.gem5 import Section, sections
from p5stats.gem5.names import modern
from p5stats.gem5.section import TOTAL, full_name
from p5stats.problems import StatsError

SCHEMA_VERSION = 1  # of markers.jsonl
MARKERS = "markers.jsonl"
STATISTICS = ("stats.txt", "stats.txt.gz", "stats.h5")  # not JSON: it contains only the last dump
ENGINE = "gem5"
CHIP = "p5"  # the CPU model P5CPU
TIMELESS = ("atomic",)  # CPU models that count an instruction as a cycle
UNDIVIDED = 3  # the ring of counts that gem5 does not divide by ring
RINGS = 4


@dataclass(frozen=True)
class EventRule:
    """How to compute an event: add the matching numbers of a component, except `::total`.

    If no number matches, the gem5 program of the run does not count the event. nozero: gem5 omits
    the statistic while its value is zero. For such a statistic, any number of the component in the
    file shows that the gem5 program counts the event. sign: -1 if the numbers are subtracted.
    """

    event: str
    component: str
    statistic: str
    nozero: bool
    unit: str = "events"
    element: str = ".*"
    sign: int = 1


# Names of the caches in our configuration, in gem5's library and in gem5's older example scripts.
_L1D = r"(?:.*\.)?(?:l1d|dcache|l1d-cache-\d+|l1dcaches?\d*)"
_L1I = r"(?:.*\.)?(?:l1i|icache|l1i-cache-\d+|l1icaches?\d*)"
_L2 = r"(?:.*\.)?(?:l2|l2cache|l2-cache-\d+|l2caches?\d*)"
_MEMORY = r"(?:.*\.)?(?:memory\.module\d*|mem_ctrls?\d*(?:\.dram)?)"
_CORE = r".*?(?:cpu|core)s?\d*"
_READS, _WRITES = r"(?:ReadReq|LockedRMWReadReq)", r"(?:WriteReq|LockedRMWWriteReq|SwapReq)"
_LINE_READS = r"(?:ReadReq|ReadExReq|ReadSharedReq|ReadCleanReq)"
_LINE_WRITES = r"(?:WriteReq|WritebackDirty|WriteClean)"
_PASSED = r"tags\.passedFetches"  # of NoWriteAllocateTags (configs/gem5/extras)
RULES = (
    EventRule("cycles.busy", _CORE, r"exec_context\.thread_0\.numBusyCycles", False, "cycles"),
    EventRule("cycles.idle", _CORE, r"exec_context\.thread_0\.numIdleCycles", False, "cycles"),
    EventRule("instructions", _CORE, r"commitStats0\.numInsts", False),
    EventRule("data_reads", _L1D, rf"{_READS}\.accesses", True),
    EventRule("data_writes", _L1D, rf"{_WRITES}\.accesses", True),
    EventRule("data_read_misses", _L1D, rf"{_READS}\.misses", True),
    EventRule("data_write_misses", _L1D, rf"{_WRITES}\.misses", True),
    EventRule("l1d_writebacks", _L1D, "writebacks", True),
    EventRule("code_misses", _L1I, r"ReadReq\.misses", True),
    EventRule("itlb_misses", rf"{_CORE}\.mmu\.itb", "(?:rd|wr)Misses", False),
    EventRule("dtlb_misses", rf"{_CORE}\.mmu\.dtb", "(?:rd|wr)Misses", False),
    EventRule("walk_reads", _L2, r"ReadReq\.accesses", True, element=r".*\.walker"),
    EventRule("l2_reads", _L2, rf"{_LINE_READS}\.accesses", True),
    EventRule("l2_read_misses", _L2, rf"{_LINE_READS}\.misses", True),
    EventRule("l2_writes", _L2, rf"{_LINE_WRITES}\.accesses", True),
    EventRule("l2_write_misses", _L2, rf"{_LINE_WRITES}\.misses", True),
    EventRule("dram_reads", _MEMORY, "numReads", True),
    EventRule("dram_writes", _MEMORY, "numWrites", True),
    # Without write allocation, gem5 fetches the line of a write miss and writes this line back.
    # The chip makes one write [INTEL-DM table 2-5]. So the fetch does not count as a read, and the
    # write-back counts as the write of the next level, but not as a write-back of L1D.
    EventRule("l1d_writebacks", _L1D, _PASSED, False, sign=-1),
    EventRule("l2_reads", _L1D, _PASSED, False, sign=-1),
    EventRule("l2_read_misses", _L2, _PASSED, False, sign=-1),
    EventRule("dram_reads", _L2, _PASSED, False, sign=-1),
)
# The events that P5Tracer counts by ring. gem5's names contain an underscore instead of the dot.
TRACED = (
    "instructions",
    "data_reads",
    "data_writes",
    "segment_loads",
    "hw_interrupts",
    "exceptions",
    "soft_interrupts",
    "crossings.int",
    "crossings.gate",
    "crossings.far",
    "crossings.iret",
    "crossings.async",
    "cr3_loads.changed",
    "cr3_loads.unchanged",
    "locked_cycles",
    "io_reads",
    "io_writes",
    "branches",
)
UNITS = {rule.event: rule.unit for rule in RULES} | dict.fromkeys(TRACED, "events")
_RULES = [
    (
        rule,
        re.compile(
            rf"{rule.component}\.(?:({rule.statistic})(?:::({rule.element}))?"
            + ("|.*)" if rule.nozero else ")")
        ),
    )
    for rule in RULES
]
_TRACER = re.compile(
    rf".*\.tracer\.({'|'.join(event.replace('.', '_') for event in TRACED)})::ring([0-3])"
)
_BY_TRACER_NAME = {event.replace(".", "_"): event for event in TRACED}
# The events of the chip in P5CPU.
_CHIP = re.compile(r".*\.chip\.(\w+)::ring([0-3])")
_CLOCK = "simFreq"  # ticks a second
TICKS = 10**12  # the value for files without simFreq

Ring = tuple[str, int | None]  # an event and its ring; None: gem5 does not divide it by ring


@dataclass(frozen=True)
class _Meaning:
    """The meaning of a number's name. known: the events that gem5 counts if this number exists.
    counts: the events to which the number is added, each with the sign of the number."""

    known: frozenset[Ring]
    counts: Mapping[Ring, int]
    of_chip: bool = False


@dataclass(frozen=True)
class _Marker:
    op: str
    arg: int
    tick: int
    dump: int
    where: str


@cache
def _chip_events() -> dict[str, declared.Event]:
    """The events that a chip can count, by gem5's name, in the order of events.jsonl."""
    every = [*declared.events().values(), *declared.nominal().values()]
    return {event.name.replace(".", "_"): event for event in every}


@cache
def _meaning(name: str) -> _Meaning:
    name = modern(name)
    if (match := _CHIP.fullmatch(name)) and match[1] in _chip_events():
        rings = frozenset([(_chip_events()[match[1]].name, int(match[2]))])
        return _Meaning(rings, dict.fromkeys(rings, 1), of_chip=True)
    if match := _TRACER.fullmatch(name):
        rings = frozenset([(_BY_TRACER_NAME[match[1]], int(match[2]))])
        return _Meaning(rings, dict.fromkeys(rings, 1))
    known: set[Ring] = set()
    counts: dict[Ring, int] = {}
    for rule, pattern in _RULES:
        if match := pattern.fullmatch(name):
            if rule.sign > 0:
                known.add((rule.event, None))
            if match[1] and match[2] != TOTAL:
                counts[rule.event, None] = rule.sign
    return _Meaning(frozenset(known), counts)


def convert(m5out: Path, path: Path) -> None:
    """Writes events.jsonl from the directory `m5out`, completely or not at all.

    StatsError names a missing or malformed file.
    """
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(m5out))
    temporary = path.with_name(path.name + ".tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise StatsError(f"cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def lines(m5out: Path) -> list[dict[str, Any]]:
    """The lines of events.jsonl as dictionaries. StatsError names a missing or malformed file."""
    header, markers = _markers(m5out / MARKERS)
    statistics = next((m5out / name for name in STATISTICS if (m5out / name).exists()), None)
    if statistics is None:
        raise StatsError(f"{m5out}: no statistics: expected {' or '.join(STATISTICS)}")
    known: set[Ring] = set()
    chip = header["cpu"] == CHIP

    def wanted(name: str) -> bool:
        meaning = _meaning(name)
        if meaning.of_chip == chip:
            known.update(meaning.known)
        return name == _CLOCK or (bool(meaning.counts) and meaning.of_chip == chip)

    dumps, ticks = [], TICKS
    for section in sections(statistics, wanted):
        ticks = int(section.get(_CLOCK, ticks))
        dumps.append(_counts(section))
    units = {event.name: event.unit for event in _chip_events().values()} if chip else UNITS
    if header["cpu"] in TIMELESS:
        known = {(event, ring) for event, ring in known if units[event] != "cycles"}
    names = [event for event in units if any(event == counted for counted, _ in known)]
    if chip and not names:
        raise StatsError(f"{statistics}: expected the statistics of P5CPU's chip, found none")
    # The tracer's count by ring replaces gem5's own count of the same event.
    traced = {event for event, ring in known if ring is not None}
    written: list[dict[str, Any]] = [
        {
            "type": "header",
            "schema_version": events.SCHEMA_VERSION,
            "engine": ENGINE,
            "clock_hz": header["clock_hz"],
            "events": names,
            "units": [units[event] for event in names],
        }
    ]
    written += [
        {"type": "note", "what": "gem5 differs from the machine", "reason": text}
        for text in header["deviations"]
    ]
    sums: defaultdict[Ring, float] = defaultdict(float)
    taken = 0
    for marker in markers:
        while taken <= marker.dump:
            if taken == len(dumps):
                raise StatsError(
                    f"{statistics}: cut short: {marker.where} expects section {marker.dump}, there"
                    f" are {len(dumps)}"
                )
            for key, value in dumps[taken].items():
                sums[key] += value
            taken += 1
        # The chip counts its own clocks. A tick of gem5 is rounded to a picosecond.
        tsc = _clocks(sums) if chip else marker.tick * header["clock_hz"] // ticks
        written.append(
            {
                "type": "marker",
                "op": marker.op,
                "arg": marker.arg,
                "tsc": tsc,
                "banks": _banks(sums, names, traced),
                "vectors": [],
            }
        )
    return [*written, _end(markers[-1], written[-1]["tsc"])]


def _clocks(sums: Mapping[Ring, float]) -> int:
    """The chip's clocks so far: busy and idle, of all rings."""
    names = [f"{kind}cycles.{part}" for kind in ("", declared.NOMINAL) for part in ("busy", "idle")]
    return round(sum(sums.get((name, ring), 0) for name in names for ring in range(RINGS)))


def _end(last: _Marker, tsc: int) -> dict[str, Any]:
    status, reason = "ok", ""
    if last.op == "abort":
        status, reason = "failed", f"the guest gave up with code {last.arg}"
    elif last.op != "exit":
        status, reason = "failed", f"gem5 ended after the {last.op} marker: expected an exit marker"
    return {
        "type": "end",
        "status": status,
        "reason": reason,
        "guest_status": last.arg if last.op == "exit" else None,
        "tsc": tsc,
    }


def _counts(section: Section) -> dict[Ring, float]:
    """The counts of one dump. The function ignores a value that is not finite. gem5 writes such
    values if no time passed since the previous dump."""
    counts: defaultdict[Ring, float] = defaultdict(float)
    for statistic, element, number in section:
        if math.isfinite(number.value):
            for key, sign in _meaning(full_name(statistic, element)).counts.items():
                counts[key] += sign * number.value
    return dict(counts)


def _banks(sums: dict[Ring, float], names: Sequence[str], traced: set[str]) -> list[Any]:
    banks = []
    for ring in range(RINGS):
        values = [
            round(sums.get((event, ring), 0))
            if event in traced
            else round(sums.get((event, None), 0)) * (ring == UNDIVIDED)
            for event in names
        ]
        if any(values):
            banks.append([0, ring, values])
    return banks


def _markers(path: Path) -> tuple[dict[str, Any], list[_Marker]]:
    rows = jsonl.lines(path)
    if (header := next(rows, None)) is None:
        raise StatsError(f"{path}: empty: expected a header line")
    if header.data.get("type") != "header" or header.data.get("schema_version") != SCHEMA_VERSION:
        raise header.fault(f"expected a header of schema_version {SCHEMA_VERSION}")
    for key, kind in (("clock_hz", int), ("cpu", str), ("deviations", list)):
        header.get(key, kind)
    if header.count("clock_hz") < 1:
        raise header.fault("clock_hz: expected more than zero")
    markers: list[_Marker] = []
    for line in rows:
        if line.data.get("type") != "marker" or line.data.get("op") not in events.OPS:
            raise line.fault(f"expected a marker: {', '.join(events.OPS)}")
        arg, tick, dump = (line.count(key) for key in ("arg", "tick", "dump"))
        last = markers[-1].dump if markers else -1
        # Markers in the same tick share a section, because gem5 writes one section for a tick.
        if dump not in (last, last + 1):
            raise line.fault(f"dump: expected {last + 1}, found {dump}")
        markers.append(_Marker(line.data["op"], arg, tick, dump, line.where))
    if not markers:
        raise StatsError(f"{path}: no markers: the guest did not reach a marker")
    return header.data, markers


def main(arguments: Sequence[str]) -> int:
    """Prints the tidy table of an m5out as CSV.

    Returns the exit status: 0 for success, 1 for a bad file, 2 for wrong usage.
    """
    from p5stats import tidy

    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m p5stats.gem5_events m5out > counts.csv", file=sys.stderr)
        return 2
    m5out = Path(arguments[0])
    path = m5out / "events.jsonl"
    try:
        convert(m5out, path)
        origin = tidy.Origin("", m5out.name, ENGINE, "", "", tidy.YES, "", 0, "", "")
        tidy.table(events.parse(path), origin, {}).to_csv(sys.stdout, index=False)
    except StatsError as error:
        print(f"p5stats: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
