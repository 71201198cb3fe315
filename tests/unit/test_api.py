# SPDX-License-Identifier: MIT
"""`import p5lab`: runs, tables and figures from Python, in a laboratory with a scripted engine."""

import inspect
import json
import re
import subprocess
import sys
import threading

import fakelab
import pandas as pd
import pytest
from fakelab import INTERVALS, REPO, written

import p5lab
from p5stats import tidy

SIZES = ["128K", "256K", "512K"]


def test_the_document_names_every_argument_of_run():
    text = (REPO / "docs/start/python.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"Its arguments are (.+?)\. ", text)
    first, *arguments = inspect.signature(p5lab.run).parameters
    assert (first, re.findall(r"`(\w+)`", listed)) == ("what", arguments)


def test_the_import_is_cheap_and_needs_no_path():
    program = (
        "import sys, p5lab; print(p5lab.__version__, 'pandas' in sys.modules,"
        " sorted(p5lab.__all__) == sorted(set(dir(p5lab)) & set(p5lab.__all__)),"
        " {'TYPE_CHECKING', 'importlib'}.isdisjoint(dir(p5lab)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{REPO}/src:{REPO}/stats-parsers"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[1:] == ["False", "True", "True"]
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        _ = p5lab.plots


def test_every_function_explains_itself():
    for name in set(p5lab.__all__) - {"UserError"}:
        assert len(getattr(p5lab, name).__doc__) > 200, name


def test_run_makes_the_runs_once_and_returns_their_counts(here):
    table = p5lab.run("tests", build=False)
    assert set(table["workload"]) == {"call", "chase"}
    assert len(here.starts()) == 2
    again = p5lab.run("tests", build=False)
    pd.testing.assert_frame_equal(table, again)
    assert len(here.starts()) == 2
    p5lab.run("tests", build=False, force=True)
    assert len(here.starts()) == 4


def test_a_sweep_is_a_column_with_numbers(here, sweep):
    assert sweep.groupby("run")["l2.size"].first().sort_values().tolist() == [
        131072,
        262144,
        524288,
    ]
    both = p5lab.run(
        "tests",
        workload="chase",
        set={"l1d.write_allocate": True},
        sweep={"l2.size": [131072, "256K"], "parameters.loads": pd.Series([10, 20])},
        build=False,
    )
    settings = both.drop_duplicates("run")[["l1d.write_allocate", "l2.size", "parameters.loads"]]
    assert sorted(settings.itertuples(index=False, name=None)) == [
        (True, 131072, 10),
        (True, 131072, 20),
        (True, 262144, 10),
        (True, 262144, 20),
    ]


def test_run_works_outside_of_the_main_thread(here):
    found = []
    thread = threading.Thread(target=lambda: found.append(p5lab.run("tests", build=False)))
    thread.start()
    thread.join()
    assert found[0]["run"].nunique() == 2


def test_machines_guests_and_seeds_replace_those_of_the_experiment(here):
    table = p5lab.run(
        "tests",
        workload=["call"],
        machine=["p90-premiere2", "p133-triton"],
        guest="toy",
        seed=range(2),
        build=False,
    )
    assert set(table["machine"]) == {"p90-premiere2", "p133-triton"}
    assert set(table["seed"]) == {0, 1}
    assert table["run"].nunique() == 4
    assert set(p5lab.run("tests", workload="call", seed=1, build=False)["seed"]) == {1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": "test"}, "unknown experiment 'test'; did you mean 'tests'?"),
        ({"set": {"l2.sise": "1M"}}, "unknown machine key 'l2.sise'; did you mean 'l2.size'?"),
        ({"set": {"l2.size": "1"}}, "l2.size: expected bytes"),
        ({"sweep": {"l2.size": "128K"}}, "expected a list of values, such as .*; found '128K'"),
        ({"sweep": {"l2.size": []}}, "l2.size: expected a list of values"),
        ({"sweep": {"parameters.lods": [1]}}, "lods"),
        ({"guest": "windows"}, "unknown guest 'windows'"),
        ({"args": "-n 3"}, "args: expected with a program"),
        ({"what": "./nothing", "guest": "toy"}, "nothing: no such file"),
        ({"what": REPO / "README.md", "guest": "toy"}, "README.md: not an ELF file"),
    ],
)
def test_bad_input_runs_nothing(here, arguments, message):
    with pytest.raises(p5lab.UserError, match=message):
        p5lab.run(**{"what": "tests", **arguments}, build=False)
    assert here.starts() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"what": 3}, r"experiment or a path, or several .* p5lab.run\(program=.*; found 3"),
        ({"what": ["a.c", "b.c"]}, r"several programs as p5lab.run\(program=\[a, b\]\); found"),
        ({"machine": 5}, "machine: expected a text or a list of texts; found 5"),
        ({"workload": ["call", 5]}, "workload: expected a text or a list of texts; found"),
        ({"args": 5}, "args: expected a text or a list of texts; found 5"),
        ({"set": "l2.size=512K"}, r"set: expected a dictionary, such as .*; found 'l2.size=512K'"),
        ({"sweep": ["l2.size"]}, r"sweep: expected a dictionary, such as {'l2.size': \['128K'"),
        ({"seed": -1}, "seed: expected a whole number from 0 to 2147483647, or a list"),
        ({"seed": "0-3"}, "seed: expected a whole number .*; found '0-3'"),
        ({"seed": [0, True]}, "seed: expected a whole number"),
        ({"jobs": -3}, "jobs: expected a whole number, at least 1; found -3"),
        ({"jobs": "two"}, "jobs: expected a whole number, at least 1; found 'two'"),
        ({"force": "x"}, "force: expected True or False; found 'x'"),
        ({"what": None, "program": 5}, "name of an experiment or a path, or several .*; found 5"),
    ],
)
def test_an_argument_of_another_type_runs_nothing(here, arguments, message):
    test_bad_input_runs_nothing(here, arguments, message)


def test_a_program_in_the_current_directory_needs_a_path(here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(p5lab.UserError, match=r"unknown experiment 'mat.c'; known: tests$"):
        p5lab.run("mat.c")
    (tmp_path / "mat.c").touch()
    with pytest.raises(p5lab.UserError, match=r"unknown experiment 'mat.c'; .*path, \"./mat.c\"$"):
        p5lab.run("mat.c", args="3")


def test_a_run_that_fails_is_an_error_and_the_others_are_kept(here, capsys):
    events = {"call": fakelab.call_events(), "chase": None}
    here.behave(events=events)
    with pytest.raises(
        p5lab.UserError, match=r"1 of 2 runs failed; chase.*\(logs: .*results/tests"
    ):
        p5lab.run("tests", build=False)
    assert "failed" in capsys.readouterr().err
    assert set(p5lab.load("tests")["workload"]) == {"call"}


def test_load_takes_an_experiment_or_a_path(here, sweep):
    named = p5lab.load("tests")
    assert named["l2.size"].nunique() == 3  # because the runs differ in this key
    for path in (here.results / "tests", str(here.results), here.results / "tests"):
        pd.testing.assert_frame_equal(p5lab.load(path), named)
    assert set(p5lab.load("tests", keys=["l1d.ways"])["l1d.ways"]) == {2}
    tidy.save(here.root / "mine.parquet", named)
    pd.testing.assert_frame_equal(p5lab.load(here.root / "mine.parquet"), named, check_dtype=False)


@pytest.mark.parametrize(
    ("what", "keys", "message"),
    [
        ("test", None, "unknown experiment 'test'; did you mean 'tests'?"),
        ("nope", None, "unknown experiment 'nope'; known: tests$"),
        ("no/where", None, "no/where: expected a directory with results"),
        ("mine.parquet", None, "mine.parquet: expected a directory with results, or a file"),
        ([], None, r"load: expected an experiment, a label, .*; found \[\]"),
        (123, None, "load: expected an experiment, a label, .*; found 123"),
        ("", None, "load: expected an experiment, a label, .*; found ''"),
        (REPO / "LICENSES", None, "LICENSES: no counts.parquet in it"),
        (REPO / "LICENSE", None, "cannot read .*LICENSE"),
        ("tests", "l2.sise", "keys: unknown machine key 'l2.sise'; did you mean 'l2.size'?"),
        ("tests", ["l2.sise"], "keys: unknown machine key 'l2.sise'; did you mean 'l2.size'?"),
    ],
)
def test_load_of_nothing(here, sweep, what, keys, message):
    with pytest.raises(p5lab.UserError, match=message):
        p5lab.load(what, keys=keys)


ONES = r"expected a run, an experiment, a label, or a table of run or load; found"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: p5lab.measure(t, ["busy cycles"]), r"measure: expected names of .*\['busy cyc"),
        (lambda t: p5lab.measure(t.drop(columns="ring")), "the table has no column ring"),
        (lambda t: p5lab.measure(t.drop(columns="run")), "the table has no column run"),
        (lambda t: p5lab.measure(t[:0]), "measure: the table has no rows"),
        (lambda t: p5lab.compare(t, "256K"), r"compare: expected a dictionary, such as {'l2\.size"),
        (lambda t: p5lab.by("tests", []), r"by: expected one or more dimensions; found \[\]"),
        (lambda t: p5lab.by("tests", None), "by: expected one or more dimensions; found None"),
        (lambda t: p5lab.by("tests", "ring", where="ring=0"), "where: expected a dictionary"),
        (lambda t: p5lab.by("tests", "ring", per="x"), "unknown per 'x'; known: 1000, all, oper"),
        (lambda t: p5lab.by("tests", "ring", top="3"), "top: expected a whole number, at least 1"),
        (lambda t: p5lab.by("tests", "ring", names="no.toml"), "cannot read no.toml: No such file"),
        (lambda t: p5lab.explain("a", "b", single="no"), "single: expected True or False; found"),
        (lambda t: p5lab.explain("a", "b", only=3), "only: expected a text .*; found 3"),
        (lambda t: p5lab.explain(t, t), "explain: expected two runs, or an .*; found a table"),
        (lambda t: p5lab.explain(5, 6), "explain: expected two runs, or an .*; found 5"),
        (lambda t: p5lab.explore(5), f"explore: {ONES} 5"),
        (lambda t: p5lab.explore([]), rf"explore: {ONES} \[\]"),
        (lambda t: p5lab.profile([]), rf"profile: {ONES} \[\]"),
        (lambda t: p5lab.output(5), f"output: {ONES} 5"),
        (lambda t: p5lab.annotate(None), "expected the name of an experiment or a path"),
        (lambda t: p5lab.whatif("tests", jobs=0), "jobs: expected a whole number"),
        (lambda t: p5lab.plot(5, "x"), "plot: expected a table of run, .*; found 5"),
        (lambda t: p5lab.plot(t, 5), "plot metric: expected a text or a list of texts; found 5"),
        (lambda t: p5lab.stack(5), "stack: expected a table of run or load; found 5"),
    ],
)
def test_a_value_of_another_kind_is_one_line(sweep, call, message):
    with pytest.raises(p5lab.UserError, match=message) as caught:
        call(sweep)
    assert "\n" not in str(caught.value)


def test_load_has_the_order_of_the_experiments_file(here):
    """The order of the directories says nothing, so it must not decide what compare compares."""
    file = here.experiments / "tests.toml"
    machines = '["p133-triton", "p100-plato", "p90-premiere2"]'
    file.write_text(file.read_text().replace('["p90-premiere2"]', machines))
    made = p5lab.run("tests", sweep={"l2.size": SIZES}, seed=[0, 1], build=False)
    loaded = p5lab.load("tests")
    runs = made["run"].unique().tolist()
    assert sorted(runs) != runs
    assert loaded["run"].unique().tolist() == runs
    compared = p5lab.compare(loaded[loaded["l2.size"] == 131072])
    assert set(compared["against"]) == {"machine=p133-triton"}


def test_load_of_the_own_runs_of_an_experiment(here):
    with pytest.raises(p5lab.UserError, match="2 of the 2 runs of tests are not stored"):
        p5lab.load("tests", own=True)
    p5lab.run("tests", machine="p133-triton", seed=[0, 1], build=False)
    p5lab.run("tests", sweep={"l2.size": ["512K", "1M"]}, build=False)
    own = p5lab.run("tests", build=False)
    pd.testing.assert_frame_equal(p5lab.load("tests", own=True), own)
    assert p5lab.load("tests")["run"].nunique() == 10
    with pytest.raises(p5lab.UserError, match="expected own or all_runs, not both"):
        p5lab.load("tests", own=True, all_runs=True)


def test_load_of_one_run_by_its_id(here, sweep):
    run = sweep["run"].iloc[0]
    assert set(p5lab.load(run[:8])["run"]) == {run}
    with pytest.raises(p5lab.UserError, match="no run '0000000'"):
        p5lab.load("0000000")


@pytest.mark.parametrize(
    ("name", "call", "command"),
    [("tests", "tests", "tests"), ("program", "./FILE", "--program FILE")],
)
def test_load_of_an_experiment_without_results(here, name, call, command):
    message = f"no results of '{name}': p5lab.run('{call}') or `./p5lab run {command}` makes them"
    with pytest.raises(p5lab.UserError, match=f"^{re.escape(message)}$"):
        p5lab.load(name)


def test_a_parameter_that_no_run_has(here, sweep):
    with pytest.raises(p5lab.UserError, match=r"parameters\.sizes: no run has this"):
        p5lab.load("tests", keys=["parameters.sizes"])


def test_output_is_what_the_program_printed(here):
    here.behave(output="hello\nß\n")
    table = p5lab.run("tests", build=False)
    one = table[table["workload"] == "call"]
    assert p5lab.output(one) == p5lab.output(one["run"].iloc[0][:8]) == "hello\nß\n"
    with pytest.raises(p5lab.UserError, match="expected a table with one run; found 2 runs"):
        p5lab.output(table)
    with pytest.raises(p5lab.UserError, match="no run 'ffffffff'"):
        p5lab.output("ffffffff")


def test_measure_gives_one_operation(sweep):
    each = p5lab.measure(sweep, "instructions", "busy cycles")
    assert each["metric"].unique().tolist() == ["instructions", "busy cycles"]
    assert set(each[each["metric"] == "busy cycles"]["value"]) == {110}  # call_events
    assert each["l2.size"].nunique() == 3
    # 100, 110 and 120 cycles, and 40 instructions in each iteration (call_events).
    assert set(each["deviation"]) == {10, 0}
    pd.testing.assert_frame_equal(p5lab.measure(each, "instructions"), each.iloc[:3])
    with pytest.raises(p5lab.UserError, match="unknown metric 'instruction'; did you mean"):
        p5lab.measure(sweep, "instruction")


def test_measure_takes_the_short_names_of_the_command_line(sweep):
    short, long = (p5lab.measure(sweep, name) for name in ("cycles", "busy cycles"))
    assert set(short["metric"]) == {"busy cycles"}
    assert short.equals(long)
    assert p5lab.plot(sweep, "Busy-Cycles").to_dict() == p5lab.plot(sweep, "busy cycles").to_dict()
    with pytest.raises(p5lab.UserError, match="'l2_read_misses' is an event, and no number for"):
        p5lab.measure(sweep, "l2_read_misses")
    with pytest.raises(p5lab.UserError, match="measure: expected a table of run or load; found 3"):
        p5lab.measure(3)


def test_compare_takes_a_value_as_a_user_writes_it(sweep):
    found = p5lab.compare(p5lab.measure(sweep, "busy cycles"), {"l2.size": "256K"})
    assert found["reference"].tolist() == found["value"].tolist() == [110] * 3
    first = p5lab.compare(sweep)  # the first value of the sweep
    assert set(first["against"]) == {"l2.size=128K"}
    assert set(first[first["metric"] == "CPI (busy)"]["ratio"]) == {1}
    both = sweep.assign(guest="other", run=sweep["run"] + "x")
    assert p5lab.compare(pd.concat([sweep, both]), guest="toy")["ratio"].dropna().eq(1).all()


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"gest": "linux"}, "compare: unknown column 'gest'; did you mean 'guest'?"),
        ({"guest": "linux"}, "compare: expected one of guest=toy; found guest=linux"),
        ({"l2.size": "1M"}, "one of l2.size=128K, l2.size=256K, l2.size=512K; found l2.size=1M"),
        ({"l2.size": "big"}, "compare: l2.size: expected bytes"),
    ],
)
def test_compare_without_such_a_reference(sweep, reference, message):
    with pytest.raises(p5lab.UserError, match=message):
        p5lab.compare(sweep, reference)


def test_compare_with_two_runs_of_one_kind(sweep):
    """No run is chosen without a word."""
    first, *_ = sweep["run"].unique()
    both = pd.concat([sweep, sweep.assign(run=sweep["run"] + "x")])
    with pytest.raises(p5lab.UserError) as caught:
        p5lab.compare(both, {"l2.size": "128K"})
    assert str(caught.value) == (
        "compare: more than one row is the reference l2.size=131072: runs"
        f" {first}, {first}x; keep one of them"
    )


def test_compare_of_one_kind(here):
    with pytest.raises(p5lab.UserError, match="expected a reference, such as guest='linux'"):
        p5lab.compare(p5lab.run("tests", workload="call", build=False))


def spec(chart):
    """Returns the Vega-Lite specification of a chart, and its first data set."""
    found = chart.to_dict()
    return found, next(iter(found["datasets"].values()))


def marks(found):
    return [layer["mark"]["type"] for layer in found["layer"]]


def test_a_sweep_is_a_curve_over_the_swept_key(sweep):
    found, data = spec(p5lab.plot(sweep, "instructions", title="the calls"))
    assert marks(found) == ["line", "point"]
    assert [row["point"] for row in data] == [131072, 262144, 524288]
    assert [row["value"] for row in data] == [40] * 3
    x = found["layer"][0]["encoding"]["x"]
    assert (x["title"], x["scale"]["type"]) == ("l2.size", "log")
    assert "KB" in x["axis"]["labelExpr"]
    assert found["title"] == "the calls"


def test_sizes_of_an_array_are_a_curve(here):
    chase = p5lab.run("tests", workload="chase", build=False)
    found, data = spec(p5lab.plot(chase, x="phase"))
    assert [(row["point"], row["value"]) for row in data] == [(512, 2), (1024, 8)]
    assert found["layer"][0]["encoding"]["x"]["title"] == "size of the array"


def test_a_name_has_only_the_parameters_that_differ_in_its_workload(here):
    table = p5lab.run("tests", build=False)
    both = [
        table.assign(run=table["run"] + more, parameters=table["parameters"] + f" placement={more}")
        for more in "ab"
    ]
    _, data = spec(p5lab.plot(pd.concat(both), "instructions"))
    names = {row["row"] for row in data}
    assert names == {
        f"{name}, placement={more}"
        for name in ("call, call", "chase, 512 B", "chase, 1 KB")
        for more in "ab"
    }


def test_a_legend_has_all_series(sweep):
    """With more names, the end of a legend says how many names it leaves out."""
    many = [sweep.assign(guest=f"guest-{n}", run=sweep["run"] + f"-{n}") for n in range(31)]
    with pytest.raises(p5lab.UserError, match=r"31 series: .*\['workload'\] == 'call'\]"):
        p5lab.plot(pd.concat(many))


def two_guests(table):
    """Returns the rows of a table twice, the second time with twice the counts on guest `slow`."""
    slow = table.assign(guest="slow", run=table["run"] + "s", value=table["value"] * 2)
    return pd.concat([table, slow])


def test_guests_are_bars_side_by_side(here):
    table = two_guests(p5lab.run("tests", build=False))
    found, data = spec(p5lab.plot(table[table["phase"] != "1 KB"], "CPI (busy)"))
    assert "bar" in marks(found)
    bars = next(one for one in found["layer"] if one["mark"]["type"] == "bar")["encoding"]
    assert bars["yOffset"]["field"] == "series"  # so no bar hides another bar
    assert {row["series"] for row in data} == {"toy", "slow"}
    assert {row["row"] for row in data} == {"call", "chase"}
    assert bars["x"]["scale"]["domain"][0] == 0


def test_ratios_have_a_rule_at_one_and_no_marks_for_the_reference(here):
    table = two_guests(p5lab.run("tests", workload="call", build=False))
    found, data = spec(p5lab.plot(p5lab.compare(table, guest="toy")))
    assert [(row["row"], row["value"]) for row in data] == [("call", 2)]
    assert marks(found)[0] == "rule"
    point = next(one for one in found["layer"] if one["mark"]["type"] == "point")
    assert point["encoding"]["x"]["title"] == "busy cycles, slow / toy"


def test_seeds_are_a_mean_with_a_range(here):
    one = p5lab.run("tests", workload="call", build=False)
    other = one.assign(seed=1, run="other", value=one["value"] * 3)
    found, data = spec(p5lab.plot(pd.concat([one, other])))
    assert [(row["value"], row["lowest"], row["highest"]) for row in data] == [(220, 110, 330)]
    assert "rule" in marks(found)


def test_the_key_with_the_most_values_is_the_axis(sweep):
    sizes = sweep["l2.size"].nunique()
    table = pd.concat(
        [
            sweep.assign(**{"a.size": size, "run": sweep["run"] + str(size)})
            for size in range(1, sizes)
        ]
    )
    _, data = spec(p5lab.plot(table[["a.size", *sweep]]))
    assert len({row["point"] for row in data}) == sizes
    assert len({row["series"] for row in data}) == sizes - 1


def test_names_of_curves_contain_only_what_differs(sweep):
    more = sweep.assign(parameters="iterations=5 loud=yes", run=sweep["run"] + "x")
    table = pd.concat([sweep.assign(parameters="iterations=3 loud=yes"), more])
    _, data = spec(p5lab.plot(table))
    assert {row["series"] for row in data} == {"iterations=3", "iterations=5"}


def test_axes_have_plain_numbers(sweep):
    found, _ = spec(p5lab.plot(sweep))
    config = found["config"]["axis"]
    assert "'~g'" in config["labelExpr"]  # 0.02, where Vega's own format is 20m
    assert config["labelOverlap"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "busy cycle"}, "unknown metric 'busy cycle'; did you mean 'busy cycles'?"),
        ({"x": "l2.sise"}, "plot: unknown column 'l2.sise'; did you mean 'l2.size'?"),
        ({"series": ["gest"]}, "plot: unknown column 'gest'"),
        ({"metric": "L2 misses"}, "plot: L2 misses: these runs have no such number"),
    ],
)
def test_a_figure_without_such_a_column(sweep, arguments, message):
    table = sweep[~sweep["event"].str.startswith("l2_")]
    with pytest.raises(p5lab.UserError, match=message):
        p5lab.plot(table, **arguments)


def test_several_ratios_are_series_of_one_figure(here):
    table = two_guests(p5lab.run("tests", build=False))
    compared = p5lab.compare(table[table["phase"] != "1 KB"], guest="toy")
    found, data = spec(p5lab.plot(compared, ["busy cycles", "instructions"]))
    assert {row["series"] for row in data} == {"busy cycles", "instructions"}
    assert {row["row"] for row in data} == {"call", "chase"}
    point = next(one for one in found["layer"] if one["mark"]["type"] == "point")
    assert point["encoding"]["x"]["title"] == "slow / toy"
    with pytest.raises(p5lab.UserError, match="several units; expected a table of compare"):
        p5lab.plot(table, ["busy cycles", "instructions"])


def test_the_reference_stays_a_point_of_a_curve(sweep):
    bigger = sweep["value"] * (sweep["l2.size"] / 262144)
    found, data = spec(p5lab.plot(p5lab.compare(sweep.assign(value=bigger), {"l2.size": "256K"})))
    assert [(row["point"], row["value"]) for row in data] == [
        (131072, 0.5),
        (262144, 1),
        (524288, 2),
    ]
    line = next(one for one in found["layer"] if one["mark"]["type"] == "line")
    assert line["encoding"]["y"]["title"] == "busy cycles, l2.size=256K is 1"


def test_a_stack_has_a_row_for_each_run_ring_and_component():
    counted = {"cpi.pairs": 30, "cpi.data.dram": 50, "cycles.busy": 80, "instructions": 60}
    rows = [
        {
            "run": run,
            "guest": guest,
            "phase": "dup",
            "iteration": iteration,
            "ring": 0,
            "address_space": "0x00001000",
            "event": event,
            "value": value * factor,
            "operations": 10,
        }
        for run, guest, factor in (("a", "linux", 1), ("b", "mach", 3))
        for iteration in range(2)
        for event, value in counted.items()
    ]
    table = pd.DataFrame(rows)
    found = p5lab.stack(table).set_index(["guest", "component"])["cycles"]
    assert found.to_dict() == {
        ("linux", "cpi.pairs"): 3.0,
        ("linux", "cpi.data.dram"): 5.0,
        ("mach", "cpi.pairs"): 9.0,
        ("mach", "cpi.data.dram"): 15.0,
    }
    with pytest.raises(p5lab.UserError, match="run a: no CPI stack: expected a run with --cpi"):
        p5lab.stack(table[~table["event"].str.startswith("cpi.")])


def test_a_run_asks_the_engine_for_intervals(here):
    table = p5lab.run("tests", workload="call", interval=1000, build=False)
    (made,) = table["run"].unique()
    directory = here.results / "tests" / made
    assert "run.interval = 1000" in (directory / "job.conf").read_text()
    with pytest.raises(p5lab.UserError, match="has no counts by interval"):  # the scripted engine
        p5lab.intervals(table)
    written(directory / "intervals.jsonl", INTERVALS)
    frame = p5lab.intervals(table)
    assert list(frame.columns) == ["interval", "begin", "end", "ms", "ring", "event", "count"]
    assert frame["ms"].unique().tolist() == pytest.approx([1100 / 9e4, 1500 / 9e4, 1550 / 9e4])
    for wrong in (-1, 1.5, True):
        with pytest.raises(p5lab.UserError, match="interval: expected a number of core clocks"):
            p5lab.run("tests", workload="call", interval=wrong, build=False)


def test_a_run_counts_by_dimensions(here):
    """The same options as those of --by on the command line."""
    by = ["call", "mode", "interval"]
    table = p5lab.run("tests", workload="call", by=by, interval=1000, build=False)
    (made,) = table["run"].unique()
    text = (here.results / "tests" / made / "job.conf").read_text()
    assert "run.joint_of = calls intervals modes\n" in text
    assert "run.interval = 1000\n" in text
    with pytest.raises(p5lab.UserError, match=r"unknown dimension 'cal'.*call"):
        p5lab.run("tests", workload="call", by="cal", build=False)


def test_a_run_has_a_limit(here):
    table = p5lab.run("tests", workload="call", limit=3, build=False)
    (made,) = table["run"].unique()
    record = json.loads((here.results / "tests" / made / "run.json").read_text())
    assert record["request"]["limit_seconds"] == 3
    for wrong in (0, 1.5, True, "3"):
        with pytest.raises(p5lab.UserError, match="limit: expected whole seconds"):
            p5lab.run("tests", workload="call", limit=wrong, build=False)


def test_a_run_asks_the_engine_for_the_stack(here):
    table = p5lab.run("tests", workload="call", cpi=True, build=False)
    (made,) = table["run"].unique()
    assert "run.cpi = true" in (here.results / "tests" / made / "job.conf").read_text()
    with pytest.raises(p5lab.UserError, match="no CPI stack"):  # the scripted engine has none
        p5lab.stack(table)
