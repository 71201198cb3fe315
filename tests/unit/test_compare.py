# SPDX-License-Identifier: MIT
"""Tests of the tidy table and of the arithmetic on it, with events of known counts."""

import json
import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakelab import CLOCK_HZ, EVENTS, HEADER, call_events, shadow_events, snapshot

from p5stats import StatsError, compare, events, metrics, observed, tidy

ORIGIN = tidy.Origin("tests", "id", "bochs", "p90", "", "yes", "toy", 0, "call", "iterations=3")


def parsed(tmp_path, lines):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return events.parse(path)


@pytest.fixture
def frame(tmp_path):
    return tidy.table(parsed(tmp_path, call_events()), ORIGIN, {0: "call", 0xFFFFFFFF: "empty"})


def rows(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame


def test_columns_are_those_of_the_design(frame):
    assert tuple(frame.columns) == (
        "experiment",
        "run",
        "engine",
        "machine",
        "geometry",
        "feedback",
        "guest",
        "seed",
        "workload",
        "parameters",
        "phase",
        "iteration",
        "ring",
        "address_space",
        "symbol",
        "event",
        "unit",
        "value",
    )


def test_rows_are_differences_by_ring(frame):
    busy = rows(frame, phase="call", event="cycles.busy")
    assert rows(busy, ring=0)["value"].tolist() == [60, 60, 60]
    assert rows(busy, ring=3)["value"].tolist() == [45, 55, 65]
    assert set(busy["address_space"]) == {"0x00001000"}
    assert set(busy["unit"]) == {"cycles"}
    ticks = rows(frame, event="vector.irq.48")
    assert ticks[["phase", "iteration", "value"]].values.tolist() == [["call", 2, 1]]


def test_an_untouched_ring_has_no_rows_and_a_touched_one_has_all(frame):
    assert rows(frame, phase="empty", ring=0).empty
    one = rows(frame, phase="call", iteration=0, ring=0)
    assert one["event"].tolist() == EVENTS
    assert rows(one, event="dtlb_misses")["value"].tolist() == [0]


def test_a_shadow_has_its_misses_and_the_runs_stream_and_no_time(tmp_path):
    frame = tidy.table(parsed(tmp_path, shadow_events()), ORIGIN, {0: "call", 0xFFFFFFFF: "empty"})
    assert set(map(tuple, frame[["geometry", "feedback"]].values)) == {
        ("", "yes"),
        ("a", "no"),
        ("b", "no"),
    }
    mine = rows(frame, geometry="b", phase="call", iteration=1)
    assert set(mine["event"]) == {
        "instructions",
        "data_reads",
        "data_read_misses",
        "dtlb_misses",
        "vector.irq.48",
    }
    assert rows(mine, event="data_read_misses", ring=0)["value"].tolist() == [3]
    assert rows(mine, event="data_read_misses", ring=3)["value"].tolist() == [0]
    assert rows(mine, event="instructions", ring=3)["value"].tolist() == [24]
    counts = compare.without_empty(compare.counts(frame)).groupby("geometry").mean()
    assert counts["data_read_misses"].to_dict() == {"": 0, "a": 0, "b": 0}
    assert counts["instructions"].nunique() == 1
    assert counts["cycles.busy"].isna().to_dict() == {"": False, "a": True, "b": True}


def test_a_counter_that_goes_backwards_is_an_error(tmp_path):
    end = {"type": "end", "status": "ok", "reason": "", "guest_status": 0, "tsc": 1}
    lines = [HEADER, snapshot("begin", 0, [9], []), snapshot("end", 0, [8], []), end]
    with pytest.raises(
        StatsError, match=r"line 3: cycles.busy of ring 0, CR3 0x1000 went backwards"
    ):
        tidy.table(parsed(tmp_path, lines), ORIGIN, {})


def test_parquet_round_trip_with_schema_version(tmp_path, frame):
    path = tmp_path / "counts.parquet"
    tidy.write(path, frame, clock_hz=CLOCK_HZ)
    again, clock_hz = tidy.read(path)
    assert clock_hz == CLOCK_HZ
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)
    assert list(tmp_path.glob("*.tmp")) == []
    for place in (tmp_path, str(tmp_path), path, str(path)):
        loaded = tidy.load(place)
        assert len(loaded) == len(frame)
        assert set(loaded["clock_hz"]) == {CLOCK_HZ}


def test_rows_of_observers_stand_in_the_same_file(tmp_path, frame, monkeypatch):
    monkeypatch.setattr(observed, "GROUP", 2)
    rows = [
        ("call", 0, "sys_dup", 1, "cycles.busy", 7),
        ("call", 3, "main", 2, "cycles.busy", -1),
        ("call", 3, "main", 2, "calls", 5),
    ]
    names = ["phase", "ring", "function", "interval", "event", "count"]
    by_function = observed.Counted(pd.DataFrame(rows, columns=names), ("cycles.busy", "calls", "x"))
    nothing = observed.Counted(pd.DataFrame(columns=["phase", "mode", "event", "count"]), ())
    path = tmp_path / "counts.parquet"
    counted = {"attribution": by_function, "modes": nothing}
    tidy.write(path, frame, clock_hz=CLOCK_HZ, counted=counted, units={"calls": "calls"})
    again, _ = tidy.read(path)
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)
    found = tidy.read_observed(tmp_path, "attribution")
    pd.testing.assert_frame_equal(found.frame, by_function.frame, check_dtype=False)
    assert found.events == by_function.events
    assert list(tidy.read_observed(tmp_path, "modes").frame) == list(nothing.frame)
    assert tidy.read_observed(tmp_path, "calls") is None
    # What another program reads.
    plain = pd.read_parquet(path)
    own = plain[plain["observer"] == "attribution"]
    assert own["function"].tolist() == ["sys_dup", "main", "main"]
    assert own["unit"].tolist() == ["cycles", "cycles", "calls"]
    assert own["iteration"].isna().all()
    assert own["run"].unique().tolist() == frame["run"].unique().tolist()
    assert len(plain) == len(frame) + len(own)


def test_of_runs_that_ask_the_same_the_last_is_loaded(tmp_path, frame):
    for name, started in (
        ("old", "2026-01-01T10:00:00"),
        ("new", "2026-01-02T09:00:00"),
        ("none", None),
    ):
        directory = tmp_path / name
        directory.mkdir()
        tidy.write(directory / "counts.parquet", frame.assign(run=name), clock_hz=CLOCK_HZ)
        if started:
            (directory / "run.json").write_text(json.dumps({"started": started}))
    other = tmp_path / "other"
    other.mkdir()
    tidy.write(other / "counts.parquet", frame.assign(run="l2", geometry="l2.size=1"), clock_hz=1)
    table = tidy.load(tmp_path)
    assert table.groupby("run")["clock_hz"].unique().map(list).to_dict() == {
        "new": [CLOCK_HZ],
        "l2": [1],
    }
    assert set(tidy.load(tmp_path, all_runs=True)["run"]) == {"new", "old", "none", "l2"}


def test_tables_of_version_1_are_migrated(tmp_path, frame):
    path = tmp_path / "counts.parquet"
    tidy.write(path, frame.assign(feedback="on"), clock_hz=1)
    table = pq.read_table(path)
    metadata = {b"p5lab": b'{"schema_version": 1, "clock_hz": 1}'}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    assert set(tidy.read(path)[0]["feedback"]) == {"yes"}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "not a table of p5lab"),
        ({b"p5lab": b"{}"}, "not a table of p5lab"),
        ({b"p5lab": b'{"schema_version": 4, "clock_hz": 1}'}, "expected 3, found 4"),
        ({b"p5lab": b'{"schema_version": 1, "clock_hz": 1}'}, "columns differ"),
    ],
)
def test_foreign_parquet_is_refused(tmp_path, metadata, message):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata(metadata), path)
    with pytest.raises(StatsError, match=message):
        tidy.read(path)


def test_damaged_parquet_is_refused(tmp_path):
    (tmp_path / "counts.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(StatsError, match=r"cannot read .*counts.parquet"):
        tidy.load(tmp_path)
    with pytest.raises(StatsError, match=r"no counts\.parquet"):
        tidy.load(tmp_path / "nowhere")


def test_counts_sum_rings_and_keep_the_kernels_cycles(frame):
    counts = compare.counts(frame).xs("call", level="phase")
    assert counts["cycles.busy"].tolist() == [105, 115, 125]
    assert counts[compare.KERNEL].tolist() == [60, 60, 60]
    assert counts["vector.irq.48"].tolist() == [0, 0, 1]


def test_the_empty_bracket_is_taken_out(frame):
    counts = compare.without_empty(compare.counts(frame))
    assert set(counts.index.get_level_values("phase")) == {"call"}
    assert counts["cycles.busy"].tolist() == [100, 110, 120]
    assert counts["instructions"].tolist() == [40, 40, 40]
    assert counts[compare.KERNEL].tolist() == [60, 60, 60]


def test_null_correction_subtracts_the_mean(frame):
    counts = compare.counts(frame)
    null = pd.Series({"cycles.busy": 30.0, "instructions": 10.0})
    corrected = compare.correct(counts, null)
    assert (counts["cycles.busy"] - corrected["cycles.busy"]).unique().tolist() == [30.0]
    assert (counts["data_reads"] - corrected["data_reads"]).unique().tolist() == [0.0]


def test_summary_has_mean_min_max(frame):
    summary = compare.summary(compare.without_empty(compare.counts(frame)))
    assert summary["cycles.busy"].values.tolist() == [[110, 100, 120]]


def means(**values):
    return {**dict.fromkeys([*EVENTS, compare.KERNEL], 0.0), **values}


def evaluated(operations=1, **values):
    named = {name.replace("__", "."): value for name, value in values.items()}
    return compare.evaluate(means(**named), operations, CLOCK_HZ, 48)


def test_metrics_of_the_papers():
    got = evaluated(
        cycles__busy=1800,
        cycles__idle=900,
        instructions=600,
        data_reads=150,
        data_writes=50,
        data_read_misses=20,
        data_write_misses=30,
        code_misses=12,
        crossings__int=1,
        crossings__iret=1,
        crossings__async=2,
        hw_interrupts=3,
        l2_read_misses=4,
        l2_write_misses=5,
        mode_changes__v86=1,
        mode_changes__real=1,
        **{"cycles.busy.ring0": 1350, "vector.irq.48": 2},
    )
    assert got["microseconds"] == pytest.approx(30.0)
    assert got["CPI (busy)"] == 3
    # chen95 divides the misses by the data references, which are reads and writes together.
    assert got["read misses/reference"] == 0.1
    assert got["write misses/reference"] == 0.15
    assert got["I-cache misses/instr"] == 0.02
    assert got["kernel share"] == 0.75
    assert (got["ring crossings"], got["asynchronous"], got["mode changes"]) == (2, 2, 2)
    assert (got["interrupts, clock"], got["interrupts, other"]) == (2, 1)
    assert got["L2 misses"] == 9


def test_metrics_are_per_operation_and_ratios_are_not_divided():
    got = evaluated(10, cycles__busy=100, instructions=50)
    assert (got["busy cycles"], got["instructions"], got["CPI (busy)"]) == (10, 5, 2)


def test_bytes_moved_by_time():
    """The loop moves one word in 5 clocks at 90 MHz, and one of these clocks is idle. A host moves
    one word in 50 ns.
    """
    counts = means(**{"cycles.busy": 8.0, "cycles.idle": 2.0})
    assert compare.evaluate(counts, 2, CLOCK_HZ, 48, 4)["MB/s"] == pytest.approx(4 * 90 / 5)
    assert compare.evaluate({"time.wall": 100.0}, 2, CLOCK_HZ, 0, 4)["MB/s"] == pytest.approx(80)
    assert math.isnan(compare.evaluate(counts, 2, CLOCK_HZ, 48)["MB/s"])  # it moves no bytes


def test_nothing_to_divide_by_is_not_zero():
    assert str(evaluated()["CPI (busy)"]) == "nan"


def test_what_an_engine_does_not_count_is_missing_and_not_zero(frame):
    few = frame[frame["event"].isin(["cycles.busy", "instructions"])].assign(run="few")
    counts = compare.counts(pd.concat([frame, few])).xs("call", level="phase")
    counts = {run: rows.iloc[-1] for run, rows in counts.groupby(level="run")}
    assert counts["few"]["cycles.busy"] == counts["id"]["cycles.busy"] == 125
    assert counts["few"][compare.KERNEL] == 60
    for event in ("data_reads", "hw_interrupts", "vector.irq.48"):
        assert math.isnan(counts["few"][event]), event
        assert not math.isnan(counts["id"][event]), event
    got = compare.evaluate(counts["few"].to_dict(), 1, CLOCK_HZ, 48)
    assert got["busy cycles"] == 125
    for name in ("data reads", "interrupts, clock", "interrupts, other", "ring crossings"):
        assert math.isnan(got[name]), name


def test_metrics_use_the_engines_event_names():
    disks = ("disk.reads", "disk.writes", "disk.busy")
    newer = ("newer.instructions", "newer.cycles")
    names = [*EVENTS, *disks, *newer, compare.KERNEL]
    got = compare.evaluate(dict.fromkeys(names, 1.0), 1, CLOCK_HZ, 48, 4)
    missing = {name for name, value in got.items() if math.isnan(value)}
    # Only a host reports the first two, and only a guest with nominal clocks the others.
    nominal = {name for name in got if name.startswith("nominal ")}
    assert missing == {"processor time", "context switches", *nominal}
    assert len(nominal) == 3
    host = dict.fromkeys(("time.wall", "time.cpu", "page_faults", "context_switches"), 4000.0)
    got = compare.evaluate(host, 2, CLOCK_HZ, 0)
    assert {name: value for name, value in got.items() if not math.isnan(value)} == {
        "microseconds": 2,
        "processor time": 2,
        "page faults": 2000,
        "context switches": 2000,
    }


def test_bad_use_is_an_error():
    with pytest.raises(StatsError, match="operations: expected at least 1"):
        evaluated(0)
    with pytest.raises(StatsError, match="no brackets"):
        compare.counts(pd.DataFrame(columns=list(tidy.COLUMNS)))


def test_the_events_of_the_report_are_known():
    found = metrics.reported()
    assert {"cycles.busy", "data_reads", "l2_read_misses", "crossings.int", "disk.reads"} <= found
    assert found.isdisjoint({"stall.read", "bus_busy", "l2_reads", "dram_writes"})
