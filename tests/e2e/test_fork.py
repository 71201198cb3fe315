# SPDX-License-Identifier: MIT
"""A workload gives the same bytes in a fork of a shared boot and in a run from reset."""

import json

import pytest

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.engines.bochs.engine import CONSOLE, LOG, Bochs
from p5lab.execute import executor, forkserver
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.lab import Lab

WORKLOADS = ("getpid", "create")  # create writes to the disk
MORE = ("exec-static", "cached-read")  # with --full


def run(root, guest, workloads, **options):
    """Runs workloads as a command of a user does, with boots of its own. The runs count the misses
    of sixteen geometries."""
    lab = Lab(Lab.here().root, results_in=root)
    observation = experiment.load(lab, "geometries")[0].observation
    choice = Filter(guests=(guest,), workloads=workloads, observation=observation)
    runs = experiment.load(lab, "chen95-core", choice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor, "Servers", forkserver.Servers)
        results = Runner(lab, **options).run_all(runs)
    assert [(result.status, result.reason) for result in results] == [("ok", "")] * len(workloads)
    return results


@pytest.fixture(scope="module", params=["linux", pytest.param("linux-uml", marks=pytest.mark.full)])
def forked(request, tmp_path_factory, full):
    workloads = WORKLOADS + MORE if full else WORKLOADS
    return run(tmp_path_factory.mktemp("forked"), request.param, workloads, jobs=2)


def test_forked_runs_are_byte_for_byte_those_from_reset(forked, tmp_path, full):
    """Also in the counts of the geometries, which have what the boot added to them."""
    compared = forked if full else forked[-1:]
    workloads = tuple(one.run.workload.name for one in compared)
    alone = run(tmp_path, forked[0].run.guest.name, workloads, fork=False, jobs=2)
    for one, other in zip(compared, alone, strict=True):
        assert one.id == other.id
        # The emulator's log and console are not compared, because they contain file names.
        for name in set(Bochs.outputs) - {CONSOLE, LOG}:
            here, there = one.directory / name, other.directory / name
            assert here.exists() == there.exists(), name
            if here.exists():
                assert here.read_bytes() == there.read_bytes(), (one.run.label, name)
        assert b'"shadows":[[' in (one.directory / "events.jsonl").read_bytes()


def test_forked_runs_share_everything_up_to_the_ready_marker_and_nothing_after(forked):
    lines = [(result.directory / "events.jsonl").read_text().splitlines() for result in forked]
    ready = {tuple(text[:2]) for text in lines}
    assert len(ready) == 1
    assert json.loads(lines[0][1])["op"] == "ready"
    assert len({text[-1] for text in lines}) == len(forked)


def test_nothing_of_the_boot_is_left(forked):
    assert not list(forked[0].directory.parent.glob(f"{store.BOOT_PREFIX}*"))


def test_runs_with_other_observations_share_a_boot(boot, monkeypatch, tmp_path):
    """The boot knows no observation. Each run begins its own observations at the ready marker."""
    job, _ = "dup iterations=3 warmup=1", boot("getpid iterations=3")
    everything = {
        "trace": ("crossings", "accesses"),
        "vectors": 1000,
        "attribute": ("functions", "stacks"),
        "conf": ("run.cpi = true", "run.modes = modes.jsonl"),
    }
    with monkeypatch.context() as patch:
        patch.setattr(forkserver, "start", None)  # a further boot would fail
        observed, plain = boot(job, **everything), boot(job)
    from_reset = boot(job, directory=tmp_path / "reset", **everything)
    names = {path.name for path in observed.directory.iterdir()}
    written = names & set(Bochs.outputs) - {CONSOLE, LOG}
    assert {"crossings.jsonl", "attribution.jsonl", "modes.jsonl"} < written
    for name in written:
        assert (observed.directory / name).read_bytes() == (
            from_reset.directory / name
        ).read_bytes(), name
    assert not (plain.directory / "attribution.jsonl").exists()
    assert "cpi." not in (plain.directory / "events.jsonl").read_text()
