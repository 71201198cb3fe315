# SPDX-License-Identifier: MIT
"""`--engine gem5` with a real gem5 (P5LAB_GEM5): its boot, checkpoint, counts and command line."""

import json
import os
import subprocess

import pytest

from p5lab import engines
from p5lab.cli import main as cli
from p5lab.lab import Lab
from p5stats import tidy

ROOT = Lab.here().root
RUN = ROOT / "configs/gem5/run.py"

pytestmark = pytest.mark.skipif(
    "P5LAB_GEM5" not in os.environ, reason="P5LAB_GEM5 is not set: no gem5 to test with"
)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    return tmp_path_factory.mktemp("checkpoints")


@pytest.fixture
def gem5(tmp_path, checkpoints):
    """Runs run.py in the way a user of gem5 runs it. m5out is in tmp_path."""

    def run(*arguments):
        command = [os.environ["P5LAB_GEM5"], "-d", tmp_path / "m5out", RUN, *arguments]
        if "--setup" not in arguments:
            command += ["--checkpoints", checkpoints]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    return run


def markers(tmp_path):
    lines = (tmp_path / "m5out/markers.jsonl").read_text().splitlines()
    header, *rest = map(json.loads, lines)
    return header, rest


def test_boot_checkpoint_restore(gem5, tmp_path, checkpoints):
    first = gem5("--workload", "getpid", "iterations=2")
    assert first.returncode == 0, first.stderr
    header, found = markers(tmp_path)
    assert header["clock_hz"] == 90_000_000 and header["cpu"] == "timing"
    assert (found[0]["op"], found[-1]["op"], found[-1]["arg"]) == ("ready", "exit", 0)
    assert [one["op"] for one in found[1:-1]] == ["begin", "end"] * (len(found) // 2 - 1)
    assert [one["arg"] for one in found if one["op"] == "begin"].count(0) == 2
    assert [one["dump"] for one in found] == list(range(len(found)))
    # A second run begins at the checkpoint and does not boot. It gives the same results and ends at
    # the same tick.
    (key,) = checkpoints.glob("*/key.json")
    again = gem5("--workload", "getpid", "iterations=2")
    assert "booted" in first.stdout and "booted" not in again.stdout
    assert markers(tmp_path)[1] == found
    # If two machines differ only in values that have no effect before the marker, they use the same
    # checkpoint. A machine with another size of memory needs another checkpoint.
    assert gem5("--workload", "getpid", "--set", "l2.size=512K").returncode == 0
    assert list(checkpoints.glob("*/key.json")) == [key]
    place = str(key.parent)
    other = gem5("--workload", "getpid", "--set", "dram.size=64M", "--checkpoint", place)
    assert other.returncode == 2
    assert "made with another dram.size: 33554432; this run has 67108864" in other.stderr


def test_events_of_a_setup_that_is_run_again(gem5, tmp_path):
    assert gem5("--workload", "getpid", "iterations=2", "--cpu", "atomic").returncode == 0
    known = markers(tmp_path)
    assert any("events are valid, cycles are not" in line for line in known[0]["deviations"])
    setup = tmp_path / "setup.json"
    (tmp_path / "m5out/setup.json").rename(setup)
    assert gem5("--setup", setup).returncode == 0
    assert markers(tmp_path) == known


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--workload", "getpit"], "unknown workload 'getpit'; did you mean 'getpid'"),
        (["--workload", "getpid", "--guest", "linux"], "gem5 boots x86-64 kernels only"),
        (["--workload", "getpid", "--set", "l2.line=64"], "l2.line = 64: expected l1d.line, 32"),
        (["--workload", "getpid", "--cpu", "minor"], "--cpu minor: not with gem5"),
        (["--workload", "getpid", "calls=-1"], "parameter of getpid"),
        ([], "expected --workload NAME or --program FILE"),
    ],
)
def test_bad_input_is_one_line_and_status_2(gem5, tmp_path, arguments, message):
    result = gem5(*arguments)
    assert result.returncode == 2
    assert message in result.stderr.splitlines()[-1]
    assert not (tmp_path / "m5out/markers.jsonl").exists()


def test_help_names_everything(gem5):
    text = gem5("--help").stdout
    for word in ("--machine", "--cpu {timing,atomic,minor,o3,p5}", "markers.jsonl", "exit status"):
        assert word in text


@pytest.mark.parametrize("engine", ["gem5", "gem5_classic"])
@pytest.mark.parametrize("feedback", ["on", "off"])
def test_p5lab_runs_an_experiment_on_it(tmp_path, capsys, feedback, engine):
    lab = Lab(ROOT, tmp_path)
    words = ["run", "chen95-core", "--engine", engine, "--guest", "linux64"]
    words += ["--workload", "getpid", "--feedback", feedback]
    assert cli.main([*words, "--format", "json"], lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["workload"] for row in rows} == {"getpid"}
    frame = tidy.load(lab.results / "chen95-core")
    has_chip = engines.get("gem5").instead(lab)
    assert set(frame["engine"]) == {has_chip if has_chip and engine == "gem5" else engine}
    counted = frame[frame["event"] == "instructions"].groupby(["phase", "iteration"])["value"].sum()
    assert (counted > 0).all()
