# SPDX-License-Identifier: MIT
"""`p5stats.tidy.load` and `save`: one table of several runs, with the terms and the settings."""

import json

import pandas as pd
import pytest
from fakelab import CLOCK_HZ

from p5stats import StatsError, papers, tidy

ORIGIN = {
    "experiment": "core",
    "engine": "bochs",
    "machine": "p90",
    "feedback": "yes",
    "guest": "linux",
    "seed": 0,
    "workload": "dup",
    "phase": "call",
    "ring": 3,
    "address_space": "0x00001000",
    "symbol": "",
}


def store(results, run, geometry, parameters, cycles, clock_hz=CLOCK_HZ, shadows=None):
    """Writes a run with one event and two iterations. `geometry`, `parameters`: as in a record."""
    directory = results / "core" / run
    directory.mkdir(parents=True)
    names = {"": geometry, **(shadows or {})}
    overlay = " ".join(f"{key}={value}" for key, value in geometry.items())
    rows = [
        {
            **ORIGIN,
            "run": run,
            "geometry": name or overlay,
            "parameters": " ".join(f"{key}={value}" for key, value in parameters.items()),
            "iteration": iteration,
            "event": event,
            "unit": "cycles",
            "value": value,
        }
        for name in names
        for iteration in (0, 1)
        for event, value in (("cycles.busy", cycles), ("cycles.idle", 0), ("instructions", 10))
    ]
    frame = pd.DataFrame(rows)[list(tidy.COLUMNS)]
    tidy.write(directory / tidy.COUNTS, frame, clock_hz=clock_hz)
    record = {
        "run": run,
        "parameters": parameters,
        "machine": {"values": {"l2.size": "262144", **geometry}, "shadows": shadows or {}},
        "workload": {"operations": 2, "bytes": 0},
        "guest": {"clock_vector": None},
    }
    (directory / tidy.RECORD).write_text(json.dumps(record))


@pytest.fixture
def results(tmp_path):
    """Returns results of a sweep: the machine's own L2 and a smaller L2, each with two sizes."""
    for number, (geometry, cycles) in enumerate((({}, 300), ({"l2.size": "131072"}, 900))):
        for size in (8, 16):
            store(tmp_path / "results", f"{number}{size}", geometry, {"size": size}, cycles + size)
    return tmp_path / "results"


def test_a_key_becomes_a_column_with_its_value(results):
    """The record has the value of the machine itself too, although its geometry is empty."""
    table = tidy.load(str(results), keys=["l2.size", "parameters.size"])
    found = table.drop_duplicates("run").set_index("run")[["l2.size", "parameters.size"]]
    assert found.T.to_dict("list") == {
        "08": [262144, 8],
        "016": [262144, 16],
        "18": [131072, 8],
        "116": [131072, 16],
    }
    with pytest.raises(StatsError, match=r"l3\.size: no run has this machine key"):
        tidy.load(results, keys=["l3.size"])


def test_values_of_a_record_are_numbers_or_truth_values_where_possible(tmp_path):
    values = {"l2.present": "false", "bus.ratio": "1.5", "l2.size": "131072", "l2.ways": "x"}
    store(tmp_path, "a", values, {}, 1)
    row = tidy.load(tmp_path, keys=list(values)).iloc[0]
    assert [row[key] for key in values] == [False, 1.5, 131072, "x"]


def test_two_programs_with_one_name_stay_apart(tmp_path):
    """A program with the same bytes replaces an earlier run. Other bytes are another program."""
    for run, digest, started in (("a", "1a2b", 1), ("b", "1a2b", 2), ("c", "3c4d", 3)):
        store(tmp_path, run, {}, {"file": "matrix.c", "region": "f"}, 10 * started)
        path = tmp_path / "core" / run / tidy.RECORD
        record = json.loads(path.read_text())
        record["workload"]["name"] = "program"
        record["identity"] = {"digests": {"program": digest * 16}}
        record["started"] = f"2026-01-0{started}"
        path.write_text(json.dumps(record))
    table = tidy.load(tmp_path, keys=["parameters.file"])
    found = table.drop_duplicates("run").set_index("run")
    assert found["parameters"].to_dict() == {
        "b": "file=matrix.c[1a2b] region=f",
        "c": "file=matrix.c[3c4d] region=f",
    }
    assert set(found["parameters.file"]) == {"matrix.c"}
    one = tidy.of_runs([tmp_path / "core/c"])
    assert set(one["parameters"]) == {"file=matrix.c region=f"}


@pytest.mark.parametrize(
    ("part", "key"), [("workload", "operations"), ("workload", "bytes"), ("guest", "clock_vector")]
)
@pytest.mark.parametrize("number", [-1, 1 << 63, 1 << 64, 1.5, True])
def test_a_term_that_is_no_count_is_refused(tmp_path, part, key, number):
    store(tmp_path, "a", {}, {}, 1)
    path = tmp_path / "core/a" / tidy.RECORD
    record = json.loads(path.read_text())
    record[part][key] = number
    path.write_text(json.dumps(record))
    with pytest.raises(StatsError, match="expected zero or more, and less than 2\\^63"):
        tidy.load(tmp_path)


@pytest.mark.parametrize("clock_hz", [0, 1 << 63, 1 << 64])
def test_a_clock_that_does_not_fit_into_the_table_is_refused(tmp_path, clock_hz):
    store(tmp_path, "a", {}, {}, 1, clock_hz=clock_hz)
    with pytest.raises(StatsError, match="clock_hz: expected more than zero, and less than 2"):
        tidy.load(tmp_path)


def test_a_setting_that_is_too_large_for_a_number_remains_a_text(tmp_path):
    """Python refuses to convert a text of more than 4,300 digits."""
    store(tmp_path, "a", {"l2.size": "9" * 5000}, {}, 1)
    assert tidy.load(tmp_path, keys=["l2.size"])["l2.size"].iloc[0] == "9" * 5000


def test_a_shadow_has_its_own_value(tmp_path):
    store(tmp_path, "a", {}, {}, 1, shadows={"small": {"l2.size": "65536"}})
    table = tidy.load(tmp_path, keys=["l2.size"])
    assert table.groupby("geometry")["l2.size"].unique().map(list).to_dict() == {
        "": [262144],
        "small": [65536],
    }


def test_measured_and_against_keep_the_settings(results):
    table = tidy.load(results, keys=["l2.size", "parameters.size"])
    each = papers.measured(table)
    cycles = each[each["metric"] == "busy cycles"]
    assert cycles.set_index("run")["value"].to_dict() == {
        "08": 154,
        "016": 158,
        "18": 454,
        "116": 458,
    }
    compared = papers.against(cycles, **{"l2.size": 262144})
    assert compared.set_index("run")["reference"].to_dict() == {
        "08": 154,
        "18": 154,
        "016": 158,
        "116": 158,
    }
    by_size = papers.against(cycles, **{"parameters.size": 8}).set_index("run")
    assert by_size["reference"].to_dict() == {"08": 154, "016": 154, "18": 454, "116": 454}
    spread = papers.spread(cycles)
    assert spread["l2.size"].tolist() == cycles["l2.size"].tolist()


def test_a_saved_table_is_read_again(results, tmp_path):
    table = tidy.load(results, keys=["l2.size"])
    tidy.save(str(tmp_path / "mine.parquet"), table)
    again = tidy.load(tmp_path / "mine.parquet")
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert tidy.read(tmp_path / "mine.parquet")[1] == CLOCK_HZ
    pd.testing.assert_frame_equal(papers.measured(again), papers.measured(table))
    with pytest.raises(StatsError, match=r"saved without l2\.ways"):
        tidy.load(tmp_path / "mine.parquet", keys=["l2.ways"])


def test_a_saved_table_can_have_several_clocks(tmp_path):
    store(tmp_path / "results", "a", {}, {}, 1)
    store(tmp_path / "results", "b", {"cpu.mhz": "133"}, {}, 1, clock_hz=133_000_000)
    tidy.save(tmp_path / "x.parquet", tidy.load(tmp_path / "results"))
    assert set(tidy.load(tmp_path / "x.parquet")["clock_hz"]) == {CLOCK_HZ, 133_000_000}
    with pytest.raises(StatsError, match="several clocks"):
        tidy.read(tmp_path / "x.parquet")


def test_a_table_without_terms_cannot_be_saved_or_measured(results, tmp_path):
    table = tidy.load(results)
    for action in (papers.measured, lambda one: tidy.save(tmp_path / "x.parquet", one)):
        with pytest.raises(StatsError, match="has no column operations"):
            action(table.drop(columns="operations"))
    (results / "core/08" / tidy.RECORD).unlink()
    with pytest.raises(StatsError, match=r"run 08: no run\.json beside its table"):
        papers.measured(tidy.load(results))
    assert not (tmp_path / "x.parquet").exists()


def test_exactly_the_given_runs_in_their_order(results):
    directories = [results / "core" / name for name in ("116", "08")]
    assert tidy.of_runs(directories)["run"].unique().tolist() == ["116", "08"]
    with pytest.raises(StatsError, match="at least one run"):
        tidy.of_runs([])
