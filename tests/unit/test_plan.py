# SPDX-License-Identifier: MIT
"""Plans: the finished runs, the remaining runs, and the expected time."""

import json

import pytest
from test_runner import execute

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.execute import plan
from p5lab.execute.plan import ExperimentPlan, PlanRow
from p5lab.execute.runner import Runner
from p5lab.keep import store


def rows(status, *seconds):
    return [PlanRow(str(number), "run", status, one) for number, one in enumerate(seconds)]


@pytest.mark.parametrize(
    ("given", "jobs", "seconds"),
    [
        (rows("to run", 10, 20, 30), 1, 60),
        (rows("to run", 10, 20, 30), 2, 30),
        (rows("to run", 10, 20, 300), 4, 300),  # the longest run is the limit
        (rows("to run", 10, 20, None), 1, 45),  # a run of a new kind takes the mean
        (rows("to run", None, None), 2, None),
        ([*rows("ok", 100), *rows("failed", 10)], 1, 10),
        (rows("ok", 100), 1, 0),
    ],
)
def test_time_of_what_is_left(given, jobs, seconds):
    assert ExperimentPlan(given, jobs).seconds == seconds


def test_estimates_by_likeness(lab):
    call, chase = experiment.load(lab, "tests")
    assert plan.Estimate(list)(call) is None
    (done,) = execute(lab, Filter(workloads=("call",)))
    past = [one for one in store.all_runs(lab) if one.status == "ok"]
    assert plan.Estimate(lambda: past)(call) == done.wall_seconds
    assert plan.Estimate(lambda: past)(chase) == done.wall_seconds  # any run of the engine
    for one in past:
        one.record["wall_seconds"] = 7.0
    other = experiment.load(lab, "tests", Filter(settings=(("l2.size", "512K"),)))
    assert [plan.Estimate(lambda: past)(run) for run in other] == [7.0, 7.0]


def test_a_run_that_takes_longer_than_estimated_has_no_time_left(lab, monkeypatch):
    now = 100.0
    monkeypatch.setattr(plan.time, "monotonic", lambda: now)
    (run,) = experiment.load(lab, "tests", Filter(workloads=("call",)))
    left = plan.Countdown([run], lambda _: 30.0, jobs=1)
    left.started(run.label)
    assert left() == "30 s"
    now += 29
    assert left() == "1.0 s"
    now += 2
    assert left() == ""


def test_plan_says_what_is_there_and_runs_nothing(lab, p5lab):
    status, out, err = p5lab("plan", "tests")
    assert (status, err) == (0, "")
    assert "2 runs: 0 with results, 2 to run. There is no estimate, because" in out
    assert not (lab.results / "tests").exists()
    execute(lab, Filter(workloads=("call",)))
    status, out, err = p5lab("plan", "tests", "--sweep", "l2.size=256K,512K", "--format", "json")
    found = json.loads(out)
    # The machine itself has 256 KB, and the run with this size is already stored.
    assert [row["status"] for row in found["runs"]] == ["ok", "to run", "to run", "to run"]
    assert (found["left"], found["seconds"] > 0) == (3, True)
    status, out, err = p5lab("plan", "tests", "--format", "csv")
    assert out.splitlines()[1].endswith(",ok,")
    assert len(lab.starts()) == 1


def test_a_run_whose_files_were_changed_is_to_run(lab):
    (result,) = execute(lab, Filter(workloads=("call",)))
    assert Runner(lab).known(result.run).status == "ok"
    (result.directory / "events.jsonl").write_text("")
    assert Runner(lab).known(result.run).status == "to run"


def test_a_plan_before_anything_is_built(lab, p5lab):
    lab.engine.unlink()
    status, out, err = p5lab("plan", "tests")
    assert status == 0
    assert "cannot show which runs are stored: missing engine" in err
    assert "2 to run" in out


@pytest.mark.parametrize("options", [("--region", "work"), ("--clocks", "nominal")])
def test_a_plan_refuses_what_run_refuses(p5lab, options):
    planned = p5lab("plan", "tests", *options)
    assert planned == p5lab("run", "tests", *options, "--no-build")
    assert planned[:2] == (2, "")
    assert f"p5lab: {' '.join(options[:1])}" in planned[2]


def test_only_runs_of_that_name(p5lab):
    status, out, err = p5lab("plan", "tests", "--only", "CHASE*premiere")
    assert "1 run: 0 with results, 1 to run" in out
    status, out, err = p5lab("plan", "tests", "--only", "nothing")
    assert (status, out) == (2, "")
    assert err.startswith("p5lab: --only nothing: no run has this text in its name")
