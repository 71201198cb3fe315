# SPDX-License-Identifier: MIT
"""configs/claims.toml and `./p5lab validate`, on a miniature laboratory."""

import csv
import io
import json
from functools import cache, partial

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import experiment, papers
from p5lab.errors import UserError
from p5lab.evidence import published, validate
from p5lab.execute.runner import Runner
from p5lab.lab import Lab
from p5stats.claims import PREDICTED

# On the scripted engine, a chase takes 2 cycles per load in 512 B and 8 cycles in 1 KB.
CLAIMS = """schema_version = 1
[chase]
source = "chen95 section 4.4"
quantity = "load from L1"
value = 2
tag = "exact"
unit = "cycles"
role = "predicted"
machine = "p90-premiere2"
measure = { experiment = "tests", guest = "toy", workload = "chase", phases = ["512 B"], count = ["cycles.busy"], per = ["loads"] }

[slow]
source = "chen95 section 4.4"
quantity = "load from L2"
value = 5
tag = "about"
unit = "cycles"
role = "predicted"
machine = "p90-premiere2"
reason = "The script is slow."
measure = { experiment = "tests", guest = "toy", workload = "chase", phases = ["1 KB"], count = ["cycles.busy"], per = ["loads"] }

[least]
source = "chen95 section 4.1"
quantity = "cache miss"
value = 4
tag = "at least"
unit = "cycles"
role = "fitted"
keys = ["l2.read"]
machine = "p90-premiere2"
measure = { experiment = "tests", guest = "toy", workload = "chase", phases = ["1 KB"], less = { phases = ["512 B"] }, count = ["cycles.busy"], per = ["loads"] }

[cache]
source = "lai96 section 4"
quantity = "data cache"
value = 8
tag = "exact"
unit = "KB"
role = "input"
keys = ["l1d.size"]
machine = "p100-plato"

[call]
source = "chen95 section 4.2"
quantity = "a call"
value = 8
tag = "exact"
unit = "cycles"
role = "system"
machine = "p90-premiere2"
note = "Of another call."
measure = { experiment = "tests", guest = "toy", workload = "chase", phases = ["1 KB"], count = ["cycles.busy"], per = ["loads"] }

[elsewhere]
source = "ousterhout90 table 1"
quantity = "rating"
tag = "exact"
unit = "MIPS"
role = "untestable"
reason = "another machine"
values = { DS3100 = 12, Sun4 = 8 }
"""  # noqa: E501


@pytest.fixture
def lab(lab):
    lab._put("configs/claims.toml", CLAIMS)
    return lab


@pytest.fixture
def p5lab(p5lab):
    return partial(p5lab, "validate", "--no-build")


def change(lab, old, new, count=1):
    assert old in CLAIMS
    lab._put("configs/claims.toml", CLAIMS.replace(old, new, count))


def test_what_is_printed(p5lab, lab):
    status, out, _ = p5lab()
    assert status == 0  # a claim that does not hold is a result
    lines = [line.split("  ") for line in out.splitlines()]
    rows = {
        cells[1]: [cell.strip() for cell in cells if cell.strip()]
        for cells in lines[2:6:1]
        if len(cells) > 2
    }
    assert rows["load from L1"] == [
        "load from L1",
        "2 cycles",
        "2",
        "+0.0 %",
        "predicted",
        "yes",
        "chen95 4.4",
    ]
    assert rows["load from L2"][2:4] == ["8", "+60.0 %"]
    assert rows["load from L2"][5] == "no"
    assert "at least 4 cycles" in rows["cache miss"]
    assert "data cache" not in out
    assert "DS3100" not in out
    assert (
        "Predicted: 1 of 2 hold; 2 values with a mean error of 30.0 % and a largest error of 60.0 %"
        in out
    )
    assert "Fitted: 1 of 1 hold; 1 of 1 bounds kept." in out
    assert "Input: 1 of 1 hold, 1 of them by comparison with the machine files." in out
    assert "Notes:\n- a call (chen95 section 4.2): Of another call." in out
    assert "Untestable here: 2 (--all lists them with the reasons)." in out
    assert "What does not hold:\n- load from L2 (chen95 section 4.4): The script is slow." in out
    assert lab.starts() == ["chase loads=10 size=1024 placement=guest"]


def test_an_input_that_was_not_run_is_not_counted(lab):
    change(lab, 'role = "predicted"', 'role = "input"\nkeys = ["l1d.size"]')
    found = validate.evaluate(lab, validate.select(lab, None), [])
    assert "Input: 1 of 1 hold, 1 of them by comparison with the" in " ".join(validate.notes(found))


def test_predicted_claims_are_also_summarised_by_paper(p5lab, lab):
    assert "by paper" not in p5lab()[1]  # one paper: the summary says it already
    change(lab, "chen95 section 4.4", "lai96 section 6.1")
    assert (
        "Predicted, by paper: lai96 1 of 1, mean error 0.0 %; chen95 0 of 1, mean error 60.0 %."
        in p5lab()[1]
    )


def test_nothing_is_run_twice(p5lab, lab):
    p5lab()
    p5lab()
    cli.main(["run", "tests", "--no-build"], lab)
    assert len(lab.starts()) == 2  # no claim uses the experiment's other run


def test_all_shows_the_rest(p5lab):
    _, out, _ = p5lab("--all")
    assert "data cache" in out
    assert "rating, DS3100" in out
    assert "Untestable:\n- ousterhout90 table 1: another machine" in out


def test_strict_reports_by_the_status(p5lab, lab):
    assert p5lab("--strict")[0] == 1
    change(lab, "value = 5", "value = 8")
    assert p5lab("--strict")[0] == 0


def test_one_paper(p5lab, lab):
    status, out, _ = p5lab("--source", "lai96", "--all")
    assert status == 0
    assert "data cache" in out
    assert "load from L1" not in out
    assert lab.starts() == []
    status, _, err = p5lab("--source", "lai69")
    assert status == 2
    assert "--source: unknown paper 'lai69'; did you mean 'lai96'?" in err


def test_a_machine_with_other_settings(p5lab, lab):
    """A claim with `set` uses the runs of the [[run]] that has an equal `set`. These runs are on
    the claim's machine.
    """
    path = lab.experiments / "tests.toml"
    text = path.read_text() + '[[run]]\nworkload = "chase"\nset = { l2.size = "1M" }\n'
    path.write_text(text)
    change(lab, '["1 KB"], less', '["1 KB"], set = { l2.size = "1024K" }, less')
    (claim,) = [claim for claim in published.load(lab) if claim.id == "least"]
    assert claim.measure.select.geometry == claim.measure.less.geometry == "l2.size=1048576"
    runs = validate.runs(lab, [claim])
    assert [run.machine.geometry for run in runs] == ["l2.size=1048576"]
    rows = csv.DictReader(io.StringIO(p5lab("--format", "csv")[1]))
    assert {row["claim"]: row["verdict"] for row in rows}["least"] == "holds"
    assert len(lab.starts()) == 2
    change(lab, '["1 KB"], less', '["1 KB"], set = { l2.sise = "1M" }, less')
    with pytest.raises(UserError, match=r"measure: set: unknown machine key 'l2.sise'"):
        published.load(lab)


def test_for_programs(p5lab):
    rows = list(csv.DictReader(io.StringIO(p5lab("--format", "csv")[1])))
    assert [row["claim"] for row in rows] == [
        "chase",
        "slow",
        "least",
        "cache",
        "call",
        "elsewhere DS3100",
        "elsewhere Sun4",
    ]
    assert (rows[0]["verdict"], rows[0]["modelled"], rows[0]["error"]) == ("holds", "2.0", "0.0")
    assert (rows[4]["role"], rows[4]["note"], rows[0]["note"]) == ("system", "Of another call.", "")
    assert (rows[5]["verdict"], rows[5]["modelled"], rows[5]["runs"]) == ("untestable", "", "")
    found = json.loads(p5lab("--format", "json")[1])
    assert found["schema_version"] == 1
    assert found["headline"]["mean_error"] == pytest.approx(30)
    assert found["claims"][5]["modelled"] is None
    assert found["claims"][1]["reason"] == "The script is slow."
    assert "| load from L1 | 2 cycles | 2 | +0.0 % |" in p5lab("--format", "markdown")[1]


def test_a_run_that_fails_is_a_failure(p5lab, lab):
    lab.behave(events={}, exit=9)
    status, out, err = p5lab()
    assert status == 1
    assert "not run" in out
    assert "chase guest, toy, p90-premiere2: failed" in err
    assert "no such run of chase in tests on p90-premiere2" in out
    assert "Predicted" not in out


def test_the_verdicts_follow_from_a_record(lab):
    """The record has only the modelled numbers. The rest comes from the claims."""
    found = validate.run(lab, published.load(lab), Runner(lab).run_all).results
    known = validate.record(found)
    assert set(known) == set(found[found["runs"] != ""]["claim"])
    again = validate.recorded(lab, known)
    assert validate.block(again) == validate.block(found)
    assert again.drop(columns="runs").equals(found.drop(columns="runs"))
    known.popitem()
    assert "not run" in set(validate.recorded(lab, known)["verdict"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "chen95 section 4.4"', 'source = "chen95"', "chase: source: expected a paper"),
        ('source = "chen95 section 4.4"', 'source = "chen59 section 4.4"', "source: expected a"),
        ('source = "chen95 section 4.4"', 'source = "chen95 file ../x"', "file; found 'chen95 f"),
        ('tag = "exact"', 'tag = "inferred"', 'chase: tag: expected "exact" or "about" or'),
        ('tag = "exact"', 'tag = "lost"', 'chase: tag: expected "exact"'),
        ("value = 2", 'value = "2"', "chase: value: expected a number, found a text in quotes"),
        ("value = 2", "", "chase: missing key 'value' (a number)"),
        ("value = 2", "value = 2\nvalues = 3", "chase: unknown key 'values'"),
        ('role = "predicted"', 'role = "guessed"', 'chase: role: expected "input" or'),
        ('role = "predicted"', 'role = "fitted"', "chase: keys: expected the machine keys"),
        ('role = "predicted"', 'role = "predicted"\nkeys = ["l2.read"]', "keys: expected no keys"),
        (
            'keys = ["l2.read"]',
            'keys = ["l2.raed"]',
            "keys: unknown machine key 'l2.raed'; did you",
        ),
        ('keys = ["l2.read"]', 'keys = ["timing.foo"]', "keys: unknown row of the timing table"),
        ('keys = ["l1d.size"]', "", "cache: expected a measure, or the role input with one key"),
        (
            'keys = ["l1d.size"]',
            'keys = ["timing.int.n"]',
            "cache: expected a measure, because the clocks",
        ),
        ('machine = "p90-premiere2"', 'machine = "p90"', "chase: machine: unknown machine 'p90'"),
        ('"tests"', '"test"', "chase: measure: unknown experiment 'test'; did you mean 'tests'"),
        ('"toy"', '"linux"', "measure: unknown guest 'linux'"),
        ('"chase", phases', '"chose", phases', "measure: unknown workload 'chose'"),
        ('["512 B"]', '["513 B"]', "measure: unknown phase of chase '513 B'; did you mean '512 B'"),
        ('["512 B"]', '["512 B"], parameters = { sise = 1 }', "unknown parameter of chase 'sise'"),
        ('["512 B"]', '["512 B"], parameters = { size = -1 }', "size: expected a whole number"),
        ('["512 B"]', '["512 B"], statistic = "sum"', "measure: unknown statistic 'sum'"),
        ('["512 B"]', '["512 B"], statistic = "plateau end"', "measure: at: expected a phase"),
        ('["512 B"]', '["512 B"], statistic = "crossing"', "measure: a crossing: expected `less`"),
        ('["512 B"]', '["512 B"], at = "1 KB"', "measure: at: expected a phase on the plateau"),
        ('["512 B"]', '["512 B"], by = "loads"', "by: unknown parameter that counts KB 'loads'"),
        ('["512 B"]', '["512 B"], less = { phase = 1 }', "less: unknown key 'phase'; did you"),
        ('["512 B"]', '["512 B"], times = "4"', "measure: times: expected a number"),
        (
            'tag = "exact"',
            'tag = "flat"',
            "chase: value: expected no value, because the tag 'flat' is",
        ),
        (
            'value = 2\ntag = "exact"',
            'tag = "flat"\nkeys = ["l2.read"]',
            "keys: expected no keys, because a predicted",
        ),
        (
            'value = 8\ntag = "exact"',
            'tag = "flat"',
            "cache: expected a measure: a shape needs a curve",
        ),
        ('["512 B"]', '["512 B"], over = { machine = "p90" }', "over: unknown machine 'p90'"),
        ('["512 B"]', '["512 B"], over = { workload = "chose" }', "over: unknown workload 'chose'"),
        ('["512 B"]', '["512 B"], over = { guest = "minix" }', "over: unknown guest 'minix'"),
        ('["512 B"]', '["512 B"], over = { experiment = "x" }', "over: unknown experiment 'x'"),
        ('["512 B"]', '["512 B"], over = { statistic = "mean" }', "over: unknown key 'statistic'"),
        ('["512 B"]', '["512 B"], bandwidth = true', "measure: bandwidth: expected only with base"),
        ('count = ["cycles.busy"]', "count = []", "measure: count: expected at least one"),
        ("values = { DS3100 = 12", 'values = { DS3100 = "x"', "values: DS3100: expected a number"),
        ('reason = "another machine"', "", "elsewhere: missing key 'reason'"),
        ("schema_version = 1", "schema_version = 2", "schema_version: expected 1, found 2"),
    ],
)
def test_errors_name_file_and_key(lab, old, new, message):
    change(lab, old, new)
    with pytest.raises(UserError) as caught:
        published.load(lab)
    assert message in str(caught.value)
    assert str(lab.claims) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_plateau_of_what_is_no_curve(lab):
    change(
        lab,
        'workload = "chase", phases = ["512 B"]',
        'workload = "call", statistic = "plateau end", at = "call"',
    )
    with pytest.raises(UserError, match="measure: at: phase 'call': expected a size"):
        published.load(lab)


def test_the_claims_of_the_repository(monkeypatch):
    """Every claim is valid, has a place in a paper, and uses existing runs."""
    lab = Lab(REPO)
    found = published.load(lab)
    # Many claims have the same runs.
    monkeypatch.setattr(experiment, "load", cache(experiment.load))
    assert len({claim.id for claim in found}) == len(found)
    assert {claim.source.split()[0] for claim in found} == set(papers.here())
    assert all(claim.id.startswith(claim.source.split()[0] + "-") for claim in found)
    for claim in found:
        if claim.measure:
            assert validate.runs(lab, [claim]), claim.id
    assert any(claim.role == PREDICTED for claim in found)


def test_what_is_said_of_systems_is_no_part_of_the_headline(lab, p5lab):
    lab._put("configs/claims.toml", CLAIMS.replace('role = "predicted"', 'role = "system"'))
    _, out, _ = p5lab("--all")
    assert "\nSystem: 2 of 3 hold.\n" in out
    assert "Predicted" not in out
    assert json.loads(p5lab("--json")[1])["headline"]["claims"] == 0
