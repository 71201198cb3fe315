# SPDX-License-Identifier: MIT
"""`./p5lab test`: what it runs, and that nothing which goes wrong is counted as well."""

import os
import re

import pytest

from p5lab.host import testing
from p5lab.lab import Lab

CONFIG = "[pytest]\nmarkers =\n    alone\npythonpath = .\n"
NOTE = """
import os, pathlib
def note(name):
    with pathlib.Path(__file__).with_name("ran").open("a") as file:
        file.write(f"{os.getpid()} {name}\\n")
"""
ONE = """
from note import note
def test_a(): note(__name__)
def test_b(): note(__name__)
"""
TWO = """
import pytest
from note import note
def test_c(): note(__name__)
@pytest.mark.skip
def test_d(): pass
@pytest.mark.alone
def test_e(): note(__name__)
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A checkout with tests of two files and of nothing else."""
    monkeypatch.setattr(testing, "CHECKS", ())
    monkeypatch.setattr(testing, "ENGINE_TESTS", ())
    monkeypatch.setattr(testing, "cores", lambda: 2)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    (tmp_path / "pytest.ini").write_text(CONFIG)
    (tmp_path / "note.py").write_text(NOTE)
    made = Lab(tmp_path)
    write(made, "e2e/test_one", ONE)
    write(made, "unit/test_two", TWO)
    return made


def write(lab, name, text):
    path = lab.root / "tests" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def ran(lab):
    """By file, the processes in which its tests ran."""
    found = {}
    for line in (lab.root / "ran").read_text().splitlines():
        process, name = line.split()
        found.setdefault(name.rpartition(".")[2], []).append(process)
    return found


def test_each_file_runs_whole_in_one_process(lab, capfd):
    assert testing.run(lab) == 0
    assert "p5lab: 3 passed, 0 failed, 1 skipped\n" in capfd.readouterr().out
    one, two = ran(lab)["test_one"], ran(lab)["test_two"]
    assert (len(one), len(set(one)), len(two)) == (2, 1, 1)
    assert str(os.getpid()) not in one + two


def test_what_measures_time_runs_alone_and_with_full(lab, capfd):
    assert testing.run(lab, full=True) == 0
    assert "p5lab: 4 passed, 0 failed, 1 skipped\n" in capfd.readouterr().out
    assert len(set(ran(lab)["test_two"])) == 2


def test_with_arguments_only_these(lab, capfd):
    assert testing.run(lab, arguments=["tests/unit", "-k", "test_c"]) == 0
    assert "p5lab: 1 passed, 0 failed\n" in capfd.readouterr().out
    assert set(ran(lab)) == {"test_two"}


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(): assert False\n",
        "def test_a(: pass\n",
        "import os\ndef test_a(): os._exit(3)\n",  # begun anew a few times
    ],
)
def test_what_fails_or_dies_is_counted_and_the_others_run(lab, capfd, text):
    write(lab, "e2e/test_one", text)
    assert testing.run(lab) == 1
    assert re.search(r"^p5lab: 1 passed, [1-9]\d? failed, 1 skipped$", capfd.readouterr().out, re.M)


def test_a_check_and_a_suite_that_fail(lab, monkeypatch, capfd):
    monkeypatch.setattr(testing, "CHECKS", (("no_such_module",),))
    monkeypatch.setattr(testing, "ENGINE_TESTS", ("absent", "suite", "dead"))
    count = "test cases: 3 | 2 passed | 0 failed | 1 skipped"
    for name, status in (("suite", 0), ("dead", 4)):
        program = lab.root / name
        program.write_text(f"#!/bin/sh\necho '{count}'\nexit {status}\n")
        program.chmod(0o755)
    assert testing.run(lab) == 1
    said = capfd.readouterr()
    assert "p5lab: failed: no_such_module\n" in said.err
    assert "absent: No such file" in said.err
    assert "dead ended with status 4" in said.err
    assert "p5lab: 7 passed, 2 failed, 3 skipped\n" in said.out


def test_no_test_at_all_is_a_failure(lab, capfd):
    assert testing.run(lab, arguments=["-k", "nothing of that name"]) == 1
    assert "p5lab: 0 passed, 1 failed\n" in capfd.readouterr().out
