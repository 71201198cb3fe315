# SPDX-License-Identifier: MIT
"""`./p5lab run smoke` as a user sees it: table, reuse of results, repetition in another place, a
full disk.
"""

import multiprocessing
import re
import shutil
import subprocess
from dataclasses import replace

import command_line
import pytest
import recorded_counts

from p5lab.describe import experiment, workload
from p5lab.describe.request import Filter
from p5lab.engines.bochs.engine import OUTPUT_FAILED, Bochs
from p5lab.evidence import records
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.lab import Lab
from p5stats import compare, events, tidy

# The files that a checkout needs to run experiments, in addition to the Python package.
NEEDED = (
    "configs",
    "engine/bochs/bochsrc.in",
    "engine/p5/timing.csv",
    "guest-images/linux/guest.toml",
    "workloads",
    "build/engine/p5bochs",
    "build/engine/bios",
    "build/bootrom",
    "build/disks",
    "build/guests/linux/bzImage",
    "build/guests/linux/initramfs.cpio",
    "build/guests/linux/disk.img",
    "build/workloads/linux",
)


def command(lab, *arguments):
    return command_line.ran(lab, *arguments, columns=120)


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """Runs the whole experiment once, in a process of its own. Returns the results and the output.
    The commands of the tests run in the process of the tests, so they find nothing of this run but
    its files.
    """
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("smoke") / "results")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        words = ("run", "smoke", "--no-build", "--all-tables")
        status, out, err = pool.apply(command, (lab, *words))
    return lab, status, out, err


def _events(stored):
    return events.parse(stored.directory / "events.jsonl")


def cells(table, row):
    (line,) = (line for line in table.splitlines() if line.strip().startswith(row + " "))
    return [float(cell.replace(",", "")) for cell in line.strip().removeprefix(row).split()]


def test_smoke_prints_a_column_for_each_benchmark(smoke):
    _, status, out, err = smoke
    assert status == 0, err
    assert "[6/6]" in err
    null, getpid, dup, start, *_ = cells(out, "busy cycles")
    assert getpid < dup < null < start
    assert cells(out, "iterations") == [50, 50, 50, 50, 1, 1]
    assert cells(out, "ring crossings")[1:3] == [2, 2]
    assert all(0.3 < share <= 1 for share in cells(out, "kernel share")[:4])
    assert all(1 <= cpi < 40 for cpi in cells(out, "CPI (busy)"))


def test_smoke_prints_both_curves(smoke):
    _, _, out, _ = smoke
    curves = re.split(r"\n *mem-read (?=\w+:)", out)[1:]
    assert [curve.split(":")[0] for curve in curves] == ["contiguous", "guest"]
    for curve in curves:
        assert cells(curve, "512 B")[0] == pytest.approx(2, abs=0.1)
        assert cells(curve, "1 MB")[0] > 25


def test_the_counts_are_the_recorded_ones(smoke):
    """docs/evidence/README.md says what to do if the counts have changed."""
    lab, *_ = smoke
    record = records.load(lab.root, records.RUNS)["counts"]
    assert recorded_counts.differences(record, "smoke", store.all_runs(lab)) == []


def test_smoke_again_runs_nothing(smoke):
    lab, *_ = smoke
    status, _, err = command(lab, "run", "smoke", "--no-build")
    assert status == 0
    assert err.count("already stored") == 6


def test_show_and_list(smoke):
    lab, *_ = smoke
    stored = store.all_runs(lab)
    assert {item.status for item in stored} == {"ok"}
    status, out, _ = command(lab, "show", stored[0].id[:8])
    assert status == 0
    assert re.search(r"guest kernel 6\.1\.\d+", out)
    assert command(lab, "list", "runs")[1].count(" ok ") == 6


def test_the_tidy_table_agrees_with_the_events(smoke):
    """The time stamps of the markers and the sum of busy and idle cycles give the same number."""
    lab, *_ = smoke
    for stored in store.all_runs(lab):
        spans = [b.end.tsc - b.begin.tsc for b in _events(stored).brackets]
        counts = compare.counts(tidy.read(stored.directory / "counts.parquet")[0])
        cycles = counts["cycles.busy"] + counts["cycles.idle"]
        assert sorted(spans) == sorted(cycles)


def test_no_count_contradicts_another(smoke):
    lab, *_ = smoke
    table = tidy.load(lab.results)
    assert set(table["clock_hz"]) == {90_000_000}
    counts = compare.counts(table)
    assert (counts["cycles.busy"] > 0).all()
    # There are at most as many misses as accesses. The cycles in ring 0 are at most the cycles in
    # all rings.
    assert (counts["data_read_misses"] <= counts["data_reads"]).all()
    assert (counts["data_write_misses"] <= counts["data_writes"]).all()
    assert (counts[compare.KERNEL] <= counts["cycles.busy"]).all()


def test_another_place_and_another_run_at_the_same_time_change_nothing(smoke, tmp_path):
    lab, *_ = smoke
    elsewhere = tmp_path / "another place"
    for name in NEEDED:
        source, target = lab.root / name, elsewhere / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    there = Lab(elsewhere)
    runs = experiment.load(there, "smoke", Filter(workloads=("dup", "exec-static")))
    results = Runner(there, jobs=2).run_all(runs)
    assert [result.status for result in results] == ["ok", "ok"]
    for result in results:
        here = lab.results / "smoke" / result.id / "events.jsonl"
        assert here.read_bytes() == (result.directory / "events.jsonl").read_bytes()


def test_a_forced_run_gives_the_same_events(smoke):
    lab, *_ = smoke
    status, _, err = command_line.ran(
        lab, "run", "smoke", "--no-build", "--force", "--workload", "null"
    )
    assert status == 0, err
    assert "already stored" not in err


def test_another_l2_is_another_run(smoke):
    lab, *_ = smoke
    arguments = ("run", "smoke", "--no-build", "--workload", "getpid", "--set")
    status, _, err = command(lab, *arguments, "l2.size=512K")
    assert status == 0, err
    assert "l2.size=512K: ok" in err


@pytest.mark.parametrize("key", ["run.events", "run.output"])
def test_the_engine_reports_a_full_disk(smoke, tmp_path, key):
    """/dev/full answers every write with "no space left on device"."""
    lab, *_ = smoke
    (run,) = experiment.load(lab, "smoke", Filter(workloads=("getpid",)))
    run = replace(run, workload=workload.load(lab)["test-output"])  # its program prints
    plan = Bochs().prepare(lab, run, tmp_path)
    for file, content in plan.write.items():
        (tmp_path / file).write_bytes(content)
    conf, job = (plan.write[name].decode() for name in ("boot.conf", "job.conf"))
    (tmp_path / "boot.conf").write_text(re.sub(rf"{key} = .*", f"{key} = /dev/full", conf))
    if key == "run.output":
        job = re.sub(r"run.job = .*", "run.job = test-output lines=3000 status=0", job)
        (tmp_path / "job.conf").write_text(job)
    with (tmp_path / "engine.out").open("wb") as console:
        status = subprocess.run(
            plan.command,
            cwd=tmp_path,
            env=dict(plan.environment),
            stdout=console,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    assert status == OUTPUT_FAILED
    outcome = Bochs().collect(tmp_path, status)
    assert outcome.status == "failed"
    assert "No space left on device" in outcome.reason
