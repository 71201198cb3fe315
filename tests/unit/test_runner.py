# SPDX-License-Identifier: MIT
"""Runs from start to record, with a scripted engine: success, reuse, every kind of failure."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import fakelab
import pytest
from fakelab import END, HEADER, REPO, bzimage, call_events, chase_events, snapshot
from stopping import stop

from p5lab import files as host_files
from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.engines.bochs.bochsrc import CYLINDER
from p5lab.errors import UserError
from p5lab.execute import runner
from p5lab.execute.runner import Runner
from p5lab.files import digest_of
from p5lab.keep import named, store

CALL = Filter(workloads=("call",))


def execute(lab, choice=CALL, **options):
    return Runner(lab, **options).run_all(experiment.load(lab, "tests", choice))


def one(lab, **options):
    (result,) = execute(lab, **options)
    record = store.read(result.directory)
    assert record is not None
    assert (record["status"], record["reason"]) == (result.status, result.reason)
    return result, record


def test_an_ok_run_is_recorded_with_everything(lab):
    result, record = one(lab)
    assert (result.status, result.reused) == ("ok", False)
    assert result.directory == lab.results / "tests" / result.id
    assert record["identity"]["settings"]["job"]["run.job"] == "call iterations=3"
    assert record["identity"]["digests"]["kernel"] == digest_of(
        lab.root / "build/guests/toy/bzImage"
    )
    assert record["machine"]["sources"]["l2.size"]
    assert record["versions"]["guest kernel"] == "6.1.99"
    assert record["host"]["cpus"] >= 1
    assert record["wall_seconds"] >= 0
    files = {path.name for path in result.directory.iterdir()}
    assert files >= {
        "run.json",
        "events.jsonl",
        "serial.log",
        "boot.conf",
        "job.conf",
        "counts.parquet",
    }
    assert not files & {"reserve", "run.json.tmp", "counts.parquet.tmp"}


@pytest.mark.parametrize("guest_status", [0, 1])
def test_the_engines_notes_are_recorded(lab, guest_status):
    """Also those of a program that fails: they have the names of its phases."""
    lines = call_events(status=guest_status)
    note = {"type": "note", "what": "unknown-class", "name": "0fff", "count": 3}
    lab.behave(events={"call": [*lines[:-1], note, lines[-1]]})
    _, record = one(lab)
    assert record["status"] == ("failed" if guest_status else "ok")
    assert record["notes"] == [{"what": "unknown-class", "name": "0fff", "count": 3}]


def test_an_ok_run_is_not_run_again_unless_forced(lab):
    first, _ = one(lab)
    again, _ = one(lab)
    assert (again.id, again.reused) == (first.id, True)
    assert len(lab.starts()) == 1
    forced, _ = one(lab, force=True)
    assert (forced.id, forced.status, forced.reused) == (first.id, "ok", False)
    assert len(lab.starts()) == 2
    assert not (forced.directory / "events.previous.jsonl").exists()


def test_a_forced_run_with_other_events_has_failed(lab):
    one(lab)
    lab.behave(events={"call": call_events(iterations=4)})
    result, _ = one(lab, force=True)
    assert result.status == "failed"
    assert result.reason.startswith("not repeatable: events.jsonl differs")
    assert (result.directory / "events.previous.jsonl").exists()


def files_of(directory):
    """Returns the content of all files that belong to a result."""
    return {
        path.name: path.read_bytes()
        for path in directory.iterdir()
        if path.is_file() and path.name not in ("lock", "reserve")
    }


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_good_result_is_kept_if_its_repeat_is_killed_or_stopped(lab, how):
    first, record = one(lab)
    before = files_of(first.directory)
    lab.behave(sleep=600)
    command = start_command(lab, "run", "tests", "--workload", "call", "--no-build", "--force")
    wait_for(lambda: len(lab.starts()) == 2)
    assert files_of(first.directory) == before  # also while the repeat runs
    command.send_signal(how)
    _, stderr = command.communicate(timeout=600)
    assert files_of(first.directory) == before
    (stored,) = store.all_runs(lab)
    assert stored.record == record
    if how == signal.SIGINT:
        assert (
            "p5lab: stopped: 0 of 1 runs ended before and are stored, 1 stopped, with the" in stderr
        )
        assert not list(first.directory.parent.glob(f"{store.REPEAT_PREFIX}*"))
    else:
        (left,) = first.directory.parent.glob(f"{store.REPEAT_PREFIX}*")
        with store.locked(left) as lock:
            assert lock is None  # gc does not remove the directory while the engine runs
        (engine,) = engines_in(left)
        os.kill(engine, signal.SIGKILL)
    lab.behave()
    again, _ = one(lab, force=True)
    assert (again.id, again.status, again.reused) == (first.id, "ok", False)
    assert not list(first.directory.parent.glob(f"{store.REPEAT_PREFIX}*"))


def engines_in(directory):
    """Returns the processes whose working directory is `directory`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if path.readlink() == directory:
                found.append(int(path.parent.name))
    return found


def test_a_good_result_is_kept_if_its_repeat_fails(lab):
    first, record = one(lab)
    before = files_of(first.directory)
    lab.behave(exit=3, stderr="cannot go on")
    (result,) = execute(lab, force=True)
    assert result.status == "failed"
    assert result.reason.endswith("; the earlier result is kept")
    assert store.read(first.directory) == record
    assert files_of(first.directory) == before
    assert result.directory == first.directory / "failed-repeat"
    assert any(b"cannot go on" in content for content in files_of(result.directory).values())
    lab.behave()
    again, _ = one(lab, force=True)
    assert again.status == "ok"
    assert not result.directory.exists()


def test_a_result_that_is_not_repeatable_shows_both_files(lab):
    first, _ = one(lab)
    before = files_of(first.directory)["events.jsonl"]
    lab.behave(events={"call": call_events(iterations=4)})
    result, _ = one(lab, force=True)
    after = files_of(result.directory)
    assert after["events.previous.jsonl"] == before
    assert after["events.jsonl"] != before


def test_a_repeat_of_a_damaged_result_is_in_its_place(lab):
    first, _ = one(lab)
    (first.directory / "counts.parquet").unlink()
    lab.behave(exit=3)
    result, record = one(lab, force=True)
    assert (result.status, record["status"]) == ("failed", "failed")
    assert result.directory == first.directory


@pytest.mark.parametrize("name", ["events.jsonl", "counts.parquet"])
def test_an_ok_run_with_damaged_files_is_run_again(lab, name):
    result, _ = one(lab)
    (result.directory / name).write_bytes(b"damaged")
    again, _ = one(lab)
    assert (again.status, again.reused) == ("ok", False)


@pytest.mark.parametrize("text", ['{"status": "ok", ', "[]", '{"status": "ok"}', "\xff\xfe"])
def test_a_damaged_record_is_listed_as_failed_and_run_again(lab, text):
    result, _ = one(lab)
    (result.directory / "run.json").write_text(text)
    (stored,) = store.all_runs(lab)
    assert (stored.status, stored.id) == ("failed", result.id)
    assert stored.record["reason"].startswith("run.json is damaged")
    again, _ = one(lab)
    assert (again.status, again.reused) == ("ok", False)


def test_a_record_of_a_newer_version_is_not_touched(lab):
    result, record = one(lab)
    (result.directory / "run.json").write_text(json.dumps({**record, "schema_version": 2}))
    with pytest.raises(UserError, match="schema_version: expected 1, found 2"):
        execute(lab)


def test_several_at_once_and_the_same_twice(lab):
    path = lab.experiments / "tests.toml"
    path.write_text(path.read_text() + '[[run]]\nworkload = "call"\n')
    results = execute(lab, Filter(), jobs=3)
    assert [result.run.workload.name for result in results] == ["call", "chase"]
    assert {result.status for result in results} == {"ok"}
    assert sorted(line.split()[0] for line in lab.starts()) == ["call", "chase"]


def test_runs_that_differ_only_in_what_is_run_share_a_boot(lab):
    results = execute(lab, Filter())
    assert [result.status for result in results] == ["ok", "ok"]
    assert len(lab.boots()) == 1
    assert sorted(line.split()[0] for line in lab.starts()) == ["call", "chase"]
    assert not list(results[0].directory.parent.glob(f"{store.BOOT_PREFIX}*"))


def test_another_machine_is_another_boot(lab):
    path = lab.experiments / "tests.toml"
    path.write_text(path.read_text() + OVERLAYS)
    results = execute(lab, Filter(), jobs=2)
    assert [result.status for result in results] == ["ok"] * 4
    assert sorted(lab.boots()) == ["131072", "524288"]


def test_a_run_that_is_alone_or_not_to_be_forked_boots_by_itself(lab):
    execute(lab, CALL)
    execute(lab, Filter(), force=True, fork=False)
    assert (len(lab.starts()), lab.boots()) == (3, [])


def test_forked_or_not_is_the_same_run(lab):
    forked = execute(lab, Filter())
    again = execute(lab, Filter(), fork=False)
    assert [result.id for result in again] == [result.id for result in forked]
    assert all(result.reused for result in again)


def test_a_boot_that_fails_fails_each_of_its_runs(lab):
    lab.behave(
        boot_exit=3,
        stderr="the guest reset the machine",
        serial="Kernel panic - not syncing: no init\n",
    )
    results = execute(lab, Filter())
    for result in results:
        assert result.status == "failed"
        expected = "the guest reset the machine: Kernel panic - not syncing: no init"
        assert result.reason == expected
        assert "no init" in (result.directory / "serial.log").read_text()
    assert lab.starts() == []


def test_a_forked_run_that_hangs_is_killed_alone(lab):
    lab.behave(sleep_of={"call": 60})
    call, chase = execute(lab, Filter(), host_limit=5)
    assert (call.status, chase.status) == ("timeout", "ok")
    assert call.reason == "engine killed: no result within 5 s of host time"


def test_one_failure_does_not_stop_the_others(lab):
    lab.behave(events={"chase": chase_events()})
    call, chase = execute(lab, Filter())
    assert (call.status, chase.status) == ("failed", "ok")
    assert call.reason == "cannot read events.jsonl: No such file or directory"


OVERLAYS = """
[[overlay]]
set = { l2.size = "128K" }
[[overlay]]
set = { l2.size = "512K" }
"""


def failing(lines, **end):
    return {"events": {"call": [HEADER, *lines, {**END, **end}]}}


MANY = [
    ("killed", {"events": {}, "signal": 11}, "failed", "engine killed by SIGSEGV"),
    (
        "config",
        {"events": {}, "exit": 2, "stderr": "boot.conf:3: x: unknown key"},
        "failed",
        "engine refused its configuration: boot.conf:3: x: unknown key",
    ),
    (
        "config and a banner",
        {"events": {}, "exit": 2, "stderr": "boot.conf:3: x: unknown key\n=====\n  Emulator"},
        "failed",
        "engine refused its configuration: boot.conf:3: x: unknown key",
    ),
    (
        "panic",
        {
            **failing([], status="failed", reason="the CPU was reset"),
            "exit": 3,
            "serial": "ok\nKernel panic - not syncing: No init found.\x1b[0m\nrebooting\n",
        },
        "failed",
        "the CPU was reset: Kernel panic - not syncing: No init found.\\x1b[0m",
    ),
    (
        "hang",
        {**failing([], status="timeout", reason="virtual-time limit of 9 s reached"), "exit": 4},
        "timeout",
        "virtual-time limit of 9 s reached; `run --limit SECONDS` sets another limit",
    ),
    (
        "full",
        {"events": {}, "exit": 5, "stderr": "events.jsonl: cannot be written: No space left"},
        "failed",
        "engine could not write its output: events.jsonl: cannot be written: No space left",
    ),
    (
        "other",
        {"events": {}, "exit": 9, "stderr": "what?"},
        "failed",
        "engine ended with status 9: what?",
    ),
    ("silent", {"events": {}}, "failed", "cannot read events.jsonl: No such file or directory"),
    (
        "cut",
        {"events": {"call": [HEADER]}},
        "failed",
        "events.jsonl: no end line: the engine did not finish",
    ),
    ("contradiction", {**failing([], status="failed", reason="abort")}, "failed", "abort"),
    (
        "program",
        {"events": {"call": call_events(status=2)}, "output": "call: unknown argument\n"},
        "failed",
        "call ended with status 2 in the guest: call: unknown argument",
    ),
    (
        "signal",
        {"events": {"call": call_events(status=139)}},
        "failed",
        "call was killed by signal 11 (SIGSEGV) in the guest; it printed nothing",
    ),
    ("unmarked", failing([]), "failed", "the workload issued no begin and end markers"),
    (
        "unbalanced",
        failing([snapshot("begin", 0, [1], [])]),
        "failed",
        "events.jsonl:2: unbalanced markers: begin(0) without an end",
    ),
    (
        "backwards",
        failing([snapshot("begin", 0, [2], []), snapshot("end", 0, [1], [])]),
        "failed",
        "line 3: cycles.busy of ring 0, CR3 0x1000 went backwards by 1",
    ),
    (
        "junk",
        {"events": {"call": call_events()}, "tail": "{junk\n"},
        "failed",
        "events.jsonl:17: not valid JSON",
    ),
]


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"), [case[1:] for case in MANY], ids=[case[0] for case in MANY]
)
def test_failures_are_recorded_with_their_reason_and_logs(lab, behaviour, status, reason):
    lab.behave(**behaviour)
    result, _ = one(lab)
    assert (result.status, result.reason) == (status, reason)
    assert (result.directory / "serial.log").exists()
    assert (result.directory / "engine.out").exists()
    # After the cause of the failure is removed, the same run succeeds.
    lab.behave()
    again, _ = one(lab)
    assert (again.id, again.status) == (result.id, "ok")


def test_an_engine_that_hangs_is_killed(lab):
    lab.behave(sleep=60)
    start = time.monotonic()
    result, _ = one(lab, host_limit=0.5)
    assert time.monotonic() - start < 10
    assert result.status == "timeout"
    assert result.reason == "engine killed: no result within 0.5 s of host time"


def test_an_engine_that_cannot_start(lab):
    lab.engine.chmod(0o644)
    result, _ = one(lab)
    assert result.status == "failed"
    assert "cannot start" in result.reason
    assert "Permission denied" in result.reason


def test_a_missing_product_is_named_before_anything_runs(lab):
    lab.bootrom.unlink()
    with pytest.raises(UserError, match=r"missing bootrom: .*build/bootrom/p5boot.rom") as caught:
        execute(lab)
    assert caught.value.status == 1
    assert not lab.results.exists()


# /dev/full returns "no space left" for every write, like a full disk for one file.
@pytest.mark.parametrize("name", ["boot.conf", "counts.parquet.tmp", "setup.bin"])
def test_disk_full_is_recorded(lab, name):
    result, _ = one(lab)
    shutil.rmtree(result.directory)
    result.directory.mkdir()
    (result.directory / name).symlink_to("/dev/full")
    again, _ = one(lab)
    assert again.status == "failed"
    assert "No space left on device" in again.reason
    assert str(result.directory) in again.reason


def test_disk_full_for_the_record_itself_uses_the_reserve(lab):
    directory = lab.root / "run"
    directory.mkdir()
    store.reserve(directory)
    (directory / "run.json.tmp").symlink_to("/dev/full")
    store.write(directory, {"schema_version": 1, "status": "failed"})
    assert json.loads((directory / "run.json").read_text())["status"] == "failed"
    assert not (directory / "reserve").exists()


def test_results_that_cannot_be_created(lab):
    lab.results.write_text("a file")
    with pytest.raises(UserError, match=r"cannot write .*results/tests"):
        execute(lab)


def start_command(lab, *arguments):
    code = (
        "import sys; sys.path[:0] = sys.argv[1:4]; import fakelab, pathlib; from p5lab.cli.main"
        " import main; sys.exit(main(sys.argv[5:], fakelab.FakeLab(pathlib.Path(sys.argv[4]))))"
    )
    paths = [str(REPO / part) for part in ("src", "stats-parsers", "tests/unit")]
    return subprocess.Popen(
        [sys.executable, "-c", code, *paths, str(lab.root), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(what):
    deadline = time.monotonic() + 600
    while not what():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.05)


def test_a_killed_command_leaves_a_run_that_is_seen_to_have_failed(lab):
    lab.behave(sleep=3)
    command = start_command(lab, "run", "tests", "--workload", "call", "--no-build")
    wait_for(lab.starts)
    command.kill()
    command.communicate()
    # The engine is still running, so no other process may start the same run.
    (stored,) = store.all_runs(lab)
    assert stored.status == "running"
    with store.locked(stored.directory) as lock:
        assert lock is None
    wait_for(lambda: store.all_runs(lab)[0].status != "running")
    (stored,) = store.all_runs(lab)
    assert (stored.status, stored.record["reason"]) == ("failed", store.CRASHED)
    lab.behave()
    assert one(lab)[0].status == "ok"


def test_a_stopped_command_has_labelled_its_good_runs(lab):
    lab.behave(sleep_of={"chase": 600})
    words = ("run", "tests", "--no-build", "--jobs", "2", "--no-fork", "--label", "good")
    command = start_command(lab, *words)
    wait_for(lambda: any(stored.status == "ok" for stored in store.all_runs(lab)))
    wait_for(lambda: any(named.of(stored.record).label for stored in store.all_runs(lab)))
    stop(command, signal.SIGINT)
    labels = {stored.status: named.of(stored.record).label for stored in store.all_runs(lab)}
    assert labels == {"ok": "good", "failed": ""}


def test_runs_that_are_stopped_while_they_boot_together_are_interrupted(lab):
    """One of them kills the engine that boots both."""
    lab.behave(boot_sleep=600)
    command = start_command(lab, "run", "tests", "--seed", "0-3", "--no-build", "--jobs", "8")
    wait_for(lambda: any(stored.status == "running" for stored in store.all_runs(lab)))
    wait_for(lambda: list(lab.results.glob("*/.boot-*")))
    said = stop(command, signal.SIGINT)
    runs = store.all_runs(lab)
    reasons = {stored.record["reason"] for stored in runs if stored.status == "failed"}
    assert reasons == {runner.INTERRUPTED}, said


@pytest.mark.parametrize(
    ("how", "times"),
    [(signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGTERM, 9), (signal.SIGHUP, 1)],
)
def test_a_stopped_command_ends_its_engines_and_records_it(lab, how, times, monkeypatch):
    monkeypatch.setenv("P5LAB_PROGRESS", "plain")
    lab.behave(sleep=600)
    command = start_command(lab, "run", "tests", "--no-build", "--jobs", "1")
    wait_for(lab.starts)
    said = stop(command, how, times)
    assert said[-1] == (
        "p5lab: stopped: 0 of 2 runs ended before and are stored, 1 stopped and recorded as failed,"
        " 1 not begun; the same command goes on and makes only the missing runs"
    )
    (line,) = [line for line in said if line.startswith("[")]
    assert re.fullmatch(r"\[0/2\] .*: stopped", line)
    by_status = {stored.status: stored for stored in store.all_runs(lab)}
    assert by_status["failed"].record["reason"] == runner.INTERRUPTED
    assert set(by_status) == {"failed", "queued"}
    with store.locked(by_status["failed"].directory) as lock:
        assert lock is not None  # the engine has also ended


def test_two_commands_at_once_share_a_run(lab):
    lab.behave(sleep=1)
    commands = [
        start_command(lab, "run", "tests", "--workload", "call", "--no-build") for _ in range(2)
    ]
    outputs = [command.communicate(timeout=600) for command in commands]
    assert [command.returncode for command in commands] == [0, 0], outputs
    assert len(lab.starts()) == 1


def test_a_run_that_another_process_makes_keeps_no_other_run_waiting(lab):
    lab.behave()
    runs = experiment.load(lab, "tests", Filter())
    first = Runner(lab)._identify(runs[0])
    first.directory.mkdir(parents=True)
    waited, ended = [], []
    with contextlib.ExitStack() as held:
        held.enter_context(store.locked(first.directory))

        def waits(run):
            waited.append((run, len(ended)))
            held.close()

        runner = Runner(lab, waits=waits, finished=ended.append)
        results = runner.run_all(runs)
    assert [result.status for result in results] == ["ok"] * len(runs)
    assert waited == [(runs[0], len(runs) - 1)]


# --- identity ---------------------------------------------------------------------------------


def identities(lab, choice=CALL):
    lab.behave()
    return [result.id for result in execute(lab, choice)]


def test_identity_is_the_same_at_another_path(lab, tmp_path):
    other = fakelab.make(tmp_path / "elsewhere" / "a name with spaces")
    assert identities(lab, Filter()) == identities(other, Filter())


def test_identity_does_not_hold_the_experiments_name(lab):
    (name,) = identities(lab)
    shutil.copyfile(lab.experiments / "tests.toml", lab.experiments / "copy.toml")
    (run,) = experiment.load(lab, "copy", CALL)
    (result,) = Runner(lab).run_all([run])
    assert result.id == name
    assert result.directory.parent.name == "copy"


@pytest.mark.parametrize(
    "path",
    [
        "build/engine/p5bochs",
        "build/engine/bios/BIOS-bochs-latest",
        "build/engine/bios/vgabios.bin",
        "build/bootrom/p5boot.rom",
        "build/disks/formatted.p5disk",
        "build/guests/toy/initramfs.cpio",
        "build/workloads/toy/call",
        "engine/p5/timing.csv",
        "engine/bochs/bochsrc.in",
    ],
)
def test_identity_changes_with_every_file(lab, path):
    before = identities(lab)
    file = lab.root / path
    file.write_bytes(file.read_bytes() + b"\n")
    assert identities(lab) != before


def test_identity_changes_with_the_kernel_and_its_command_line(lab):
    names = [identities(lab)]
    kernel = bytearray(bzimage())
    kernel[-1] ^= 1
    (lab.root / "build/guests/toy/bzImage").write_bytes(kernel)
    names.append(identities(lab))
    guest = lab.guests / "toy/guest.toml"
    guest.write_text(guest.read_text().replace("quiet", "noisy"))  # a text of the same length
    names.append(identities(lab))
    assert len({tuple(name) for name in names}) == 3


def test_identity_changes_with_the_disk(lab):
    def with_disk(content):
        (lab.root / "disk.img").write_bytes(content)
        guest = lab.guests / "toy/guest.toml"
        guest.write_text(fakelab.GUEST.replace("kernel =", 'disk = "disk.img"\nkernel ='))
        return identities(lab)

    assert len({*identities(lab), *with_disk(b"1" * CYLINDER), *with_disk(b"2" * CYLINDER)}) == 3


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("guest-images/toy/guest.toml", "clock_vector = 48", "clock_vector = 49"),
        ("workloads/micro/call/workload.toml", '{ 0 = "call" }', '{ 0 = "the call" }'),
        (
            "workloads/micro/call/workload.toml",
            'operation = "call"',
            'operation = "call"\noperations = 2',
        ),
        (
            "workloads/micro/call/workload.toml",
            'operation = "call"',
            'operation = "call"\nbytes = 4',
        ),
        (
            "workloads/micro/call/workload.toml",
            'operation = "call"',
            'operation = "call"\ncurve = "calls"',
        ),
    ],
)
def test_identity_changes_with_what_only_the_table_and_the_reports_use(lab, path, old, new):
    before = identities(lab)
    text = (lab.root / path).read_text()
    assert old in text
    (lab.root / path).write_text(text.replace(old, new, 1))
    assert identities(lab) != before


def test_a_copy_under_another_name_is_another_run(lab):
    machine = lab.machines / "p90-premiere2.toml"
    text = machine.read_text().replace('name = "p90-premiere2"', 'name = "mine"')
    (lab.machines / "mine.toml").write_text(text)
    (lab.guests / "mine").mkdir()
    (lab.guests / "mine/guest.toml").write_text(
        'schema_version = 1\nname = "mine"\nbase = "toy"\ntitle = "a copy"\n'
    )
    choices = [
        replace(CALL, machines=machines, guests=guests)
        for machines in ((), ("mine",))
        for guests in ((), ("mine",))
    ]
    assert len({name for choice in choices for name in identities(lab, choice)}) == 4


@pytest.mark.parametrize(
    "choice",
    [
        replace(CALL, settings=(("l2.size", "512K"),)),
        replace(CALL, settings=(("penalty.agi", "2"),)),
        replace(CALL, feedback=False),
    ],
)
def test_identity_changes_with_every_setting(lab, choice):
    assert identities(lab, choice) != identities(lab)


def test_identity_changes_with_parameters_and_limit(lab):
    path = lab.experiments / "tests.toml"
    text = path.read_text()
    seen = {tuple(identities(lab))}
    path.write_text(
        text.replace('workload = "call"', 'workload = "call"\nparameters.iterations = 4')
    )
    seen.add(tuple(identities(lab)))
    path.write_text(text.replace("[[run]]", "limit_seconds = 7\n[[run]]", 1))
    seen.add(tuple(identities(lab)))
    assert len(seen) == 3


def test_an_overlay_that_says_what_the_machine_is_anyway_is_the_same_run(lab):
    (plain,), (same,) = (
        identities(lab),
        identities(lab, replace(CALL, settings=(("l2.size", "256K"),))),
    )
    assert plain == same


def test_the_engine_sees_no_environment_of_ours(lab, monkeypatch):
    monkeypatch.setenv("P5LAB_SECRET_OF_THE_HOST", "1")
    lab.engine.write_text(
        lab.engine.read_text().replace(
            "here = ", "assert 'P5LAB_SECRET_OF_THE_HOST' not in os.environ\nhere = ", 1
        )
    )
    assert one(lab)[0].status == "ok"


def test_find_by_prefix(lab):
    result, _ = one(lab)
    assert store.find(lab, result.id[:6]).id == result.id
    assert store.find(lab, f"results/tests/{result.id}/").id == result.id
    for prefix in ("zzzz", result.id[:3], ""):
        with pytest.raises(UserError, match="expected the first 4 or more characters"):
            store.find(lab, prefix)


def test_plan_paths_are_relative(lab):
    result, _ = one(lab)
    for name in ("boot.conf", "bochsrc"):
        text = (result.directory / name).read_text()
        assert str(lab.root) not in text
        assert "@" not in text
    assert Path(os.path.join(result.directory, "../../../build")).is_dir()  # noqa: PTH118


def test_the_longest_runs_begin_first(lab):
    runs = experiment.load(lab, "tests")
    took = {"call": 1.0, "chase": 2.0}
    runner.Runner(lab, estimate=lambda run: took[run.workload.name]).run_all(runs)
    assert [line.split()[0] for line in lab.starts()] == ["chase", "call"]


def test_fail_fast_begins_nothing_after_a_failure(lab):
    lab.behave(events={"chase": chase_events()})  # call writes no events
    first, second = runner.Runner(lab, fail_fast=True).run_all(experiment.load(lab, "tests"))
    assert (first.status, second.status) == ("failed", "queued")
    assert "--fail-fast" in second.reason
    assert len(lab.starts()) == 1
    assert store.read(second.directory)["status"] == "queued"
    # Later, the queued run can start like any other run.
    assert [one.status for one in runner.Runner(lab).run_all([second.run])] == ["ok"]


def test_a_file_that_has_changed_has_another_digest(tmp_path, monkeypatch):
    disk = tmp_path / "disk.img"
    for settled in (60, -60):  # seconds: all files count as new, or no file does
        monkeypatch.setattr(host_files, "SETTLED_SECONDS", settled)
        for content in (b"one", b"two", b"six"):
            disk.write_bytes(content)
            digests = {digest_of(disk), digest_of(disk)}
            assert digests == {hashlib.sha256(content).hexdigest()}
            time.sleep(0.02)  # longer than the resolution of file times
