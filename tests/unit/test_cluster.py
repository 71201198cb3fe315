# SPDX-License-Identifier: MIT
"""Runs on the workers of a Dask cluster, with a scripted engine: the results are the same as in
local runs, even if workers, scheduler, versions or files fail.
"""

import hashlib
import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from functools import partial

import psutil
import pytest
from fakelab import REPO, call_events, chase_events, make

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute import cluster, cluster_files, connection, one_run, runner, worker
from p5lab.execute.cluster import Workers
from p5lab.execute.runner import Runner
from p5lab.execute.worker import Input
from p5lab.files import digest_of
from p5lab.keep import gc, store

SWEEP = """
[[sweep]]
grid = { l2.size = ["128K", "256K", "512K"] }
"""
RESULT = ("events.jsonl", "counts.parquet")
# Dask examines its own stacks a hundred times in a second.
ENVIRONMENT = {**os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("P5LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lab(lab):
    """Returns a lab with six runs: two workloads on three machines. The experiment `one` has four
    runs on one machine.
    """
    path = lab.experiments / "tests.toml"
    one = lab.experiments / "one.toml"
    one.write_text(path.read_text().replace("[[run]]", "seeds = [0, 1]\n[[run]]", 1))
    path.write_text(path.read_text() + SWEEP)
    return lab


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Returns the directory of the scheduler and of the workers' cache."""
    return tmp_path_factory.mktemp("scheduler")


@pytest.fixture(scope="module")
def scheduler(place):
    """Starts a scheduler and two workers as separate processes. Returns the scheduler's address."""
    with running(place) as address:
        yield address


@contextmanager
def running(place, *options, workers=2, protocol="tcp"):
    """Starts Dask's scheduler and workers in the same way as a user. Returns the address."""
    place.mkdir(exist_ok=True)
    file = place / "scheduler.json"
    environment = {**ENVIRONMENT, "P5LAB_CACHE": str(place / "cache")}
    started = []
    both = ["--scheduler-file", str(file), "--host", f"{protocol}://127.0.0.1"]
    both += ["--dashboard-address", "127.0.0.1:0", *options]
    local = ["--local-directory", str(place)]

    def start(name, *words):
        log = (place / f"{len(started)}.log").open("w")
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{name}", *words, *both],
                cwd=place,
                env=environment,
                stdout=log,
                stderr=log,
            )
        )

    try:
        start("dask_scheduler", "--port", "0")
        # The file exists before it has any content.
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        for _ in range(workers):
            start("dask_worker", "--nthreads", "1", "--no-nanny", "--memory-limit", "0", *local)
        address = re.search(r'"address": "(.*)"', file.read_text())[1]
        yield address
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def wait_for(what, seconds=600):  # a busy host
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, f"the condition was not true within {seconds} s"
        time.sleep(0.05)
    return found


def execute(lab, wanted, **options):
    runs = experiment.load(lab, "tests")
    place = partial(connection.connected, lab, wanted, lambda text: None)
    return Runner(lab, place=place, **options).run_all(runs)


def contents(lab):
    """Returns the results of the runs by id."""
    return {
        stored.id: [(stored.directory / name).read_bytes() for name in RESULT]
        for stored in store.all_runs(lab)
        if stored.status == "ok"
    }


def left_over(lab):
    return [path.name for path in lab.results.rglob(".*") if path.name != store.IN_USE]


@pytest.mark.parametrize("ship", [False, True])
def test_results_are_those_of_runs_executed_here(lab, scheduler, ship):
    lab.embed()
    here = Runner(lab, jobs=2).run_all(experiment.load(lab, "tests"))
    expected = contents(lab)
    assert len(expected) == 6
    lab.results.rename(lab.root / "here")
    there = execute(lab, Workers(scheduler=scheduler, ship=ship))
    assert [one.id for one in there] == [one.id for one in here]
    assert {one.status for one in there} == {"ok"}
    assert contents(lab) == expected
    assert not left_over(lab)
    for one in there:
        files = {path.name for path in one.directory.iterdir()}
        before = {path.name for path in (lab.root / "here/tests" / one.id).iterdir()}
        assert files == before
        record = store.read(one.directory)
        assert record["attempts"] == 1
        assert record["worker"].startswith("tcp://127.0.0.1:")
        assert record["host"]["cpus"] == one_run.cores()


def test_inputs_are_sent_once_and_checked(lab, scheduler, place, tmp_path):
    lab.embed()
    wanted, kept = Workers(scheduler=scheduler, ship=True), place / "cache/inputs"
    assert {one.status for one in execute(lab, wanted)} == {"ok"}
    files = {path.name: path for path in kept.iterdir()}
    for path in files.values():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        os.link(path, tmp_path / path.name)  # a new file must not get the number of an old one
    kernel = files[digest_of(lab.root / "build/guests/toy/bzImage")]
    before = {name: path.stat().st_ino for name, path in files.items()}
    kernel.chmod(0o644)
    kernel.write_bytes(b"damaged")
    assert {one.status for one in execute(lab, wanted, force=True)} == {"ok"}
    after = {path.name: path.stat().st_ino for path in kept.iterdir()}
    assert {name for name in after if after[name] != before[name]} == {kernel.name}


def test_a_local_worker_boots_once_and_listens_on_loopback_only(lab):
    sizes = (("l2.size", size) for size in ("128K", "512K"))
    runs = [run for size in sizes for run in experiment.load(lab, "one", Filter(settings=(size,)))]
    with connection.connected(lab, Workers(workers=1), lambda text: None) as place:
        processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
        listening = {one.ip for process in processes for one in listens(process)}
        results = Runner(lab, place=lambda: nullcontext(place)).run_all(runs)
    assert [one.status for one in results] == ["ok"] * 8
    assert listening == {"127.0.0.1"}
    assert len(lab.boots()) == 2 * 2  # the seed is on the kernel's command line
    assert not left_over(lab)


def engines(lab):
    """Returns the running engines. An engine starts in the directory of its run."""
    return those(psutil.process_iter(), lambda one: one.cwd().startswith(str(lab.results)))


def local_workers():
    """Returns the workers that p5lab has started on this machine in this process."""
    return those(
        psutil.Process().children(),
        lambda one: (
            "distributed.cli.dask_worker" in one.cmdline()
            and "--scheduler-file" not in one.cmdline()
        ),
    )


def listens(process):
    """Returns the addresses on which the process accepts connections."""
    with suppress(psutil.Error):  # it has ended
        return [one.laddr for one in process.net_connections() if one.status == psutil.CONN_LISTEN]
    return []


def those(processes, is_one):
    """Returns the processes of one kind. Any other process can end at any time, for example a
    program that p5lab calls in another thread.
    """
    found = []
    for process in processes:
        with suppress(psutil.Error):
            if is_one(process):
                found.append(process)
    return found


def test_a_killed_worker_costs_one_attempt(lab):
    """The run needs one more attempt, also if the killed worker was the only worker, or if the run
    was assigned to this worker because of the run's boot.
    """
    lab.behave(sleep=600)  # the engines read this when they boot
    runs = [
        run
        for size in ("128K", "512K")
        for run in experiment.load(lab, "one", Filter(seeds=(0,), settings=(("l2.size", size),)))
    ]

    def kill():
        wait_for(lab.starts)
        wait_for(lambda: engines(lab))
        there = engines(lab)
        lab.behave()
        (only,) = local_workers()
        only.kill()
        wait_for(lambda: not any(one.is_running() for one in there))  # they end with the worker

    with (
        connection.connected(lab, Workers(workers=1), lambda text: None) as place,
        ThreadPoolExecutor() as pool,
    ):
        killer = pool.submit(kill)
        results = Runner(lab, place=lambda: nullcontext(place)).run_all(runs)
        killer.result()
    assert [one.status for one in results] == ["ok"] * 4
    attempts = [store.read(one.directory)["attempts"] for one in results]
    assert sorted(attempts) == [1] * 3 + [2]
    assert not left_over(lab)


def test_a_run_that_kills_its_workers_fails_and_the_others_do_not(lab, monkeypatch):
    monkeypatch.setattr(cluster, "RETRIES", 1)
    lab.behave(kills_its_worker=["call"])
    runs = experiment.load(lab, "tests")[:2]
    with connection.connected(lab, Workers(workers=1), lambda text: None) as place:
        call, chase = Runner(lab, place=lambda: nullcontext(place), fork=False).run_all(runs)
    assert (call.status, chase.status) == ("failed", "ok")
    assert call.reason == "its worker died 2 times while it ran"
    assert store.read(call.directory)["attempts"] == 2
    assert len([line for line in lab.starts() if line.startswith("call")]) == 2


def test_a_run_that_hangs_or_fails_is_recorded_as_here(lab, scheduler):
    lab.behave(sleep_of={"chase": 60})
    results = execute(lab, Workers(scheduler=scheduler), host_limit=1)
    by_name = {one.run.workload.name: one for one in results}
    assert by_name["chase"].status == "timeout"
    assert by_name["chase"].reason == "engine killed: no result within 1 s of host time"
    lab.behave(events={"call": call_events(status=2)}, output="no such thing\n")
    for one in execute(lab, Workers(scheduler=scheduler)):
        if one.run.workload.name == "chase":
            assert one.reason == "cannot read events.jsonl: No such file or directory"
            assert (one.directory / "serial.log").exists()
    assert not left_over(lab)


def test_fail_fast_leaves_what_has_not_begun(lab, scheduler):
    # `call` writes no events, and ends while `chase` continues. There are many runs of `chase`. So
    # some of them have not begun, even if a busy host receives the failure after many seconds.
    path = lab.experiments / "tests.toml"
    path.write_text(path.read_text().replace("[[run]]", f"seeds = {list(range(10))}\n[[run]]", 1))
    lab.behave(events={"chase": chase_events()}, sleep=0.5, sleep_of={"chase": 3})
    results = execute(lab, Workers(scheduler=scheduler), fail_fast=True)
    statuses = [one.status for one in results]
    assert "failed" in statuses
    assert statuses.count("queued") >= 2
    for one in results:
        assert store.read(one.directory)["status"] == one.status


def test_runs_are_sent_again_only_by_force_and_fail_with_other_events(lab, scheduler):
    execute(lab, Workers(scheduler=scheduler))
    assert {one.reused for one in execute(lab, Workers(scheduler=scheduler))} == {True}
    assert len(lab.starts()) == 6
    lab.behave(events={"call": call_events(iterations=4), "chase": chase_events()})
    for one in execute(lab, Workers(scheduler=scheduler), force=True):
        if one.run.workload.name == "call":
            assert one.reason.startswith("not repeatable: events.jsonl differs")
            assert (one.directory / runner.PREVIOUS).exists()
        else:
            assert one.status == "ok"


def test_a_scheduler_that_goes_is_one_line_and_the_rest_resumes(lab, tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 5)
    lab.behave(sleep_of={"chase": 30})
    with running(tmp_path / "scheduler", workers=1) as address:

        def kill():
            wait_for(lambda: any(one.status == "ok" for one in store.all_runs(lab)))
            port = int(address.rpartition(":")[2])
            for child in psutil.Process().children():
                if any(one.port == port for one in listens(child)):
                    child.kill()

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(UserError, match=r"^the connection to the scheduler tcp://.* is lost"):
            execute(lab, Workers(scheduler=address))
        killer.join()
    done = contents(lab)
    assert done
    assert {one.status for one in store.all_runs(lab)} <= {"ok", "queued"}
    lab.behave()
    results = Runner(lab, jobs=2).run_all(experiment.load(lab, "tests"))
    assert {one.status for one in results} == {"ok"}
    assert {one.id for one in results if one.reused} == set(done)


def test_dask_itself_says_nothing():
    import distributed  # gives loggers their own levels

    connection._quiet()
    names = (distributed.__name__, "distributed.client", "tornado.application")
    assert not any(logging.getLogger(name).isEnabledFor(logging.CRITICAL) for name in names)


def test_nobody_there(lab, monkeypatch):
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 1)
    with (
        pytest.raises(UserError, match=r"^cannot use the cluster tcp://127.0.0.1:9: .*") as caught,
        connection.connected(lab, Workers(scheduler="tcp://127.0.0.1:9"), lambda text: None),
    ):
        pass
    assert caught.value.status == 1
    assert "\n" not in str(caught.value)
    assert not left_over(lab)


def test_another_p5lab_on_a_worker_is_refused(lab, scheduler, monkeypatch):
    ours = {**worker.fingerprint(), "p5lab": "0.0.9, sources 123"}
    monkeypatch.setattr(worker, "fingerprint", lambda: ours)
    with pytest.raises(
        UserError, match=r"^worker tcp://\S+: it has p5lab .*, but the client has 0.0.9, s"
    ):
        execute(lab, Workers(scheduler=scheduler))
    assert lab.starts() == []
    assert {one.status for one in store.all_runs(lab)} == {"queued"}


def test_a_worker_without_p5lab_is_reported(lab, tmp_path, monkeypatch):
    # The environment of this checkout contains p5lab, so another module takes the place of p5lab.
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "p5lab.py").write_text("raise ModuleNotFoundError(\"No module named 'p5lab'\")\n")
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", str(hidden))
    with (
        running(tmp_path / "scheduler", workers=1) as address,
        pytest.raises(
            UserError, match=r"^a worker of the scheduler tcp://\S+ has no p5lab \(No module named"
        ),
    ):
        execute(lab, Workers(scheduler=address))


def test_executions_that_disagree_are_no_result(lab):
    (lab.results / "run").mkdir(parents=True)
    done = one_run.Done(runner.Outcome("ok", ""), {"digests": {}, "notes": []})
    report = worker.Report("tcp://a", done)
    found = cluster_files.received(report, 1, {"one", "other"}, lab.results / "run")
    assert found.outcome.status == "failed"
    assert found.outcome.reason.startswith("not repeatable: two executions")
    assert "digests" not in found.facts


def test_a_result_that_arrives_changed_is_no_result(lab):
    directory = lab.results / "run"
    directory.mkdir(parents=True)
    good = hashlib.sha256(b"content").hexdigest()
    done = one_run.Done(runner.Outcome("ok", ""), {"digests": {"events.jsonl": good}})
    stage = lab.results / ".run-x"
    stage.mkdir()
    (stage / "events.jsonl").write_bytes(b"changed")
    found = cluster_files.received(worker.Report("tcp://a", done, stage), 1, set(), directory)
    assert found.outcome.reason == "events.jsonl differs from the file of worker tcp://a"


@pytest.mark.parametrize("name", ["../events.jsonl", "/etc/passwd", "m5out/../../x"])
def test_a_worker_cannot_write_outside_of_the_run_directory(tmp_path, name):
    digest = hashlib.sha256(b"x").hexdigest()
    with pytest.raises(UserError, match="expected a name inside the run directory"):
        cluster_files.unpack({name: (digest, b"x")}, tmp_path / "stage")
    assert not list(tmp_path.rglob("*"))


def test_a_part_of_a_result_is_checked(tmp_path):
    with pytest.raises(UserError, match="was corrupted on the way from the worker"):
        cluster_files.unpack({"serial.log": ("0" * 64, b"x")}, tmp_path)


def test_links_and_our_own_files_are_no_part_of_a_result(tmp_path):
    for name in ("events.jsonl", "lock", "run.json", "reserve", "m5out/stats.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    found = {str(path.relative_to(tmp_path)) for path in worker.files_of(tmp_path)}
    assert found == {"events.jsonl", "m5out/stats.txt"}


@pytest.mark.parametrize("up", [1, 3, 6])
def test_inputs_keep_their_places_relative_to_the_run(tmp_path, up):
    (tmp_path / "content").write_text("content")
    inputs = (
        Input("../" * up + "build/engine/p5bochs", tmp_path / "x", "1" * 64),
        Input("../near", tmp_path / "y", "1" * 64),
    )
    beside = worker._tree(tmp_path / "base", inputs, {"1" * 64: tmp_path / "content"})
    for one in inputs:
        assert (beside / "run" / ".." / one.relative[3:]).resolve().read_text() == "content"
        place = os.path.normpath(beside / "run" / one.relative)
        assert place.startswith(str(tmp_path / "base"))


def test_an_upload_that_is_not_whole_is_not_kept(cache):
    content = b"0123456789"
    digest = hashlib.sha256(content).hexdigest()
    assert "a piece of the file was lost" in worker.keep("u1", digest, 5, content[5:], True)
    assert worker.keep("u2", digest, 0, content[:5], False) == ""
    assert "was corrupted" in worker.keep("u2", digest, 5, b"98765", True)
    assert not worker.has(digest)
    assert worker.keep("u3", digest, 0, content[:5], False) == ""
    assert worker.keep("u3", digest, 5, content[5:], True) == ""
    assert worker.has(digest)
    assert [path.name for path in (cache / "inputs").iterdir()] == [digest]


# --- TLS --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Returns two certificate authorities, and one certificate of each authority. The commands are
    those of docs/reference/clusters.md.
    """
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    made = {}
    for name in ("ours", "theirs"):
        place = made[name] = tmp_path_factory.mktemp(name)
        document = (REPO / "docs/reference/clusters.md").read_text()
        commands = re.findall(r"^(openssl .*)$", document, re.M)
        assert len(commands) == 3
        for command in commands:
            subprocess.run(command, shell=True, cwd=place, check=True, capture_output=True)
    return made


def tls(place):
    return cluster.Tls(place / "ca.pem", place / "p5lab.pem", place / "p5lab.key")


def test_tls(lab, certificates, tmp_path):
    ours = tls(certificates["ours"])
    files = {"--tls-ca-file": ours.ca, "--tls-cert": ours.cert, "--tls-key": ours.key}
    options = [str(word) for pair in files.items() for word in pair]
    with running(tmp_path / "scheduler", *options, workers=1, protocol="tls") as address:
        assert address.startswith("tls://")
        results = execute(lab, Workers(scheduler=address, tls=ours))
        assert {one.status for one in results} == {"ok"}
        for other in (None, tls(certificates["theirs"])):
            with (
                pytest.raises(UserError, match=r"^cannot use the cluster tls://") as caught,
                connection.connected(lab, Workers(scheduler=address, tls=other), lambda text: None),
            ):
                pass
            assert "\n" not in str(caught.value)


def test_tls_files_are_named(lab, certificates, tmp_path):
    ours = certificates["ours"]
    bad = tmp_path / "bad.pem"
    bad.write_text("no certificate")
    for which, message in (
        (
            cluster.Tls(tmp_path / "none", ours / "p5lab.pem", ours / "p5lab.key"),
            r"--tls-ca: cannot read .*none: No such file",
        ),
        (
            cluster.Tls(bad, ours / "p5lab.pem", ours / "p5lab.key"),
            r"cannot use the cluster tls://",
        ),
    ):
        with (
            pytest.raises(UserError, match=message),
            connection.connected(lab, Workers(scheduler="tls://127.0.0.1:9", tls=which), print),
        ):
            pass


# --- full disk --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(lab):
    """Puts the results on a separate file system of 2 MB. `fill` writes data until only the given
    number of bytes is free.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system of 2 MB")
    lab.results.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", lab.results], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")

    def fill(left):
        facts = os.statvfs(lab.results)
        (lab.results / "filler").write_bytes(bytes(facts.f_bavail * facts.f_frsize - left))

    yield fill
    subprocess.run(["umount", lab.results], check=True)


@pytest.mark.parametrize("where", ["here", "shared", "shipped"])
@pytest.mark.parametrize("left", [300_000, 0])
def test_a_full_disk_is_reported_and_survived(lab, scheduler, small_disk, where, left):
    """The disk has too little space for all runs, or too little space for a record."""
    lab.embed()
    wanted = Workers(scheduler=scheduler, ship=where == "shipped")

    def run_all():
        if where == "here":
            return Runner(lab).run_all(experiment.load(lab, "tests"))
        return execute(lab, wanted)

    small_disk(left)
    try:
        results = run_all()
    except UserError as error:
        assert "No space left on device" in str(error)
    else:
        bad = [one for one in results if one.status != "ok"]
        assert bad
        for one in bad:
            assert one.status == "failed"
            assert one.reason.count("No space left on device") == 1
    good = contents(lab)
    (lab.results / "filler").unlink()
    again = run_all()
    assert {one.status for one in again} == {"ok"}
    assert {one.id for one in again if one.reused} == set(good)
    # A worker can begin a run of the first command when that command has ended already. What it
    # leaves is removed by the worker, or later by gc.
    deadline = time.monotonic() + 60
    while not set(left_over(lab)) <= {item.path.name for item in gc.results(lab)}:
        assert time.monotonic() < deadline, left_over(lab)
        time.sleep(0.05)


def test_gc_removes_what_killed_workers_left(lab):
    (result, *_) = Runner(lab).run_all(experiment.load(lab, "tests"))
    stage = result.directory.parent / f"{store.WORKER_PREFIX}{result.id}-x"
    stage.mkdir()
    (stage / "events.jsonl").write_text("half")
    with store.locked(stage):
        assert stage not in [item.path for item in gc.results(lab)]
    assert stage in [item.path for item in gc.results(lab)]


def test_another_checkout_at_another_path_gives_the_same_bytes(lab, scheduler, tmp_path):
    other = make(tmp_path / "elsewhere" / "a name with spaces")
    path = other.experiments / "tests.toml"
    path.write_text(path.read_text() + SWEEP)
    execute(lab, Workers(scheduler=scheduler))
    execute(other, Workers(scheduler=scheduler))
    assert contents(lab) == contents(other)
