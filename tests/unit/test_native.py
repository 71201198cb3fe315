# SPDX-License-Identifier: MIT
"""The engine `native`: the accepted runs, and the status at the end of a program."""

import pytest

from p5lab import engines
from p5lab.describe import experiment, this_host, workload
from p5lab.describe.request import Filter
from p5lab.engines.native import Native
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5stats import compare, events, tidy

END = '{"type":"end","status":"ok","reason":"","tsc":9}\n'
HEADER = (
    '{"type":"header","schema_version":1,"engine":"native","clock_hz":1000000000,'
    '"events":["time.wall","time.cpu","page_faults"],"units":["ns","ns","events"]}\n'
)


def marker(op, wall, user, kernel, faults, arg=0):
    return (
        f'{{"type":"marker","op":"{op}","arg":{arg},"tsc":{wall},"banks":'
        f'[[0,3,[{wall},{user},{faults}]],[0,0,[0,{kernel},0]]],"vectors":[]}}\n'
    )


@pytest.fixture
def native(lab):
    """Returns the runs of the experiment on this host, with programs that do nothing."""
    place = lab.root / "build/workloads/native"
    (place / "lib").mkdir(parents=True)
    for name in ("call", "chase", "whole"):
        (place / name).write_text(name)
    return experiment.load(lab, "tests", Filter(engine="native"))


def test_a_run_is_of_the_host_and_takes_no_machine(lab, native, tmp_path):
    plan = engines.get("native").prepare(lab, native[0], tmp_path)
    assert native[0].machine.name == plan.settings["host"]["name"]
    assert plan.settings["host"]["cpu.model"] and plan.settings["host"]["system"]
    assert plan.inputs == {"workload": lab.root / "build/workloads/native/call"}
    assert plan.command[-1] == "iterations=3"
    assert plan.environment["P5LAB_EVENTS"] == str(tmp_path / "events.jsonl")
    assert not plan.server and not Native.can.repeatable


def test_the_programs_it_starts_are_part_of_its_identity(lab, native, tmp_path):
    from dataclasses import replace

    place = lab.root / "build/workloads/native"
    loader = "lib/ld-musl-i386.so.1"
    for name in ("true-static", "lib/libp5-1.so", loader):
        (place / name).write_text(name)
    workload = replace(native[0].workload, starts=("true-static", "lib/libp5-1.so"))
    starts = replace(native[0], workload=workload)
    plan = Native().prepare(lab, starts, tmp_path)
    assert set(plan.inputs) == {"workload", *workload.starts, loader}


def test_a_program_that_was_not_built_is_named(lab, native, tmp_path):
    (lab.root / "build/workloads/native/call").unlink()
    with pytest.raises(UserError, match=r"missing workload: .*build/workloads/native/call"):
        Native().prepare(lab, native[0], tmp_path)


@pytest.mark.parametrize(
    ("status", "printed", "outcome"),
    [
        (0, "", ("ok", "")),
        (1, "dup: bad\x1b[m\n\n", ("failed", r"the program ended with status 1: dup: bad\x1b[m")),
        (7, "", ("failed", "the program ended with status 7: it printed nothing")),
        (126, "env: x", ("failed", "this host does not run 32-bit x86 programs")),
        (-11, "", ("failed", "the program was killed by SIGSEGV")),
    ],
)
def test_how_a_program_ended(tmp_path, status, printed, outcome):
    (tmp_path / "output.log").write_text(printed)
    (tmp_path / "events.jsonl").write_text(HEADER + END)
    found = Native().collect(tmp_path, status)
    assert (found.status, found.reason) == outcome


def test_without_an_end_line_it_has_failed(tmp_path):
    (tmp_path / "events.jsonl").write_text(HEADER)
    assert Native().collect(tmp_path, 0).reason == "events.jsonl: no end line"


def test_what_the_host_does_not_count_is_missing_not_zero(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text(
        HEADER + marker("begin", 1000, 10, 20, 1) + marker("end", 9000, 14, 26, 3) + END
    )
    origin = tidy.Origin("e", "r", "native", "h", "", "off", "host", 0, "w", "")
    frame = tidy.table(events.parse(path), origin, {0: "call"})
    metrics = compare.evaluate(compare.counts(frame).mean().to_dict(), 1, this_host.CLOCK_HZ, 0)
    assert metrics["microseconds"] == 8
    assert metrics["processor time"] == pytest.approx(0.01)
    assert metrics["page faults"] == 2
    counted = {name for name, value in metrics.items() if value == value}
    assert counted == {"microseconds", "processor time", "page faults"}


@pytest.mark.parametrize(
    ("name", "parameters", "reason"),
    [
        ("getpid", {}, ""),
        ("mem-read", {"placement": "guest"}, ""),
        ("mem-read", {"placement": "contiguous"}, "p5ctr-that-is-not-there"),
        ("counted", {"counters": "used"}, "p5ctr-that-is-not-there"),
        ("counted", {"counters": "unused"}, ""),
        ("null", {}, "p5ctr-that-is-not-there"),
        ("int-iret", {}, "the markers of this workload exist only in the simulated machine"),
        ("test-panic", {}, "a test of the simulated machine"),
        ("create", {"filesystem": "ext2"}, "only a simulated machine has the modelled disks"),
    ],
)
def test_what_cannot_run_on_a_host(monkeypatch, tmp_path, name, parameters, reason):
    monkeypatch.setattr(this_host, "COUNTER_DEVICE", tmp_path / "p5ctr-that-is-not-there")
    tested = workload.load(Lab.here())[name]
    said = this_host.guest().why_not(tested, tested.resolve(parameters, "test"))
    assert reason in said
    assert bool(reason) == bool(said)
