# SPDX-License-Identifier: MIT
"""Files with attributions: their content, malformed files, and the largest counts."""

import io
import json

import pytest
from fakelab import written
from rich.console import Console

from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import exports, timeline
from p5stats import StatsError, attribution

EVENTS = ["cycles.busy", "instructions", "code_misses"]
LINES = [
    {"type": "header", "schema_version": 1, "stacks": True, "events": EVENTS},
    {"type": "function", "id": 1, "name": "main", "module": "/bin/dup"},
    {"type": "function", "id": 2, "name": "ksys_dup", "module": "linux"},
    {"type": "function", "id": 3, "name": "[linux+unknown]", "module": "linux"},
    {"type": "entrance", "id": 1, "number": 41, "kind": "int", "vector": 128},
    {"type": "entrance", "id": 2, "number": 0, "kind": "exception", "vector": 14},
    {"type": "node", "id": 1, "parent": 0, "function": 1, "cr3": 4096, "ring": 3, "entrance": 0},
    {"type": "node", "id": 2, "parent": 1, "function": 2, "cr3": 4096, "ring": 0, "entrance": 1},
    {"type": "node", "id": 3, "parent": 0, "function": 2, "cr3": 8192, "ring": 0, "entrance": 0},
    {"type": "node", "id": 4, "parent": 2, "function": 3, "cr3": 4096, "ring": 0, "entrance": 2},
    {"type": "counts", "phase": 0, "node": 1, "counts": [10, 5]},
    {"type": "counts", "phase": 0, "node": 2, "counts": [70, 30, 4]},
    {"type": "counts", "phase": 0, "node": 4, "counts": [15, 3, -1]},
    {"type": "counts", "phase": 1, "node": 3, "counts": [5, 1]},
    {
        "type": "eviction",
        "phase": 0,
        "cache": "L1D",
        "cause": "capacity",
        "loser": 1,
        "winner": 2,
        "colour": 5,
        "count": 9,
        "lost": "code",
        "won": "data",
    },
    {"type": "end"},
]


def test_counts_by_function_space_and_crossing(write_attribution):
    found = attribution.read(write_attribution(LINES))
    frame = found.frame()
    assert list(frame.columns) == attribution.COLUMNS
    assert frame["count"].sum() == 10 + 5 + 70 + 30 + 4 + 15 + 3 - 1 + 5 + 1
    rows = {
        tuple(row[:-2]): row[-1]
        for row in frame[frame["event"] == "cycles.busy"].itertuples(index=False)
    }
    assert rows == {
        (0, "main", "/bin/dup", 3, "dup", ""): 10,
        (0, "ksys_dup", "linux", 0, "dup", "dup"): 70,
        (0, "[linux+unknown]", "linux", 0, "dup", "page fault"): 15,
        (1, "ksys_dup", "linux", 0, "0x00002000", "[not known]"): 5,
    }
    assert [node.function.name for node in found.stack(4)] == [
        "main",
        "ksys_dup",
        "[linux+unknown]",
    ]
    (eviction,) = found.evictions
    assert (eviction.loser.name, eviction.lost, eviction.winner.name, eviction.colour) == (
        "main",
        "code",
        "ksys_dup",
        5,
    )


@pytest.mark.parametrize(
    ("kind", "vector", "number", "name"),
    [
        ("int", 0x80, 41, "dup"),
        ("int", 0x80, 9999, "system call 9999"),
        ("int", 3, 0, "int 0x03"),
        ("gate", None, 39, "getpid"),
        ("gate", None, 9999, "system call 9999"),
        ("gate", None, (1 << 32) - 25, "mach_msg"),
        ("exception", 14, 0, "page fault"),
        ("interrupt", 0x30, 0, "interrupt 0x30"),
        ("start", None, 0, "new task"),
        (None, None, 0, "[not known]"),
    ],
)
def test_names_of_what_a_ring_was_entered_for(kind, vector, number, name):
    assert attribution.crossing_name(kind, vector, number) == name


@pytest.mark.parametrize("end", range(len(LINES)))
def test_what_was_cut_short_is_refused(write_attribution, end):
    with pytest.raises(StatsError, match="cut short"):
        attribution.read(write_attribution(LINES[:end]))


def changed(number, **fields):
    return [*LINES[:number], {**LINES[number], **fields}, *LINES[number + 1 :]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (LINES[1:], "1: .*expected the header"),
        (changed(0, schema_version=2), "schema version 2, this p5lab reads 1"),
        (changed(0, events=["cycles.busy"]), "expected the names of events"),
        (changed(0, events="instructions"), "expected the names of events"),
        (changed(6, parent=9), "7: .*no node 9 before this one"),
        (changed(6, function=9), "7: not a line of an attribution"),
        (changed(10, node=9), "expected counts of a known node"),
        (changed(10, counts=[1, 2, 3, 4]), "expected a count for each event"),
        (changed(10, counts=[1.5]), "expected whole numbers"),
        (changed(14, loser=None), "15: not a line"),
        (changed(14, type="other"), "unknown type 'other'"),
        ([*LINES, LINES[1]], "nothing after the end"),
        ([[]], "expected an object"),
    ],
)
def test_what_is_no_attribution_is_refused_with_its_line(write_attribution, lines, message):
    with pytest.raises(StatsError, match=message):
        attribution.read(write_attribution(lines))


# --- output for people and other programs --------------------------------------------------------


@pytest.fixture
def stored(tmp_path, write_attribution):
    write_attribution(LINES)
    record = {"label": "dup, linux", "experiment": "tests", "status": "ok"}
    return Stored(tmp_path, record | {"identity": {"described": {"phases": {"0": "call"}}}})


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=120)


def printed(console):
    return console.file.getvalue()


def test_speedscope(stored, tmp_path):
    """In speedscope's file format, a sample has a weight and a list of frame indices, with the
    outermost frame first. endValue is the sum of the weights.
    """
    path = tmp_path / "out.json"
    link = tmp_path / "link.json"
    link.symlink_to(path)  # a link stays a link
    exports.write(link, exports.speedscope(stored, "cycles.busy"))
    assert link.is_symlink()
    document = json.loads(path.read_text())
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    first, second = document["profiles"]
    assert (first["type"], second["type"]) == ("sampled", "sampled")
    assert first["name"] == "call: cycles.busy"
    stacks = {
        tuple(frames[frame] for frame in sample): weight
        for sample, weight in zip(first["samples"], first["weights"], strict=True)
    }
    assert stacks == {
        ("main",): 10,
        ("main", "ksys_dup"): 70,
        ("main", "ksys_dup", "[linux+unknown]"): 15,
    }
    assert (first["startValue"], first["endValue"], second["endValue"]) == (0, 95, 5)


def test_what_speedscope_cannot_have_is_refused(stored, tmp_path, write_attribution):
    path = tmp_path / "out.json"
    with pytest.raises(UserError, match="unknown event"):
        exports.write(path, exports.speedscope(stored, "cycles.bussy"))
    write_attribution([LINES[0] | {"stacks": False}, *LINES[1:]])
    with pytest.raises(UserError, match="has no stacks: expected a run with --by caller"):
        exports.write(path, exports.speedscope(stored, "cycles.busy"))
    assert not path.exists()


@pytest.fixture
def by_function(lab, p5lab):
    """A function that shows the counts of a run that has these lines in attribution.jsonl."""
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")

    def show(lines, *words):
        written(directory / "attribution.jsonl", lines)
        return p5lab("show", directory.name, *words)

    return show


def test_the_short_name_shows_functions(by_function):
    shown = by_function(LINES, "--attribution", "--per", "all", "--top", "1")
    assert shown == by_function(LINES, "--by", "function,module", "--per", "all", "--top", "1")
    status, said, _ = shown
    rows = [line.split() for line in said.splitlines()]
    assert status == 0
    assert ["ksys_dup", "linux", "70", "73.7", "30", "2.333"] in rows
    assert any(row[:4] == ["(2", "others)", "25", "26.3"] for row in rows)


def test_an_event_that_never_happened_is_not_unknown(by_function):
    """docs/start/commands.md asks for l2_read_misses of a run without such misses."""
    with_event = [LINES[0] | {"events": [*LINES[0]["events"], "l2_read_misses"]}, *LINES[1:]]
    words = ("--attribution", "--by", "function,crossing", "--event")
    status, said, _ = by_function(with_event, *words, "l2_read_misses")
    assert status == 0
    assert ["all", "0", "-"] in [line.split() for line in said.splitlines()]
    status, _, err = by_function(with_event, *words, "l2_read_mises")
    assert status == 2
    assert "did you mean 'l2_read_misses'" in err


CAUSED = [
    LINES[0] | {"events": [*EVENTS, "code_misses.compulsory", "code_misses.conflict"]},
    *LINES[1:11],
    LINES[11] | {"counts": [70, 30, 5, 1, 2]},
    *LINES[12:],
]


def test_causes_add_up_to_the_misses(by_function):
    words = ("--by", "cause", "--where", "ring=0", "--metric", "code_misses", "--per", "all")
    status, out, _ = by_function(CAUSED, *words, "--json")
    assert status == 0
    values = {row["cause"]: row["value"] for row in json.loads(out)["rows"]}
    # One function has 5 misses with 3 causes, and one a correction of -1.
    assert values == {"compulsory": 1, "conflict": 2, "no cause": 5 - 3 - 1, "": 5 - 1}
    status, out, err = by_function(LINES, "--by", "cause")
    assert (status, out) == (2, "")
    assert "--by cause" in err


def test_evictions(by_function):
    status, said, _ = by_function(CAUSED, "--evictions")
    assert status == 0
    rows = [line.split() for line in said.splitlines()]
    assert ["L1D", "main", "ksys_dup", "3", "100.0"] in rows  # for each of three calls
    words = ("--per", "all", "--by", "cause,cache,loser,lost,winner,won,colour")
    _, said, _ = by_function(CAUSED, *words)
    rows = [line.split() for line in said.splitlines()]
    assert [*"capacity L1D main code ksys_dup data 5 9 100.0".split()] in rows
    # An older p5lab counted only conflict misses of L2.
    older = [
        {key: value for key, value in line.items() if key not in ("phase", "cache", "cause")}
        if line["type"] == "eviction"
        else line
        for line in CAUSED
    ]
    _, said, err = by_function(older, "--by", "cause,cache")
    assert err == ""
    assert ["conflict", "L2", "9", "100.0"] in [line.split() for line in said.splitlines()]
    status, out, err = by_function(LINES, "--evictions")
    assert (status, out) == (2, "")
    assert "--by cache" in err
    without = [line for line in CAUSED if line["type"] != "eviction"]
    status, out, err = by_function(without, "--evictions")
    assert (status, out) == (2, "")
    assert "winner" in err
    assert "are 0" in err


TRACE = [
    {"kind": "begin", "phase": 0, "tsc": 100, "counts": {"code_misses": 1, "l2_read_misses": 0}},
    {
        "kind": "int",
        "vector": 128,
        "tsc": 130,
        "instructions": 9,
        "ring": [3, 0],
        "cr3": [4096, 4096],
        "mode": ["prot32", "prot32"],
        "eip": 0,
        "eax": 41,
        "ebx": 0,
        "ecx": 0,
        "edx": 0,
        "cr2": 0,
        "counts": {"code_misses": 1, "l2_read_misses": 0},
    },
    {
        "kind": "iret",
        "vector": None,
        "tsc": 330,
        "instructions": 99,
        "ring": [0, 3],
        "cr3": [4096, 4096],
        "mode": ["prot32", "prot32"],
        "eip": 0,
        "eax": 0,
        "ebx": 0,
        "ecx": 0,
        "edx": 0,
        "cr2": 0,
        "counts": {"code_misses": 8, "l2_read_misses": 2},
    },
    {"kind": "end", "phase": 0, "tsc": 340, "counts": {"code_misses": 8, "l2_read_misses": 2}},
]


def test_a_timeline(tmp_path, stored, console):
    path = tmp_path / "crossings.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in TRACE))
    timeline.show(console, stored, "csv")
    assert printed(console).splitlines() == [
        "phase,at,runs,clocks,L1I,L1D,L2,ITLB,DTLB,until",
        "0,0,program,30,0,0,0,0,0,dup",
        "0,30,kernel,200,7,0,2,0,0,IRET to program",
        "0,230,program,10,0,0,0,0,0,end of the bracket",
    ]
    # A trace from a version without counts.
    path.write_text(
        "".join(
            json.dumps({key: value for key, value in line.items() if key != "counts"}) + "\n"
            for line in TRACE
        )
    )
    timeline.show(console, stored, "csv")
    assert printed(console).splitlines()[-2] == "0,30,kernel,200,,,,,,IRET to program"
    path.unlink()
    with pytest.raises(UserError, match="expected a run with --trace crossings"):
        timeline.show(console, stored, "csv")


def test_a_timeline_has_the_stack_of_each_step(tmp_path, stored, console):
    path = tmp_path / "crossings.jsonl"
    parts = [(0, 0, 0), (20, 10, 0), (70, 150, 10), (75, 155, 10)]
    lines = [
        {**line, "counts": {"cpi.pairs": pairs, "cpi.data.dram": waits, "cycles.idle": idle}}
        for line, (pairs, waits, idle) in zip(TRACE, parts, strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    timeline.show(console, stored, "csv")
    rows = printed(console).splitlines()
    assert rows[0].endswith("until,issue,long,transfers,pipes,branches,code,data,bus,idle")
    assert [row.split(",")[-9:] for row in rows[1:]] == [
        ["20", "0", "0", "0", "0", "0", "10", "0", "0"],
        ["50", "0", "0", "0", "0", "0", "140", "0", "10"],
        ["5", "0", "0", "0", "0", "0", "5", "0", "0"],
    ]
    timeline.show(console, stored, "table")
    assert "what the clocks of each step are spent on" in printed(console)
    lines[-1]["counts"]["cpi.pairs"] += 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(StatsError, match=r"step 3: .* 11 cycles; the clock advances by 10"):
        timeline.show(console, stored, "csv")


WITH_STACK = [
    {
        "type": "header",
        "schema_version": 1,
        "stacks": True,
        "events": ["instructions", "cycles.busy", "cpi.pairs", "cpi.data.dram"],
    },
    {"type": "function", "id": 1, "name": "main", "module": "prog"},
    {
        "type": "node",
        "id": 1,
        "parent": 0,
        "function": 1,
        "cr3": 4096,
        "ring": 3,
        "entrance": 0,
    },
    {"type": "counts", "phase": 0, "node": 1, "counts": [12, 30, 10, 20]},
    {"type": "end"},
]


def test_speedscope_divides_stacks_by_component(tmp_path, write_attribution):
    write_attribution(WITH_STACK)
    path = tmp_path / "out.json"
    exports.write(path, exports.speedscope(Stored(tmp_path, {"label": "prog"}), "cpi"))
    document = json.loads(path.read_text())
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    (profile,) = document["profiles"]
    stacks = {
        tuple(frames[frame] for frame in sample): weight
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True)
    }
    assert stacks == {("main", "cpi.pairs"): 10, ("main", "cpi.data.dram"): 20}
    assert profile["endValue"] == 30


def test_a_function_whose_stack_is_not_exact_is_refused(write_attribution):
    wrong = [*WITH_STACK[:3], {**WITH_STACK[3], "counts": [12, 31, 10, 20]}, WITH_STACK[4]]
    with pytest.raises(StatsError, match=r"add up to 30 cycles, and cycles\.busy is 31"):
        attribution.read(write_attribution(wrong))
