# SPDX-License-Identifier: MIT
"""p5stats.gem5_events: sections and markers of a gem5 run -> events.jsonl -> the tidy table."""

import csv
import io
import json
import lzma
import shutil
from pathlib import Path

import pytest

from p5lab.describe.markers import EMPTY_PHASE
from p5stats import StatsError, compare, events, gem5_events, tidy
from p5stats.gem5 import sections
from p5stats.gem5.text import BEGIN, END

CORE = "board.processor.cores.core"
CACHES = "board.cache_hierarchy"
CLOCK_HZ = 90_000_000
HEADER = {
    "type": "header",
    "schema_version": 1,
    "gem5": "24.0.0.1",
    "clock_hz": CLOCK_HZ,
    "extras": False,
    "cpu": "timing",
    "deviations": ["write misses bring the line into L1D"],
}
TICK = 10**12
DATA = Path(__file__).resolve().parents[1] / "data/gem5"


def marker(op, arg, tick, dump):
    return {"type": "marker", "op": op, "arg": arg, "tick": tick, "dump": dump}


MARKERS = [
    marker("ready", 0, TICK, 0),
    marker("begin", 7, 2 * TICK, 1),
    marker("end", 7, 3 * TICK, 2),
    marker("begin", 7, 3 * TICK, 2),  # in the same tick
    marker("end", 7, 4 * TICK, 3),
    marker("exit", 0, 5 * TICK, 4),
]


def stock(reads, misses):
    """Returns a section of stock gem5. If a `nozero` statistic is zero, the section omits it."""
    found = {
        "simFreq": TICK,
        f"{CORE}.commitStats0.numInsts": 10 * reads,
        f"{CORE}.exec_context.thread_0.numBusyCycles": 99.6 * reads,
        f"{CORE}.exec_context.thread_0.numIdleCycles": 0.4 * reads,
        f"{CORE}.mmu.dtb.rdMisses": 2,
        f"{CORE}.mmu.dtb.wrMisses": 3,
        f"{CORE}.mmu.itb.rdMisses": 0,
        f"{CORE}.mmu.itb.wrMisses": 4,  # misses of fetches
        f"{CACHES}.l1d.replacements": 1,
        f"{CACHES}.l1d.ReadReq.accesses::processor.cores.core.data": reads,
        f"{CACHES}.l1d.ReadReq.accesses::total": reads,
        f"{CACHES}.l1i.replacements": 0,
        f"{CACHES}.l2.replacements": 0,
        f"{CACHES}.l2.ReadReq.accesses::processor.cores.core.mmu.dtb.walker": 5,
        f"{CACHES}.l2.ReadReq.accesses::total": 5,
        f"{CACHES}.l2.ReadSharedReq.accesses::processor.cores.core.data": 6,
        f"{CACHES}.l2.ReadSharedReq.accesses::total": 6,
        "board.memory.module.bytesRead::total": 64,
    }
    if misses:
        found[f"{CACHES}.l1d.ReadReq.misses::processor.cores.core.data"] = misses
        found[f"{CACHES}.l1d.ReadReq.misses::total"] = misses
    return found


def traced(ring0, ring3):
    found = {}
    for event in gem5_events.TRACED:
        for ring in range(4):
            name = f"{CORE}.tracer.{event.replace('.', '_')}::ring{ring}"
            found[name] = {0: ring0, 3: ring3}.get(ring, 0)
    return found


SECTIONS = [stock(100, 9), stock(10, 0), stock(20, 3), stock(40, 0), stock(1, 1)]


def put(m5out, dumps=SECTIONS, markers=MARKERS, header=HEADER):
    text = ""
    for dump in dumps:
        rows = [f"{name:<40} {value:>12} # d (Count)" for name, value in dump.items()]
        text += "\n".join(["", BEGIN, *rows, "", END, ""])
    (m5out / "stats.txt").write_text(text)
    lines = "".join(json.dumps(line) + "\n" for line in (header, *markers))
    (m5out / "markers.jsonl").write_text(lines)
    return m5out


def converted(m5out):
    path = m5out / "events.jsonl"
    gem5_events.convert(m5out, path)
    return events.parse(path)


def brackets(found):
    """Returns the counts of each bracket by ring."""
    names = list(found.units)
    result = []
    for bracket in found.brackets:
        counts = {}
        for (space, ring), after in bracket.end.banks.items():
            assert space == 0
            before = bracket.begin.banks.get((space, ring), [0] * len(names))
            for name, a, b in zip(names, after, before, strict=True):
                if a - b:
                    counts[name, ring] = a - b
        result.append(counts)
    return result


def test_stock_gem5(tmp_path):
    found = converted(put(tmp_path))
    assert (found.engine, found.clock_hz, found.status) == ("gem5", CLOCK_HZ, "ok")
    first, second = brackets(found)
    assert first == {
        ("cycles.busy", 3): 1992,
        ("cycles.idle", 3): 8,
        ("instructions", 3): 200,
        ("data_reads", 3): 20,
        ("data_read_misses", 3): 3,
        ("itlb_misses", 3): 4,
        ("dtlb_misses", 3): 5,
        ("walk_reads", 3): 5,
        ("l2_reads", 3): 11,
    }
    assert second["instructions", 3] == 400
    assert ("data_read_misses", 3) not in second
    assert found.markers[0].tsc == CLOCK_HZ
    assert found.notes == [
        {"what": "gem5 differs from the machine", "reason": "write misses bring the line into L1D"}
    ]


def test_events_that_gem5_cannot_count_are_absent(tmp_path):
    units = converted(put(tmp_path)).units
    assert not {"segment_loads", "hw_interrupts", "exceptions", "crossings.int"} & set(units)
    # A missing statistic of a component is zero.
    assert {"data_writes", "data_write_misses", "code_misses", "l2_writes", "dram_reads"} <= set(
        units
    )


def test_without_caches(tmp_path):
    dump = {name: value for name, value in stock(10, 1).items() if CACHES not in name}
    units = converted(put(tmp_path, [dump] * 5)).units
    assert list(units) == [
        "cycles.busy",
        "cycles.idle",
        "instructions",
        "itlb_misses",
        "dtlb_misses",
        "dram_reads",
        "dram_writes",
    ]
    atomic = converted(put(tmp_path, [dump] * 5, header={**HEADER, "cpu": "atomic"}))
    assert "cycles.busy" not in atomic.units
    assert "instructions" in atomic.units
    o3 = {name: value for name, value in dump.items() if "exec_context" not in name}
    assert "cycles.busy" not in converted(put(tmp_path, [o3] * 5)).units


def test_the_tracer_splits_by_ring(tmp_path):
    dumps = [stock(n, n) | traced(n, 2 * n) for n in (100, 10, 20, 40, 1)]
    found = converted(put(tmp_path, dumps))
    first, second = brackets(found)
    assert set(gem5_events.TRACED) <= set(found.units)
    assert (first["instructions", 0], first["instructions", 3]) == (20, 40)
    assert (second["crossings.iret", 0], second["crossings.iret", 3]) == (40, 80)
    # The component's count of an event replaces gem5's count. Other events keep gem5's count.
    assert (first["data_reads", 0], first["data_reads", 3]) == (20, 40)
    assert first["data_read_misses", 3] == 20
    assert ("data_read_misses", 0) not in first


def of_chip(instructions, busy, idle=0):
    """The statistics of P5CPU's chip in a section: ring 3, and half of each in ring 0."""
    found = {}
    for event, number in (
        ("cycles.busy", busy),
        ("cycles.idle", idle),
        ("instructions", instructions),
        ("cpi.single.new_code", 1),
    ):
        for ring in range(4):
            name = f"system.cpu.chip.{event.replace('.', '_')}::ring{ring}"
            found[name] = {0: number // 2, 3: number}.get(ring, 0)
    return found


def test_the_chip_of_p5cpu_replaces_all_counts_of_gem5(tmp_path):
    dumps = [stock(9, 9) | of_chip(n, 10 * n, 2) for n in (100, 10, 20, 40, 1)]
    found = converted(put(tmp_path, dumps, header={**HEADER, "cpu": "p5"}))
    names = ["cycles.busy", "cycles.idle", "instructions", "cpi.single.new_code"]
    assert list(found.units) == names
    assert found.units["cycles.busy"] == "cycles"
    first, second = brackets(found)
    assert (first["instructions", 0], first["instructions", 3]) == (10, 20)
    assert second["cycles.busy", 3] == 400
    # The chip's own clocks, not gem5's ticks, are the time.
    assert found.markers[0].tsc == 1000 + 500 + 2 + 1


def test_nominal_clocks_of_the_chip_have_names_of_their_own(tmp_path):
    dump = {f"system.cpu.chip.nominal_cycles_busy::ring{ring}": 5 for ring in range(4)}
    found = converted(put(tmp_path, [dump] * 5, header={**HEADER, "cpu": "p5"}))
    assert list(found.units) == ["nominal.cycles.busy"]
    assert found.markers[0].tsc == 20


def test_a_run_on_the_chip_without_its_statistics_is_refused(tmp_path):
    with pytest.raises(StatsError, match="P5CPU"):
        converted(put(tmp_path, header={**HEADER, "cpu": "p5"}))


def test_a_store_that_fills_no_line_is_one_write_and_no_read(tmp_path):
    # gem5 fetches the line of such a store from L2 or memory, and writes it back to L2. In each
    # section there are `n` such stores, and one of them also misses L2.
    def section(n):
        return stock(n, 0) | {
            f"{CACHES}.l1d.tags.passedFetches": n,
            f"{CACHES}.l1d.writebacks::total": n + 3,
            f"{CACHES}.l1d.writebacks::writebacks": n + 3,
            f"{CACHES}.l2.ReadExReq.accesses::processor.cores.core.data": n,
            f"{CACHES}.l2.ReadExReq.misses::processor.cores.core.data": 1,
            f"{CACHES}.l2.ReadSharedReq.misses::processor.cores.core.data": 4,
            f"{CACHES}.l2.WritebackDirty.accesses::writebacks": n + 3,
            f"{CACHES}.l2.WritebackDirty.misses::writebacks": 1,
            f"{CACHES}.l2.tags.passedFetches": 1,
            "board.memory.module.numReads::processor.cores.core.data": 5,
        }

    first, second = brackets(converted(put(tmp_path, [section(n) for n in (9, 5, 20, 7, 1)])))
    reads = 5 + 6  # of the walker, and of lines (`stock`)
    for found, n in ((first, 20), (second, 7)):
        assert found["l1d_writebacks", 3] == 3
        assert found["l2_reads", 3] == reads
        assert found["l2_read_misses", 3] == found["dram_reads", 3] == 4
        assert found["l2_writes", 3] == n + 3
        assert found["l2_write_misses", 3] == 1


def test_to_the_tidy_table(tmp_path):
    found = converted(put(tmp_path))
    origin = tidy.Origin("e", "r", "gem5", "m", "", "yes", "linux64", 0, "getpid", "")
    table = tidy.table(found, origin, {7: "getpid"})
    assert tuple(table.columns) == tidy.COLUMNS
    instructions = table[table["event"] == "instructions"]
    assert list(instructions["value"]) == [200, 400]
    assert list(instructions["iteration"]) == [0, 1]
    assert set(table["address_space"]) == {"0x00000000"}


def test_reports_take_nothing_for_zero_that_gem5_does_not_split(tmp_path):
    dumps = [stock(n, n) | traced(n, 2 * n) for n in (100, 10, 20, 40, 1)]
    origin = tidy.Origin("e", "r", "gem5", "m", "", "yes", "linux64", 0, "getpid", "")
    table = tidy.table(converted(put(tmp_path, dumps)), origin, {7: "getpid"})
    means = compare.counts(table).mean().to_dict()
    values = compare.evaluate(means, 1, CLOCK_HZ, 48)
    assert values["exceptions"] == 90
    for metric in ("kernel share", "interrupts, clock", "interrupts, other", "page faults"):
        assert values[metric] != values[metric], metric  # NaN


def test_older_names(tmp_path):
    dump = {
        "sim_freq": TICK,
        "system.cpu.committedInsts": 50,
        "system.cpu.num_busy_cycles": 70,
        "system.cpu.num_idle_cycles": 0,
        "system.cpu.dtb.rdMisses": 1,
        "system.cpu.dcache.ReadReq_accesses::cpu.data": 9,
        "system.cpu.dcache.ReadReq_accesses::total": 9,
        "system.cpu.dcache.WriteReq_misses::cpu.data": 2,
    }
    (first, _) = brackets(converted(put(tmp_path, [dump] * 5)))
    assert first == {
        ("instructions", 3): 50,
        ("cycles.busy", 3): 70,
        ("dtlb_misses", 3): 1,
        ("data_reads", 3): 9,
        ("data_write_misses", 3): 2,
    }


def test_how_it_ended(tmp_path):
    def end(*last):
        count = len(MARKERS) - 1
        path = tmp_path / "events.jsonl"
        gem5_events.convert(put(tmp_path, markers=[*MARKERS[:count], *last]), path)
        return events.end_line(path), events.parse(path).guest_status

    assert end(marker("exit", 3, 5 * TICK, 4)) == (("ok", ""), 3)
    assert end(marker("abort", 2, 5 * TICK, 4)) == (
        ("failed", "the guest gave up with code 2"),
        None,
    )
    assert end() == (("failed", "gem5 ended after the end marker: expected an exit marker"), None)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"dumps": SECTIONS[:3]},
            r"stats\.txt: cut short: .*markers\.jsonl:6 expects section 3, there are 3",
        ),
        ({"markers": []}, r"markers\.jsonl: no markers"),
        ({"header": {**HEADER, "schema_version": 2}}, r":1: expected a header of schema_version 1"),
        ({"header": {**HEADER, "clock_hz": 0}}, r":1: clock_hz: expected more than zero"),
        ({"header": {**HEADER, "cpu": 3}}, r":1: cpu: expected a text"),
        ({"markers": [marker("start", 0, 1, 0)]}, r":2: expected a marker: ready, begin, end"),
        ({"markers": [marker("ready", 0, -1, 0)]}, r":2: tick: expected a whole number"),
        (
            {"markers": [marker("ready", 0, 1, 0), marker("begin", 0, 2, 2)]},
            r":3: dump: expected 1, found 2",
        ),
    ],
)
def test_errors_say_where(tmp_path, given, message):
    put(tmp_path, **given)
    with pytest.raises(StatsError, match=message):
        gem5_events.convert(tmp_path, tmp_path / "events.jsonl")
    assert not list(tmp_path.glob("events.jsonl*"))  # no incomplete file


def test_missing_files(tmp_path):
    with pytest.raises(StatsError, match=r"cannot read .*markers\.jsonl"):
        gem5_events.lines(tmp_path)
    put(tmp_path)
    (tmp_path / "stats.txt").unlink()
    with pytest.raises(StatsError, match=r"no statistics: expected stats\.txt or"):
        gem5_events.lines(tmp_path)
    (tmp_path / "markers.jsonl").write_text('{"type":"header"')
    with pytest.raises(StatsError, match=r"markers\.jsonl:1: incomplete line"):
        gem5_events.lines(tmp_path)


def test_the_same_bytes_every_time(tmp_path):
    put(tmp_path)
    path = tmp_path / "events.jsonl"
    gem5_events.convert(tmp_path, path)
    first = path.read_bytes()
    gem5_events.convert(tmp_path, path)
    assert path.read_bytes() == first


def test_command(tmp_path, capsys):
    put(tmp_path)
    assert gem5_events.main([str(tmp_path)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["value"] for row in rows if row["event"] == "instructions"} == {"200", "400"}
    assert gem5_events.main([]) == 2
    assert gem5_events.main([str(tmp_path / "none")]) == 1
    assert "cannot read" in capsys.readouterr().err


# --- files of a simulation: tests/data/gem5/getpid-* ----------------------------------------------


@pytest.fixture(params=["stock", "extras"])
def simulated(request, tmp_path):
    """Returns two m5out directories of `getpid iterations=2` on linux64: without and with our
    SimObjects."""
    stored = DATA / f"getpid-{request.param}"
    (tmp_path / "stats.txt").write_bytes(lzma.decompress((stored / "stats.txt.xz").read_bytes()))
    shutil.copy(stored / "markers.jsonl", tmp_path)
    return request.param, tmp_path


def test_a_simulation(simulated):
    kind, place = simulated
    found = converted(place)
    calls = [
        counts
        for counts, bracket in zip(brackets(found), found.brackets, strict=True)
        if bracket.phase == 0
    ]
    empty = [
        counts
        for counts, bracket in zip(brackets(found), found.brackets, strict=True)
        if bracket.phase == EMPTY_PHASE
    ]
    assert (len(calls), bool(empty)) == (2, True)

    def total(counts, event):
        return sum(counts.get((event, ring), 0) for ring in range(4))

    # On our own engine, the same call on the same kernel also executes 232 instructions.
    assert {total(one, "instructions") - total(empty[-1], "instructions") for one in calls} == {232}
    traced = set(gem5_events.TRACED) <= set(found.units)
    assert traced == (kind == "extras")
    for one in calls if traced else ():
        assert (one["crossings.gate", 3], one["crossings.iret", 0]) == (1, 1)
        assert one["instructions", 0] > one["instructions", 3] > 0
    deviations = [note["reason"] for note in found.notes]
    assert any("fully associative" in reason for reason in deviations) == (kind == "stock")


def test_rings_of_a_simulation_add_up(simulated):
    kind, place = simulated
    dumps = list(sections(place / "stats.txt"))
    if kind == "stock":
        assert not any(".tracer." in name for name, _, _ in dumps[0])
        return
    for dump in dumps[1:]:
        rings, exceptions = (
            sum(dump.get(f"{CORE}.tracer.{event}::ring{ring}") for ring in range(4))
            for event in ("instructions", "exceptions")
        )
        # gem5 also counts its own instruction (the marker), and instructions that end with a page
        # fault.
        assert 0 <= dump[f"{CORE}.commitStats0.numInsts"] - rings <= 1 + exceptions
