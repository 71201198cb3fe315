# SPDX-License-Identifier: MIT
"""SimPoint: file formats, clustering, estimates, the command."""

import gzip
import json
import random
import re
import stat

import numpy as np
import pytest
from fakelab import END, HEADER, snapshot

from p5lab.cli.main import main
from p5lab.describe.observation import SampledInterval
from p5lab.errors import UserError
from p5lab.execute import sampling as command
from p5stats import StatsError, events, simpoint
from p5stats.simpoint import SimPoint, Vectors

EMPTY = 0xFFFFFFFF


def vectors(tmp_path, text, name="test.bb"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return simpoint.read_vectors(path)


def mixture(kinds, length=1000, seed=7, blocks=40):
    """Returns intervals of the given kinds. Each kind has its own blocks, with some noise."""
    draw = random.Random(seed)
    found = []
    for kind in kinds:
        counts = {
            1 + kind * blocks + b: length * (b + 1) + draw.randrange(20) for b in range(blocks)
        }
        counts[10_000] = 50 + draw.randrange(5)
        found.append(counts)
    return Vectors(tuple(found))


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain.bb", "gem5.bb.gz"])
def test_vectors_are_read(tmp_path, name):
    found = vectors(tmp_path, "# a comment\nT:1:48 :3:24 :12:8 \nT:3:10 :3:5\n", name)
    assert found.intervals == ({1: 48, 3: 24, 12: 8}, {3: 15})
    assert found.lengths == [80, 15]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected lines that begin with T"),
        ("# only a comment\n", "expected lines that begin with T"),
        ("T:1:48 :3\n", "test.bb:1: expected `T:id:count :id:count ...`, found ':3'"),
        ("T:1:5\nT:1:-5\n", "test.bb:2: expected `T:id:count"),
        ("T:0:5\n", "test.bb:1: expected block ids of at least 1"),
        ("T:1:0\n", "test.bb: expected an interval with instructions"),
        ("T\nT", "test.bb: expected an interval with instructions"),
        ("T:1:48 :3:", "test.bb:1: expected `T:id:count"),
        ("T:1:4 :3:2x", "test.bb:1: expected `T:id:count"),
        ("Trace of a run\nT:1:4", "test.bb:1: expected `T:id:count :id:count ...`, found 'race'"),
    ],
)
def test_bad_vectors_are_named(tmp_path, text, message):
    with pytest.raises(StatsError, match=re.escape(message)):
        vectors(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "T:1:48 :3:24\nT\nT:3:15",  # no line end, an idle interval
        "T:1:48 :3:24\r\nT \r\nT:3:15\r\n",
        "T:1:48   :3:24   \n\nT\n\n# Thread 1\nT:3:10   :3:5   \n#\n",  # Valgrind's exp-bbv
        "T :1:48\t:3:24\nT:7:0\n T: 3: 15\n",
        "S: 0\nT:1:48:3:24\nT\nT:3:15",  # PinPoints
    ],
)
@pytest.mark.parametrize("name", ["plain.bb", "packed.bb.gz"])
def test_white_space_line_ends_and_idle_intervals(tmp_path, text, name):
    assert vectors(tmp_path, text, name).intervals == ({1: 48, 3: 24}, {}, {3: 15})


def test_idle_intervals_belong_to_no_cluster():
    busy = mixture([0, 1] * 3)
    found = simpoint.cluster(Vectors(({}, *busy.intervals[:4], {}, *busy.intervals[4:])), 2)
    expected = simpoint.cluster(busy, 2)
    assert found.labels == (-1, *expected.labels[:4], -1, *expected.labels[4:])
    assert {one.weight for one in found.points} == {one.weight for one in expected.points}
    assert all(found.labels[one.interval] == one.cluster for one in found.points)


def test_a_compressed_file_cut_short_is_named(tmp_path):
    path = tmp_path / "short.bb.gz"
    path.write_bytes(gzip.compress(b"T:1:48 :3:24\n" * 1000)[:-9])
    with pytest.raises(StatsError, match="cut short or is damaged"):
        simpoint.read_vectors(path)


def test_points_are_written_and_read(tmp_path):
    points = (SimPoint(3, 0, 1 / 3), SimPoint(7, 1, 2 / 3))
    texts = simpoint.write_points(points)
    assert texts[0] == "3 0\n7 1\n"
    paths = tmp_path / "a.simpoints", tmp_path / "a.weights"
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    found = simpoint.read_points(*paths, 8)
    assert [(one.interval, one.cluster) for one in found] == [(3, 0), (7, 1)]
    assert [one.weight for one in found] == pytest.approx([1 / 3, 2 / 3])
    assert sum(one.weight for one in found) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("chosen", "weights", "message"),
    [
        ("8 0\n", "1 0\n", "interval 8: expected 0 to 7"),
        ("1 0\n2 1\n", "1 0\n", "expected the same clusters as in"),
        ("1 0\n2 1\n", "0.6 0\n0.6 1\n", "a.weights: expected weights that add up to 1, or to the"),
        ("1 0\n2 1\n", "0 0\n0 1\n", "share of -coveragePct, found 0"),
        ("1 0\n2 1\n", "-1 0\n1.5 1\n", "found 0.5"),
        ("1 0\n", "nan 0\n", "found nan"),
        ("1 0\n2 0\n", "1 0\n", "cluster 0 a second time"),
        ("1\n", "1 0\n", "expected `value cluster`, found '1'"),
        ("1 0\n", "much 0\n", "expected `value cluster`, found 'much 0'"),
        ("", "1 0\n", "empty"),
    ],
)
def test_bad_points_are_named(tmp_path, chosen, weights, message):
    paths = tmp_path / "a.simpoints", tmp_path / "a.weights"
    paths[0].write_text(chosen)
    paths[1].write_text(weights)
    with pytest.raises(StatsError, match=re.escape(message)):
        simpoint.read_points(*paths, 8)
    with pytest.raises(StatsError, match=r"cannot read .*others\.simpoints"):
        simpoint.read_points(tmp_path / "others.simpoints", paths[1])


def test_weights_of_a_part_of_the_run_stand_for_the_whole(tmp_path):
    """SimPoint's option -coveragePct omits the smallest clusters."""
    paths = tmp_path / "a.simpoints", tmp_path / "a.weights"
    paths[0].write_text("1 0\n2 3\n")
    paths[1].write_text("0.6 0\n0.3 3")
    assert [one.weight for one in simpoint.read_points(*paths, 8)] == pytest.approx([2 / 3, 1 / 3])
    assert simpoint.coverage(paths[1]) == pytest.approx(0.9)


# --- clustering ---------------------------------------------------------------------------------


def test_known_clusters_are_found():
    kinds = [0] * 12 + [1] * 6 + [2] * 18 + [1] * 4
    found = simpoint.cluster(mixture(kinds), 10)
    assert list(found.labels) == kinds
    assert [point.cluster for point in sorted(found.points, key=lambda p: p.cluster)] == [0, 1, 2]
    assert all(kinds[point.interval] == point.cluster for point in found.points)
    by_cluster = {point.cluster: point.weight for point in found.points}
    assert by_cluster == pytest.approx({0: 0.3, 1: 0.25, 2: 0.45}, abs=0.001)
    assert sum(by_cluster.values()) == pytest.approx(1, abs=1e-12)


def test_weights_are_shares_of_instructions():
    long, short = mixture([0] * 5).intervals, mixture([1] * 5, length=100).intervals
    found = simpoint.cluster(Vectors((*long, *short)), 5)
    assert len(found.points) == 2
    total = sum(Vectors((*long, *short)).lengths)
    assert found.points[0].weight == pytest.approx(sum(Vectors(long).lengths) / total)


def test_clustering_is_repeatable():
    kinds = [0, 1, 2, 3] * 8
    assert simpoint.cluster(mixture(kinds), 12) == simpoint.cluster(mixture(kinds), 12)


def test_one_kind_is_one_cluster():
    """If the intervals differ only by noise, the BIC is similar for all k. Then the smallest k that
    reaches 90 % of the spread is small. Exact repetitions always give one cluster.
    """
    same = Vectors(mixture([0]).intervals * 20)
    found = simpoint.cluster(same, 10)
    assert found.labels == (0,) * 20
    assert found.points == (SimPoint(0, 0, 1.0),)


def test_bic_has_its_best_score_at_the_true_number():
    found = simpoint.cluster(mixture([0, 1, 2, 3, 4] * 10), 12)
    assert len(found.scores) == 12
    assert max(set(found.labels)) == 4
    worst, best = min(found.scores), max(found.scores)
    assert found.scores[4] >= worst + 0.9 * (best - worst)
    assert all(score < worst + 0.9 * (best - worst) for score in found.scores[:4])


def test_threshold_decides():
    mixed = mixture([0, 1, 2, 3, 4] * 10)
    assert len(simpoint.cluster(mixed, 12, threshold=0.0).points) < 5


def test_k_is_at_most_what_is_asked_and_what_is_there():
    assert len(simpoint.cluster(mixture([0, 1, 2, 3]), 2).scores) == 2
    assert len(simpoint.cluster(mixture([0, 1]), 30).scores) == 2
    assert simpoint.cluster(mixture([0]), 30).points == (SimPoint(0, 0, 1.0),)


def test_misses_tell_intervals_of_equal_blocks_apart():
    """Half of the intervals of each kind have ten times the misses of the others. Blocks alone do
    not see it."""
    kinds = [0, 1] * 20
    slow = np.array([number // 2 % 2 for number in range(40)])
    noise = np.random.default_rng(3).uniform(0.95, 1.05, (40, 2))
    misses = noise * np.where(slow, 2000, 200)[:, np.newaxis]
    assert len(simpoint.cluster(mixture(kinds), 10).points) == 2
    found = simpoint.cluster(mixture(kinds), 10, misses)
    same = zip(found.labels, kinds, slow, strict=True)  # no cluster holds two of the four sorts
    assert len(set(same)) == len(found.points) >= 4
    # Only proportions matter; and misses that do not differ change nothing.
    assert simpoint.cluster(mixture(kinds), 10, 100 * misses).labels == found.labels
    equal = simpoint.cluster(mixture(kinds), 10, np.zeros((40, 2)))
    assert equal.points == simpoint.cluster(mixture(kinds), 10).points


# --- estimates ----------------------------------------------------------------------------------


def mark(kind, op, arg, instructions, cycles, tsc=0):
    """Returns a snapshot. The snapshot's counts are in the order of the header: busy, idle,
    instructions.
    """
    line = snapshot(op, arg, [], [cycles, 0, instructions])
    return {**line, "type": kind, "tsc": tsc}


def sampled(tmp_path):
    """Returns two brackets. Interval 4 includes the gap between the brackets, and interval 9 lies
    in the second bracket.
    """
    lines = [
        HEADER,
        mark("marker", "begin", EMPTY, 0, 0),
        mark("marker", "end", EMPTY, 50, 50),
        mark("marker", "begin", 0, 100, 100, 100),
        mark("interval", "begin", 4, 200, 200),
        mark("marker", "end", 0, 300, 400, 400),
        mark("marker", "begin", 0, 1000, 9000, 9000),
        mark("interval", "end", 4, 1100, 9400),
        mark("interval", "begin", 9, 1200, 9500),
        mark("interval", "end", 9, 1300, 9600),
        mark("marker", "end", 0, 1400, 9700, 9700),
        END,
    ]
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return events.parse(path)


def test_counts_are_those_inside_the_brackets(tmp_path):
    parsed = sampled(tmp_path)
    whole = simpoint.counted(parsed, EMPTY)
    assert (whole["instructions"], whole["cycles.busy"]) == (200 + 400, 300 + 700)
    across = simpoint.counted(parsed, EMPTY, 4)
    assert (across["instructions"], across["cycles.busy"]) == (100 + 100, 200 + 400)
    assert simpoint.elapsed(parsed, EMPTY) == 9600


def test_the_estimate_is_the_weighted_mean(tmp_path):
    parsed = sampled(tmp_path)
    rates = simpoint.estimate(parsed, EMPTY, [SimPoint(4, 0, 0.25), SimPoint(9, 1, 0.75)])
    assert rates["cycles.busy"] == pytest.approx(0.25 * 3 + 0.75 * 1)
    assert rates["instructions"] == pytest.approx(1)
    with pytest.raises(StatsError, match="interval 5 was not simulated"):
        simpoint.estimate(parsed, EMPTY, [SimPoint(5, 0, 1.0)])


def test_misses_of_an_interval_that_was_not_counted_are_named(tmp_path):
    with pytest.raises(StatsError, match="no counts of interval 0"):
        simpoint.miss_clocks(sampled(tmp_path), EMPTY, 10)


def test_intervals_need_begin_and_end(tmp_path):
    def parse(*lines):
        path = tmp_path / "events.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines, END)))
        return events.parse(path)

    begin, end = mark("interval", "begin", 1, 5, 5), mark("interval", "end", 1, 9, 9)
    assert [bracket.phase for bracket in parse(begin, end).as_brackets] == [1]
    with pytest.raises(StatsError, match="interval 1 has no end"):
        parse(begin)
    with pytest.raises(StatsError, match=r":2: interval 1: expected one begin, then one end"):
        parse(end)
    with pytest.raises(StatsError, match=r":4: interval 1: expected one begin"):
        parse(begin, end, begin)


def test_bounds_are_instructions_from_the_beginning():
    given = Vectors(({1: 100}, {1: 120}, {2: 90}))
    found = simpoint.bounds(given, [SimPoint(2, 0, 0.5), SimPoint(0, 1, 0.5)])
    assert found == {2: (220, 310), 0: (0, 100)}
    chosen = command.Chosen(given, (SimPoint(0, 1, 0.4), SimPoint(2, 0, 0.6)), ())
    assert chosen.sample(7).intervals == (
        SampledInterval(0, 0, 100, 124),
        SampledInterval(2, 220, 310, 186),
    )


def test_vectors_from_anywhere_are_clustered(tmp_path, capsys):
    """gem5's probe writes a space after each pair in the vector file."""
    file = tmp_path / "simpoint.bb.gz"
    file.write_bytes(gzip.compress(b"T:1:90 :2:10 \nT:3:100 \n" * 6))
    assert main(["simpoint", "--vectors", str(file)]) == 0
    assert "2 of 12 intervals" in capsys.readouterr().out
    paths = tmp_path / "simpoint.simpoints", tmp_path / "simpoint.weights"
    assert simpoint.read_points(*paths, 12) == (SimPoint(0, 0, 0.5), SimPoint(1, 1, 0.5))
    for words in ([], ["phases", "--vectors", str(file)]):
        assert main(["simpoint", *words]) == 2
        assert "expected workloads or --vectors FILE" in capsys.readouterr().err
    assert main(["simpoint", "--vectors", str(tmp_path / "none.bb")]) == 1
    assert "cannot read" in capsys.readouterr().err


# --- the user's own SimPoint program ------------------------------------------------------------


def simpoint_program(tmp_path, body):
    """Writes a program that accepts the options of SimPoint 3.2. The program runs the shell text
    `body`, which finds the options in $1 to $9.
    """
    path = tmp_path / "simpoint"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_of_the_users_own_chooses(tmp_path):
    file = tmp_path / "run.bb"
    file.write_text("T:1:10\nT:2:10\nT:1:10\n")
    program = simpoint_program(
        tmp_path,
        'echo "$@" >"$0.said"\n'
        "while [ $# -gt 0 ]; do case $1 in -saveSimpoints) points=$2;;"
        " -saveSimpointWeights) weights=$2;; esac; shift; done\n"
        'printf "1 0\\n2 1\\n" >"$points"; printf "0.333333 0\\n0.666667 1\\n" >"$weights"',
    )
    found = command.choose(file, 30, program)
    assert [point.interval for point in found.points] == [1, 2]
    said = (tmp_path / "simpoint.said").read_text()
    assert f"-loadFVFile {file} -maxK 3 -fixedLength off" in said


def test_a_program_that_omits_clusters_is_told(tmp_path, capsys, monkeypatch):
    """SimPoint with -coveragePct 0.9 in a script of the user's own; the vectors are compressed, but
    their name does not say so."""
    file = tmp_path / "run.bb"
    file.write_bytes(gzip.compress(b"T:1:10\nT:2:10\nT:1:10\n"))
    program = simpoint_program(
        tmp_path,
        'echo "$@" >"$0.said"\n'
        "while [ $# -gt 0 ]; do case $1 in -saveSimpoints) points=$2;;"
        " -saveSimpointWeights) weights=$2;; esac; shift; done\n"
        'printf "0 0\\n1 1\\n" >"$points"; printf "0.55 0\\n0.35 1\\n" >"$weights"',
    )
    monkeypatch.setenv(command.BINARY, str(program))
    assert main(["simpoint", "--vectors", str(file)]) == 0
    got = capsys.readouterr()
    assert "61.11 %" in got.out
    assert "-coveragePct" in got.err
    assert "90.0% of the run" in got.err
    assert "-inputVectorsGzipped" in (tmp_path / "simpoint.said").read_text()
    assert (tmp_path / "run.weights").read_text() == "0.611111111 0\n0.388888889 1\n"


def test_a_program_that_fails_is_named(tmp_path):
    file = tmp_path / "run.bb"
    file.write_text("T:1:10\n")
    program = simpoint_program(tmp_path, "echo something is wrong; exit 3")
    with pytest.raises(UserError, match="status 3: something is wrong"):
        command.choose(file, 30, program)


def test_the_program_must_be_one(tmp_path, monkeypatch):
    monkeypatch.delenv(command.BINARY, raising=False)
    assert command.binary(None) is None
    monkeypatch.setenv(command.BINARY, str(tmp_path / "none"))
    with pytest.raises(UserError, match="expected the executable program `simpoint`"):
        command.binary(None)
