# SPDX-License-Identifier: MIT
"""`./p5lab test`: it runs the right tests and counts every failure."""

import os
import re
import shutil

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.errors import UserError
from p5lab.host import build, testing
from p5lab.host.testing import Choice
from p5lab.lab import Lab

# The tests start pytest many times. Without the plugins that only other tests need, pytest starts
# in a quarter of the time.
CONFIG = "[pytest]\nmarkers =\n    alone\npythonpath = .\naddopts = -p xdist.plugin\n"
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
# P5LAB_BUILT tells a test whether its product must be there. Otherwise the test may skip.
BUILT = "import os\ndef test_f(): assert os.environ.get('P5LAB_BUILT', '') == {!r}\n"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Returns a checkout with only two test files."""
    monkeypatch.setattr(testing, "CHECKS", ())
    monkeypatch.setattr(testing, "ENGINE_TESTS", ())
    monkeypatch.setattr(testing, "cores", lambda: 2)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    # Otherwise each pytest first removes the files of all earlier runs of tests on this host.
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", str(tmp_path))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.delenv("P5LAB_BUILT", raising=False)
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
    """Returns, for each file, the processes in which the tests of this file ran."""
    found = {}
    for line in (lab.root / "ran").read_text().splitlines():
        process, name = line.split()
        found.setdefault(name.rpartition(".")[2], []).append(process)
    return found


def test_each_file_runs_whole_in_one_process(lab, capfd):
    write(lab, "unit/test_built", BUILT.format("1"))
    assert testing.run(lab) == 0
    assert "p5lab: 4 passed, 0 failed, 1 skipped\n" in capfd.readouterr().out
    one, two = ran(lab)["test_one"], ran(lab)["test_two"]
    assert (len(one), len(set(one)), len(two)) == (2, 1, 1)
    assert str(os.getpid()) not in one + two


def test_what_measures_time_runs_alone_and_with_full(lab, capfd):
    assert testing.run(lab, full=True) == 0
    assert "p5lab: 4 passed, 0 failed, 1 skipped\n" in capfd.readouterr().out
    assert len(set(ran(lab)["test_two"])) == 2


def test_with_arguments_only_these(lab, capfd):
    assert testing.run(lab, Choice(arguments=("tests/unit", "-k", "test_c"))) == 0
    assert "p5lab: 1 passed, 0 failed\n" in capfd.readouterr().out
    assert set(ran(lab)) == {"test_two"}


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("def test_a(: pass\n", "4"),
        # The process that dies is begun anew, and may die again.
        ("import os\ndef test_a(): assert False\ndef test_b(): os._exit(3)\n", r"([5-9]|1\d)"),
    ],
)
def test_what_fails_or_dies_is_counted_and_the_others_run(lab, monkeypatch, capfd, text, failed):
    """Python tests, a check of style, and C++ tests: the last two are three failures."""
    write(lab, "e2e/test_one", text)
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
    # Each C++ program that runs has 2 tests that pass and 1 that it skips.
    assert re.search(rf"^p5lab: 5 passed, {failed} failed, 3 skipped$", said.out, re.M)


@pytest.mark.parametrize(
    "choice", [Choice(arguments=("-k", "nothing of that name")), Choice("unit", "no_such_name")]
)
def test_no_test_at_all_is_a_failure(lab, capfd, choice):
    assert testing.run(lab, choice) == 1
    assert "p5lab: 0 passed, 1 failed\n" in capfd.readouterr().out


# --- parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "choice"),
    [
        ([], Choice()),
        (["unit"], Choice("unit")),
        (["unit", "cache"], Choice("unit", "cache")),
        (["e2e", "cache", "-x"], Choice("e2e", "cache", ("-x",))),
        (["engine", "-s"], Choice("engine", "", ("-s",))),
        (["-k", "unit"], Choice(arguments=("-k", "unit"))),
        (["tests/unit/test_cli.py", "-x"], Choice(arguments=("tests/unit/test_cli.py", "-x"))),
    ],
)
def test_words_of_the_command_line(words, choice):
    assert Choice.parse(words) == choice


def test_a_part_that_does_not_exist():
    with pytest.raises(UserError, match=r"^test: unknown part 'units': expected unit, engine, e2e"):
        Choice.parse(["units"])


@pytest.mark.parametrize(
    ("words", "targets"),
    [
        (["unit"], []),
        (["unit", "cache"], []),
        (["engine", "cache"], [("build/tests",)]),
        (["e2e"], [()]),
        ([], [()]),
        (["--full"], [()]),
        (["--", "-k", "cache"], [()]),
    ],
)
def test_a_part_builds_what_it_needs(lab, monkeypatch, words, targets):
    asked, ran_ = [], []
    monkeypatch.setattr(build, "ensure", lambda lab, progress, what: asked.append(what))
    monkeypatch.setattr(testing, "run", lambda lab, choice, full: ran_.append((choice, full)) or 0)
    assert cli.main(["test", *words], lab) == 0
    assert asked == targets
    words = [word for word in words if word not in ("--", "--full")]
    assert [choice for choice, _ in ran_] == [Choice.parse(words)]


@pytest.mark.parametrize(("part", "built", "full"), [("unit", "", False), ("e2e", "1", True)])
def test_a_part_runs_its_tests_only(lab, monkeypatch, capfd, part, built, full):
    """The part e2e needs products, so its tests fail without them, and `unit` builds none. In e2e,
    nothing measures time here."""
    monkeypatch.setattr(testing, "CHECKS", (("no_such_module",),))
    for place in ("unit", "e2e"):
        write(lab, f"{place}/test_built_{place}", BUILT.format(built if place == part else "x"))
    assert testing.run(lab, Choice(part), full=full) == 0
    counts = {"unit": "2 passed, 0 failed, 1 skipped", "e2e": "3 passed, 0 failed"}
    assert f"p5lab: {counts[part]}\n" in capfd.readouterr().out


@pytest.mark.parametrize(("name", "tests"), [("test_c", 1), ("TWO", 2), ("test_c or test_e", 2)])
def test_a_name_selects_tests_and_files(lab, capfd, name, tests):
    write(lab, "unit/test_broken", "def nothing(: pass\n" if " " not in name else "")
    assert testing.run(lab, Choice("unit", name)) == 0
    assert f"p5lab: {tests} passed, 0 failed" in capfd.readouterr().out
    assert len(ran(lab)["test_two"]) == tests


def program(lab, name, text):
    path = lab.root / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_name_goes_to_the_engine_tests(lab, monkeypatch, capfd):
    """If a test case was not selected, the program doctest counts it as skipped."""
    monkeypatch.setattr(testing, "ENGINE_TESTS", ("one", "two"))
    for name, passed in (("one", 2), ("two", 0)):
        count = f"test cases: {passed} | {passed} passed | 0 failed | 9 skipped"
        program(lab, name, f'echo "$0 $*"\necho "{count}"')
    assert testing.run(lab, Choice("engine", "write once", ("-s",))) == 0
    said = capfd.readouterr().out
    assert "two --no-colors -s --test-case=*write once*\n" in said
    assert "p5lab: 2 passed, 0 failed\n" in said
    assert not (lab.root / "ran").exists()  # no Python test


def test_a_name_that_no_engine_test_has_is_a_failure(lab, monkeypatch, capfd):
    monkeypatch.setattr(testing, "ENGINE_TESTS", ("one",))
    program(lab, "one", 'echo "test cases: 0 | 0 passed | 0 failed | 9 skipped"')
    assert testing.run(lab, Choice("engine", "nonsense")) == 1
    said = capfd.readouterr()
    assert "p5lab: 0 passed, 1 failed\n" in said.out
    assert said.err == "p5lab: no C++ test case has that name\n"


def test_an_engine_test_that_fails(lab, monkeypatch, capfd):
    monkeypatch.setattr(testing, "ENGINE_TESTS", ("one",))
    program(lab, "one", 'echo "test cases: 3 | 2 passed | 1 failed | 9 skipped"\nexit 1')
    assert testing.run(lab, Choice("engine", "cache")) == 1
    assert "p5lab: 2 passed, 1 failed\n" in capfd.readouterr().out


# --- form of C++ files --------------------------------------------------------------------------


def test_a_cxx_file_out_of_form_fails_the_checks(lab, capfd):
    shutil.copy(REPO / ".clang-format", lab.root)
    path = lab.root / "engine/p5/cache.cc"
    path.parent.mkdir(parents=True)
    path.write_text("int ways() { return 2; }\n")
    assert testing.failed_checks(lab, os.environ) == []
    path.write_text("int   ways(){return 2;}\n")
    assert testing.failed_checks(lab, os.environ) == ["clang-format"]
    assert "cache.cc:1:4: error: code should be clang-formatted" in capfd.readouterr().err


def test_the_checks_see_all_cxx_files():
    found = testing.cxx_files(Lab(REPO))
    assert {"engine/p5/cache.cc", "engine/p5/cache.hh", "tests/engine/main.cc"} <= set(found)
    assert len(found) > 100
