# SPDX-License-Identifier: MIT
"""SimPoint on the embedded engine: compares the estimate from a few intervals with the full run."""

import json

import pytest

from p5lab.cli.main import main
from p5lab.describe.observation import Sample, SampledInterval
from p5lab.describe.observation.vectors import VECTORS
from p5lab.engines import EVENTS
from p5lab.execute import sampling as command
from p5lab.lab import Lab
from p5stats import events, simpoint, tidy
from p5stats.simpoint import BUSY, INSTRUCTIONS

EMPTY = 0xFFFFFFFF
GETPID = "getpid iterations=400 warmup=0"


@pytest.fixture
def aside(tmp_path):
    """Returns the checkout, with its own results directory."""
    return Lab(Lab.here().root, tmp_path / "results")


def counts(booted):
    """Returns the content of each marker without its line number. Intervals between markers change
    the line numbers.
    """
    return [(one.op, one.arg, one.tsc, one.banks, one.vectors) for one in booted.events.markers]


def estimates(capsys, lab, *words):
    assert main(["simpoint", *words, "--full", "--no-build", "--format", "json"], lab) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def test_the_estimate_of_an_application(aside, capsys, full):
    """The application has 63 million instructions in five phases. With --full it has 1.5 * 10^9
    instructions and intervals of 10 million.
    """
    rounds, interval = (24, 10_000_000) if full else (1, 1_000_000)
    (row,) = estimates(
        capsys, aside, "phases", "--parameter", f"rounds={rounds}", "--interval", str(interval)
    )
    assert row["instructions"] > (1e9 if full else 4e7)
    assert 4 <= len(row["points"]) <= 30
    assert row["simulated"] < 0.75 * row["instructions"]
    assert sum(point["weight"] for point in row["points"]) == pytest.approx(1, abs=1e-6)
    assert abs(row["events"][BUSY]["error"]) < 0.05
    for event in ("data_reads", "data_read_misses", "code_misses", "itlb_misses"):
        assert abs(row["events"][event]["error"]) < (0.08 if full else 0.05), event
    # 16 intervals of a million instructions. Each phase touches its pages for the first time in a
    # few of the intervals. The basic blocks do not distinguish these intervals
    # (docs/concepts/simpoint.md). These misses are rare, except with --full.
    dtlb = row["events"]["dtlb_misses"]
    assert abs(dtlb["estimate"] - dtlb["full"]) < max(3e-6, 0.08 * dtlb["full"])
    # Between intervals, the clock advances by the CPI of the intervals before
    # (docs/concepts/simpoint.md).
    assert abs(row["clock_drift"]) < (0.35 if full else 0.3)

    # The store contains three runs, the estimate, and a tidy table of the sampled run. The phases
    # of this table are the intervals.
    directory = aside.results / command.SAMPLED / row["runs"][command.SAMPLED]
    frame, _ = tidy.read(directory / "counts.parquet")
    assert set(frame["phase"]) == {f"interval {point['interval']}" for point in row["points"]}
    assert json.loads((directory / command.ESTIMATE).read_text())["points"] == row["points"]
    vectors = aside.results / command.BLOCKS / row["runs"][command.BLOCKS] / VECTORS
    chosen = simpoint.read_points(
        directory / "simpoint.simpoints", directory / "simpoint.weights", row["intervals"]
    )
    again = simpoint.cluster(simpoint.read_vectors(vectors), command.MAX_K).points
    assert [one.interval for one in again] == [one.interval for one in chosen]
    assert [one.weight for one in again] == pytest.approx([one.weight for one in chosen])


def test_vectors_hold_every_instruction_of_the_brackets(boot):
    """The vectors of all intervals contain all instructions inside the brackets. The counts are the
    same as in a run that records no vectors.
    """
    plain = boot(GETPID)
    booted = boot(GETPID, vectors=5000)
    assert counts(booted) == counts(plain)
    found = simpoint.read_vectors(booted.directory / VECTORS)
    total = simpoint.counted(booted.events, EMPTY)[INSTRUCTIONS]
    assert sum(found.lengths) == total
    assert all(5000 - 100 < length < 5000 + 100 for length in found.lengths[:-1])
    assert len(found.intervals) == -(-total // 5000)


def test_events_of_the_intervals_are_those_of_the_brackets(boot):
    """The snapshots between intervals change no count, and the intervals have all of them."""
    plain = boot(GETPID)
    booted = boot(GETPID, vectors=5000, vector_events=True)
    assert counts(booted) == counts(plain)
    lengths = simpoint.read_vectors(booted.directory / VECTORS).lengths
    found = [simpoint.counted(booted.events, EMPTY, one) for one in range(len(lengths))]
    assert [one[INSTRUCTIONS] for one in found] == lengths
    whole = simpoint.counted(booted.events, EMPTY)
    assert {event: sum(one[event] for one in found) for event in whole} == whole
    assert (simpoint.miss_clocks(booted.events, EMPTY, len(lengths)).sum(axis=1) > 0).any()


def test_misses_stand_beside_the_blocks(aside, capsys):
    words = "getpid --parameter iterations=200 --interval 5000 --features blocks+misses"
    (row,) = estimates(capsys, aside, *words.split())
    assert row["features"] == "blocks+misses"
    made = aside.results / command.BLOCKS / row["runs"][command.BLOCKS]
    misses = simpoint.miss_clocks(events.parse(made / EVENTS), EMPTY, row["intervals"])
    found = simpoint.cluster(simpoint.read_vectors(made / VECTORS), command.MAX_K, misses).points
    assert [one.interval for one in found] == [point["interval"] for point in row["points"]]
    assert abs(row["events"][BUSY]["error"]) < 0.05


def test_a_sample_of_everything_is_the_full_run(boot):
    """One interval covers the whole run. There is no warming, and the results are the same."""
    plain = boot(GETPID)
    everything = Sample((SampledInterval(0, 0, 1 << 40, 1),), 1, "0 0\n", "1 0\n")
    booted = boot(GETPID, sample=everything)
    assert counts(booted) == counts(plain)
    assert simpoint.counted(booted.events, EMPTY, 0) == simpoint.counted(plain.events, EMPTY)


def test_warming_keeps_what_caches_and_tlbs_would_hold(boot):
    """The sample has no detailed interval. fork and exec cause the same misses as in the full run,
    but they take another time.
    """
    job = "exec-static iterations=3 warmup=1"
    settings = {"fetch.ahead": "false"}  # warming takes no time, so it fetches nothing ahead
    plain = boot(job, settings=settings)
    nothing = Sample((SampledInterval(0, 1 << 40, 1 << 41, 1),), 1 << 40, "0 0\n", "1 0\n")
    booted = boot(job, sample=nothing, settings=settings)
    full, warmed = (simpoint.counted(one.events, EMPTY) for one in (plain, booted))
    assert full["stall.fetch"] > 0 == warmed["stall.fetch"]
    for event in (
        "instructions",
        "data_reads",
        "data_read_misses",
        "data_write_misses",
        "code_misses",
        "itlb_misses",
        "dtlb_misses",
        "l2_read_misses",
        "branches",
        "btb_hits",
    ):
        assert warmed[event] == pytest.approx(full[event], rel=0.03), event


@pytest.mark.parametrize("text", ["0:5:6", "0:5:5:1", "0:10:20:1 1:15:30:1", "0:1:2:3x", "0:1:2:0"])
def test_a_bad_sample_is_refused(boot, text):
    booted = boot(GETPID, conf=[f"run.sample = {text}", "run.warm_up = 1"])
    assert booted.outcome.status == "failed"
    assert "run.sample: expected" in (booted.directory / "engine.out").read_text()


def test_bad_input_is_named(aside, capsys):
    for words, message in (
        (["phase"], "unknown workload 'phase'; did you mean 'phases'?"),
        (["phases", "--parameter", "rounds"], "--parameter: expected NAME=VALUE, found 'rounds'"),
        (["phases", "--parameter", "rouns=1"], "did you mean 'rounds'?"),
        (["phases", "--interval", "0"], "--interval: expected a whole number, at least 1"),
        (["phases", "--simpoint", "/none"], "/none: expected the executable program `simpoint`"),
    ):
        assert main(["simpoint", *words], aside) == 2
        assert message in capsys.readouterr().err
    assert not aside.results.exists()
