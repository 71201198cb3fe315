# SPDX-License-Identifier: MIT
"""Engines and observers are found automatically, also outside of the checkout. Engines declare
their capabilities."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from fakelab import REPO, call_events

from p5lab import engines
from p5lab.cli import main as cli
from p5lab.describe import engine, experiment, observation
from p5lab.describe.observation import Observation
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.lab import VARIABLE, Lab

COUNTER = REPO / "tests/templates/counter.py"  # it copies the events of the test


@pytest.fixture
def counter(tmp_path, monkeypatch):
    """Returns a laboratory with the engine `counter`, which is one file in a directory of
    P5LAB_PATH.
    """
    place = tmp_path / "outside/engines"
    place.mkdir(parents=True)
    shutil.copy(COUNTER, place)
    monkeypatch.setenv(VARIABLE, str(place.parent))
    return place


def test_a_build_in_another_directory_finds_relative_directories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (VARIABLE, "P5LAB_CACHE", "P5LAB_DISTDIR"):
        monkeypatch.setenv(name, "mine")
    there = Lab.here().environment
    assert {there[name] for name in (VARIABLE, "P5LAB_CACHE", "P5LAB_DISTDIR")} == {
        str(tmp_path / "mine")
    }


def test_the_engines_of_the_checkout_are_found():
    assert engine.names() == ["bochs", "gem5", "gem5_chip", "gem5_classic", "native"]
    for name in engine.names():
        assert isinstance(engines.get(name), engines.Engine)
        assert engines.get(name).can is engine.capabilities(name)
    assert engine.DEFAULT in engine.names()


def test_an_engine_outside_of_the_checkout_is_one_file(lab, counter, capsys):
    assert engine.names() == ["bochs", "counter", "gem5", "gem5_chip", "gem5_classic", "native"]
    lab._put("prepared.jsonl", "".join(json.dumps(line) + "\n" for line in call_events()))
    words = ["run", "tests", "--workload", "call", "--engine", "counter", "--no-build", "--json"]
    assert cli.main(words, lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["engine"] for row in rows} == {"counter"}
    (run,) = store.all_runs(lab)
    assert (run.status, run.record["versions"]["counter"]) == ("ok", "1")
    assert run.record["feedback"] == "off"  # this engine has no clocks
    asked = experiment.load(lab, "tests", Filter(engine="counter", workloads=("call",)))
    assert Runner(lab).run_all(asked)[0].reused
    assert engines.targets(lab, asked) == ("build/guests/toy", "build/workloads/toy/call")
    shutil.copy(COUNTER, counter / "other.py")  # what one engine counted is not another one's
    engine._modules.cache_clear()
    other = experiment.load(lab, "tests", Filter(engine="other", workloads=("call",)))
    (counter / "other.py").open("a").write("# changed\n")
    assert not Runner(lab).run_all(other)[0].reused


def test_what_an_engine_does_not_declare_is_refused(lab, counter, capsys):
    words = ["run", "tests", "--engine", "counter", "--no-build"]
    assert cli.main([*words, "--trace", "crossings"], lab) == 2
    assert "--trace: expected with the engine bochs, which supports it" in capsys.readouterr().err
    assert cli.main([*words, "--feedback", "off"], lab) == 2
    assert "--feedback off: expected with the engine bochs or gem5" in capsys.readouterr().err
    with pytest.raises(UserError, match="--bbv: expected with the engine bochs or counter"):
        engine.check("gem5", Observation.of(observation.BlockVectors(5)))


def test_a_record_of_an_engine_that_is_gone_is_still_read(lab, counter, monkeypatch, capsys):
    lab._put("prepared.jsonl", "".join(json.dumps(line) + "\n" for line in call_events()))
    asked = experiment.load(lab, "tests", Filter(engine="counter", workloads=("call",)))
    (result,) = Runner(lab).run_all(asked)
    monkeypatch.delenv(VARIABLE)
    assert engine.names() == ["bochs", "gem5", "gem5_chip", "gem5_classic", "native"]
    assert cli.main(["show", result.id], lab) == 0
    assert re.search(r"^engine +counter", capsys.readouterr().out, re.MULTILINE)
    assert cli.main(["rerun", result.id, "--no-build"], lab) == 2
    assert "unknown engine 'counter'" in capsys.readouterr().err


def test_a_module_without_an_engine_is_refused(counter):
    (counter / "empty.py").write_text("")
    engine._modules.cache_clear()
    with pytest.raises(UserError, match=r"empty.py: expected ENGINE = the class of the engine"):
        engine.capabilities("empty")


def observer(place, name):
    """Writes the template of an observer with another name. Returns its directory."""
    own = shutil.copytree(REPO / "tests/templates/paging", place / "observers" / name)
    source = own / "paging.cc"
    source.write_text(source.read_text().replace('"paging");', f'"{name}");'))
    return own


def without_class(place):
    (observer(place, "mine") / "paging.cc").write_text("// no class is registered\n")


def with_known_dimension(place):
    file = observer(place, "mine") / "observer.toml"
    file.write_text(file.read_text().replace("\npaging =", "\nring ="))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda place: place.rmdir(), ": expected a directory; there is none"),
        (without_class, 'mine/observer.toml: expected also a class, .*registered\\("mine"\\)'),
        (with_known_dimension, "observer mine: dimension 'ring' exists already"),
        (lambda place: observer(place, "modes"), "observer 'modes' has two files: .*; rename one"),
        (lambda place: observer(place, "limit"), "--limit; rename the directory of the observer"),
    ],
)
def test_a_wrong_observer_outside_of_the_checkout_is_one_line(tmp_path, make, said):
    make(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "p5lab", "run", "--help"],
        env={**os.environ, VARIABLE: str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert re.fullmatch(f"p5lab: .*{said}.*\n", done.stderr), done.stderr
