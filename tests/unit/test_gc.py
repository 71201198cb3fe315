# SPDX-License-Identifier: MIT
"""gc: the items that it removes, the items that it keeps, and the items that it never touches."""

import json
import os
import time
from functools import partial

import pytest
from fakelab import call_events

from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.describe.observation import AttributedCounts, Observation, PowerCut, Trace, functions
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.host import fetch
from p5lab.keep import gc, store
from p5stats import tidy

DAY = 86400


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Returns a separate cache. `put` makes a file of the given size and the given age in days."""
    directory = tmp_path / "cache"
    directory.mkdir()
    monkeypatch.setenv("P5LAB_CACHE", str(directory))

    def put(name, size, days):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
        then = time.time() - days * DAY
        for made in (path, *path.parents):
            if made == directory.parent:
                break
            os.utime(made, (then, then))
        return path

    put.directory = directory
    return put


@pytest.fixture
def p5lab(cache, p5lab):
    return partial(p5lab, "gc")


def run(lab, workload="call", **choice):
    found = experiment.load(lab, "tests", Filter(workloads=(workload,), **choice))
    return Runner(lab).run_all(found)[0]


def kinds(items):
    return sorted((item.why, item.path.name) for item in items)


def test_failed_and_superseded_runs_go_and_the_others_stay(lab, monkeypatch):
    monkeypatch.setattr(
        functions, "table", lambda lab, run, **_: ""
    )  # the toy kernel has no symbols
    old = run(lab)
    record = store.read(old.directory)
    store.write(old.directory, {**record, "started": "2020-01-01T00:00:00+00:00"})
    (lab.root / "build/workloads/toy/call").write_text("another program")
    new = run(lab)
    other = run(lab, settings=(("l2.size", "512K"),))
    seeded = run(lab, seeds=(1,))
    traced = run(lab, observation=Observation.of(Trace(("crossings",))))
    attributed = [
        run(lab, observation=Observation.of(AttributedCounts(kinds)))
        for kinds in (("functions",), ("functions", "stacks"))
    ]
    lab.behave(events={"chase": call_events(status=2)})
    bad = run(lab, "chase")
    assert {one.status for one in (new, other, seeded, traced, *attributed)} == {"ok"}
    assert bad.status == "failed"
    assert kinds(gc.results(lab)) == [("failed", bad.id), ("superseded", old.id)]


def test_a_run_whose_power_was_cut_stands_for_itself(lab):
    """If several runs are equal, tidy.load reads the newest run. A run with a power cut contains
    the counts of only a part of the work. So this run must not replace the complete run.
    """
    disk = {"settings": (("disk.count", "1"), ("disk.adapters", "1"))}
    whole = run(lab, **disk)
    cut = run(lab, observation=Observation.of(PowerCut(1_500_000)), **disk)
    assert whole.status == cut.status == "ok"
    assert gc.results(lab) == []
    read = tidy.load(lab.results)["run"]
    assert set(read) == {whole.id}
    assert set(tidy.load(lab.results, all_runs=True)["run"]) == {whole.id, cut.id}


def test_runs_that_never_began_go_at_once_and_those_without_a_record_after_a_day(lab):
    result = run(lab)
    record = store.read(result.directory)
    store.write(result.directory, {**record, "status": "queued"})
    empty = lab.results / "tests/0123456789abcdef"
    empty.mkdir()
    (lab.results / "tests/notes").mkdir()  # not ours
    assert kinds(gc.results(lab)) == [("never run", result.id)]
    then = time.time() - 2 * DAY
    os.utime(empty, (then, then))
    assert kinds(gc.results(lab)) == [("never run", result.id), ("without a record", empty.name)]


def test_nothing_is_removed_without_yes(p5lab, lab):
    lab.behave(events={}, exit=9)
    bad = run(lab)
    status, out, _ = p5lab()
    assert status == 0
    assert "failed" in out
    assert "Nothing was removed; --yes removes" in out
    assert bad.directory.exists()
    status, out, _ = p5lab("--list")
    assert f"failed: {bad.id[:10]} call, toy, p90-premiere2" in out
    status, out, _ = p5lab("--yes")
    assert status == 0
    assert out.splitlines()[-1].startswith("Removed ")
    assert not bad.directory.parent.exists()  # the experiment's directory had no other content
    assert p5lab()[1].startswith("Nothing to remove. The cache has 0 bytes in ")


def test_a_good_run_survives(p5lab, lab):
    good = run(lab)
    p5lab("--yes")
    assert store.complete(good.directory, store.read(good.directory))


def test_results_in_use_are_left_alone(p5lab, lab):
    lab.behave(events={}, exit=9)
    bad = run(lab)
    with store.in_use(lab):
        status, _, err = p5lab("--yes")
        assert status == 1
        assert "this checkout has active runs" in err
        assert p5lab()[0] == 0  # looking does no harm
        assert p5lab("--yes", "--cache")[0] == 0
    with store.locked(bad.directory):  # an engine that still runs after its p5lab
        assert p5lab("--yes")[0] == 0
    assert bad.directory.exists()
    p5lab("--yes")
    assert not bad.directory.exists()


def test_what_a_killed_run_booted_goes_and_a_live_boot_stays(p5lab, lab):
    good = run(lab)
    left, live = (lab.results / "tests" / f"{store.BOOT_PREFIX}{name}" for name in ("abc", "def"))
    for directory in (left, live):
        directory.mkdir()
        (directory / "serial.log").write_text("booted")
        (directory / store.LOCK).touch()
    with store.locked(live):
        assert kinds(gc.results(lab)) == [("left by a killed run", left.name)]
        assert p5lab("--yes")[0] == 0
        assert not left.exists()
        assert (live / "serial.log").exists()
        # When gc checked the run, no process had locked it. When gc removes the run, it is locked.
        assert gc.remove_run(gc.Item(live, live.name, "left by a killed run", 0, 0)) is False
        assert (live / "serial.log").exists()
    assert kinds(gc.results(lab)) == [("left by a killed run", live.name)]
    p5lab("--yes")
    assert not live.exists()
    assert good.directory.exists()


def test_a_run_that_has_become_good_stays(lab):
    lab.behave(events={}, exit=9)
    run(lab)
    (item,) = gc.results(lab)
    lab.behave()
    good = run(lab)
    assert gc.remove_run(item) is False
    assert store.complete(good.directory, store.read(good.directory))


def test_running_takes_the_lock(lab, monkeypatch):
    held = []

    def run_all(self, runs):
        with store.in_use(lab, alone=True) as alone:
            held.append(alone)
        return []

    monkeypatch.setattr(Runner, "run_all", run_all)
    cli.main(["run", "tests", "--no-build"], lab)
    assert held == [False]


def test_cached_files_go_by_age(lab, cache):
    cache("scons/AB/ab12", 1000, 40)
    fresh = cache("scons/AB/ab34", 1000, 2)
    cache("dist/d1/linux.deb", 5000, 40)
    cache("dist/d2/bochs.tar", 5000, 40)
    cache("work/bochs-1/x", 10, 2)
    cache("work/bochs-2/x", 10, 0)
    cache("gem5/checkpoints/c1/m5.cpt", 700, 40)
    cache("zig/h/1", 300, 40)
    sources = lab.root / "build/sources"
    sources.mkdir(parents=True)
    facts = {"name": "bochs", "version": "3", "file": "bochs.tar", "size": 5000, "sha256": "d2"}
    (sources / "bochs.json").write_text(json.dumps(facts))
    (sources / "damaged.json").write_text("{")
    needed = fetch.in_use(lab.root)
    assert kinds(gc.cache(needed)) == [
        ("build products", "ab12"),
        ("downloads", "d1"),
        ("gem5 checkpoints", "c1"),
        ("left by a killed build", "bochs-1"),
        ("the C compiler's library", "zig"),
    ]
    assert [item.path for item in gc.cache(needed, days=50)] == [cache.directory / "work/bochs-1"]
    assert fresh in [item.path for item in gc.cache(needed, days=1)]
    assert gc.cache_bytes() == 13020


def test_a_cache_that_is_too_large_loses_what_is_unused_the_longest(cache):
    for number in range(5):
        cache(f"scons/AB/ab{number}", 1000, number)
    cache("work/bochs-2/x", 1, 0)
    assert kinds(gc.cache((), max_size=3500)) == [("build products", f"ab{n}") for n in (3, 4)]
    assert len(gc.cache((), max_size=0)) == 5  # a build may be running in work


def test_caches_are_removed(p5lab, cache):
    old = [cache("scons/AB/ab12", 1000, 40), cache("dist/d1/linux.deb", 5000, 40)]
    fresh = cache("scons/AB/ab34", 1000, 2)
    status, out, _ = p5lab("--yes", "--cache")
    assert status == 0
    assert "Removed 6.0 kB; the cache has 1.0 kB" in out
    assert fresh.exists()
    assert not any(path.exists() for path in old)
    assert not (cache.directory / "dist/d1").exists()


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("500M", 500 << 20), ("1.5G", 3 << 29), ("2TB", 2 << 40)]
)
def test_sizes(text, size):
    assert gc.parse_size(text) == size


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        *((gc.parse_size, text) for text in ("many", "-1", "5", "5000000000")),
        *((gc.parse_days, text) for text in ("x", "-1")),
    ],
)
def test_wrong_sizes_and_ages(parse, text):
    with pytest.raises(UserError, match="expected a"):
        parse(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (12_345_678, "12 MB"),
        (999_600, "1.0 MB"),
        (5e12, "5000 GB"),
    ],
)
def test_sizes_for_people(size, text):
    assert gc.human(size) == text
