# SPDX-License-Identifier: MIT
"""`check`: a number that moved further than its limit fails, and everything else passes."""

import json
import shutil
from xml.etree import ElementTree

import fakelab
import pytest
from fakelab import written

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.present.regression import Limit
from p5stats import tidy


@pytest.fixture
def made(lab):
    """Returns a function that runs the workload `call` with more cycles in ring 3 and a size of the
    L2, and returns the run."""

    def run(more, size="256K"):
        lab.behave(events={"call": fakelab.call_events(more=more)})
        changed = Filter(settings=(("l2.size", size),), workloads=("call",))
        (done,) = Runner(lab).run_all(experiment.load(lab, "tests", changed))
        return next(one for one in store.all_runs(lab) if one.id == done.id)

    return run


# The brackets of fakelab.call_events have 105, 115 and 125 cycles, and the empty bracket has 5.
MEAN = 110


def test_the_same_results_pass_with_a_limit_of_zero(p5lab, made):
    run = made(0)
    status, out, _ = p5lab("check", run.id, run.id)
    assert status == 0
    assert "0 of 1 " in out
    assert "equal in 1 operation" in out and "moved at most" not in out


def test_each_limit_shows_the_number_that_moved_most(p5lab, made):
    one, other = made(0), made(1, "64K")
    limits = ("--limit", "cycles=2%", "--limit", "instructions=0")
    status, out, _ = p5lab("check", one.id, other.id, *limits)
    assert status == 0
    assert f"cycles {MEAN} before, {MEAN + 1} now" in out
    assert "limit 2%" in out
    assert "instructions" in out
    found = json.loads(p5lab("check", one.id, other.id, *limits, "--json")[1])
    moved = {row["metric"]: row["change"] for row in found["within"]}
    assert moved == {"busy cycles": 1, "instructions": 0}


@pytest.mark.parametrize(
    ("more", "limits"),
    [
        (
            1,
            {
                "cycles=0": 1,
                "cycles=0.9%": 1,
                "cycles=0.91%": 0,  # 1 of 110
                "cycles=1": 0,
                "cycles=0.9": 1,
                "instructions=0": 0,
                "hw_interrupts=0": 0,
            },
        ),
        (-20, {"cycles=+1%": 0, "cycles=1%": 1}),
    ],
)
def test_a_number_fails_exactly_beyond_its_limit(p5lab, made, more, limits):
    one, other = made(0), made(more, "64K")
    for limit, status in limits.items():
        done, out, _ = p5lab("check", one.id, other.id, "--limit", limit, "--json")
        assert done == status, limit
        found = json.loads(out)
        assert found["compared"] == 1
        for row in found["rows"]:
            assert (row["baseline"], row["new"], row["change"]) == (MEAN, MEAN + more, more)
            assert row["runs"] == [one.id, other.id]


def test_what_moved_is_explained_by_function(p5lab, made):
    one, other = made(0), made(9, "64K")
    for run, more in ((one, 0), (other, 9)):
        events = ["cycles.busy", "instructions"]
        lines = [
            {"type": "header", "schema_version": 1, "stacks": False, "events": events},
            {"type": "function", "id": 1, "name": "sys_dup", "module": "linux"},
            {"type": "function", "id": 2, "name": "main", "module": "/bin/call"},
        ]
        # Three brackets: 60 cycles each in ring 0, and 45, 55 and 65 or more in ring 3.
        for number, ring, counts in ((1, 0, [180, 60]), (2, 3, [165 + 3 * more, 72])):
            node = {"type": "node", "id": number, "parent": 0, "function": number, "cr3": 4096}
            lines.append({**node, "ring": ring, "entrance": 0})
            lines.append({"type": "counts", "phase": 0, "node": number, "counts": counts})
        written(run.directory / "attribution.jsonl", [*lines, {"type": "end"}])
    status, out, _ = p5lab("check", one.id, other.id, "--json")
    assert status == 1
    (row,) = json.loads(out)["rows"]
    assert row["causes"] == {"function": [{"name": "main", "change": 9, "state": ""}]}
    status, out, _ = p5lab("check", one.id, other.id)
    assert "main +9" in out


def test_a_directory_and_a_file_are_results_too(p5lab, made, lab, tmp_path):
    one = made(0)
    before = tmp_path / "before"
    shutil.copytree(lab.results / "tests", before / "tests")
    file = tmp_path / "baseline.parquet"
    tidy.save(file, tidy.load(before))
    for baseline in (before, file):
        status, out, _ = p5lab("check", str(baseline), one.id)
        assert (status, "0 of 1 " in out) == (0, True)
        status, out, _ = p5lab("check", str(baseline), made(5, "64K").id)
        assert status == 1


def test_an_operation_that_is_missing_fails(p5lab, lab, results_by_size):
    shutil.copytree(results_by_size, lab.results, dirs_exist_ok=True)
    call = next(one for one in store.all_runs(lab) if one.record["workload"]["name"] == "call")
    status, out, _ = p5lab("check", "tests", call.id)
    assert status == 1
    assert "chase" in out and "does not" not in out.splitlines()[-1]
    status, out, _ = p5lab("check", call.id, "tests")
    assert status == 2 or "new, not compared" in out


def test_an_operation_has_the_names_of_both_sides(p5lab, made):
    one, other = made(0), made(1, "64K")
    first = p5lab("check", one.id, other.id)[1].splitlines()[0]
    new, _, baseline = first.partition("against")
    assert "l2.size=64K" in new and "l2.size=256K" in baseline
    assert "against" not in p5lab("check", one.id, one.id)[1]


def test_a_damaged_result_is_no_move(p5lab, made):
    one = made(0)
    (one.directory / "counts.parquet").write_bytes(b"damaged")
    status, out, err = p5lab("check", one.id, one.id)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_the_xml_has_a_case_for_each_number(p5lab, made, tmp_path):
    one, other = made(0), made(1, "64K")
    report = tmp_path / "check.xml"
    words = ("--limit", "cycles=0", "--limit", "instructions=0", "--junit", str(report))
    status, _, _ = p5lab("check", one.id, other.id, *words)
    assert status == 1
    (suite,) = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed = [case for case in suite if case.find("failure") is not None]
    assert [case.get("classname") for case in failed] == ["busy cycles"]
    assert "+0.9091 %" in failed[0].find("failure").get("message")


@pytest.mark.parametrize(
    "text", ["cycles", "cycles=", "cycles=x", "=1", "cycles=-1%", "cycles=1 %x"]
)
def test_a_wrong_limit_is_refused(text):
    with pytest.raises(UserError, match="--limit"):
        Limit.parse(text)


def test_wrong_input_is_one_line_and_status_2(p5lab, made, lab):
    one = made(0)
    for words, said in (
        (("nosuch", one.id), "nosuch"),
        ((one.id, "nowhere/results"), "nowhere/results"),
        ((one.id, one.id, "--limit", "cycels=1"), "cycels"),
        ((one.id, one.id, "--limit", "flops=0"), "flops"),  # fakelab does not count it
        ((one.id, one.id, "--junit", "no/such/directory.xml"), "no/such"),
        ((one.id, one.id, "--junit", "/proc/directory.xml"), "/proc"),
    ):
        status, out, err = p5lab("check", *words)
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1
        assert said in err
