# SPDX-License-Identifier: MIT
"""Commands other than `run EXPERIMENT` on the real engine: the user's own programs, seeds, the
shell.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest

from p5lab.describe import experiment
from p5lab.describe.observation import Observation, Trace
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5stats import compare, tidy

UPTIME = re.compile(r"([0-9.]+) [0-9.]+")  # format of /proc/uptime


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return Lab(Lab.here().root, tmp_path_factory.mktemp("commands") / "results")


def ran(lab, runs):
    stored = []
    for result in Runner(lab, jobs=2).run_all(runs):
        assert result.status == "ok", result.reason
        stored.append(store.Stored(result.directory, store.read(result.directory)))
    return stored


def cycles(stored, phase):
    counts = compare.counts(tidy.read(stored.directory / store.COUNTS)[0])
    return counts.xs(phase, level="phase")["cycles.busy"].tolist()


def program(results, path, arguments="iterations=7"):
    choice = Filter(guests=("linux",))
    return ran(results, prepare(results, Request(UserProgram(path, arguments), choice)).runs)[0]


def test_a_program_of_ones_own_is_counted_whole_and_between_its_markers(results, tmp_path):
    mine = shutil.copy(results.program("linux", "dup"), tmp_path / "a.out")
    stored = program(results, mine)
    (whole,) = cycles(stored, "whole")
    own = cycles(stored, "0")
    assert len(own) == 7
    assert whole > 100 * sum(own)  # the whole includes the start of the program
    # The same bytes in another file give the same run. Other bytes give another run.
    elsewhere = tmp_path / "b"
    elsewhere.mkdir()
    assert program(results, shutil.copy(mine, elsewhere / "a.out")).id == stored.id
    with mine.open("ab") as file:
        file.write(b"\0")
    assert program(results, mine).id != stored.id


def test_a_program_that_fails_says_how(results, tmp_path):
    mine = shutil.copy(results.program("linux", "test-output"), tmp_path / "a.out")
    (run,) = prepare(results, Request(UserProgram(mine, "status=5 lines=1"), Filter())).runs
    (result,) = Runner(results).run_all([run])
    assert result.status == "failed"
    assert "program ended with status 5 in the guest" in result.reason


def test_an_instruction_of_later_processors_is_reported(results, tmp_path):
    mine = shutil.copy(results.program("linux", "test-ud"), tmp_path / "a.out")
    (run,) = prepare(results, Request(UserProgram(mine), Filter())).runs
    (result,) = Runner(results).run_all([run])
    assert result.status == "failed"
    assert "invalid opcode (#UD) at 0x" in result.reason


def test_another_seed_is_another_placement(results, full):
    seeds = (0, 1, 2) if full else (0, 1)
    choice = Filter(workloads=("exec-static",), seeds=seeds)
    stored = ran(results, experiment.load(results, "smoke", choice))
    assert [one.record["seed"] for one in stored] == list(seeds)
    assert len({tuple(cycles(one, "program")) for one in stored}) == len(seeds)


def shell(*lines, guest="linux"):
    """Runs a session with commands from a pipe. Returns exit status, standard output and standard
    error.
    """
    done = subprocess.run(
        [sys.executable, "-m", "p5lab", "shell", guest, "--no-build"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_shell_on_the_simulated_machine():
    status, out, err = shell(
        "grep MHz /proc/cpuinfo",
        "echo $((6 * 7))",
        "dup iterations=2 && echo went well",
        "touch /data/mine && ls /data",
        "sleep 1; cat /proc/uptime",
        "exit",
    )
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert any(re.fullmatch(r"cpu MHz\t\t: (90.0|89.9)\d\d", line) for line in lines)
    assert "42" in lines
    assert "went well" in lines
    assert any("mine" in line.split() for line in lines)
    # Simulated time follows real time. While the machine is idle, simulated time does not jump
    # ahead by hours.
    (uptime,) = (float(match[1]) for line in lines if (match := UPTIME.fullmatch(line)))
    assert 1 <= uptime < 60


@pytest.mark.full
def test_a_shell_in_the_server_system():
    """The console of User-Mode Linux is the outer system's console, which is the serial line."""
    status, out, err = shell(
        "grep model /proc/cpuinfo", "dup iterations=2 && echo went well", guest="linux-uml"
    )
    assert (status, err) == (0, "")
    assert "UML" in out
    assert "went well" in out.splitlines()


def test_nothing_of_a_shell_is_kept_and_the_end_of_the_input_ends_it(results):
    assert "mine" not in shell("ls /data")[1].split()
    assert not (Lab.here().results / "shell").exists()


def test_crossings_can_be_traced(results):
    choice = Filter(workloads=("getpid",), observation=Observation.of(Trace(("crossings",))))
    (stored,) = ran(results, experiment.load(results, "smoke", choice))
    lines = [json.loads(x) for x in (stored.directory / "crossings.jsonl").read_text().splitlines()]
    assert len(lines) >= 2 * 50  # each call enters the kernel and returns
