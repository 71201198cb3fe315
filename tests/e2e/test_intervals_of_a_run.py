# SPDX-License-Identifier: MIT
"""Counts of each interval of a real run: they add up to the counts at the markers, and the option
changes no event."""

import json

import pytest

from p5lab.cli import main as cli
from p5lab.keep import store
from p5stats import cpi, intervals

LENGTH = 1_000_003


@pytest.fixture(scope="module")
def made(own_lab):
    """Runs of one workload with and without --interval, by the length of the interval."""
    command = ["run", "chen95-core", "--workload", "exec-static", "--guest", "linux", "--no-build"]
    for words in (["--cpi", "--interval", str(LENGTH)], ["--cpi"]):
        assert cli.main([*command, *words], own_lab) == 0
    found = store.all_runs(own_lab, "chen95-core")
    return {one.record["request"]["interval"]: one for one in found}


def totals(line):
    """The counts of a marker, by ring and number of the event."""
    sums = {}
    for _, ring, counts in line["banks"]:
        for number, count in enumerate(counts):
            sums[ring, number] = sums.get((ring, number), 0) + count
    return {key: count for key, count in sums.items() if count}


def test_the_events_do_not_change(made):
    one, other = ((made[length].directory / "events.jsonl").read_bytes() for length in (LENGTH, 0))
    assert one == other


def test_the_intervals_add_up_to_the_markers(made):
    stored = made[LENGTH]
    lines = [json.loads(line) for line in (stored.directory / "events.jsonl").open()]
    markers = {line["op"]: line for line in lines if line["type"] == "marker"}
    ready, end = markers["ready"], markers["exit"]
    found = intervals.read(stored.directory / "intervals.jsonl")
    assert found.events == lines[0]["events"]
    assert (found.length, found.clock_hz) == (LENGTH, lines[0]["clock_hz"])
    assert (found.intervals[0].begin, found.intervals[-1].end) == (ready["tsc"], end["tsc"])
    frame = found.frame()
    sums = frame.groupby(["ring", "event"])["count"].sum()
    before, after = totals(ready), totals(end)
    for ring, number in after:
        grown = after[ring, number] - before.get((ring, number), 0)
        assert sums.get((ring, found.events[number]), 0) == grown


def test_no_count_is_negative(own_lab):
    """An interval can end between an instruction and the one that may pair with it."""
    command = ["run", "smoke", "--workload", "getpid", "--guest", "linux", "--no-build"]
    assert cli.main([*command, "--cpi", "--interval", "1009"], own_lab) == 0
    (stored,) = store.all_runs(own_lab, "smoke")
    found = intervals.read(stored.directory / "intervals.jsonl")
    assert len(found.intervals) > 100
    assert found.frame()["count"].min() > 0


def test_an_interval_ends_soon_after_its_last_clock(made):
    found = intervals.read(made[LENGTH].directory / "intervals.jsonl")
    start = found.intervals[0].begin
    assert len(found.intervals) > 10
    for before, after in zip(found.intervals[:-1], found.intervals[1:], strict=True):
        assert before.end == after.begin
        assert (before.end - start) // LENGTH > (before.begin - start) // LENGTH
    busy = [
        one
        for one in found.intervals
        if not any(counts[found.events.index(cpi.IDLE)] for counts in one.rings.values())
    ]
    assert len(busy) > 5
    for one in busy[:-1]:
        assert one.end - one.begin < 1.05 * LENGTH


def test_the_table(made, own_lab, capsys):
    stored = made[LENGTH]
    assert cli.main(["show", stored.id, "--intervals"], own_lab) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert f"intervals of {LENGTH:,} clocks" in said
    assert cli.main(["show", made[0].id, "--intervals"], own_lab) == 2
    assert "expected a run with --interval" in capsys.readouterr().err
