# SPDX-License-Identifier: MIT
"""tools/compare_events.py: compares the counts of two checkouts."""

import csv
import io
import json
import subprocess
import sys

import pytest
from fakelab import REPO


def put(results, name, events="a", status="ok", **changes):
    """Writes a run directory with the files that the tool reads."""
    record = {
        "experiment": "smoke",
        "status": status,
        "engine": "bochs",
        "machine": {"name": "p90", "geometry": ""},
        "guest": {"name": "linux"},
        "workload": {"name": "dup"},
        "parameters": {"warmup": 5, "iterations": 50},
        "seed": 0,
        "feedback": "on",
        **changes,
    }
    directory = results / record["experiment"] / name
    directory.mkdir(parents=True)
    (directory / "run.json").write_text(json.dumps(record))
    if events is not None:
        (directory / "events.jsonl").write_text(events)


@pytest.fixture
def sides(tmp_path):
    """Returns two directories of results. Their runs have different ids."""
    before, after = tmp_path / "before", tmp_path / "after"
    put(before, "id1")
    put(after, "id2", parameters={"iterations": 50, "warmup": 5})
    return before, after


def compare(before, after, *words):
    done = subprocess.run(
        [sys.executable, REPO / "tools/compare_events.py", before, after, *words],
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def rows(before, after, *words):
    status, out, _ = compare(before, after, "--format", "csv", *words)
    return status, list(csv.DictReader(io.StringIO(out)))


def test_the_same_events_under_another_id(sides):
    status, found = rows(*sides)
    assert status == 0
    (row,) = found
    assert row["before"] == row["after"] != ""
    assert (row["parameters"], row["verdict"]) == ("iterations=50 warmup=5", "same")
    assert compare(*sides)[1].splitlines()[-1] == "1 runs: 1 same"


@pytest.mark.parametrize(
    "changes",
    [
        {"experiment": "micro"},
        {"machine": {"name": "p100", "geometry": ""}},
        {"machine": {"name": "p90", "geometry": "l2.size=512K"}},
        {"guest": {"name": "mach"}},
        {"workload": {"name": "null"}},
        {"parameters": {"iterations": 51, "warmup": 5}},
        {"seed": 1},
        {"feedback": "off"},
        {"engine": "gem5"},
    ],
)
def test_each_thing_asked_for_makes_another_run(sides, changes):
    """A run that differs in one property is a different run. The tool does not compare the events
    of different runs.
    """
    put(sides[1], "id3", "b", **changes)
    status, found = rows(*sides)
    assert status == 1
    assert sorted(row["verdict"] for row in found) == ["only after", "same"]
    status, found = rows(*sides, "--common")
    assert (status, [row["verdict"] for row in found]) == (0, ["same"])


def test_one_byte_is_a_difference(sides):
    put(sides[0], "id3", "events 1", seed=1)
    put(sides[1], "id4", "events 2", seed=1)
    status, out, _ = compare(*sides)
    assert status == 1
    assert out.splitlines()[-1] == "2 runs: 1 same, 1 DIFFERENT"
    (line,) = [line for line in out.splitlines()[1:-1] if "DIFFERENT" in line]
    assert line.split()[-4] == "1"  # the seed


@pytest.mark.parametrize(("status", "events"), [("failed", "a"), ("ok", None)])
def test_a_run_that_failed_or_has_no_events_proves_nothing(sides, status, events):
    for number, side in enumerate(sides):
        put(side, f"id{5 + number}", events, status, seed=1)
    code, found = rows(*sides)
    assert (code, [row["verdict"] for row in found]) == (1, ["same", "NOT OK"])


def test_several_runs_of_one_kind_are_a_set(sides):
    put(sides[0], "id3", "b")
    assert rows(*sides)[0] == 1
    put(sides[1], "id4", "b")
    assert rows(*sides)[0] == 0


def test_bad_input_is_one_line(sides, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    status, _, error = compare(sides[0], empty)
    assert status == 2
    assert error == f"compare_events: {empty}: no run: expected EXPERIMENT/RUN/run.json below it\n"
    for text in ("not JSON", "[]", "{}"):
        (sides[1] / "smoke/id2/run.json").write_text(text)
        status, _, error = compare(*sides)
        assert status == 2
        assert "expected the record of a run" in error
        assert error.count("\n") == 1
