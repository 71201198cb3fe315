# SPDX-License-Identifier: MIT
"""Tests of configs/gem5/extras on a real gem5. The test programs run without an operating system,
and their hits, misses and events are known. The tests are skipped if P5LAB_GEM5 is not set, or if
its gem5 was built without the extras.
"""

import os
import subprocess
from pathlib import Path

import pytest
from rings import DELIVERY, EVENTS, IRET, SECTIONS, expected

from p5stats.gem5 import sections

HERE = Path(__file__).parent / "gem5"
TOOLS = ("as", "--64", "-I", HERE), ("ld", "-m", "elf_x86_64", "-Ttext", "0x200000")


@pytest.fixture(scope="session")
def gem5(tmp_path_factory):
    """Returns the gem5 of P5LAB_GEM5, which must have the extras."""
    path = os.environ.get("P5LAB_GEM5")
    if not path:
        pytest.skip("P5LAB_GEM5 is not set")
    place = tmp_path_factory.mktemp("ask")
    ask = place / "ask.py"
    ask.write_text("import p5extras\nprint('problem:', p5extras.problem())\n")
    command = [path, "-q", "-d", place / "m5out", ask]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No module named 'p5extras'" in asked.stdout + asked.stderr:
        pytest.skip("P5LAB_GEM5 is a gem5 without extras")
    assert "problem: None" in asked.stdout, asked.stdout + asked.stderr
    return path


@pytest.fixture
def start(gem5, tmp_path):
    """Runs a program of gem5/. Returns the directory of gem5's statistics, and gem5's finished
    process.
    """

    def run(program, *options):
        place = tmp_path / f"run{len(list(tmp_path.glob('run*')))}"
        place.mkdir()
        built, binary = place / "program.o", place / "program"
        subprocess.run([*TOOLS[0], "-o", built, HERE / f"{program}.S"], check=True)
        subprocess.run([*TOOLS[1], "-o", binary, built], check=True)
        command = [gem5, "-d", place / "m5out", HERE / "bare.py", binary, *options]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        return place / "m5out/stats.txt", ended

    return run


@pytest.fixture
def simulate(start):
    """Runs a program to its end. Returns its statistics, section by section."""

    def run(program, *options):
        statistics, ended = start(program, *options)
        assert "ended: m5_exit instruction encountered, 0" in ended.stdout, (
            ended.stdout + ended.stderr
        )
        return list(sections(statistics))

    return run


# --- tags -----------------------------------------------------------------------------------------

HELD, STORED = 8192 // 32, 16384 // 32  # lines


def misses(section, cache, *requests):
    return sum(section.get(f"system.{cache}.{request}.misses::total") for request in requests)


@pytest.mark.parametrize("cpu", ["Atomic", "Timing"])
def test_stores_that_miss_leave_the_cache_as_it_is(simulate, cpu):
    ours = simulate("stores", "--cpu", cpu, "--tags", "NoWriteAllocateTags")
    stock = simulate("stores", "--cpu", cpu)
    for run in (ours, stock):
        assert misses(run[0], "l1d", "ReadReq") == HELD
        assert misses(run[1], "l1d", "ReadReq") == 0
        assert misses(run[2], "l1d", "WriteReq") == STORED
    assert misses(ours[3], "l1d", "ReadReq") == 0
    assert misses(stock[3], "l1d", "ReadReq") == HELD

    assert (misses(ours[4], "l1d", "ReadReq"), misses(ours[4], "l1d", "WriteReq")) == (1, 0)
    assert misses(ours[5], "l1d", "LockedRMWReadReq") == 1
    assert misses(ours[5], "l1d", "ReadReq") == 0
    assert (misses(ours[6], "l1d", "ReadReq"), misses(ours[6], "l1d", "WriteReq")) == (1, 1)

    # Each store that missed is one fetch and one write-back on the bus. The lines that were read
    # are not modified, so there are no other write-backs.
    passed = ours[2].get("system.l1d.tags.passedFetches")
    assert passed == ours[2].get("system.l1d.writebacks::total") == STORED
    assert [ours[part].get("system.l1d.tags.passedFetches") for part in (1, 3, 5)] == [0, 0, 0]

    # A board cache with these tags also fills no lines at stores. The older lines therefore remain
    # in this cache, and L1D can read them there again. In a stock board cache, the stores replaced
    # the older lines.
    assert misses(ours[8], "l1d", "ReadReq") == HELD
    assert (misses(ours[8], "l2", "ReadSharedReq"), misses(stock[3], "l2", "ReadSharedReq")) == (
        0,
        HELD,
    )


# --- the owner of a modified line -----------------------------------------------------------------

MODIFIED = 24 * 1024 // 32  # lines


@pytest.mark.parametrize("cpu", ["Atomic", "Timing"])
@pytest.mark.parametrize("tags", ["BaseSetAssoc", "NoWriteAllocateTags"])
def test_reading_does_not_take_a_modified_line_from_the_board_cache(simulate, cpu, tags):
    ours, stock = (
        simulate("owner", "--cpu", cpu, "--tags", tags, "--board", board)
        for board in ("OwnerCache", "Cache")
    )

    def written_back(run):
        return [section.get("system.l1d.writebacks::total", 0) for section in run]

    for run in (ours, stock):
        assert misses(run[1], "l1d", "ReadReq") == misses(run[4], "l1d", "ReadReq") == MODIFIED
        assert misses(run[1], "l2", "ReadSharedReq") == 0
    # In L1D of 8 KB, 256 of the modified lines remain, which leave it in section 4.
    assert written_back(ours)[1:5] == [0, MODIFIED - HELD, 0, HELD]
    assert written_back(stock)[1] == MODIFIED
    assert written_back(stock)[4] == MODIFIED


@pytest.mark.parametrize("mode", [(), ("--atomic",)])
@pytest.mark.parametrize("tags", ["BaseSetAssoc", "NoWriteAllocateTags"])
def test_every_copy_that_is_read_is_the_newest(gem5, tmp_path, mode, tags):
    command = [gem5, "-q", "-d", tmp_path / "m5out", HERE / "coherence.py", "--tags", tags, *mode]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "ended: maximum number of loads reached" in ended.stdout, ended.stdout + ended.stderr


# --- TLBs -----------------------------------------------------------------------------------------

WINDOW, LARGE, ROUNDS = 0x40000000, 0x50000000, 12  # as in gem5/tlb.S


class Tlb:
    """A set-associative array. Each set has a tree of bits, which selects the entry to replace
    (INTEL-DM ch. 2).
    """

    def __init__(self, page, entries, ways=4):
        self.page, self.sets, self.ways = page, entries // ways, ways
        self.flush()

    def flush(self):
        self.tags = [[None] * self.ways for _ in range(self.sets)]
        self.trees = [[0] * self.ways for _ in range(self.sets)]  # [node]; 1: victim on the right

    def missed(self, address):
        page = address // self.page
        tags, tree = self.tags[page % self.sets], self.trees[page % self.sets]
        hit = page in tags
        if hit:
            way = tags.index(page)
        elif None in tags:
            way = tags.index(None)
        else:
            way, node = 0, 1
            while node < self.ways:
                way, node = 2 * way + tree[node], 2 * node + tree[node]
        tags[way] = page
        node = self.ways + way
        while node > 1:
            tree[node // 2] = 1 - node % 2
            node //= 2
        return not hit

    def touch(self, base, stride, count, rounds):
        return sum(
            self.missed(base + stride * page) for _ in range(rounds) for page in range(count)
        )


def expected_data_misses():
    small, large = Tlb(4096, 64), Tlb(2 << 20, 8)

    def measure(tlb, *pages, rounds=1):
        tlb.touch(*pages, 4)
        return tlb.touch(*pages, rounds)

    found = {
        1: measure(small, WINDOW, 0x1000, 64),
        3: measure(small, WINDOW, 0x10000, 4),
        5: measure(small, WINDOW, 0x10000, 5, rounds=ROUNDS),
        7: measure(large, LARGE, 0x200000, 8),
        9: measure(large, LARGE, 0x400000, 5, rounds=ROUNDS),
    }
    small.touch(WINDOW, 0x1000, 64, 4)
    large.touch(LARGE, 0x200000, 8, 4)
    found[11] = small.touch(WINDOW, 0x1000, 64, 1) + large.touch(LARGE, 0x200000, 8, 1)
    return found | {12: 1, 13: 32}  # pages flushed: one, and all that are not global


def expected_code_misses():
    def measure(base):
        tlb = Tlb(4096, 32)
        four = [tlb.touch(base, 0x8000, 4, 4), tlb.touch(base, 0x8000, 4, 1)]
        return four[1], (tlb.touch(base, 0x8000, 5, 4), tlb.touch(base, 0x8000, 5, ROUNDS))[1]

    (first, second), (third, fourth) = measure(WINDOW + 0x11000), measure(LARGE + 0x11000)
    return {15: first, 17: second, 19: third, 21: fourth}


def tlb_misses(run, tlb, expected):
    names = [f"system.cpu.mmu.{tlb}.{kind}Misses" for kind in ("rd", "wr")]
    return {index: sum(run[index].get(name) for name in names) for index in expected}


P5_DTB = '{"entries": 64, "large_entries": 8}'
P5_ITB = '{"entries": 32}'


@pytest.mark.parametrize("cpu", ["Atomic", "Timing"])
def test_tlbs_have_sets_and_an_array_for_large_pages(simulate, cpu):
    ours = simulate("tlb", "--cpu", cpu, "--dtb", P5_DTB, "--itb", P5_ITB)
    data, code = expected_data_misses(), expected_code_misses()
    assert {data[index] for index in (1, 3, 7, 11)} == {code[15], code[19]} == {0}
    assert min(data[5], data[9], code[17], code[21]) > ROUNDS
    assert tlb_misses(ours, "dtb", data) == data
    assert tlb_misses(ours, "itb", code) == code


def test_least_recently_used_pages_go_round(simulate):
    lru = '{"entries": 64, "large_entries": 8, "replacement": "lru"}'
    ours = simulate("tlb", "--dtb", lru)
    assert tlb_misses(ours, "dtb", (3, 5, 9)) == {3: 0, 5: 5 * ROUNDS, 9: 5 * ROUNDS}


def test_a_stock_tlb_has_one_set(simulate):
    stock = simulate("tlb")  # 64 entries for all kinds of pages
    assert set(tlb_misses(stock, "dtb", (3, 5, 7, 9)).values()) == {0}
    assert tlb_misses(stock, "dtb", (11,))[11] > 0


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ('{"entries": 60}', "entries: 60 is not its ways, 4, times a power of two"),
        ('{"entries": 0}', "entries: 0 is not at least 1"),
        ('{"entries": 48, "ways": 3}', "plru needs 1, 2, 4 or 8 ways, not 3"),
        ('{"entries": 64, "replacement": "random"}', '"random" is not plru or lru'),
        ('{"entries": 512}', "size: 256 is not more than entries and large_entries together, 512"),
    ],
)
def test_tlbs_that_cannot_be(start, parameters, problem):
    _, ended = start("tlb", "--dtb", parameters)
    assert ended.returncode != 0
    assert problem in ended.stderr


# --- the tracer -----------------------------------------------------------------------------------

END = 2  # instructions at the end of each section


def counted(section):
    """Returns the events of one section that are not 0, for ring 0 and for ring 3."""

    def ring(number):
        values = {
            event: section.get(f"system.cpu.tracer.{event}::ring{number}") for event in EVENTS
        }
        return {event: value for event, value in values.items() if value}

    assert not ring(1)
    assert not ring(2)
    return ring(0), ring(3)


@pytest.mark.parametrize("cpu", ["Atomic", "Timing", "O3"])
def test_events_are_counted_in_the_ring_they_happen_in(simulate, cpu):
    run = simulate("rings", "--cpu", cpu, "--tracer", "P5Tracer")
    traced = {statistic for statistic, _, _ in run[0] if ".tracer." in statistic}
    assert traced == {f"system.cpu.tracer.{event}" for event in EVENTS}
    for index in SECTIONS:
        assert counted(run[index]) == expected(index, first=0, last=END), index

    kernel, user = counted(run[20])  # the loop ran until the interrupt came
    assert kernel == IRET | {"instructions": 3, "data_writes": 2}
    rounds = user["branches"] - 1
    assert rounds > 2
    assert user == DELIVERY | {
        "instructions": END + 1 + 2 * rounds,
        "data_reads": DELIVERY["data_reads"] + rounds,
        "branches": 1 + rounds,
        "hw_interrupts": 1,
        "crossings_async": 1,
    }


@pytest.mark.parametrize("cpu", ["Atomic", "Timing"])
def test_rings_add_up_to_the_processors_own_counts(simulate, cpu):
    run = simulate("rings", "--cpu", cpu, "--tracer", "P5Tracer")
    for index, section in enumerate(run[:-1]):
        kernel, user = counted(section)
        instructions = kernel.get("instructions", 0) + user.get("instructions", 0)
        # gem5 also counts its own instruction at the end of a section, and each instruction whose
        # last micro-operation raises a fault. In the load and in HLT, the last micro-operation
        # raises the fault. In the division, an earlier micro-operation raises the fault.
        faulted = index in (13, 15)
        assert section.get("system.cpu.commitStats0.numInsts") == instructions + 1 + faulted, index
    references = sum(counted(run[2])[0][event] for event in ("data_reads", "data_writes"))
    assert run[2].get("system.cpu.executeStats0.numMemRefs") == references
