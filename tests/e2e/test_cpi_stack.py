# SPDX-License-Identifier: MIT
"""CPI stacks of real runs: exact in every row, the same events as without the option, and the
commands that show and explain them."""

import csv
import json

import pandas as pd
import pytest

import p5lab
from p5lab.api import checkout
from p5lab.cli import main as cli
from p5lab.evidence import lower_bound, records
from p5lab.keep import store
from p5lab.lab import Lab
from p5stats import attribution, cpi, crossings, tidy


@pytest.fixture(scope="module")
def made(own_lab):
    """The runs of one workload on two systems, with and without --cpi."""
    for words in (("--cpi", "--attribute", "functions", "--trace", "crossings"), ()):
        command = ["run", "chen95-core", "--workload", "dup", "--guest", "linux"]
        assert cli.main([*command, "--guest", "linux-uml", "--no-build", *words], own_lab) == 0
    found = list(store.all_runs(own_lab, "chen95-core"))
    assert len(found) == 4
    return {(one.record["guest"]["name"], bool(one.record["request"]["cpi"])): one for one in found}


def rows(stored):
    frame, _ = tidy.read_run(stored.directory)
    keys = ["phase", "iteration", "ring", "address_space", "event"]
    return frame.set_index(keys)["value"]


@pytest.mark.parametrize("guest", ["linux", "linux-uml"])
def test_every_row_is_exact_and_no_other_count_changes(made, guest):
    with_stack, plain = rows(made[guest, True]), rows(made[guest, False])
    wide = with_stack.unstack("event")
    parts = [name for name in wide.columns if name.startswith(cpi.PREFIX)]
    assert tuple(parts) == tuple(sorted(cpi.components()))
    assert (wide[parts].sum(axis="columns") == wide["cycles.busy"]).all()
    assert len(wide) > 10
    others = with_stack[~with_stack.index.get_level_values("event").isin(parts)]
    pd.testing.assert_series_equal(others.sort_index(), plain.sort_index())


def test_the_stack_of_each_function_is_exact(made):
    frame = attribution.read(made["linux", True].directory / "attribution.jsonl").frame()
    keys = ["phase", "function", "module", "ring", "space", "crossing"]
    wide = frame.pivot_table(index=keys, columns="event", values="count", aggfunc="sum")
    wide = wide.fillna(0)
    parts = [name for name in wide.columns if name.startswith(cpi.PREFIX)]
    assert (wide[parts].sum(axis="columns") == wide["cycles.busy"]).all()
    assert len(wide) > 10


def test_the_stack_of_each_step_of_a_call_is_exact(own_lab, made, capsys):
    stored = made["linux-uml", True]
    (brackets,) = crossings.read(stored.directory / "crossings.jsonl").values()
    steps = [step for bracket in brackets for step in bracket.steps]
    assert len(steps) > 10 * len(brackets)
    parts = [sum(step.counts[one] for one in cpi.components()) for step in steps]
    assert [part + step.counts["cycles.idle"] for part, step in zip(parts, steps, strict=True)] == [
        step.clocks for step in steps
    ]
    assert cli.main(["show", stored.id, "--timeline", "--format", "csv"], own_lab) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    for row in rows:
        assert sum(int(row[name]) for name in (*cpi.SHORT, "idle")) == int(row["clocks"])
    assert {row["runs"] for row in rows} >= {"host kernel", "UML kernel"}


def test_show_prints_the_stack_of_one_and_of_several_systems(own_lab, made, capsys):
    run = made["linux", True].id
    assert cli.main(["show", run, "--cpi"], own_lab) == 0
    said = capsys.readouterr().out
    assert "ring 0" in said
    assert "transfers" in said
    assert cli.main(["show", "chen95-core", "--cpi", "--json"], own_lab) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["run"] for row in found["rows"]} == {
        made[guest, True].id for guest in ("linux", "linux-uml")
    }
    assert cli.main(["show", made["linux", False].id, "--cpi"], own_lab) == 2
    assert "has no CPI stack: expected a run with --cpi" in capsys.readouterr().err


def test_explain_divides_the_whole_difference(own_lab, made, capsys, monkeypatch):
    words = ["explain", "chen95-core", "linux", "linux-uml"]
    assert cli.main(words, own_lab) == 2
    assert "expected 5 or more placement seeds" in capsys.readouterr().err
    assert cli.main([*words, "--single"], own_lab) == 0
    assert "dup: linux-uml takes" in capsys.readouterr().out
    assert cli.main([*words, "--single", "--json"], own_lab) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    cycles = {}
    for guest in ("linux", "linux-uml"):
        stack = cpi.stack(tidy.read_run(made[guest, True].directory)[0])
        operations = made[guest, True].record["workload"]["operations"]
        cycles[guest] = stack[stack["event"] == cpi.BUSY]["value"].sum() / operations
    parts = [row for row in found if row["component"].startswith(cpi.PREFIX)]
    monkeypatch.setattr(checkout, "here", lambda: own_lab)
    table = p5lab.explain(*words[1:], single=True)
    assert table["difference"].tolist() == [row["difference"] for row in found]
    assert table["lowest"].dtype == "float64"
    difference = sum(row["difference"] for row in parts)
    assert difference == pytest.approx(sum(row["ring 0"] + row["ring 3"] for row in parts))
    assert difference == pytest.approx(cycles["linux-uml"] - cycles["linux"])
    runs = [made[guest, True].id for guest in ("linux", "linux-uml")]
    assert cli.main(["explain", *runs, "--single"], own_lab) == 0
    assert "linux-uml" in capsys.readouterr().out
    for by, name in (("function", "sys_dup"), ("crossing", "dup")):
        assert cli.main([*words, "--single", "--by", by], own_lab) == 0
        said = capsys.readouterr().out
        assert "where" in said
        assert name in said
    for wrong, message in (
        (["explain", "chen95-core", "linux", "lunix"], "lunix"),
        (["explain", *runs, runs[0]], "expected two runs"),
        (["explain", "chen95-core", "linux"], "expected the names of two different systems"),
        (["explain", "chen95-core", "linux", "linux"], "expected the names of two different"),
        (["explain", runs[0], "chen95-core"], "chen95-core is an experiment"),
        (["explain", runs[0], runs[0]], "found one run twice"),
    ):
        assert cli.main(wrong, own_lab) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--guest", "linux64"], "--cpi"),
        (["--engine", "native"], "--cpi"),
    ],
)
def test_what_has_no_clocks_is_refused(own_lab, words, message, capsys):
    command = ["run", "micro", "--workload", "dup", "--cpi", "--no-build", *words]
    assert cli.main(command, own_lab) == 2
    assert message in capsys.readouterr().err


def test_the_lower_bound_is_the_recorded_one(own_lab, made):
    # The last test: its run is of another system of chen95-core.
    command = ["run", "chen95-core", "--workload", "dup", "--guest", "linux", "--cpi", "--no-build"]
    assert cli.main([*command, "--set", "fetch.ahead=false"], own_lab) == 0
    (without,) = [
        one for one in store.all_runs(own_lab, "chen95-core") if one.record["machine"]["geometry"]
    ]
    known = records.load(Lab.here().root, records.RUNS)["lower bound"]
    now = lower_bound.rows([made["linux", True]], [without])
    shown = [one for one in known if one[:2] == ["dup", "linux"]]
    assert lower_bound.grid(shown).rows == lower_bound.grid(now).rows
