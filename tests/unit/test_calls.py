# SPDX-License-Identifier: MIT
"""calls.jsonl: the reader, its checks, the names of calls, and the printed table."""

import argparse

import pytest
from fakelab import written

from p5lab.describe.observation import Calls, Observation
from p5lab.keep import store
from p5lab.present import runs
from p5stats import StatsError, calls, dimensions, known_calls


def call(kind, vector, function, number, returned, own, inside, waited=0, phase=0):
    return {
        "type": "call",
        "phase": phase,
        "kind": kind,
        "vector": vector,
        "function": function,
        "calls": number,
        "returned": returned,
        "exclusive": own,
        "inclusive": inside,
        "waited": waited,
    }


LINES = [
    {"type": "header", "schema_version": 1},
    {"type": "phase", "phase": 0, "cycles": 1000, "outside": [300, 0, 1, 0]},
    call("int", 0x21, 0x3D, 2, 2, [400, 50, 0, 0], [600, 50, 2, 4], 100),
    call("int", 0x21, 0x4C, 1, 0, [100, 0, 0, 0], [0, 0, 0, 0]),
    call("hardware", 8, None, 3, 3, [210, 0, 0, 2], [210, 0, 0, 2]),
    call("exception", 14, None, 1, 1, [-10, 0, 0, 0], [-10, 0, 0, 0]),
    call("gate", None, 20, 0, 0, [0, 0, 0, 0], [0, 0, 0, 0]),
    {"type": "end"},
]


def test_the_counts_by_call_have_all_counts_and_what_is_outside(tmp_path):
    written(tmp_path / "calls.jsonl", LINES)
    observer = dimensions.observers_of(["call"])[0]
    found = dimensions.of_run(tmp_path, observer, ["call"])
    assert set(found.frame["event"]) == set(found.events)
    rows = found.frame.pivot(index="call", columns="event", values="count")
    assert set(rows.index) == {
        "INT 21h AH=3Dh open",
        "interrupt 08h",
        "INT 21h AH=4Ch exit",
        "gate EAX=20",
        "exception 0Eh page fault",
        "outside of any call",
    }
    assert rows["cycles.busy"].sum() + rows["cycles.idle"].sum() == 1000
    first = rows.loc["INT 21h AH=3Dh open"]
    assert (first["calls"], first["returned"], first["waited"]) == (2, 2, 100)
    assert (first["total.cycles"], first["total.idle"]) == (600, 50)
    assert (first["total.mode_changes"], first["total.crossings"]) == (2, 4)


def test_a_run_that_was_never_ready_has_no_phases(tmp_path):
    assert calls.read(written(tmp_path / "calls.jsonl", [LINES[0], LINES[-1]])) == {}


@pytest.mark.parametrize(
    "number, change, said",
    [
        (1, {"cycles": 1001}, r"phase 0: the exclusive cycles add up to 1000, expected 1001$"),
        (0, {"schema_version": 9}, "schema version 9, this p5lab reads 1"),
        (2, {"phase": 5}, "not a line of calls: 5$"),
        (2, {"kind": "jump"}, "unknown kind 'jump'"),
        (2, {"vector": 256}, "expected a vector for each kind except gate"),
        (2, {"vector": None}, "expected a vector for each kind except gate"),
        (2, {"returned": 3}, "more returns than calls"),
        (2, {"exclusive": [400, 50, 0]}, "expected four numbers"),
        (2, {"exclusive": [400, -1, 0, 0]}, "expected no negative count"),
        (2, {"calls": True}, "calls: expected a whole number, found 'True'"),
        (2, {"waited": 0.5}, "waited: expected a whole number"),
        (3, {"function": 0x3D}, "the same call twice"),
        (4, {"function": 1}, "expected no function of a call of the kind hardware"),
        (7, {"type": "stop"}, "unknown type 'stop'"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, number, change, said):
    lines = [dict(line) for line in LINES]
    lines[number] |= change
    with pytest.raises(StatsError, match=said) as refusal:
        calls.read(written(tmp_path / "calls.jsonl", lines))
    assert "\n" not in str(refusal.value)
    assert "calls.jsonl" in str(refusal.value)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    with pytest.raises(StatsError, match="incomplete: the file was cut short"):
        calls.read(written(tmp_path / "calls.jsonl", LINES[:-1]))


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
        ("schema_version = 1\n[int.21]\nnames = {}", "unknown key 'names'"),
        ("schema_version = 1\n[int.21]\nends = [4]", "expected a hexadecimal number in quotes"),
        ("schema_version = 1\n[int.21]\nfunctions = { 4c = 1 }", "4c: expected a text"),
        ("schema_version = 1\nint = 3", "int: expected a table"),
        ("schema_version =", "cannot be read"),
    ],
)
def test_a_wrong_declaration_is_one_line(tmp_path, text, said):
    path = tmp_path / "calls.toml"
    path.write_text(text)
    with pytest.raises(StatsError, match=said):
        known_calls.read(path)


def test_the_option_and_the_record():
    asked = Observation.parse(parsed(["--calls"]))
    assert asked.get(Calls) == Calls()
    assert asked.recorded()["calls"] is True
    assert not Observation.parse(parsed([]))
    assert Calls.of_record({"request": {"calls": True}}) == Calls()
    assert Calls.of_record({"request": {}}) is None


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
    assert "(4 others)" in said
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


def test_a_run_without_calls_is_refused(p5lab, stored):
    (stored.directory / "calls.jsonl").unlink()
    status, out, err = p5lab("show", stored.id, "--calls")
    assert (status, out) == (2, "")
    assert "no counts by call" in err and "run tests --by call" in err
