# SPDX-License-Identifier: MIT
"""calls.jsonl: the reader, its checks, the names of calls, and the printed table."""

import argparse
import io
import json

import pytest
from fakelab import written
from rich.console import Console

from p5lab.describe.observation import Calls, Observation
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import by_call
from p5stats import StatsError, calls, known_calls


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


def test_the_frame_has_all_counts_and_what_is_outside(tmp_path):
    frame = calls.frame(calls.read(written(tmp_path / "calls.jsonl", LINES)))
    assert list(frame.columns) == calls.COLUMNS
    assert frame["exclusive"].sum() == 1000
    assert list(frame["name"]) == [
        "INT 21h AH=3Dh open",
        "interrupt 08h",
        "INT 21h AH=4Ch exit",
        "gate EAX=20",
        "exception 0Eh page fault",
        "outside of any call",
    ]
    first = frame.iloc[0]
    assert (first["calls"], first["inclusive"], first["idle"], first["waited"]) == (2, 600, 50, 100)
    assert (first["mode_changes"], first["crossings"]) == (2, 4)
    assert (frame["calls"] - frame["returned"]).sum() == 1


def test_a_run_that_was_never_ready_has_no_phases(tmp_path):
    found = calls.read(written(tmp_path / "calls.jsonl", [LINES[0], LINES[-1]]))
    assert found == {}
    assert calls.frame(found).empty


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
def stored(tmp_path):
    written(tmp_path / "calls.jsonl", LINES)
    return Stored(
        tmp_path,
        {
            "run": "0" * 16,
            "experiment": "tests",
            "status": "ok",
            "identity": {"described": {"phases": {"0": "boot"}}},
        },
    )


def printed(stored, form, rows=20, *, more=False):
    console = Console(file=io.StringIO(), width=80)
    by_call.show(console, stored, form, rows, more=more)
    return console.file.getvalue()


def test_the_table(stored):
    said = printed(stored, "table")
    assert max(map(len, said.splitlines())) <= 80
    assert "calls in boot" in said
    (row,) = [line.split() for line in said.splitlines() if "open" in line]
    assert row == ["INT", "21h", "AH=3Dh", "open", "2", "0", "400", "300"]
    (row,) = [line.split() for line in said.splitlines() if "all cycles" in line]
    assert row == ["all", "cycles", "1,000"]
    assert "(4 others)" in printed(stored, "table", 1)
    with_more = printed(stored, "markdown", more=True)
    assert "| INT 21h AH=3Dh open | 2 | 0 | 400 | 300 | 40.0 | 50 | 25 | 1 | 2 |" in with_more
    assert json.loads(printed(stored, "json"))["rows"][0]["exclusive"] == 400
    assert printed(stored, "csv").startswith("phase,kind,vector,function,name,calls,")


def brief(stored):
    console = Console(file=io.StringIO(), width=80)
    by_call.brief(console, stored)
    return console.file.getvalue()


def test_many_phases_have_a_view_of_their_own(stored):
    assert "calls in boot" in brief(stored)
    name = {"what": "phase-name", "name": "dir", "count": 7}
    stored.record["notes"] = [name]
    phases = [LINES[1] | {"phase": number, "cycles": 300} for number in (1, 2, 3, 7)]
    written(stored.directory / "calls.jsonl", [LINES[0], *phases, LINES[-1]])
    assert brief(stored) == f"Counts by call: `./p5lab show {stored.id[:8]} --calls`\n"
    assert "calls in dir" in printed(stored, "table")


def test_a_run_without_calls_is_refused(stored):
    (stored.directory / "calls.jsonl").unlink()
    with pytest.raises(
        UserError, match=r"has no counts by call: expected a run with --calls, as `./p5lab run "
    ):
        printed(stored, "table")
