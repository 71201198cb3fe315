# SPDX-License-Identifier: MIT
"""modes.jsonl: the reader, its checks, and the printed tables."""

import io
import json

import pytest
from fakelab import written
from rich.console import Console

from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import by_mode
from p5stats import StatsError, modes


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


def test_frames(tmp_path):
    found = modes.read(written(tmp_path / "modes.jsonl", LINES))
    frame = found.frame()
    assert list(frame.columns) == modes.COLUMNS
    assert frame[frame["event"] == "cycles.busy"]["count"].sum() == 900
    assert frame[frame["mode"] == "v86"]["count"].tolist() == [200, 50]
    vectors = found.vector_frame()
    assert list(vectors.columns) == modes.VECTOR_COLUMNS
    assert vectors["count"].sum() == 6
    empty = modes.read(written(tmp_path / "modes.jsonl", [LINES[0], LINES[-1]]))
    assert empty.frame().empty
    assert empty.vector_frame().empty


@pytest.mark.parametrize(
    "number, change, said",
    [
        (0, {"schema_version": 2}, "schema version 2, this p5lab reads 1"),
        (0, {"events": "all"}, "expected the names of events"),
        (0, {"events": ["a", "a", "b"]}, "expected each event once"),
        (1, {"mode": "flat"}, "unknown mode 'flat'"),
        (1, {"ring": 4}, "expected a ring and a phase"),
        (1, {"cr3": -1}, "expected the value of CR3"),
        (1, {"counts": [1, 2]}, "expected a count for each event"),
        (1, {"counts": [1, 2, 0.5]}, "expected whole numbers"),
        (1, {"vectors": [["soft", 256, 1]]}, "expected vectors as"),
        (1, {"vectors": [["irq", 8, 1], ["irq", 8, 1]]}, "vector 8 twice"),
        (4, {"cr3": 4096}, "the same mode twice"),
        (5, {"type": "stop"}, "unknown type 'stop'"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, number, change, said):
    lines = [dict(line) for line in LINES]
    lines[number] |= change
    with pytest.raises(StatsError, match=said) as refusal:
        modes.read(written(tmp_path / "modes.jsonl", lines))
    assert "\n" not in str(refusal.value)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    with pytest.raises(StatsError, match="incomplete: the file was cut short"):
        modes.read(written(tmp_path / "modes.jsonl", LINES[:-1]))


def printed(stored, form):
    console = Console(file=io.StringIO(), width=80)
    by_mode.show(console, stored, form)
    return console.file.getvalue()


def test_the_tables(tmp_path):
    written(tmp_path / "modes.jsonl", LINES)
    stored = Stored(
        tmp_path,
        {
            "run": "0" * 16,
            "experiment": "tests",
            "status": "ok",
            "identity": {"described": {"phases": {"0": "b"}}},
        },
    )
    said = printed(stored, "table")
    assert max(map(len, said.splitlines())) <= 80
    rows = [line.split() for line in said.splitlines()]
    assert ["real", "mode", "0", "700", "70.0", "300", "2.00"] in rows
    assert ["32-bit", "protected", "0", "100", "10.0", "50", "2.00"] in rows
    assert ["exception", "06h", "invalid", "opcode", "virtual-8086", "mode", "3", "3"] in rows
    assert "| INT 21h DOS | real mode | 0 | 2 |" in printed(stored, "markdown")
    assert json.loads(printed(stored, "json"))["vectors"][0]["count"] == 2
    assert printed(stored, "csv").startswith("phase,mode,ring,space,event,count\n")
    (tmp_path / "modes.jsonl").unlink()
    with pytest.raises(UserError, match="expected a run with --modes"):
        printed(stored, "table")
