# SPDX-License-Identifier: MIT
"""Differences between runs, and reruns from their records."""

import csv
import io
import json
from dataclasses import replace

import pytest
from fakelab import call_events
from test_runner import CALL, execute

from p5lab.describe import experiment
from p5lab.describe.experiment import Filter
from p5lab.describe.machine import parse_settings
from p5lab.describe.observation import Interval, Observation, Sample, Trace, Vectors
from p5lab.execute import rerun
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.present import diff

LARGE = Filter(workloads=("call",), settings=(("l2.size", "512K"),))


@pytest.fixture
def two(lab):
    """Returns a run of the unchanged machine, and a run with another cache. With that cache, each
    call takes 50 more cycles in ring 3.
    """
    (first,) = execute(lab)
    lab.behave(events={"call": call_events(more=50)})
    (second,) = execute(lab, LARGE)
    assert (first.status, second.status) == ("ok", "ok")
    return first.id, second.id


def test_only_what_differs_is_shown(lab, two):
    found = diff.between([store.find(lab, run) for run in two])
    assert [(one.what, one.values) for one in found.made] == [("l2.size", ("262144", "524288"))]
    (cycles,) = found.counted
    assert (cycles.phase, cycles.ring, cycles.event) == ("call", "all", "cycles.busy")
    # In the first run, the three brackets take 105, 115 and 125 cycles and 44 instructions each.
    # The command does not subtract the 5 cycles of an empty bracket.
    assert cycles.values == (115, 165)
    assert cycles.ratio == (1, 165 / 115)
    assert cycles.per_1000 == pytest.approx((1000 * 115 / 44, 1000 * 165 / 44))


def test_each_ring_for_itself(lab, two):
    found = diff.between([store.find(lab, run) for run in two], rings=True)
    (cycles,) = found.counted
    assert (cycles.ring, cycles.values) == ("3", (55, 105))
    assert cycles.per_1000[0] == 1000 * 55 / 24


def test_every_form(p5lab, two):
    status, out, err = p5lab("diff", *two)
    assert (status, err) == (0, "")
    assert "l2.size" in out and "cycles.busy" in out and "data_reads" not in out
    found = json.loads(p5lab("diff", *two, "--format", "json")[1])
    assert found["made_of"] == [{"what": "l2.size", "values": ["262144", "524288"]}]
    assert [run["run"] for run in found["runs"]] == list(two)
    rows = list(csv.DictReader(io.StringIO(p5lab("diff", *two, "--format", "csv")[1])))
    assert [(row["run"], row["value"]) for row in rows] == [(two[0], "115.0"), (two[1], "165.0")]
    assert "| cycles.busy | 115 | 165 | 1.43 |" in p5lab("diff", *two, "--format", "markdown")[1]


def test_an_event_that_one_run_lacks(lab, two):
    stored = [store.find(lab, run) for run in two]
    path = stored[1].directory / store.COUNTS
    frame, clock_hz = diff.tidy.read(path)
    diff.tidy.write(path, frame[frame["event"] != "segment_loads"], clock_hz=clock_hz)
    digests = {**stored[1].record["digests"], store.COUNTS: store.digest(path)}
    store.write(stored[1].directory, {**stored[1].record, "digests": digests})
    lacking = [one for one in diff.between(stored).counted if one.event == "segment_loads"]
    assert [str(value) for value in lacking[0].values] == ["0.0", "nan"]


def test_runs_without_counts_and_too_few_runs(lab, p5lab):
    (good,) = execute(lab)
    lab.behave(exit=3)
    (bad,) = execute(lab, LARGE)
    status, out, err = p5lab("diff", good.id, bad.id)
    assert (status, out) == (1, "")
    assert f"run {bad.id} is failed and has no counts" in err
    assert p5lab("diff", good.id, good.id[:6])[0] == 2


@pytest.mark.parametrize(
    "choice",
    [
        CALL,
        LARGE,
        Filter(workloads=("chase",), seeds=(3,)),
        Filter(
            workloads=("call",),
            feedback=False,
            observation=Observation.of(Trace(("crossings",))),
        ),
        Filter(workloads=("call",), model=False),
        Filter(workloads=("call",), observation=Observation.of(Vectors(5000))),
    ],
)
def test_a_record_gives_its_run_again(lab, choice):
    (result,) = execute(lab, choice)
    assert rerun.run_of(lab, store.find(lab, result.id)) == result.run


def test_a_sample_is_run_again_too(lab):
    (run,) = experiment.load(lab, "tests", CALL)
    sample = Sample((Interval(3, 30, 40, 100),), 5, "3 0\n", "1 0\n")
    asked = replace(run, observation=Observation.of(sample))
    (result,) = Runner(lab).run_all([asked])
    assert (result.status, result.reason) == (
        "failed",
        "interval 3 was not simulated: the run ended before the interval began",
    )
    stored = store.find(lab, result.id)
    assert (stored.directory / "simpoint.simpoints").read_text() == "3 0\n"
    assert rerun.run_of(lab, stored) == asked


def test_shadows_are_run_again_too(lab):
    path = lab.experiments / "tests.toml"
    text = path.read_text().replace('title = "tests"', 'title = "tests"\nevents = "misses"')
    path.write_text(text + '[[sweep]]\ngrid = { l2.size = ["512K"] }\n')
    (run,) = experiment.load(lab, "tests", CALL)
    (result,) = execute(lab)
    again = rerun.run_of(lab, store.find(lab, result.id))
    assert (again.shadows, again.job) == (run.shadows, run.job)


def test_rerun_is_the_same_run(lab, p5lab):
    (result,) = execute(lab)
    status, out, err = p5lab("rerun", result.id[:8], "--no-build")
    assert (status, out) == (0, "")
    assert f"Run {result.id}: the events are the same again." in err
    assert len(lab.starts()) == 2


def test_rerun_fails_when_the_events_differ(lab, p5lab):
    (result,) = execute(lab)
    lab.behave(events={"call": call_events(more=1)})
    status, _out, err = p5lab("rerun", result.id, "--no-build")
    assert status == 1
    assert "not repeatable" in err


def test_rerun_with_another_engine_is_another_run(lab, p5lab):
    (result,) = execute(lab)
    lab.engine.write_text(lab.engine.read_text() + "# changed\n")
    lab.behave(events={"call": call_events(more=1)})
    status, out, err = p5lab("rerun", result.id, "--no-build")
    assert status == 0
    assert "the inputs of the run have changed" in err
    assert "file engine" in out and "cycles.busy" in out


def test_machine_keys_that_changed_since_are_set_to_what_they_were(lab):
    (result,) = execute(lab)
    path = lab.machines / "p90-premiere2.toml"
    text = path.read_text()
    assert text.count("page_miss = ") == 1
    line = next(line for line in text.splitlines() if line.startswith("page_miss = "))
    value = int(line.split()[2])
    path.write_text(text.replace(line, line.replace(str(value), str(value + 1), 1)))
    again = rerun.run_of(lab, store.find(lab, result.id))
    assert again.machine.overlay == parse_settings([f"dram.page_miss={value}"])


def test_what_cannot_be_run_again_says_why(lab, p5lab):
    (result,) = execute(lab)
    record = store.read(result.directory)
    for change, message in (
        ({"request": None}, "recorded by an older p5lab"),
        ({"engine": "native"}, "measured this host"),
        ({"experiment": "program"}, "a program of your own"),
        ({"workload": {**record["workload"], "name": "cal"}}, "unknown workload 'cal'"),
    ):
        store.write(result.directory, {**record, **change})
        status, out, err = p5lab("rerun", result.id, "--no-build")
        assert (status, out) == (2, "")
        assert message in err
