# SPDX-License-Identifier: MIT
"""Files of version 0.1.0 (tests/data/before-0.2): p5lab reads them or refuses them in one line."""

import gzip
import json
import re
import shutil

import fakelab
import pandas as pd
import pytest
from fakelab import REPO

import p5lab
from p5lab.cli import main as cli
from p5lab.describe import machine
from p5lab.errors import UserError
from p5lab.keep import store
from p5lab.lab import Lab
from p5stats import events, papers, tidy

STORED = REPO / "tests/data/before-0.2"
GETPID, DUP = "c6dff38458133d19", "6a511f8d6c877e1f"
RUNS = 5


def unpack(source, target):
    """Copies a directory and unpacks its .gz files."""
    for path in source.rglob("*"):
        if path.is_file():
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".gz":
                place.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            else:
                shutil.copyfile(path, place)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Returns the present laboratory with the results of 0.1.0."""
    place = tmp_path_factory.mktemp("older") / "results"
    unpack(STORED / "results", place)
    return Lab(REPO, place)


@pytest.fixture
def run(results, capsys):
    """Runs a command, which must succeed. Returns its output."""

    def command(*words, lab=results):
        assert cli.main(list(words), lab) == 0
        return capsys.readouterr().out

    return command


# --- results ------------------------------------------------------------------------------------


def test_the_stored_runs_are_of_that_version_and_whole(results):
    found = store.all_runs(results)
    assert len(found) == RUNS
    for one in found:
        assert one.status == "ok"
        assert one.record["versions"]["p5lab"] == "0.1.0"
        assert store.complete(one.directory, one.record)


def test_list(run):
    listed = json.loads(run("list", "runs", "--json"))["runs"]
    assert len(listed) == RUNS
    assert {one["status"] for one in listed} == {"ok"}
    assert GETPID in {one["run"] for one in listed}


def test_show(run):
    shown = run("show", GETPID)
    assert "getpid" in shown and "linux" in shown
    rows = json.loads(run("show", GETPID, "--json"))["rows"]
    (cycles,) = [row["value"] for row in rows if row["metric"] == "busy cycles"]
    assert cycles > 100


def test_diff(run):
    shown = run("diff", GETPID, DUP)
    assert "getpid" in shown and "dup" in shown


def test_query(run):
    sql = "SELECT workload, guest, count(*) AS n FROM runs GROUP BY ALL ORDER BY ALL"
    rows = run("query", sql, "--format", "csv").splitlines()
    assert rows == [
        "workload,guest,n",
        "cached-read,linux,2",
        "cached-read,linux-uml,1",
        "dup,linux,1",
        "getpid,linux,1",
    ]
    sql = f"SELECT sum(value) AS n FROM counts WHERE run = '{DUP}' AND event = 'instructions'"
    (_, total) = run("query", sql, "--format", "csv").splitlines()
    assert float(total) > 10_000


@pytest.mark.parametrize("name", ["smoke", "chen95-core", "geometries"])
def test_report(run, name, tmp_path):
    page = tmp_path / "page.html"
    run("report", name, "--output", str(page))
    text = page.read_text(encoding="utf-8")
    assert "cached-read" in text or "getpid" in text
    assert "0.1.0" in text  # the version that made the runs


def test_p5stats(results):
    table = tidy.load(results.results)
    assert table["run"].nunique() == RUNS
    assert set(table["clock_hz"]) == {90_000_000}
    assert {"getpid", "dup", "cached-read"} == set(table["workload"])
    measured = papers.measured(tidy.load(results.results / "smoke"))
    assert isinstance(measured, pd.DataFrame)
    assert {"getpid", "dup"} == set(measured["workload"])
    parsed = events.parse(results.results / "smoke" / GETPID / "events.jsonl")
    assert len(parsed.brackets) >= 50


# --- files that a user wrote ----------------------------------------------------------------------


@pytest.fixture
def lab(tmp_path):
    """Returns the present laboratory with the machine, disk, experiment and workloads of 0.1.0."""
    root = tmp_path / "lab"
    root.mkdir()
    for name in ("engine", "guest-images", "src"):
        (root / name).symlink_to(REPO / name)
    for name in ("configs", "workloads"):
        shutil.copytree(REPO / name, root / name)
    unpack(STORED / "configs", root / "configs")
    return Lab(root)


def read_or_refused(lab, capsys, *words):
    """Returns the output of a command, or None if it refuses its input. The refusal must be one
    line.
    """
    status = cli.main(list(words), lab)
    out, err = capsys.readouterr()
    if status == 0:
        return out
    assert status == 2
    assert re.fullmatch(r"p5lab: [^\n]+\n", err)
    return None


def test_a_machine_and_an_experiment(lab, capsys):
    """p5lab reads the machine and the experiment of 0.1.0 with their old values."""
    listed = read_or_refused(lab, capsys, "list", "--json")
    assert listed is not None
    names = {one["name"] for one in json.loads(listed)["machines"]}
    assert "p90-premiere2" in names
    planned = read_or_refused(lab, capsys, "plan", "smoke", "--json")
    assert planned is not None
    assert '"getpid' in planned


def test_the_machine_is_what_it_was(lab, results):
    before = store.find(results, GETPID).record["machine"]
    now = machine.load(lab.machines, "p90-premiere2").canonical("engine", "bochsrc")
    assert before["values"].items() <= now.items()


def test_workloads(lab, capsys):
    """0.1.0 had all workloads in one file."""
    place = lab.root / "workloads/workloads.toml"
    place.write_bytes(gzip.decompress((STORED / "workloads/workloads.toml.gz").read_bytes()))
    listed = read_or_refused(lab, capsys, "list", "workloads", "--json")
    assert listed is None or "getpid" in {one["name"] for one in json.loads(listed)["workloads"]}


# --- the version --------------------------------------------------------------------------------


def test_the_version_stands_once(run):
    assert run("--version") == f"p5lab {p5lab.__version__}\n"
    assert p5lab.__version__ != "0.1.0"
    text = (REPO / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", text, re.M) == [p5lab.__version__]
    text = (REPO / "pyproject.toml").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in text
    assert not re.search(r"^version = \"", text, re.M)


def test_records_name_the_version(tmp_path):
    lab = fakelab.make(tmp_path / "lab")
    lab.behave()
    assert cli.main(["run", "tests", "--workload", "call", "--no-build"], lab) == 0
    (found,) = store.all_runs(lab)
    assert found.record["versions"]["p5lab"] == p5lab.__version__


def test_a_record_of_a_newer_version_is_refused_in_one_line(results, tmp_path, capsys):
    place = tmp_path / "results"
    shutil.copytree(results.results, place)
    path = place / "smoke" / GETPID / "run.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "schema_version": 99, "sha256": None})
    )
    with pytest.raises(UserError, match="schema_version: expected 1, found 99"):
        store.read(path.parent)
    assert read_or_refused(Lab(REPO, place), capsys, "show", GETPID) is None
