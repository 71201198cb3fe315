# SPDX-License-Identifier: MIT
"""`./p5lab run chen95-core`: two guest systems, and relations between their counts that hold on
every host.
"""

import json

import command_line
import pytest
import recorded_counts
from quoting import missing, quoted_rows

from p5lab.describe import experiment
from p5lab.evidence import records
from p5lab.keep import store
from p5lab.lab import Lab

SIDES = ("linux", "linux-uml")
WORKLOADS = (
    "null",
    "getpid",
    "dup",
    "exec-static",
    "exec-dynamic",
    "mem-read",
    "cached-read",
    "create",
    "cswitch",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(Lab.here().root, tmp_path_factory.mktemp("core") / "results")


def command(lab, *arguments):
    status, out, err = command_line.ran(lab, "run", "chen95-core", "--no-build", *arguments)
    assert status == 0, err
    return out


@pytest.fixture(scope="module")
def values(lab):
    """Returns the mean by workload, guest and metric. For mem-read, the value is the mean with the
    array of 1 MB.
    """
    rows = json.loads(command(lab, "--format", "json"))["rows"]
    return {
        (row["workload"], row["guest"], row["metric"]): row["value"]
        for row in rows
        if row["workload"] != "mem-read" or row["phase"] == "1 MB"
    }


@pytest.fixture(scope="module")
def table(lab, values):
    """Returns the command's output as text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "120")
        return command(lab, "--all-tables")


def test_both_systems_run_everything(values, table):
    assert {key[:2] for key in values} == {(name, side) for name in WORKLOADS for side in SIDES}
    assert max(map(len, table.splitlines())) <= 120
    for name in WORKLOADS:
        assert f"\n  {name} " in table
        assert f"\n{name}" in table  # its own table


def test_the_command_prints_what_the_document_quotes(table):
    text = (Lab.here().root / "docs/start/reading-a-report.md").read_text()
    assert missing(quoted_rows(text, "## Two systems side by side"), table) == []


def test_the_counts_are_the_recorded_ones(lab, values):
    """docs/evidence/README.md says what to do if the counts have changed."""
    record = records.load(lab.root, records.RUNS)["counts"]
    assert recorded_counts.differences(record, "chen95-core", store.all_runs(lab)) == []


def test_both_systems_run_the_same_programs(lab, values):
    digests = {}
    for stored in store.all_runs(lab):
        known = stored.record["identity"]["digests"]
        digests.setdefault(stored.record["workload"]["name"], set()).add(
            (known["delivered"], known["kernel"])
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
    # A benchmark that makes no system call in its bracket costs about the same on the two guests.
    one, other = (values["mem-read", side, "busy cycles"] for side in SIDES)
    assert 0.8 < other / one < 1.5


def test_dynamic_linking_costs_about_twice_as_much(values):
    """chen95 section 4.3 makes this statement about the monolithic system."""
    static, dynamic = (
        values[f"exec-{how}", "linux", "busy cycles"] for how in ("static", "dynamic")
    )
    assert 1.4 < dynamic / static < 2.6


def test_what_is_cached_needs_no_disk(values):
    """chen95 counts interrupts to check this."""
    for side in SIDES:
        assert values["cached-read", side, "interrupts, other"] < 0.1
