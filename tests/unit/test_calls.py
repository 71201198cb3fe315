# SPDX-License-Identifier: MIT
"""calls.jsonl: the reader, its checks, the names of calls, and the printed table."""

import argparse

import pytest
from fakelab import written

from p5lab.describe.observation import Observation, plugged
from p5lab.keep import store
from p5lab.present import runs
from p5stats import StatsError, dimensions, known_calls

EVENTS = ["cycles.busy", "cycles.idle", "calls", "returned", "waited", "total.cycles.busy"]
EVENTS += ["total.cycles.idle", "total.mode_changes.v86", "total.crossings.int"]


def call(of, *counts, ring=3):
    line = {"type": "call", "phase": 0, "cr3": 0x1000, "ring": ring, "call": of}
    return {**line, "counts": list(counts), "vectors": []}


LINES = [
    {"type": "header", "schema_version": 1, "events": EVENTS},
    call("outside", 300, 0, 0, 0, 0, 0, 0, 0, 0),
    call("int:33:61", 150, 0, 2, 2, 100, 550, 50, 2, 4),
    call("int:33:61", 200, 50, 0, 0, 0, 0, 0, 0, 0, ring=0),
    call("int:33:76", 100, 0, 1, 0, 0, 0, 0, 0, 0),
    call("hardware:8:", 210, 0, 3, 3, 0, 210, 0, 0, 2),
    call("exception:14:", -10, 0, 1, 1, 0, -10, 0, 0, 0),
    call("gate::20", 0, 0, 1, 0, 0, 0, 0, 0, 0),
    {"type": "end"},
]


def test_the_counts_by_call_have_all_counts_and_what_is_outside(tmp_path):
    written(tmp_path / "calls.jsonl", LINES)
    observer = dimensions.observers_of(["call"])[0]
    found = dimensions.of_run(tmp_path, observer, ["call"])
    assert set(found.frame["event"]) == set(found.events) == set(EVENTS)
    rows = found.frame.pivot(index="call", columns="event", values="count").fillna(0)
    assert set(rows.index) == {
        "INT 21h AH=3Dh open",
        "interrupt 08h",
        "INT 21h AH=4Ch exit",
        "writev",
        "exception 0Eh page fault",
        "outside of any call",
    }
    assert rows["cycles.busy"].sum() + rows["cycles.idle"].sum() == 1000
    first = rows.loc["INT 21h AH=3Dh open"]
    assert list(first[EVENTS]) == [350, 50, 2, 2, 100, 550, 50, 2, 4]


@pytest.mark.parametrize(
    "change, said",
    [
        ({"call": "jump:1:"}, "unknown kind 'jump' of a call"),
        ({"call": "int:33"}, "not a line of counts of an observer"),
        ({"call": "int:x:"}, "not a line of counts of an observer"),
        ({"call": "int:33:76"}, "the same place twice"),
        ({"counts": [1, 2]}, "expected a count for each event"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, change, said):
    lines = [dict(line) for line in LINES]
    lines[2] |= change
    observer = dimensions.observers_of(["call"])[0]
    written(tmp_path / "calls.jsonl", lines)
    with pytest.raises(StatsError, match=said) as refusal:
        dimensions.of_run(tmp_path, observer, ["call"])
    assert "\n" not in str(refusal.value)
    assert "calls.jsonl:" in str(refusal.value)


def test_names_of_calls():
    known = known_calls.read()
    assert known.name("int", 0x80, 20) == "INT 80h EAX=20 getpid"
    assert known.name("int", 0x80, 9999) == "INT 80h EAX=9999"
    assert known.name("int", 0x31, 0x300) == "INT 31h AX=0300h real interrupt"
    assert known.name("int", 0x2E, 0x3F) == "INT 2Eh EAX=003Fh"
    assert known.name("int", 0x60, None) == "INT 60h"
    assert known.name("gate", None, (1 << 32) - 25) == "gate EAX=-25 mach_msg"
    assert known.short("gate", None, (1 << 32) - 25) == "mach_msg"
    assert known.name("gate", None, (1 << 32) - 99) == "gate EAX=-99"
    assert known.name("int", 0x19, None) == "INT 19h boot"
    assert known.name("hardware", 8, None) == "interrupt 08h"
    assert known.name("exception", 6, None) == "exception 06h invalid opcode"


def test_the_engine_gets_the_registers_and_the_properties():
    words = known_calls.read().engine_text().split()
    assert {"21:ah", "2f:ax", "80:eax", "2e:eax", "gate:eax"} <= set(words)
    assert {"80/1:ends", "80/fc:ends", "80/b:moves", "19@7c00"} <= set(words)
    assert all(name and name.isprintable() for name in known_calls.read().exceptions.values())


@pytest.mark.parametrize(
    "text, said",
    [
        ("schema_version = 2", "schema_version: expected 1"),
        ("schema_version = 1\n[int.zz]", "int.zz: expected a hexadecimal number in quotes"),
        ("schema_version = 1\n[int.100]", "int.100: expected a vector of two hexadecimal digits"),
        ("schema_version = 1\n[int.21]\nregister = 'bl'", "register: expected one of ah, ax, eax"),
        ("schema_version = 1\n[int.21]\nregister = []", "register: expected a text"),
        ("schema_version = 1\n[int.21]\nnames = {}", "unknown key 'names'"),
        ("schema_version = 1\n[int.21]\nends = [4]", "expected a hexadecimal number in quotes"),
        ("schema_version = 1\n[int.21]\nfunctions = { 4c = 1 }", "4c: expected a text"),
        ("schema_version = 1\nint = 3", "int: expected a table"),
        ("schema_version = 1\n[int.21]\ndecimal = 1", "decimal: expected true or false, found 1"),
        ("schema_version = 1\n[ints]", "unknown key 'ints'; known: int, gate, exception"),
        ("schema_version =", "cannot be read"),
    ],
)
def test_a_wrong_declaration_is_one_line(tmp_path, text, said):
    path = tmp_path / "calls.toml"
    path.write_text(text)
    with pytest.raises(StatsError, match=said):
        known_calls.read(path)


def test_the_option_and_the_record():
    by_call = plugged.KINDS["calls"]
    asked = Observation.parse(parsed(["--calls"]))
    assert asked.get(by_call) == by_call()
    assert asked.recorded()["calls"] is True
    assert not Observation.parse(parsed([]))
    assert by_call.of_record({"request": {"calls": True}}) == by_call()
    assert by_call.of_record({"request": {}}) is None


def parsed(words):
    from p5lab.describe import observation

    parser = argparse.ArgumentParser()
    observation.add_options(parser)
    return parser.parse_args(words)


@pytest.fixture
def stored(lab, p5lab):
    """The only run of the workload `call`, with counts by call in its three brackets."""
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")
    written(directory / "calls.jsonl", LINES)
    return store.stored(directory)


def test_the_table(p5lab, stored):
    status, said, _ = p5lab("show", stored.id, "--calls")
    assert status == 0
    assert max(map(len, said.splitlines())) <= 100
    assert p5lab("show", stored.id, "--by", "call")[1] == said
    assert said in p5lab("show", stored.id)[1]
    (row,) = [line.split() for line in said.splitlines() if "open" in line]
    # Three brackets: 350 busy cycles without the idle ones, two calls of 600 cycles together.
    assert row == ["INT", "21h", "AH=3Dh", "open", "116.7", "36.8", "0.6667", "0", "300", "50"]
    _, said, _ = p5lab("show", stored.id, "--calls", "--top", "1")
    assert "(5 others)" in said
    words = ("show", stored.id, "--calls", "--all-tables", "--per", "all", "--format", "markdown")
    (row,) = [line for line in p5lab(*words)[1].splitlines() if "AH=3Dh" in line]
    assert row == "| INT 21h AH=3Dh open | 350 | 36.8 | 2 | 0 | 300 | 50 | 25 | 1 | 2 |"
    (row,) = [line for line in p5lab(*words)[1].splitlines() if "4Ch" in line]
    assert row == "| INT 21h AH=4Ch exit | 100 | 10.5 | 1 | 1 | - | - | - | - | - |"


def test_many_phases_have_a_view_of_their_own(p5lab, stored, monkeypatch):
    monkeypatch.setattr(runs, "MOST_PHASES", 0)
    assert p5lab("show", stored.id)[1].endswith(
        f"Counts by call: `./p5lab show {stored.id[:8]} --calls`\n"
    )


@pytest.mark.parametrize("lines", [None, [{"type": "header", "schema_version": 1}, LINES[-1]]])
def test_a_run_without_calls_is_refused(p5lab, stored, lines):
    """Such as one with four numbers for a call, of an older p5lab."""
    (stored.directory / "calls.jsonl").unlink()
    if lines:
        written(stored.directory / "calls.jsonl", lines)
        assert p5lab("show", stored.id)[0] == 0
    status, out, err = p5lab("show", stored.id, "--calls")
    assert (status, out) == (2, "")
    assert "no counts by call" in err and "run tests --by call" in err
