# SPDX-License-Identifier: MIT
"""`./p5lab run chen95-core`: two systems side by side, and what must hold whatever the numbers."""

import json

import pytest
from quoting import missing

from p5lab import cli, experiment, store
from p5lab.lab import Lab

SIDES = ("linux", "linux-uml")
WORKLOADS = ("null", "getpid", "dup", "exec-static", "exec-dynamic", "mem-read", "cached-read",
             "create", "cswitch")  # fmt: skip


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """The results of the whole experiment, and a way to print them in a form."""
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("core") / "results")

    def command(capsys, *arguments):
        status = cli.main(["run", "chen95-core", "--no-build", *arguments], lab)
        out = capsys.readouterr()
        assert status == 0, out.err
        return out.out

    return lab, command


@pytest.fixture
def values(core, capsys):
    """Mean by workload, guest and metric; of mem-read by its array of 1 MB."""
    rows = json.loads(core[1](capsys, "--format", "json"))["rows"]
    return {
        (row["workload"], row["guest"], row["metric"]): row["value"]
        for row in rows
        if row["workload"] != "mem-read" or row["phase"] == "1 MB"
    }


def test_both_systems_run_everything(core, values, capsys, monkeypatch):
    assert {key[:2] for key in values} == {(name, side) for name in WORKLOADS for side in SIDES}
    monkeypatch.setenv("COLUMNS", "120")
    out = core[1](capsys)
    assert max(map(len, out.splitlines())) <= 120
    for name in WORKLOADS:
        assert f"\n  {name} " in out
        assert f"\n{name}" in out  # the table of its own


def test_the_readme_shows_these_numbers(core, capsys):
    readme = (Lab.here().root / "README.md").read_text()
    quoted = readme.split("## Two systems side by side")[1].split("```text\n")[1].split("```")[0]
    assert len(quoted.splitlines()) == len(WORKLOADS) + 1
    assert missing(quoted, core[1](capsys)) == []


def test_both_systems_run_the_same_programs(core, values):
    lab, _ = core
    digests = {}
    for stored in store.all_runs(lab):
        known = stored.record["identity"]["digests"]
        digests.setdefault(stored.record["workload"]["name"], set()).add(
            (known["workload"], known["kernel"])
        )
    assert set(digests) == set(WORKLOADS)
    assert {name: len(found) for name, found in digests.items()} == dict.fromkeys(WORKLOADS, 1)
    assert len(experiment.load(lab, "chen95-core")) == 2 * len(WORKLOADS)


def test_a_server_process_costs_crossings_and_time(values):
    assert values["dup", "linux", "ring crossings"] == pytest.approx(2)
    for name in set(WORKLOADS) - {"mem-read"}:
        one, other = ((values[name, side, "ring crossings"]) for side in SIDES)
        assert other > 2 * one, name
        one, other = ((values[name, side, "microseconds"]) for side in SIDES)
        assert other > 2 * one, name
    # What needs no system costs about the same.
    one, other = (values["mem-read", side, "busy cycles"] for side in SIDES)
    assert 0.8 < other / one < 1.5


def test_dynamic_linking_costs_about_twice_as_much(values):
    """chen95 section 4.3, on the monolithic system."""
    static, dynamic = (values[f"exec-{how}", "linux", "busy cycles"] for how in
                       ("static", "dynamic"))  # fmt: skip
    assert 1.4 < dynamic / static < 2.6


def test_what_is_cached_needs_no_disk(values):
    """chen95 watches the interrupts for that."""
    for side in SIDES:
        assert values["cached-read", side, "interrupts, other"] < 0.1
