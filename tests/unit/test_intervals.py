# SPDX-License-Identifier: MIT
"""intervals.jsonl: the reader, its checks, and the printed tables."""

import io
import json

import pytest
from fakelab import INTERVALS, interval, written
from rich.console import Console

from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import by_interval
from p5stats import StatsError, intervals


def test_the_counts_of_each_interval(tmp_path):
    found = intervals.read(written(tmp_path / "intervals.jsonl", INTERVALS))
    assert (found.length, found.clock_hz) == (100, 90_000_000)
    ends = [(one.begin, one.end) for one in found.intervals]
    assert ends == [(1000, 1100), (1100, 1500), (1500, 1550)]
    assert found.intervals[0].rings == {0: [60, 10, 40, 20, 40], 3: [30, 0, 20, 30, 0]}
    frame = found.frame()
    assert list(frame.columns) == intervals.COLUMNS
    assert frame[frame["event"] == "cycles.busy"]["count"].tolist() == [60, 30, 50]
    assert frame[frame["event"] == "cycles.idle"]["count"].tolist() == [10, 400]
    assert (
        intervals.read(written(tmp_path / "none.jsonl", [INTERVALS[0], INTERVALS[-1]]))
        .frame()
        .empty
    )


@pytest.mark.parametrize(
    "number, change, said",
    [
        (0, {"schema_version": 2}, "schema version 2, this p5lab reads 1"),
        (0, {"events": "all"}, "expected the names of events"),
        (0, {"events": ["a", "a"]}, "expected each event once"),
        (0, {"length": 0}, "length and clock_hz: expected at least 1"),
        (0, {"clock_hz": 1.5}, "expected a whole number"),
        (1, {"tsc": -1}, "expected a whole number"),
        (1, {"rings": 3}, "expected the counts of each ring"),
        (1, {"rings": [[4, [1] * 5]]}, "expected a whole number from 0 to 3, found 4"),
        (1, {"rings": [[0, [1] * 4]]}, "expected a count for each event"),
        (1, {"rings": [[0, [1.5] * 5]]}, "expected a whole number"),
        (2, {"rings": [[0, [1] * 5], [0, [1] * 5]]}, "ring 0 twice"),
        (2, {"tsc": 999}, "expected a later clock"),
        (3, {"rings": []}, "expected a later clock and the rings of the line before"),
        (3, {"type": "count"}, "unknown type 'count'"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path, number, change, said):
    lines = [dict(line) for line in INTERVALS]
    lines[number] |= change
    with pytest.raises(StatsError, match=said) as refusal:
        intervals.read(written(tmp_path / "intervals.jsonl", lines))
    assert "\n" not in str(refusal.value)


def test_a_wrong_sum_is_refused(tmp_path):
    lines = [
        *INTERVALS[:3],
        interval(1500, (0, [760, 710, 440, 621, 140]), *INTERVALS[2]["rings"][1:]),
    ]
    lines += INTERVALS[4:]
    path = written(tmp_path / "intervals.jsonl", lines)
    with pytest.raises(StatsError, match="clocks 1100 to 1500, ring 0: the components"):
        intervals.read(path)


def test_components_without_the_busy_cycles_are_refused(tmp_path):
    header = INTERVALS[0] | {"events": ["cycles.other", *INTERVALS[0]["events"][1:]]}
    path = written(tmp_path / "intervals.jsonl", [header, *INTERVALS[1:]])
    with pytest.raises(StatsError, match=r"ring 0: .* add up to 60 cycles, and cycles.busy is 0"):
        intervals.read(path)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    with pytest.raises(StatsError, match="incomplete: the file was cut short"):
        intervals.read(written(tmp_path / "intervals.jsonl", INTERVALS[:-1]))


def printed(tmp_path, lines, form="table", *, more=False):
    written(tmp_path / "intervals.jsonl", lines)
    console = Console(file=io.StringIO(), width=80)
    by_interval.show(console, Stored(tmp_path, {"run": "0" * 16}), form, more=more)
    return console.file.getvalue()


def test_the_tables(tmp_path):
    said = printed(tmp_path, INTERVALS)
    assert max(map(len, said.splitlines())) <= 80
    assert said.count("branches\n") == 0  # one table, not two
    rows = [line.split() for line in said.splitlines()]
    assert ["0.01", "10.0", "66.7", "60", "1.50", "44.4", "0.0", "0.0", "0.0"] in rows
    assert ["0.02", "100.0", "-", "0", "-", "-", "-", "-", "-"] in rows
    assert "| 0.02 | 0.0 | 100.0 | 40 | 1.25 |" in printed(tmp_path, INTERVALS, "markdown")
    assert len(json.loads(printed(tmp_path, INTERVALS, "json"))["rows"]) == 13
    assert printed(tmp_path, INTERVALS, "csv").startswith("interval,begin,end,ring,event,count\n")
    (tmp_path / "intervals.jsonl").unlink()
    with pytest.raises(UserError, match="expected a run with --interval"):
        by_interval.read(Stored(tmp_path, {"experiment": "tests", "status": "ok"}))


def test_many_intervals_share_rows(tmp_path):
    events = ["cycles.busy", "cycles.idle", "instructions", "code_misses"]
    lines = [INTERVALS[0] | {"events": events}]
    lines += [interval(100 * n, (3, [90 * n, 10 * n, 50 * n, n])) for n in range(101)]
    lines.append(INTERVALS[-1])
    said = printed(tmp_path, lines)
    rows = [line.split() for line in said.splitlines()]
    assert ["0.00", "10.0", "0.0", "200", "1.80", "20.00", "0.00", "0.00", "0.00"] in rows
    assert "Each row contains 4 intervals" in " ".join(said.split())
    assert sum(row[1:3] == ["10.0", "0.0"] for row in rows) == 25
    whole = printed(tmp_path, lines, more=True)
    assert sum(line.split()[1:3] == ["10.0", "0.0"] for line in whole.splitlines()) == 100
    assert "Each row contains" not in whole
