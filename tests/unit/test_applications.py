# SPDX-License-Identifier: MIT
"""docs/evidence/applications.md follows from its record, which fits its description."""

import json
from dataclasses import replace

import pytest
from fakelab import REPO
from recorded_page import record, with_record

from p5lab.describe import experiment, tomlfile
from p5lab.evidence import applications
from p5lab.lab import Lab

LAB = Lab(REPO)
PAGE = REPO / "docs/evidence/applications.md"


@pytest.fixture(autouse=True)
def no_disk(monkeypatch):
    monkeypatch.setattr(applications, "disk", lambda lab, packages: "")


def render(text):
    """The page without the disk: nothing is executed."""
    return applications.render(LAB, text, execute=None)


def test_the_page_follows_from_its_record():
    assert render(PAGE.read_text()) == PAGE.read_text()


def test_each_column_is_one_run_of_its_experiment():
    table = tomlfile.load(REPO / applications.FILE, schema_version=1)
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


def test_the_time_of_all_phases_is_that_of_its_parts():
    for column in ("andrew-local", "andrew-nfs-async", "andrew-nfs-sync"):
        counted = record(PAGE.read_text())[column]["counts"]
        *parts, whole = (counted[name]["microseconds"] for name in applications.ANDREW_PHASES)
        assert sum(parts) == pytest.approx(whole, rel=0.001)


def test_a_changed_count_changes_the_row_and_the_verdict():
    changed = record(PAGE.read_text())
    page = render(with_record(PAGE.read_text(), changed))
    assert page.count("| holds |") >= 1
    changed["drawing-8"]["counts"]["page"]["instructions"] *= 2
    (line,) = [
        one
        for one in render(with_record(PAGE.read_text(), changed)).splitlines()
        if "instructions of the same" in one
    ]
    assert "| does not hold |" in line


def test_processes_and_libraries_have_the_same_sums():
    found = record(PAGE.read_text())
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


def test_only_the_experiment_whose_packages_the_disk_has_is_new(monkeypatch):
    """The other columns stay as they are recorded."""
    monkeypatch.setattr(applications, "disk", lambda lab, found: "2e" if "make" in found else "")
    changed = {"andrew-local": record(PAGE.read_text())["andrew-nfs-sync"]}
    monkeypatch.setattr(applications, "_measured", lambda lab, table, name, execute: changed)
    before, after = record(PAGE.read_text()), record(render(PAGE.read_text()))
    assert after == before | changed | {"disk": before["disk"] | {"andrew": "2e"}}


REAL_DISK = applications.disk
