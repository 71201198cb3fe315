# SPDX-License-Identifier: MIT
"""The tables of the applications follow from their record, which fits its description."""

import json
from dataclasses import replace

import pytest
from fakelab import REPO

from p5lab.describe import experiment, tomlfile
from p5lab.evidence import applications, records
from p5lab.lab import Lab

LAB = Lab(REPO)


@pytest.fixture(autouse=True)
def no_disk(monkeypatch):
    monkeypatch.setattr(applications, "disk", lambda lab, packages: "")


@pytest.fixture
def record():
    return records.load(REPO, "applications")


def test_each_column_is_one_run_of_its_experiment():
    table = tomlfile.load(REPO / applications.FILE)
    columns = table.table("column").data.values()
    for name, _ in applications.experiments(table):
        runs = experiment.load(LAB, name)
        own = [column for column in columns if column["experiment"] == name]
        assert len(runs) == len(own)
        for column in own:
            (run,) = (
                one
                for one in runs
                if one.workload.name == column["workload"]
                and column.get("parameters", {}).items() <= one.parameters.items()
            )
            assert column["phase"] in run.workload.phases.values()


def test_the_time_of_all_phases_is_that_of_its_parts(record):
    for column in ("andrew-local", "andrew-nfs-async", "andrew-nfs-sync"):
        counted = record[column]["counts"]
        *parts, whole = (counted[name]["microseconds"] for name in applications.ANDREW_PHASES)
        assert sum(parts) == pytest.approx(whole, rel=0.001)


def test_a_changed_count_changes_the_verdict(record):
    def verdicts():
        rows = applications.tables(LAB, record)["claims"].rows
        return {row[0]: row[4] for row in rows}

    before = verdicts()
    assert "holds" in before.values()
    record["drawing-8"]["counts"]["page"]["instructions"] *= 2
    changed = {name for name, verdict in verdicts().items() if verdict != before[name]}
    assert len(changed) == 1 and "instructions of the same" in changed.pop()


def test_processes_and_libraries_have_the_same_sums(record):
    found = record
    for column in ("wish", "drawing-8", "drawing-1", "memory-8", "memory-1"):
        sums = [
            [sum(row[place] for row in found[column][part]) for place in range(2, 7)]
            for part in ("processes", "modules")
        ]
        assert sums[0] == sums[1]
        busy = sum(row[2] for row in found[column]["processes"])
        assert all(row[2] <= busy for row in found[column]["processes"])


def test_a_disk_is_one_with_all_packages(tmp_path):
    lab = replace(LAB, root=tmp_path)
    place = lab.rootfs("debian32").with_name("rootfs.json")
    place.parent.mkdir(parents=True)
    for packages, expected in ((("gcc", "make", "tk"), "1f"), (("gcc",), "")):
        about = {"packages": dict.fromkeys(packages, "1"), "sha256": "1f"}
        place.write_text(json.dumps(about))
        assert REAL_DISK(lab, ("gcc", "make")) == expected
    place.unlink()
    assert REAL_DISK(lab, ("gcc", "make")) == ""


def test_only_the_experiment_whose_packages_the_disk_has_is_new(monkeypatch, record):
    """The other columns stay as they are recorded."""
    monkeypatch.setattr(applications, "disk", lambda lab, found: "2e" if "make" in found else "")
    changed = {"andrew-local": record["andrew-nfs-sync"]}
    monkeypatch.setattr(applications, "_measured", lambda lab, table, name, execute: changed)
    after = applications.measured(LAB, record, execute=None)
    assert after == record | changed | {"disk": record["disk"] | {"andrew": "2e"}}


REAL_DISK = applications.disk
