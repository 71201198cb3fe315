# SPDX-License-Identifier: MIT
"""modes.jsonl, the file of an observer: the reader, its checks, and the printed tables."""

import csv
import json

import pytest
from fakelab import written

from p5stats import StatsError, observers

COLUMNS = ["phase", "ring", "space", "mode", "event", "count"]


def read(directory, lines):
    return observers.read(written(directory / "modes.jsonl", lines), ("mode",))


def mode(name, ring, counts, vectors=(), phase=0, cr3=0):
    return {
        "type": "mode",
        "phase": phase,
        "cr3": cr3,
        "ring": ring,
        "mode": name,
        "counts": counts,
        "vectors": list(vectors),
    }


LINES = [
    {
        "type": "header",
        "schema_version": 1,
        "events": ["cycles.busy", "cycles.idle", "instructions"],
    },
    mode("real", 0, [600, 100, 300], [["soft", 0x21, 2], ["irq", 8, 1]]),
    mode("v86", 3, [200, 0, 50], [["fault", 6, 3]], cr3=4096),
    mode("prot32", 0, [-1, 0, 1], cr3=4096),
    mode("prot32", 0, [101, 0, 49], cr3=8192),
    {"type": "end"},
]


def test_the_frame(tmp_path):
    frame = read(tmp_path, LINES).frame
    assert list(frame.columns) == COLUMNS
    assert frame[frame["event"] == "cycles.busy"]["count"].sum() == 900
    assert frame[frame["mode"] == "v86"]["count"].tolist() == [200, 50, 3]
    vectors = frame[frame["event"].str.startswith("vector.")]
    assert dict(zip(vectors["event"], vectors["count"], strict=True)) == {
        "vector.soft.33": 2,
        "vector.irq.8": 1,
        "vector.fault.6": 3,
    }
    assert read(tmp_path, [LINES[0], LINES[-1]]).frame.empty


@pytest.mark.parametrize(
    "number, change, said",
    [
        (0, {"schema_version": 2}, "schema version 2, this p5lab reads 1"),
        (0, {"events": "all"}, "expected the names of events"),
        (0, {"events": ["a", "a", "b"]}, "expected each event once"),
        (1, {"mode": None}, "expected texts or numbers: mode"),
        (1, {"ring": 4}, "expected a whole number from 0 to 3, found 4"),
        (1, {"cr3": -1}, "expected a whole number"),
        (1, {"counts": [1, 2]}, "expected a count for each event"),
        (1, {"counts": [1, 2, 0.5]}, "expected whole numbers"),
        (1, {"vectors": [["hard", 25, 1]]}, "expected vectors as"),
        (1, {"vectors": [["irq", 8, 1], ["irq", 8, 1]]}, "vector 8 twice"),
        (4, {"cr3": 4096}, "the same place twice"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, number, change, said):
    lines = [dict(line) for line in LINES]
    lines[number] |= change
    with pytest.raises(StatsError, match=said) as refusal:
        read(tmp_path, lines)
    assert "\n" not in str(refusal.value)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    with pytest.raises(StatsError, match="incomplete: the file was cut short"):
        read(tmp_path, LINES[:-1])


def test_the_tables(lab, p5lab):
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")
    written(directory / "modes.jsonl", LINES)
    words = ("show", directory.name, "--modes", "--per", "all")
    status, said, _ = p5lab(*words)
    assert status == 0
    assert max(map(len, said.splitlines())) <= 100
    rows = [line.split() for line in said.splitlines()]
    assert ["real", "0", "600", "66.7", "300", "2"] in rows
    assert ["prot32", "0", "100", "11.1", "50", "2"] in rows
    assert ["exception", "06h", "invalid", "opcode", "v86", "3", "3", "50.0"] in rows
    assert "| INT 21h DOS | real | 0 | 2 |" in p5lab(*words, "--format", "markdown")[1]
    rows = json.loads(p5lab(*words, "--json")[1])["rows"]
    assert {row["vector"] for row in rows} >= {"", "interrupt 08h"}
    text = p5lab(*words, "--format", "csv")[1]
    assert len(list(csv.DictReader(text.splitlines()))) == len(rows)
    (directory / "modes.jsonl").unlink()
    status, out, err = p5lab(*words)
    assert (status, out) == (2, "")
    assert "run tests --by mode" in err
