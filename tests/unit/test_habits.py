# SPDX-License-Identifier: MIT
"""Conventions of the command line: help with examples, completion, JSON, exit status, no progress
in a pipe.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys

import fakelab
import pytest

from p5lab.cli import main as cli
from p5lab.cli import parser as parsers
from p5lab.cli.commands import completion
from p5lab.describe.declarations import policies as policies_of
from p5lab.errors import STATUS_BAD_INPUT, STATUS_FAILED
from p5lab.host import doctor
from p5lab.lab import Lab


def run(*words, **more):
    environment = {name: value for name, value in os.environ.items() if name != "P5LAB_PROGRESS"}
    return subprocess.run(
        [sys.executable, "-m", "p5lab", *words],
        capture_output=True,
        text=True,
        env={**environment, **more},
        check=False,
    )


@pytest.mark.parametrize("name", parsers.names())
def test_every_command_has_examples_that_make_sense(name, capfd):
    assert cli.main(["help", name], Lab(fakelab.REPO)) == 0
    shown = capfd.readouterr().out
    assert "examples:\n  ./p5lab " in shown
    for line in parsers.texts(name)[-1].splitlines()[1:]:
        assert f"{line}\n" in shown + "\n"
        words = shlex.split(line.removeprefix("  ./p5lab ").split(" > ")[0])
        assert words[0] == name
        if name != "bench":  # a separate program
            parsers.of_all().parse_args(words)


def test_the_help_says_what_an_exit_status_means(capsys, lab):
    assert cli.main(["--help"], lab) == 0
    shown = capsys.readouterr().out
    statuses = re.findall(r"^  (\d+) ", shown.partition("exit status:")[2], re.M)
    assert statuses == ["0", str(STATUS_FAILED), str(STATUS_BAD_INPUT), str(cli.STATUS_STOPPED)]
    readme = (fakelab.REPO / "README.md").read_text()
    found = readme.partition("Exit status:")[2].partition("\n")[0]
    assert [text for text in statuses if re.search(rf"\b{text}\b", found)] == statuses


def test_exit_statuses(lab, capsys, monkeypatch):
    lab.behave()
    assert cli.main(["run", "tests", "--workload", "call", "--no-build"], lab) == 0
    lab.behave(exit=3)
    assert cli.main(["run", "tests", "--set", "l2.size=512K", "--no-build"], lab) == STATUS_FAILED
    assert cli.main(["run", "nonsense"], lab) == STATUS_BAD_INPUT
    assert cli.main(["--nonsense"], lab) == STATUS_BAD_INPUT

    def stopped(*given):
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("p5lab.keep.index.runs", stopped)
    assert cli.main(["list", "runs"], lab) == cli.STATUS_STOPPED
    assert "stopped" in capsys.readouterr().err


def json_of(lab, capsys, *words):
    assert cli.main([*words, "--json"], lab) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert found.pop("schema_version") == 1
    return found


def test_json_wherever_results_are_printed(lab, capsys, monkeypatch):
    found = [doctor.ok("python", "is there"), doctor.Finding("missing", "flex", "is not")]
    monkeypatch.setattr(doctor, "examine", lambda lab: iter(found))  # the real one accesses mirrors
    monkeypatch.setenv("P5LAB_CACHE", str(lab.root / "cache"))  # the cache of the host is large
    lab.behave()
    both = [
        json_of(lab, capsys, *words)
        for words in (
            ["run", "tests", "--no-build"],
            ["plan", "tests"],
            ["keys"],
            ["gc"],
            ["list"],
            ["doctor"],
        )
    ]
    ran, planned, keys, garbage, listed, looked = both
    assert {row["workload"] for row in ran["rows"]} == {"call", "chase"}
    assert planned
    assert {"key", "unit", "expected", "value", "meaning"} == set(keys["keys"][0])
    assert garbage["removed_bytes"] == 0
    kinds = {"experiments", "machines", "guests", "workloads", "programs", "notebooks", "runs"}
    assert set(listed) == kinds
    assert {one["status"] for one in listed["runs"]} == {"ok"}
    assert listed["guests"] == [{"name": "toy", "title": "a guest that is not there"}]
    assert looked["missing"] == 1
    assert looked["findings"][1] == {"state": "missing", "subject": "flex", "text": "is not"}
    (run_id, *_) = [one["run"] for one in listed["runs"]]
    assert json_of(lab, capsys, "show", run_id)["rows"]
    assert set(json_of(lab, capsys, "list", "machines")) == {"machines"}


def test_one_spelling_of_json():
    """--json means --format json, on every command with one of these options."""
    for name, command in parsers.commands_of(parsers.of_all()).items():
        options = {option for action in command._actions for option in action.option_strings}
        assert ("--format" not in options) or ("--json" in options), name
        if "--format" in options:
            required = {
                "show": ["x"],
                "diff": ["x", "y"],
                "explain": ["x", "y"],
                "rerun": ["x"],
                "query": ["x"],
                "cycles": ["x"],
                "compare": ["x"],
            }.get(name, [])
            assert command.parse_args([*required, "--json"]).form == "json", name


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_completion_scripts(lab, capsys, shell, tmp_path):
    assert cli.main(["completion", shell], lab) == 0
    text = capsys.readouterr().out
    for word in ("validate", "sweep", str(lab.root)):
        assert word in text
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(text)
        assert subprocess.run([shell, "-n", path], capture_output=True, text=True).stderr == ""


def complete(text, *lines):
    """Returns the words that bash offers for the last word of each command line."""
    program = f"""{text}
handler=$(complete -p p5lab | sed 's/.*-F \\([^ ]*\\).*/\\1/')
ask() {{
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMPREPLY=()
  $handler p5lab "${{COMP_WORDS[COMP_CWORD]}}" ''
  printf '%s\\n' "${{COMPREPLY[@]}}" ---
}}
"""
    program += "".join(f"ask {shlex.join(words)}\n" for words in lines)
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    return [part.split() for part in done.stdout.split("---\n")[:-1]]


def test_bash_completes_commands_options_and_names(lab, capsys):
    (lab.root / "configs/experiments/newer.toml").write_text("")
    (lab.root / "notebooks").mkdir()
    (lab.root / "notebooks/what-if.ipynb").write_text("")
    assert cli.main(["completion", "bash"], lab) == 0
    text = capsys.readouterr().out
    tests = ["run", "tests"]
    offered = {
        "validate": ["va"],
        "--sweep": ["run", "--sw"],
        "tests": ["run", "te"],
        "newer": ["plan", "ne"],
        "toy": [*tests, "--guest", "t"],
        "p90-premiere2": [*tests, "--machine", "p"],
        "chase": [*tests, "--workload", "ch"],
        "cycles.busy": [*tests, "--metric", "cy"],
        "what-if": ["notebook", "w"],
        "parameters.": [*tests, "--sweep", "pa"],
    }
    found = complete(text, *(["p5lab", *words] for words in offered.values()))
    for name, words in zip(offered, found, strict=True):
        assert name in words
    keys, none = complete(
        text, *(["p5lab", *tests, "--set", key] for key in ("l1d.w", "machine.n"))
    )
    assert keys == [
        "l1d.ways=",
        "l1d.write_policy=write-back",
        "l1d.write_policy=write-through",
        "l1d.write_allocate=true",
        "l1d.write_allocate=false",
        "l1d.write_once=true",
        "l1d.write_once=false",
    ]
    assert none == []


@pytest.mark.parametrize("option", ["--set", "--sweep"])
def test_bash_completes_the_values_of_a_key(lab, option):
    """Bash passes KEY=VALUE as three words, or as two words if the value is empty."""
    text = completion.script(parsers.of_all(), "bash", lab)
    before = ["p5lab", "run", "tests", option]
    all_of_it, *found = complete(
        text,
        [*before, "l1d.replacement", "="],
        [*before, "l1d.replacement", "=", "pl"],
        [*before, "l1d.write_once", "=", "t"],
        [*before, "l2.size", "=", ""],
        # A setting before the last word does not disturb the completion of the last word.
        [*before, "l1d.ways", "=", "2", "--guest", "t"],
    )
    assert sorted(all_of_it) == sorted(policies_of(Lab.here().root / "engine"))
    assert found == [["plru"], ["true"], [], ["toy"]]
    # Without = in COMP_WORDBREAKS, bash does not divide the word.
    whole = f"COMP_WORDBREAKS=' '\n{text}"
    assert complete(whole, [*before, "l1d.replacement=pl"]) == [["l1d.replacement=plru"]]


def test_bash_completes_names_of_p5lab_path(lab, monkeypatch):
    monkeypatch.setenv("P5LAB_PATH", f"/nowhere:{fakelab.REPO / 'docs/extend/templates'}")
    text = completion.script(parsers.of_all(), "bash", lab)
    kinds = ("machine", "guest", "workload")
    chosen = (["p5lab", "run", "tests", f"--{kind}", "my"] for kind in kinds)
    found = complete(text, ["p5lab", "run", "my"], *chosen)
    assert found == [["my-experiment"], *([f"my-{kind}"] for kind in kinds)]


def test_a_pipe_is_quiet_and_has_no_colours():
    """There is no terminal, so the command prints only the results, and prints them to stdout."""
    done = run("list", "guests", FORCE_COLOR="")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    done = run("list", "guests", "--json")
    assert json.loads(done.stdout)["guests"]


def test_progress_is_for_terminals_and_logs(lab, capsys, monkeypatch):
    lab.behave()
    monkeypatch.delenv("P5LAB_PROGRESS")
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("P5LAB_PROGRESS", "plain")
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    assert "already stored" in capsys.readouterr().err
    monkeypatch.delenv("P5LAB_PROGRESS")
    lab.behave(exit=3)
    assert cli.main(["run", "tests", "--no-build", "--set", "l2.size=512K"], lab) == 1
    assert "failed" in capsys.readouterr().err  # errors are always printed


def test_no_colour_where_it_is_not_wanted(lab, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    lab.behave(exit=3)
    cli.main(["run", "tests", "--workload", "call", "--no-build"], lab)
    (found,) = lab.results.glob("tests/*/run.json")
    capsys.readouterr()
    assert cli.main(["show", found.parent.name], lab) == 0
    colours = re.findall(r"\x1b\[[0-9;]*m", capsys.readouterr().out)
    assert not [code for code in colours if re.search(r"\b(3[0-7]|9[0-7]|38)\b", code)]


def test_list_starts_without_what_only_others_need():
    """The import of each of these modules takes a tenth of a second or more."""
    heavy = {"duckdb", "distributed", "altair", "sklearn", "h5py", "shtab", "matplotlib"}
    program = (
        "import sys; from p5lab.cli import main as cli; cli.main(['list', 'guests']);"
        "print('loaded', *sorted(name for name in sys.modules if '.' not in name))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not heavy & set(done.stdout.splitlines()[-1].split())
