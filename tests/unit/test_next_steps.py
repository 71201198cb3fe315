# SPDX-License-Identifier: MIT
"""After a run, p5lab names the results and two commands. The commands work."""

import argparse
import shlex
from pathlib import Path

import pytest
import test_program
from fakelab import call_events, chase_events

from p5lab.cli import next_steps
from p5lab.keep import selection, store


@pytest.fixture(autouse=True)
def plain(lab, monkeypatch):
    monkeypatch.setenv("P5LAB_PROGRESS", "plain")
    lab.claims.write_text("schema_version = 1\n")


def steps(err):
    """Returns the line about the results, and the next commands as lists of words."""
    lines = err.splitlines()
    (start,) = [place for place, line in enumerate(lines) if line.startswith("Results: ")]
    found = lines[start + 1 : start + 1 + next_steps.COMMANDS]
    assert found[0].startswith("Next:    ./p5lab ")
    assert found[1].startswith("         ./p5lab ")
    return lines[start], [shlex.split(line[9:], comments=True)[1:] for line in found]


def check(p5lab, commands):
    for command in commands:
        status, out, err = p5lab(*command)
        assert (status, bool(out)) == (0, True), (command, err)


def test_an_experiment(p5lab, lab):
    _, _, err = p5lab("run", "tests", "--no-build", "--jobs", "1", "--set", "l2.size=512K")
    where, commands = steps(err)
    assert where == f"Results: {lab.results}/tests (2 runs)"
    # The report is about the same runs. It does not get options that only `run` has.
    assert commands[0] == ["report", "tests", "--set", "l2.size=512K"]
    assert commands[1][0] == "show"
    check(p5lab, commands)
    assert (lab.results / "tests.html").is_file()


def test_two_systems_are_compared(p5lab):
    words = ("run", "tests", "--no-build", "--machine=p90-premiere2", "--machine", "p133-triton")
    _, commands = steps(p5lab(*words)[2])
    assert commands[0] == [
        "report",
        "tests",
        "--machine=p90-premiere2",
        "--machine",
        "p133-triton",
    ]
    assert commands[1][0] == "diff"
    check(p5lab, commands)
    assert "machine" in p5lab(*commands[1])[1]


def test_the_ends_of_a_sweep_are_compared(p5lab):
    words = ("run", "tests", "--no-build", "--jobs", "1", "--sweep", "l2.size=128K,256K,512K")
    _, commands = steps(p5lab(*words, columns=1000)[2])
    assert commands[1][0] == "diff"
    said = p5lab(*commands[1])[1]
    assert "128K" in said and "512K" in said and "256K" not in said, said


def test_runs_with_different_events_are_compared(p5lab, lab):
    words = ("run", "tests", "--no-build", "--jobs", "1", "--workload", "call")
    lab.behave(events={"call": call_events(more=7)})
    p5lab(*words, "--set", "l2.size=256K")
    lab.behave()  # the first and the last value have the same events
    _, commands = steps(p5lab(*words, "--sweep", "l2.size=128K,256K,512K")[2])
    assert commands[1][0] == "diff"
    said = p5lab(*commands[1])[1]
    assert "128K" in said and "256K" in said and "cycles.busy" in said, said


def test_a_program(p5lab, lab, tmp_path):
    mine = tmp_path / "my program"
    mine.write_bytes(test_program.elf())
    lab.behave(events={"@program": call_events()})
    words = ("run", "--program", str(mine), "--args", "a b", "--guest", "toy", "--no-build")
    where, commands = steps(p5lab(*words, columns=1000)[2])  # each command is in one line
    assert where == f"Results: {lab.results}/program (1 run)"
    assert commands[0][0] == "show"
    assert commands[1] == [*words, "--attribute", "functions"]
    check(p5lab, commands[:1])
    # An argument of the program is not an option of p5lab.
    words = (*words[:4], "--attribute x", *words[5:])
    _, commands = steps(p5lab(*words, columns=1000)[2])
    assert commands[1][-2:] == ["--attribute", "functions"]


def test_no_line_is_wider_than_the_terminal(p5lab, lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_bytes(test_program.elf())
    lab.behave(events={"@program": call_events()})
    words = ("run", "--program", "mine", "--args", "a b", "--guest", "toy", "--no-build")
    lines = p5lab(*words, columns=80)[2].partition("Next:    ")[2].splitlines()
    lines = [line.removeprefix(next_steps.INDENT) for line in lines]
    assert max(map(len, lines)) <= 80 - len(next_steps.START)
    *lines, last = lines[1:]  # the first command is `show`
    assert last == "# counts by function"
    assert lines[0].endswith(next_steps.BREAK)
    command = "\n".join(lines).replace("\\\n", "")
    assert shlex.split(command) == ["./p5lab", *words, "--attribute", "functions"]


def test_the_page_of_a_program_is_named(p5lab, lab, tmp_path):
    (tmp_path / "mine").write_bytes(test_program.elf())
    lab.behave(events={"@program": call_events()})
    p5lab("run", "--program", str(tmp_path / "mine"), "--guest", "toy", "--no-build")
    asked = argparse.Namespace(experiment=None, program="mine", attribute=["lines"], region="")
    found = next_steps._steps(asked, store.all_runs(lab))
    assert next(found) == ("report program", "a page with functions and lines")
    (tmp_path / "other").write_bytes(test_program.elf() + b"\0")
    p5lab("run", "--program", str(tmp_path / "other"), "--guest", "toy", "--no-build")
    versions = selection.as_versions(store.all_runs(lab))
    command, _ = next(next_steps._steps(asked, versions))
    assert command.split() == ["report", *(one.id[: next_steps.ID] for one in versions)]


def test_the_page_of_a_sweep_of_a_program_is_named(p5lab, lab, tmp_path):
    (tmp_path / "mine").write_bytes(test_program.elf())
    lab.behave(events={"@program": call_events()})
    words = ("--program", str(tmp_path / "mine"), "--guest", "toy", "--sweep", "l2.size=128K,256K")
    _, commands = steps(p5lab("run", *words, "--no-build", columns=1000)[2])
    assert commands[0] == ["report", *words]


def test_a_failed_run_is_named_once(p5lab, lab):
    lab.behave(events={"chase": chase_events(), "call": call_events(status=2)}, output="oops\n")
    status, out, err = p5lab("run", "tests", "--no-build", "--jobs", "1")
    assert status == 1
    assert "call" not in out
    (said,) = [line for line in err.splitlines() if line.startswith("p5lab: call")]
    assert "failed: " in said and "logs: " in said
    _, commands = steps(err)
    assert [command[0] for command in commands] == ["report", "show"]
    # A command that shows stored runs names it.
    assert "call, toy, p90-premiere2: failed" in p5lab("show", "tests")[1].replace("\n", " ")


def test_all_runs_failed(p5lab, lab):
    lab.behave(events={}, exit=9)
    lines = p5lab("run", "tests", "--no-build", "--force")[2].splitlines()
    (line,) = [line for line in lines if line.startswith("Next:")]
    words = shlex.split(line.removeprefix(next_steps.START), comments=True)[1:]
    assert words[0] == "show"
    check(p5lab, [words])


def test_programs_read_no_such_lines(p5lab, monkeypatch):
    for form in ("json", "csv"):
        assert "Next:" not in p5lab("run", "tests", "--no-build", "--format", form)[2]
    monkeypatch.delenv("P5LAB_PROGRESS")
    assert p5lab("run", "tests", "--no-build")[2] == ""


def run_of(version, geometry="", machine="p90", guest="linux"):
    """A run of a version of a program. All runs have other events."""
    name = f"{version} {guest} {machine} {geometry}"
    record = {
        "label": version,
        "called": version,
        "workload": {"name": "program"},
        "parameters": {"file": version},
        "seed": 0,
        "guest": {"name": guest},
        "machine": {"name": machine, "geometry": geometry},
        "engine": "bochs",
        "feedback": "on",
        "digests": {"events.jsonl": name},
    }
    return store.Stored(Path(name), record)


def test_two_runs_differ_in_one_thing(monkeypatch):
    """Once, the first and the last run differed in the program and in the machine."""
    monkeypatch.setattr(next_steps, "is_nominal", lambda record: False)
    swept = [
        run_of(version, f"l1d.size={size} l2.size=256K") for size in (8, 16) for version in "ab"
    ]
    first, other = next_steps._pair(swept)
    assert (first, other) == (swept[0], swept[2])
    assert next_steps._pair([swept[0], swept[3]]) is None
    assert next_steps._pair([run_of("a"), run_of("b", machine="p133")]) is None
    assert next_steps._pair([run_of("a"), run_of("a", "l1d.size=16")]) is not None
    assert next_steps._pair([run_of("a"), run_of("a", guest="mach"), run_of("b")])[1].record[
        "called"
    ] == ("b")


def test_a_small_difference_is_not_explained(monkeypatch):
    monkeypatch.setattr(next_steps, "is_nominal", lambda record: False)
    monkeypatch.setattr(next_steps.cpi_stack, "is_in", lambda stored: True)
    asked = argparse.Namespace(experiment=None, program="a", attribute=["lines"], region="")
    pair = [
        store.Stored(Path(name), one.record | {"status": "ok"})
        for name, one in (("1" * 16, run_of("a")), ("2" * 16, run_of("b")))
    ]
    for causes, command in ((True, "explain"), (False, "diff")):
        monkeypatch.setattr(next_steps.explanation, "has_causes", lambda *pair, all=causes: all)
        commands = [words for words, _ in next_steps._steps(asked, pair)]
        assert commands[1].startswith(f"{command} 11111111 22222222")


def test_programs_that_all_failed_have_no_table(p5lab, lab, tmp_path):
    """Once, they had a table of nominal cycles."""
    files = [tmp_path / name for name in ("first", "second")]
    for file in files:
        file.write_bytes(test_program.elf() + file.name.encode())
    lab.behave(exit=1)
    words = ("run", "--program", *map(str, files), "--guest", "toy", "--no-build")
    status, out, err = p5lab(*words)
    assert (status, out) == (1, "")
    assert "first, toy" in err and "second, toy" in err and "failed" in err
