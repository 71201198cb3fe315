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
    monkeypatch.setattr(applications, "disk", lambda lab: "")


def render(text):
    """The page without the disk: nothing is executed."""
    return applications.render(LAB, text, execute=None)


def test_the_page_follows_from_its_record():
    assert render(PAGE.read_text()) == PAGE.read_text()


def test_each_column_is_one_run_of_the_experiment():
    table = tomlfile.load(REPO / applications.FILE, schema_version=1)
    runs = experiment.load(LAB, applications.EXPERIMENT)
    columns = table.table("column").data.values()
    assert len(runs) == len(columns)
    for column in columns:
        (run,) = (
            one
            for one in runs
            if one.workload.name == column["workload"]
            and column.get("parameters", {}).items() <= one.parameters.items()
        )
        assert column["phase"] in run.workload.phases.values()


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
    for column in found.keys() - {"disk"}:
        sums = [
            [sum(row[place] for row in found[column][part]) for place in range(2, 7)]
            for part in ("processes", "modules")
        ]
        assert sums[0] == sums[1]
        busy = sum(row[2] for row in found[column]["processes"])
        assert all(row[2] <= busy for row in found[column]["processes"])


def test_the_disk_has_all_programs(tmp_path):
    lab = replace(LAB, root=tmp_path)
    place = lab.rootfs("debian32").with_name("rootfs.json")
    place.parent.mkdir(parents=True)
    for packages, expected in ((applications.PACKAGES, "1f"), ({"tk8.6-doc"}, "")):
        about = {"packages": dict.fromkeys(packages, "1"), "sha256": "1f"}
        place.write_text(json.dumps(about))
        assert REAL_DISK(lab) == expected
    place.unlink()
    assert REAL_DISK(lab) == ""


REAL_DISK = applications.disk
