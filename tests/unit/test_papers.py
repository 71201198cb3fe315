# SPDX-License-Identifier: MIT
"""The papers' comparisons on tables with known results."""

import json
import math
import subprocess
import sys

import pandas as pd
import pytest
from fakelab import CLOCK_HZ, REPO

from p5stats import StatsError, compare, papers, terms, tidy
from p5stats.papers import Terms

TERMS = {run: Terms(operations=2, clock_hz=CLOCK_HZ, clock_vector=48) for run in "abc"}


def rows(run, events, *, iterations=2, **other):
    """Returns tidy rows. Each iteration has the same events. All events except `kernel` are in ring
    3.
    """
    common = {
        "experiment": "core",
        "run": run,
        "engine": "bochs",
        "machine": "p90",
        "geometry": "",
        "feedback": "yes",
        "guest": "linux",
        "seed": 0,
        "workload": "dup",
        "parameters": "",
        "phase": "call",
        "address_space": "0x0",
        "symbol": "",
        "unit": "",
        **other,
    }
    return [
        {**common, "iteration": iteration, "ring": 3, "event": event, "value": value}
        for iteration in range(iterations)
        for event, value in events.items()
    ]


def table(*parts):
    return pd.DataFrame([row for part in parts for row in part], columns=list(tidy.COLUMNS))


def timed(cycles, **more):
    return {"cycles.busy": cycles, "cycles.idle": 0, "hw_interrupts": 0, **more}


def value(frame, metric, **where):
    chosen = frame[frame["metric"] == metric]
    for column, wanted in where.items():
        chosen = chosen[chosen[column] == wanted]
    (found,) = chosen["value"]
    return found


@pytest.fixture
def two_guests():
    """Returns measurements of dup on two guests, with two calls in each bracket. The first guest
    ran with the seeds 1 and 2, and the second guest ran with seed 1.
    """
    return papers.measured(
        table(
            rows("a", timed(1000), seed=1),
            rows("a", timed(100), seed=1, phase="empty"),
            rows("b", timed(1200), seed=2),
            rows("c", timed(3600), guest="uml", seed=1),
        ),
        TERMS,
    )


def test_measured_is_one_operation_without_the_empty_bracket(two_guests):
    assert list(two_guests.columns) == [*compare.KEYS, *papers.NUMBERS]
    assert set(two_guests["phase"]) == {"call"}
    assert value(two_guests, "busy cycles", run="a") == 450
    assert value(two_guests, "microseconds", run="a") == pytest.approx(5)
    assert math.isnan(value(two_guests, "data reads", run="a"))  # not counted, so not zero
    names = [metric.name for metric in compare.metrics(48)]
    assert two_guests[two_guests["run"] == "a"]["metric"].tolist() == names
    with pytest.raises(StatsError, match="run a: no terms"):
        papers.measured(table(rows("a", timed(1))), {})


def test_spread_over_seeds(two_guests):
    found = papers.spread(two_guests[two_guests["metric"] == "busy cycles"])
    linux = found[found["guest"] == "linux"].iloc[0]
    assert (linux["seeds"], linux["value"], linux["lowest"], linux["highest"]) == (2, 525, 450, 600)
    assert linux["width"] == pytest.approx(150 / 525)
    assert linux["deviation"] == pytest.approx(106.066, abs=1e-3)
    uml = found[found["guest"] == "uml"].iloc[0]
    assert (uml["seeds"], uml["width"]) == (1, 0)
    assert math.isnan(uml["deviation"])
    assert not {"run", "seed"} & set(found.columns)
    with pytest.raises(StatsError, match="seed 1 occurs twice"):
        papers.spread(pd.concat([two_guests, two_guests[two_guests["run"] == "a"]]))


def test_against_a_reference_takes_the_same_seed_or_the_mean(two_guests):
    busy = two_guests[two_guests["metric"] == "busy cycles"]
    found = papers.against(busy, guest="linux").set_index("run")
    assert found["ratio"].to_dict() == {"a": 1, "b": 1, "c": 4}
    means = papers.against(papers.spread(busy), guest="linux").set_index("guest")
    assert means["ratio"].to_dict() == pytest.approx({"linux": 1, "uml": 1800 / 525})
    alone = papers.against(busy[busy["guest"] == "uml"], guest="linux")
    assert alone["ratio"].isna().all()
    for wrong in ({}, {"system": "linux"}):
        with pytest.raises(StatsError, match="expected columns of the table"):
            papers.against(busy, **wrong)
    with pytest.raises(StatsError, match="more than one row is the reference"):
        papers.against(busy.assign(seed=0), guest="linux")


def test_null_correction_is_of_the_same_system_and_seed():
    counts = compare.counts(
        table(
            rows("a", timed(1000, instructions=50), iterations=3),
            rows("b", timed(2000, instructions=50), guest="uml"),
        )
    )
    null = compare.counts(
        table(
            rows("c", timed(300, instructions=10), workload="null", iterations=1),
            rows("d", timed(500, instructions=20), workload="null", iterations=2),
            rows("e", timed(7), workload="null", guest="uml"),
        )
    )
    found = papers.null_corrected(counts, null)
    assert found.index.equals(counts.index)
    # The mean of all Null brackets of the system: (300 + 500 + 500) / 3.
    assert found.xs("a", level="run")["cycles.busy"].tolist() == pytest.approx([1700 / 3] * 3)
    assert found.xs("b", level="run")["cycles.busy"].tolist() == [1993, 1993]
    with pytest.raises(StatsError, match="no Null of engine bochs, machine p90, feedback yes, gue"):
        papers.null_corrected(counts, null.xs("linux", level="guest", drop_level=False))


def test_misses_per_reference_as_chen95_defines_them():
    events = {
        "data_reads": 60,
        "data_writes": 40,
        "data_read_misses": 6,
        "data_write_misses": 20,
        "dtlb_misses": 1,
        "instructions": 200,
        "code_misses": 10,
        "itlb_misses": 2,
    }
    short = {**events, "data_reads": 0, "data_writes": 0, "data_read_misses": 0}
    counts = compare.counts(
        table(
            rows("a", events, iterations=1),
            rows(
                "a",
                {**events, "data_reads": 260, "data_read_misses": 54},
                iterations=1,
                phase="other",
            ),
            rows("b", {"instructions": 5}),
            rows("c", short),
        )
    )
    found = papers.misses_per_reference(counts).set_index(["run", "phase", "metric"])["value"]
    found = found.sort_index()
    # The denominator of both metrics is the sum of reads and writes.
    assert found["a", "call"].to_dict() == pytest.approx(
        {
            "read misses/reference": 0.06,
            "write misses/reference": 0.2,
            "DTLB misses/reference": 0.01,
            "I-cache misses/instruction": 0.05,
            "ITLB misses/instruction": 0.01,
        }
    )
    assert found["a", "other", "read misses/reference"] == pytest.approx(54 / 300)
    assert found["b"].isna().all()  # not counted
    assert math.isnan(found["c", "call", "read misses/reference"])  # no references
    assert found["c", "call", "ITLB misses/instruction"] == 0.01


def test_misses_per_reference_weighs_iterations_by_their_references():
    frame = table(
        rows("a", {"data_reads": 90, "data_writes": 0, "data_read_misses": 0}, iterations=1),
        rows("b", {"data_reads": 10, "data_writes": 0, "data_read_misses": 10}, iterations=1),
    )
    frame.loc[frame["run"] == "b", "iteration"] = 1
    found = papers.misses_per_reference(compare.counts(frame.assign(run="a")))
    assert value(found, "read misses/reference") == pytest.approx(0.1)  # not (0 + 1) / 2


@pytest.mark.parametrize(
    ("value", "mips", "base", "bandwidth", "printed"),
    [
        (11, 18, 207, False, 0.94),  # DS5000, getpid: the example of the paper
        (0.18, 18, 3.66, False, 1.02),  # DS5000, cswitch
        (45, 14, 207, False, 0.30),  # HP835, getpid
        (207, 0.9, 207, False, 1.0),
        (20, 9, 2, True, 1.0),  # ten times the bandwidth of a machine a tenth as fast
    ],
)
def test_mips_relative_speed_of_ousterhout90(value, mips, base, bandwidth, printed):
    found = papers.mips_relative(value, mips, base, bandwidth=bandwidth)
    assert found == pytest.approx(printed, abs=0.005)


def test_relative_speeds_of_a_table(two_guests):
    frame = two_guests.assign(workload="getpid")
    found = papers.relative_speeds(frame, {"p90": 150})
    assert set(found["metric"]) == {"microseconds"}
    assert found["relative"].tolist() == pytest.approx(
        [207 / us / (150 / 0.9) for us in (5, 600 / 90, 20)]
    )
    assert papers.relative_speeds(two_guests, {}).empty  # the paper has no dup
    with pytest.raises(StatsError, match="no MIPS rating of p90"):
        papers.relative_speeds(frame, {"p100": 1})


def test_crossing_of_two_curves():
    flat = pd.Series({1: 5.0, 2: 5, 4: 5, 8: 5})
    rising = pd.Series({8: 9.0, 4: 6, 2: 4, 1: 2})
    assert papers.crossing(flat, rising) == 3  # 1 above at size 2, 1 below at size 4
    assert math.isnan(papers.crossing(rising, flat))  # not below at the end
    assert math.isnan(papers.crossing(flat - 4, rising))  # below at all sizes
    twice = pd.Series({1: 1.0, 2: 6, 4: 5, 8: 3})
    assert papers.crossing(twice, rising) == pytest.approx(2 + 2 * 2 / 3)  # the last one counts
    with pytest.raises(StatsError, match="over the same sizes"):
        papers.crossing(flat, rising.drop(4))


def results(tmp_path, record):
    directory = tmp_path / "results" / "core" / "a"
    directory.mkdir(parents=True)
    tidy.write(directory / "counts.parquet", table(rows("a", timed(90))), clock_hz=CLOCK_HZ)
    if record is not None:
        text = record if isinstance(record, str) else json.dumps(record)
        (directory / "run.json").write_text(text)
    return tmp_path / "results"


def test_load_takes_the_terms_from_the_record(tmp_path):
    record = {"workload": {"operations": 9, "bytes": 4}, "guest": {"clock_vector": 48}}
    frame = tidy.load(results(tmp_path, record))
    assert terms.of_table(frame) == {"a": Terms(9, CLOCK_HZ, 48, 4)}
    assert value(papers.measured(frame), "busy cycles") == 10


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "run a: no run.json"),
        ("{", "run.json: not valid JSON"),
        ("[" * 100_000, "run.json: not valid JSON"),
        ({"workload": [], "guest": {"clock_vector": 1}}, "run.json: not the record"),
        ({"workload": {"operations": 1}, "guest": {}}, "run.json: not the record"),
        ({"workload": {"operations": "1"}, "guest": {"clock_vector": 1}}, "expected zero or more"),
        ({"workload": {"operations": -1}, "guest": {"clock_vector": None}}, "expected zero"),
        ({"workload": {"operations": True}, "guest": {"clock_vector": None}}, "expected zero"),
    ],
)
def test_a_record_that_says_nothing_is_an_error(tmp_path, record, message):
    with pytest.raises(StatsError, match=message):
        papers.measured(tidy.load(results(tmp_path, record)))


def test_a_notebook_elsewhere_needs_no_p5lab(tmp_path):
    record = {"workload": {"operations": 9}, "guest": {"clock_vector": None}}
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from p5stats import claims, papers, tidy\n"
        "each = papers.measured(tidy.load(sys.argv[2]))\n"
        "print(each[each['metric'] == 'busy cycles']['value'].tolist(), 'p5lab' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, REPO / "stats-parsers", results(tmp_path, record)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[10.0] False\n"
