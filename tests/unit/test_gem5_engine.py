# SPDX-License-Identifier: MIT
"""The engine `gem5`, with a script in place of gem5: input and result of a run, early messages."""

import json
import sys
from dataclasses import replace

import pytest
import test_gem5_events as sample

from p5lab import engines
from p5lab.describe import experiment
from p5lab.describe.observation import Cpi, Geometries, NominalClocks, Observation, Shadow, Trace
from p5lab.engines.gem5 import engine as gem5
from p5lab.engines.gem5.setup import Setup
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5stats import tidy

CPUS = ["X86TimingSimpleCPU", "X86AtomicSimpleCPU"]
SAYS = {"version": "24.0.0.1", "x86": True, "no_extras": "", "cpus": CPUS}
# The output of gem5 24.0.
PANIC = """\
src/mem/snoop_filter.cc:277: panic: panic condition x occurred: SF value
Memory Usage: 354472 KBytes
Program aborted at tick 1668400099164
--- BEGIN LIBC BACKTRACE ---"""
SCRIPT = """#!/bin/sh
'''exec' '{python}' "$0" "$@"
' '''
import pathlib, shutil, sys
place = pathlib.Path(sys.argv[sys.argv.index("-d") + 1])
here = pathlib.Path(__file__).parent
if sys.argv[-1].endswith("configs/gem5/probe.py"):
    (here / "asked").open("a").write("x")
    (place / "probe.json").write_text('''{says}''')
else:
    assert sys.argv[-3].endswith("configs/gem5/run.py")
    assert sys.argv[-2:] == ["--setup", "gem5.json"]
    assert pathlib.Path("job").read_bytes().startswith(b"call iterations=3\\nbin/call\\0")
    shutil.copytree(here / "m5out", place, dirs_exist_ok=True)
    sys.exit(int((here / "status").read_text()))
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Makes a gem5 with this output, and sets P5LAB_GEM5."""
    monkeypatch.setenv("P5LAB_CACHE", str(tmp_path / "cache"))

    def make(**changes):
        path = tmp_path / "gem5.opt"
        said = json.dumps({**SAYS, **changes})
        path.write_text(SCRIPT.format(python=sys.executable, says=said))
        path.chmod(0o755)
        monkeypatch.setenv("P5LAB_GEM5", str(path))
        return path

    return make


@pytest.fixture
def run(lab):
    """Returns a run of the workload `call` on a guest for x86-64."""
    first = experiment.load(lab, "tests")[0]
    kernel = first.guest.kernel.with_name("vmlinux")
    kernel.write_bytes(b"a kernel")
    return replace(first, engine="gem5", guest=replace(first.guest, isa="x86-64"))


def test_a_run_is_given_the_machine_the_guest_and_the_job(lab, run, fake):
    path = fake()
    directory = lab.results / "tests/run"
    plan = engines.get("gem5").prepare(lab, run, directory)
    assert plan.command == (
        str(path),
        "-d",
        "m5out",
        "--listener-mode=off",
        "../../../configs/gem5/run.py",
        "--setup",
        "gem5.json",
    )
    line, archive = plan.write["job"].split(b"\n", 1)
    assert line == b"call iterations=3"
    assert archive == plan.inputs["delivered"].read_bytes()
    assert archive.startswith(b"bin/call\0")
    directory.mkdir(parents=True)
    (directory / "gem5.json").write_bytes(plan.write["gem5.json"])
    setup = Setup.read(directory / "gem5.json")
    assert setup.machine == run.machine.values
    assert (directory / setup.files["kernel"]).resolve() == run.guest.kernel.with_name("vmlinux")
    assert (setup.files["job"], setup.cpu, setup.extras) == ("job", "timing", "on")
    assert setup.command_line.startswith(f"{run.guest.cmdline} P5LAB_MARKERS=m5 ")
    assert plan.versions == {"gem5": "24.0.0.1"}


def test_what_can_change_a_result_is_in_the_identity(lab, run, fake):
    def name(what, **said):
        fake(**said)
        plan = engines.get("gem5").prepare(lab, what, lab.results / "tests/run")
        return store.run_id(store.identity(plan))

    known = name(run)
    assert name(run) == known
    elsewhere = engines.get("gem5").prepare(lab, run, lab.results / "a/longer/way")
    assert store.run_id(store.identity(elsewhere)) == known  # the identity has no paths
    others = [
        name(run, version="24.0.0.0"),
        name(run, no_extras="built without"),
        name(replace(run, seed=1)),
        name(replace(run, machine=run.machine.with_set({"l2.size": "512K"}, "test"))),
        name(replace(run, parameters={"iterations": 4})),
    ]
    (lab.root / "configs/gem5").mkdir(parents=True, exist_ok=True)
    (lab.root / "configs/gem5/board.py").write_text("pass")
    others.append(name(run))
    run.guest.kernel.with_name("vmlinux").write_bytes(b"another kernel")
    others.append(name(run))
    assert len({known, *others}) == len(others) + 1


def test_a_gem5_is_asked_once_what_it_is(lab, run, fake, tmp_path):
    fake()
    for _ in range(3):
        engines.get("gem5").examine(lab, [run])
    gem5._binary.cache_clear()  # another process
    assert engines.get("gem5").examine(lab, [run]) == []
    assert (tmp_path / "asked").read_text() == "x"


def test_missing_extras_are_named_and_no_failure(lab, run, fake):
    fake(no_extras="it was built without configs/gem5/extras")
    (remark,) = engines.get("gem5").examine(lab, [run])
    assert "gem5 24.0.0.1 without our SimObjects: it was built without" in remark
    plan = engines.get("gem5").prepare(lab, run, lab.results / "tests/run")
    assert plan.settings["extras"] == "off"


@pytest.mark.parametrize(
    "said, message",
    [
        ({"x86": False}, "gem5 24.0.0.1 was built without the x86 ISA"),
        ({"version": "21.2.1.1"}, "gem5 21.2.1.1: these configurations are tested with 24.0"),
        ({"cpus": CPUS[1:]}, "built without X86TimingSimpleCPU"),
        ({"cpus": CPUS[:1]}, "built without X86AtomicSimpleCPU"),
    ],
)
def test_a_gem5_that_cannot_be_used_is_refused(lab, run, fake, said, message):
    path = fake(**said)
    with pytest.raises(UserError, match=f"P5LAB_GEM5={path}: .*{message}"):
        engines.get("gem5").examine(lab, [run])


def test_what_is_no_gem5_is_refused(lab, run, fake, monkeypatch, tmp_path):
    fake().write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(UserError, match="expected gem5; this program did not answer"):
        engines.get("gem5").examine(lab, [run])
    monkeypatch.setenv("P5LAB_GEM5", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match=r"P5LAB_GEM5=.*nowhere: expected a program"):
        engines.get("gem5").examine(lab, [run])
    monkeypatch.delenv("P5LAB_GEM5")
    with pytest.raises(UserError, match=r"expected P5LAB_GEM5=/path/to/gem5\.opt"):
        engines.get("gem5").examine(lab, [run])


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"observation": Observation.of(Trace(("crossings",)))},
            "--trace: expected with the engine bochs",
        ),
        ({"model": False}, "--model off: expected"),
        (
            {"observation": Observation.of(Geometries((Shadow("a", {}),)))},
            'events = "misses": expected',
        ),
    ],
)
def test_what_only_the_embedded_engine_has_is_refused(lab, run, fake, change, message):
    fake()
    with pytest.raises(UserError, match=message):
        engines.get("gem5").examine(lab, [replace(run, **change)])


@pytest.mark.parametrize("feedback, cpu", [(True, "timing"), (False, "atomic")])
def test_without_feedback_gem5_uses_the_cpu_that_waits_for_no_access(lab, run, fake, feedback, cpu):
    fake()
    own = replace(run, feedback=feedback)
    engines.get("gem5").examine(lab, [own])
    plan = engines.get("gem5").prepare(lab, own, lab.results / "tests/run")
    assert json.loads(plan.write["gem5.json"])["cpu"] == plan.settings["cpu"] == cpu


@pytest.mark.parametrize("cpus, chosen", [(CPUS, "gem5"), ([*CPUS, "P5CPU"], "gem5_chip")])
def test_a_gem5_with_p5cpu_uses_it(lab, run, fake, cpus, chosen):
    fake(cpus=cpus)
    found = engines.get("gem5").instead(lab) or "gem5"
    assert found == chosen and not engines.get("gem5_classic").instead(lab)
    fake(cpus=[*CPUS, "P5CPU"], no_extras="built without tracing")
    assert not engines.get("gem5").instead(lab)


@pytest.mark.parametrize("nominal", [False, True])
def test_the_chip_has_the_clocks_that_the_run_asks_for(lab, run, fake, nominal):
    fake(cpus=[*CPUS, "P5CPU"])
    observation = Observation.of(NominalClocks(), Cpi()) if nominal else Observation()
    own = replace(run, engine="gem5_chip", observation=observation)
    engines.get("gem5_chip").examine(lab, [own])
    plan = engines.get("gem5_chip").prepare(lab, own, lab.results / "tests/run")
    setup = json.loads(plan.write["gem5.json"])
    assert (setup["cpu"], setup["nominal"], setup["cpi"]) == ("p5", nominal, nominal)


def test_the_chip_needs_p5cpu(lab, run, fake):
    fake()
    with pytest.raises(UserError, match=r"expected a gem5 with P5CPU: .* gem5_classic"):
        engines.get("gem5_chip").examine(lab, [replace(run, engine="gem5_chip")])


def test_a_guest_of_another_isa_is_refused_first(lab, run, monkeypatch):
    monkeypatch.delenv("P5LAB_GEM5", raising=False)
    wrong = replace(run, guest=replace(run.guest, isa="pentium"))
    with pytest.raises(UserError, match="guest toy is built for pentium; gem5 boots x86-64"):
        engines.get("gem5").examine(lab, [wrong])


def test_a_machine_that_gem5_cannot_be_is_refused(lab, run, fake):
    fake()
    wrong = run.machine.with_set({"l1d.write_policy": "write-through"}, "test")
    with pytest.raises(UserError, match=r"l1d\.write_policy"):
        engines.get("gem5").examine(lab, [replace(run, machine=wrong)])


@pytest.mark.parametrize(
    "status, printed, serial, expected",
    [
        (-9, "", "", ("failed", "gem5 was killed by SIGKILL")),
        (-6, PANIC, "", ("failed", "killed by SIGABRT: panic: panic condition x occurred")),
        (2, "p5lab: missing disk", "", ("failed", "gem5's configuration was refused: p5lab:")),
        (3, "p5lab: gave up", "Kernel panic - not syncing: x", ("failed", "not syncing: x")),
        (-6, PANIC, "Kernel panic - not syncing: x", ("failed", "SF value: Kernel panic")),
        (4, "p5lab: no exit marker", "", ("timeout", "p5lab: no exit marker")),
        (77, "fatal: no", "", ("failed", "gem5 ended with status 77: fatal: no")),
        (0, "", "", ("failed", "markers.jsonl")),
    ],
)
def test_how_a_run_ended(tmp_path, status, printed, serial, expected):
    (tmp_path / "m5out").mkdir()
    (tmp_path / "engine.out").write_text(f"{printed}\n")
    (tmp_path / "m5out/board.pc.com_1.device").write_text(serial)
    outcome = engines.get("gem5").collect(tmp_path, status)
    assert outcome.status == expected[0]
    assert expected[1] in outcome.reason


@pytest.mark.parametrize(
    ("printed", "last"),
    [
        ("one\ntwo\n", "two"),
        ("one\n  two\n\n", "two"),
        (
            "x: unknown argument `n=1`\nusage: x [key=value ...]\n  m=1  number\n",
            "x: unknown argument `n=1`",
        ),
        ("usage: x [key=value ...]\n", "usage: x [key=value ...]"),
        ("", "it printed nothing"),
    ],
)
def test_what_the_workload_printed_last(tmp_path, printed, last):
    (tmp_path / "m5out").mkdir()
    (tmp_path / "m5out/output.log").write_text(printed)
    assert engines.get("gem5").last_output(tmp_path) == last


# --- a whole run ----------------------------------------------------------------------------------


@pytest.fixture
def leaves(fake, tmp_path):
    """Makes a gem5 that writes the given m5out and ends with the given status."""
    (tmp_path / "m5out").mkdir()

    def make(status=0, exit_status=0, **changes):
        markers = [*sample.MARKERS[:-1], sample.marker("exit", exit_status, 5 * sample.TICK, 4)]
        sample.put(tmp_path / "m5out", markers=markers, **changes)
        (tmp_path / "m5out/output.log").write_text("so it is\n")
        (tmp_path / "status").write_text(str(status))
        fake()

    return make


def test_a_run_ends_in_the_tidy_table(lab, run, leaves):
    leaves()
    (result,) = Runner(lab).run_all([run])
    assert (result.status, result.reason) == ("ok", "")
    record = store.read(result.directory)
    assert record["versions"]["gem5"] == "24.0.0.1" and record["engine"] == "gem5"
    assert any("write misses bring the line into L1D" in str(note) for note in record["notes"])
    frame, _ = tidy.read(result.directory / store.COUNTS)
    reads = frame[frame["event"] == "data_reads"]
    assert set(reads["engine"]) == {"gem5"}
    assert sorted(reads["value"]) == [20, 40]  # sections 2 and 3 of the statistics
    (again,) = Runner(lab).run_all([run])
    assert again.reused


def test_a_run_that_ends_otherwise_has_failed(lab, run, leaves):
    leaves(status=1, exit_status=7)
    (result,) = Runner(lab).run_all([run])
    assert (result.status, result.reason) == (
        "failed",
        "call ended with status 7 in the guest: so it is",
    )
    leaves(dumps=sample.SECTIONS[:3])
    (result,) = Runner(lab, force=True).run_all([run])
    assert result.status == "failed" and "cut short" in result.reason


def test_events_that_differ_the_second_time_are_reported(lab, run, leaves):
    leaves()
    Runner(lab).run_all([run])
    leaves(dumps=[*sample.SECTIONS[:3], sample.stock(41, 0), *sample.SECTIONS[4:]])
    (result,) = Runner(lab, force=True).run_all([run])
    assert result.status == "failed" and "not repeatable" in result.reason
