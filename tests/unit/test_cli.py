# SPDX-License-Identifier: MIT
"""The command line as a user sees it: tables, one-line errors, exit statuses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import test_program
from fakelab import call_events, chase_events

from p5lab.cli import main as cli
from p5lab.cli import parser as parsers
from p5lab.cli.views import all_views
from p5lab.describe import observation
from p5lab.keep import store
from p5lab.present import tables

REPO = Path(__file__).resolve().parents[2]


def cells(table, row):
    """Returns the numbers of one row of a printed table."""
    lines = [line for line in table.splitlines() if line.strip().startswith(f"{row} ")]
    assert len(lines) == 1, (row, table)
    return lines[0].strip().removeprefix(row).split()


def test_run_prints_the_counts(p5lab):
    status, out, err = p5lab("run", "tests", "--no-build", "--jobs", "1")
    assert status == 0
    assert "[1/2] call, toy, p90-premiere2: ok in " in err
    # One column shows the calls. The other column shows the counts per load at the last point of
    # the curve.
    assert cells(out, "iterations") == ["3", "1"]
    # 100, 110 and 120 cycles, after subtraction of the 5 cycles of the empty bracket.
    assert cells(out, "busy cycles") == ["110", "8"]
    assert (cells(out, "lowest")[0], cells(out, "highest")[0]) == ("100", "120")
    assert cells(out, "microseconds") == ["1.222", "0.08889"]
    assert cells(out, "instructions") == ["40", "1"]
    assert cells(out, "CPI (busy)") == ["2.75", "8"]
    assert cells(out, "data reads") == ["6", "1"]
    assert cells(out, "data writes") == ["2", "0"]
    assert cells(out, "interrupts, clock") == ["0.3333", "0"]
    assert cells(out, "kernel share") == ["0.5455", "0"]
    # The curve has 2 and 8 cycles per load.
    assert cells(out, "512 B")[0] == "2"
    assert cells(out, "1 KB")[0] == "8"


def test_the_columns_of_the_issue_are_all_there(p5lab):
    _, out, _ = p5lab("run", "tests", "--no-build", "--all-tables")
    for name in (
        "busy cycles",
        "idle cycles",
        "microseconds",
        "instructions",
        "CPI (busy)",
        "data reads",
        "data writes",
        "read misses/reference",
        "write misses/reference",
        "I-cache misses",
        "ITLB misses",
        "DTLB misses",
        "L2 misses",
        "segment loads",
        "interrupts, clock",
        "interrupts, other",
        "kernel share",
        "ring crossings",
        "asynchronous",
        "CR3 loads, changed",
        "CR3 loads, unchanged",
        "mode changes",
    ):
        assert f"\n  {name} " in out or f"\n {name} " in out, name


def test_a_trace_is_named(p5lab, lab, monkeypatch):
    monkeypatch.chdir(lab.root)
    status, _, err = p5lab(
        "run", "tests", "--no-build", "--workload", "call", "--trace", "crossings"
    )
    assert status == 0
    *_, shown, traced = err.splitlines()
    assert re.fullmatch(r"Traced: results/tests/(\w{16})/crossings\.jsonl", traced)
    assert shown == f"Crossings: `./p5lab show {traced[22:30]} --crossings`"
    assert "call, toy, p90-premiere2, trace of crossings" in " ".join(
        p5lab("list", "runs")[1].split()
    )
    assert "Traced" not in p5lab("run", "tests", "--no-build")[2]


def test_second_run_says_that_it_is_there(p5lab):
    p5lab("run", "tests", "--no-build")
    status, out, err = p5lab("run", "tests", "--no-build")
    assert status == 0
    assert err.count("already stored") == 2
    assert cells(out, "busy cycles") == ["110", "8"]


def test_a_guest_that_gives_up_is_reported_with_its_last_output(p5lab, lab):
    reason = "the guest program aborted with code 1"
    end = {"type": "end", "status": "failed", "reason": reason}
    events = {"call": [call_events()[0], end]}
    lab.behave(exit=3, events=events, output="the disk has no X server\n")
    status, _, err = p5lab("run", "tests", "--no-build", "--workload", "call")
    assert status == 1
    assert "aborted with code 1: last output: the disk has no X server (logs:" in err


def test_a_failed_run_is_reported_last_and_makes_the_status_1(p5lab, lab):
    lab.behave(events={"chase": chase_events(), "call": call_events(status=2)}, output="oops\n")
    status, out, err = p5lab("run", "tests", "--no-build", "--jobs", "1")
    assert status == 1
    assert err.splitlines()[-1].startswith(
        "p5lab: call, toy, p90-premiere2: failed: call ended with status 2 in the guest: oops"
        f" (logs: {lab.results}/tests/"
    )
    assert "1 KB" in out  # the results of successful runs are still printed


def test_show_by_prefix(p5lab, lab):
    p5lab("run", "tests", "--no-build")
    name = next(path.name for path in lab.results.glob("tests/*"))
    status, out, _ = p5lab("show", name[:5])
    assert status == 0
    assert name in out
    assert "sha256" in out
    assert "counts per load" in out or "busy cycles" in out


def test_show_a_failed_run_lists_its_logs(p5lab, lab):
    lab.behave(events={}, exit=9, stderr="[bold]boom[/bold]\x1b[31m")
    p5lab("run", "tests", "--no-build", "--workload", "call")
    name = next(path.name for path in lab.results.glob("tests/*"))
    status, out, _ = p5lab("show", name)
    assert status == 0
    assert "failed engine ended with status 9: [bold]boom[/bold]\\x1b[31m" in " ".join(out.split())
    assert "serial.log" in out
    assert "\x1b" not in out


def test_show_has_the_order_of_the_experiment(p5lab, lab):
    path = lab.root / "configs/experiments/tests.toml"
    head, call, chase = path.read_text().split("[[run]]")
    path.write_text(f"{head}[[run]]{chase}[[run]]{call}")
    p5lab("run", "tests", "--no-build")
    shown = p5lab("show", "tests", "--format", "csv")[1]
    assert shown.index("chase") < shown.index("call")
    name = next(path.name for path in lab.results.glob("tests/*"))
    assert re.search(r"^engine +sha256 [0-9a-f]+\.\.\.", p5lab("show", name)[1], re.MULTILINE)


def test_explain_names_the_command_that_makes_its_runs(p5lab):
    wanted = "./p5lab run tests --cpi"
    status, _, err = p5lab("explain", "tests", "toy", "toy")
    assert (status, err) == (2, f"p5lab: tests has no results: run `{wanted}` first\n")
    p5lab("run", "tests", "--no-build")
    status, _, err = p5lab("explain", "tests", "toy", "p133-triton")
    every = f"{wanted} --guest toy --machine p133-triton"
    assert (status, err.count(f"`{every} --seed 0-4` first")) == (2, 1)
    assert f"`{every}` first" in p5lab("explain", "tests", "toy", "p133-triton", "--single")[2]
    swept = p5lab("explain", "tests", "l2.size=64K", "l2.size=1M", "--single")[2]
    assert f"`{wanted} --sweep l2.size=64K,1M` first" in swept
    status, _, err = p5lab("explain", "tests", "toy", "tox")
    assert (status, err) == (2, "p5lab: tests: unknown system 'tox'; did you mean 'toy'?\n")
    status, _, err = p5lab("show", "tests", "--cpi")
    assert (status, err.count(wanted)) == (2, 1)


def test_show_the_crossings_of_a_traced_run(p5lab, lab):
    p5lab("run", "tests", "--no-build", "--workload", "call")
    directory = next(iter(lab.results.glob("tests/*")))
    status, _, err = p5lab("show", directory.name, "--crossings")
    assert status == 2
    command = "./p5lab run tests --trace crossings"
    assert f"expected a run with --trace crossings, as `{command}` makes it" in err
    registers = {"instructions": 1, "cr3": [1, 1], "eax": 41, "ebx": 0}
    lines = [
        {"kind": "begin", "phase": 7, "tsc": 100},
        {"kind": "int", "vector": 0x80, "tsc": 110, "ring": [3, 0], **registers},
        {"kind": "iret", "vector": None, "tsc": 1130, "ring": [0, 3], **registers},
        {"kind": "end", "phase": 7, "tsc": 1135},
    ]
    trace = "".join(json.dumps(line) + "\n" for line in lines)
    (directory / "crossings.jsonl").write_text(trace)
    status, out, _ = p5lab("show", directory.name, "--crossings")
    assert status == 0
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "7: services of a typical bracket" in rows
    assert "dup 1 1,020 2 0" in rows
    assert "kernel 1,020 IRET to program" in rows


def test_a_program_is_run_and_its_name_is_only_text(p5lab, lab, tmp_path):
    mine = tmp_path / "[red]a.out"
    mine.write_bytes(test_program.elf())
    lab.behave(events={"@program": call_events()})
    arguments = ("run", "--program", str(mine), "--args", "[/x] -n", "--guest", "toy")
    status, out, err = p5lab(*arguments, "--no-build")
    assert (status, lab.starts()) == (0, ["@program [/x] -n"])
    assert "[red]a.out [/x] -n, toy, p90-premiere2: ok" in err
    assert cells(out, "busy cycles") == ["110"]
    assert "[red]a.out [/x] -n" in " ".join(p5lab("list", "runs")[1].split())
    name = next(path.name for path in lab.results.glob("program/*"))
    assert "program [red]a.out [/x] -n" in " ".join(p5lab("show", name)[1].split())
    assert p5lab(*arguments, "--no-build")[2].count("already stored") == 1
    mine.write_bytes(test_program.elf() + b"1")  # compiled anew
    assert p5lab(*arguments, "--no-build")[2].count(": ok in") == 1


def test_show_a_damaged_run(p5lab, lab):
    p5lab("run", "tests", "--no-build", "--workload", "call")
    directory = next(iter(lab.results.glob("tests/*")))
    (directory / "run.json").write_text("{}")
    assert "run.json is damaged" in p5lab("show", directory.name)[1]
    assert "run.json is damaged" in " ".join(p5lab("list", "runs")[1].split())


@pytest.mark.parametrize("is_empty", [False, True])
def test_a_view_says_which_runs_it_leaves_out(p5lab, lab, is_empty):
    lab._put("configs/claims.toml", "schema_version = 1\n")
    p5lab("run", "tests", "--no-build")
    lost, _ = sorted(lab.results.glob("tests/*"))
    (lost / "run.json").unlink()
    if is_empty:
        (lost / "run.json").touch()
    query = ("query", "SELECT sum(value) FROM counts")
    for command in (("show", "tests"), ("report", "tests"), query):
        status, _, err = p5lab(*command)
        assert status == 0
        (said,) = [line for line in err.splitlines() if "left out" in line]
        assert lost.name in said
        assert "`./p5lab run tests`" in said
        with store.locked(lost):  # a process works in it
            assert "left out" not in p5lab(*command)[2]


def test_list(p5lab, lab):
    p5lab("run", "tests", "--no-build")
    status, out, _ = p5lab("list")
    assert status == 0
    for text in ("tests", "p90-premiere2", "a guest that is not there", "a chase", "ok"):
        assert text in out
    assert "a guest" not in p5lab("list", "machines")[1]
    first, second = store.all_runs(lab)
    for newest, started in ((first, "2100"), (second, "2101")):
        store.write(newest.directory, {**newest.record, "started": started})
        *_, last = json.loads(p5lab("list", "runs", "--json")[1])["runs"]
        assert last["run"] == newest.id
        assert p5lab("list", "runs")[1].split("\n")[-3].split()[0] == newest.id[:10]


@pytest.mark.parametrize(
    ("kind", "file", "good"),
    [
        ("machines", "configs/machines/broken.toml", "p90-premiere2"),
        ("experiments", "configs/experiments/broken.toml", "tests"),
        ("guests", "guest-images/broken/guest.toml", "toy"),
        ("workloads", "workloads/micro/broken/workload.toml", "chase"),
        ("notebooks", "notebooks/broken.ipynb", "good"),
    ],
)
def test_list_shows_the_good_names_beside_a_broken_file(p5lab, lab, kind, file, good):
    _notebook(lab.root / "notebooks/good.ipynb")
    path = lab.root / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("schema_version = 1\nunknown = 1\n")
    status, out, err = p5lab("list", kind)
    assert (status, err) == (2, "")
    assert re.search(rf"^ *{good} +\w", out, re.MULTILINE)
    assert re.search(r"^ *broken +cannot be used: ", out, re.MULTILINE)
    status, out, _ = p5lab("list", kind, "--json")
    listed = {one["name"]: one for one in json.loads(out)[kind]}
    assert (status, listed["broken"]["title"]) == (2, "")
    assert "broken" in listed["broken"]["error"]
    assert "error" not in listed[good]


def _notebook(path):
    path.parent.mkdir()
    path.write_text(json.dumps({"cells": [{"source": ["# A notebook\n"]}]}))


def test_list_shows_the_programs_of_the_other_systems_beside_a_broken_list(p5lab, lab):
    for system, title in (("dos", "title = 1"), ("minix", 'title = "null"\nsource = "chen95"')):
        place = lab.root / "workloads" / system
        place.mkdir()
        (place / "programs.toml").write_text(f"schema_version = 1\n[null]\n{title}\n")
    status, out, err = p5lab("list", "programs")
    assert (status, err) == (2, "")
    assert re.search(r"^ *minix/null +null", out, re.MULTILINE)
    assert re.search(r"^ *dos +cannot be used: ", out, re.MULTILINE)


def test_help_names_every_command_and_explains_each(p5lab, lab):
    for arguments in (("help",), ("--help",)):
        status, out, _ = p5lab(*arguments)
        assert status == 0
        named = [line.split()[0] for line in out.splitlines() if line.startswith("    ")]
        assert set(parsers.names()) <= set(named)
    for command in set(parsers.names()) - {"bench"}:
        status, out, _ = p5lab("help", command)
        assert status == 0
        assert out.startswith(f"usage: p5lab {command}")
        printed = [line for line in out.splitlines() if line.startswith("  ./p5lab")]
        assert [line for line in printed if len(line) > 80] == []
    assert p5lab("--version")[1].startswith("p5lab ")


def test_every_option_is_read():
    """An option without a reader has no effect, and a user cannot see that. Kind.parse reads the
    options of the observations, and `show` those of its views."""
    code = "\n".join(path.read_text() for path in (REPO / "src/p5lab").rglob("*.py"))
    read = {name for found in re.findall(r'\bargs\.(\w+)|"(\w+)"', code) for name in found}
    read |= {option[2:] for kind in observation.KINDS for option in kind.options}
    read |= set(all_views())
    for name, command in parsers.commands_of(parsers.of_all()).items():
        unread = {one.dest for one in command._actions} - read - {"help"}
        assert unread == set(), name


def test_bench_gets_its_own_options(p5lab, lab, monkeypatch):
    (lab.root / "bench").mkdir()
    (lab.root / "bench/run.py").write_text("import sys; sys.exit(len(sys.argv))")
    assert p5lab("bench", "-n", "1")[0] == 3
    assert p5lab("help", "bench")[0] == 2


def test_keys(p5lab):
    assert "l2.size" in p5lab("keys")[1]
    some = p5lab("keys", "L2.")[1]
    assert "l2.size" in some and "l1d.size" not in some
    assert p5lab("keys", "l2.sise") == (
        2,
        "",
        "p5lab: keys: unknown machine key 'l2.sise'; did you mean 'l2.size'? (`./p5lab keys` shows"
        " all keys)\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum", "tests"], "unknown command 'rum'; did you mean 'run'?"),
        (["run", "test"], "unknown experiment 'test'; did you mean 'tests'?"),
        (["run", "./a.out"], "unknown experiment './a.out'; did you mean --program ./a.out?\n"),
        (["plan", "a b.c"], "unknown experiment 'a b.c'; did you mean --program 'a b.c'?\n"),
        (["run", "x/tests.toml"], "x/tests.toml: expected the name of an experiment"),
        (["run", "--program", "\udcff.c"], "?.c: expected a text in UTF-8\n"),
        (["notebook", "--port", "65536"], "--port: expected a number of at most 65535"),
        (["run"], "run: expected an experiment or --program FILE (see `p5lab run --help`)"),
        (
            ["run", "tests", "--program", "a.out"],
            "run: tests and --program a.out: expected one of the two",
        ),
        (["report"], "report: expected an experiment, a run, `program` or --program FILE (see"),
        (["completion", "foo"], "unknown shell 'foo'; known: bash, fish, tcsh, zsh\n"),
        (["run", "tests", "--args", "1"], "--args: expected with --program; set parameters"),
        (["run", "--program", "a.out", "--guest", "toy"], "--program a.out: no such file"),
        (["run", "tests", "--seed", "x"], "--seed: expected at most 1000 whole numbers"),
        (["run", "tests", "--engine", "boch"], "unknown engine 'boch'; did you mean 'bochs'?"),
        (["run", "tests", "--trace", "crossing"], "unknown --trace value 'crossing'; did you mean"),
        (["run", "tests", "--feedback", "maybe"], "unknown --feedback value 'maybe'; known: off, "),
        (["run", "tests", "--set", "l2.sise=1"], "--set: unknown machine key 'l2.sise'; did you"),
        # Names that are equally near.
        (
            ["run", "tests", "--set", "sise=1"],
            "--set: unknown machine key 'sise'; did you mean 'l1i.size', 'l1d.size' or 'l2.size'?",
        ),
        (["show", "x", "--ev"], "unknown option --ev; did you mean --evictions or --event?"),
        (
            ["run", "tests", "--sweep", "guest=toy,linux"],
            "--sweep: unknown machine key 'guest'; did you mean the option --guest?\n",
        ),
        (
            ["run", "tests", "--sweep", "zzzz=1,2"],
            "--sweep: unknown machine key 'zzzz'; `./p5lab keys` shows all keys\n",
        ),
        (["run", "tests", "--set", "seeds=1"], "--set: unknown machine key 'seeds'; did you"),
        (
            ["report", "nope"],
            "no run or experiment 'nope': expected the first 4 or more characters of an id that"
            " `./p5lab list runs` shows, or a name that `./p5lab list experiments` shows\n",
        ),
        (["run", "tests", "--machine", "p99"], "unknown machine 'p99'; did you mean 'p90-"),
        (["run", "tests", "--guest", "toys"], "unknown guest 'toys'; did you mean 'toy'?"),
        (["run", "tests", "--workload", "chasm"], "unknown workload 'chasm'; did you mean 'chase'"),
        (["run", "tests", "--accesses", "x"], "--accesses: expected a whole number, at least 1;"),
        (["plan", "tests", "--accesses", "5"], "--accesses: expected with --trace accesses\n"),
        (
            ["plan", "tests", "--format", "csv", "--json"],
            "argument --json: not allowed with argument --format",
        ),
        (["run", "tests", "--seeds", "3", "--seed", "1"], "argument --seed: expected one value"),
        (["run", "--program", "a", "--args", "1", "--args", "2"], "argument --args: expected one"),
        (
            ["run", "tests", "--scheduler", "no.json"],
            "--scheduler no.json: expected an address such",
        ),
        (["run", "tests", "--jobs", "0"], "--jobs: expected a whole number, at least 1; found '0'"),
        (["gc", "--max-size", "-3G"], "--max-size: expected a number with a unit, such as"),
        (["cycles", f"{'n' * 300}.s"], f"{'n' * 300}.s: "),  # the reason is the system's
        (["run", "tests", "--force", "--jobz", "2"], "unknown option --jobz; did you mean --jobs?"),
        (["run", "tests", "--sed", "0-4"], "unknown option --sed; did you mean --seed?"),
        (["run", "--sed", "0-4", "tests"], "unknown option --sed; did you mean --seed?"),
        (["run", "--machin=p90", "tests"], "unknown option --machin; did you mean --machine?"),
        (["run", "tests", "-j", "2"], "unknown option -j (see `p5lab run --help`)"),
        (["--versoin"], "unknown option --versoin; did you mean --version?"),
        (["list", "--zzz"], "unknown option --zzz (see `p5lab list --help`)"),
        (["show"], "the following arguments are required: RUN (see `p5lab show --help`)"),
        # The value of an option may look like an option. Only argparse knows what is wrong then.
        (["run", "--only", "--sed", "tests"], "argument --only: expected one argument"),
        (["list", "runs", "x"], "unrecognized arguments: x (see `p5lab list --help`)"),
        (["list", "machine"], "unknown list 'machine'; did you mean 'machines'?"),
        (["show", "abcd"], "no run 'abcd': expected the first 4 or more characters"),
    ],
)
def test_bad_input_is_one_line_and_status_2(p5lab, arguments, message):
    status, out, err = p5lab(*arguments)
    assert status == 2
    assert out == ""
    assert err.startswith(f"p5lab: {message}")
    assert err.count("\n") == 1


def test_a_file_in_the_place_of_an_experiment_is_a_program(p5lab, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").touch()
    assert p5lab("run", "mine")[2].endswith("did you mean --program mine?\n")
    (tmp_path / "yours").mkdir()
    assert "--program" not in p5lab("run", "yours")[2]


def test_a_build_that_fails_says_where(p5lab, lab):
    (lab.root / "SConstruct").write_text("print('compiling'); raise SystemExit(3)\n")
    status, _, err = p5lab("run", "tests")
    assert status == 1
    assert "build failed (scons status 3), see build/build.log" in err
    assert "compiling" in err
    assert not lab.results.exists()


def test_a_first_build_is_forecast_and_its_products_used(p5lab, lab):
    engine = lab.engine.read_bytes()
    lab.engine.unlink()
    (lab.root / "engine.src").write_bytes(engine)
    (lab.root / "build/engine/engine.json").write_text("{}")
    (lab.root / "SConstruct").write_text(
        "Command('build/engine/p5bochs', 'engine.src',"
        " Action('install -m 755 $SOURCE $TARGET', '  Bochs     $TARGET'))\n"
    )
    status, _, err = p5lab("run", "tests")
    assert status == 0
    assert "To build: 1 step, about" in err
    assert "MB of disk during the build" in err
    status, _, err = p5lab("run", "tests")
    assert status == 0
    assert "To build" not in err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (2.0, "2"),
        (1234567.0, "1,234,567"),
        (1.23456, "1.235"),
        (12.3456, "12.35"),
        (123.456, "123.5"),
        (0.012345, "0.01235"),
        (-4.0, "-4"),
        (float("nan"), "-"),
        (0.999999, "1"),
        (0.000001, "0"),
        (110.0, "110"),
    ],
)
def test_numbers(value, text):
    assert tables.number(value) == text


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "1.2345678", ""])
def test_the_moment_of_a_power_cut_is_a_number_of_seconds(lab, capsys, seconds):
    assert cli.main(["run", "tests", f"--power-cut={seconds}", "--no-build"], lab) == 2
    assert "--power-cut: expected a number of seconds, such as 1.25" in capsys.readouterr().err


def test_a_run_that_ends_before_its_first_bracket_has_no_row(lab, capsys):
    """A power cut can come so early that a run has only had empty brackets."""
    lab.behave(events={"call": call_events(iterations=0)})
    assert cli.main(["run", "tests", "--workload", "call", "--no-build"], lab) == 0
    assert cli.main(["show", "tests", "--format", "csv"], lab) == 0
    assert "call" not in capsys.readouterr().out


def test_a_power_cut_needs_a_disk_and_the_embedded_engine(lab, capsys):
    cut = ["run", "tests", "--power-cut", "1.5", "--no-build"]
    assert cli.main([*cut, "--set", "disk.count=0"], lab) != 0
    assert "--power-cut: expected a machine with disks" in capsys.readouterr().err
    assert cli.main([*cut, "--engine", "gem5"], lab) == 2
    assert (
        "--power-cut: expected with the engine bochs, which supports it" in capsys.readouterr().err
    )


def python(*words, first="", **options):
    """Executes Python in a process of its own, with the directory `first` before all packages."""
    paths = f"{first}:{os.environ['PYTHONPATH']}"
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": paths.removeprefix(":")},
        text=True,
        **{"stderr": subprocess.PIPE, **options},
    )


@pytest.mark.parametrize("module", ["pathlib", "rich"])  # the first modules load pathlib
def test_ctrl_c_while_p5lab_starts(tmp_path, module):
    (tmp_path / f"{module}.py").write_text("raise KeyboardInterrupt\n")
    done = python("-m", "p5lab", "list", first=tmp_path)
    assert (done.returncode, done.stderr) == (130, "p5lab: stopped\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("list",), ("keys", "--json")])
def test_an_output_without_space(words):
    with Path("/dev/full").open("w") as full:
        done = python("-m", "p5lab", *words, stdout=full)
    assert (done.returncode, done.stderr) == (1, "p5lab: the output: No space left on device\n")


@pytest.fixture
def unread():
    """A pipe whose reader has ended."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_reader_that_ends_first_changes_nothing_else(tmp_path, unread, stream):
    """As in `./p5lab run ... | head -1` and `./p5lab run ... 2>&1 | head -1`."""
    done = tmp_path / "done"
    program = (
        "import pathlib, sys\n"
        "from p5lab.host import closed_pipe\n"
        "closed_pipe.allow()\n"
        f"for line in range(10000): print('a line of text', file=sys.{stream})\n"
        f"sys.{stream}.flush()\n"
        f"pathlib.Path({str(done)!r}).touch()\n"
        "sys.exit(3)\n"
    )
    ended = python("-c", program, **{stream: unread})
    assert (ended.returncode, done.exists()) == (3, True)


@pytest.mark.parametrize(
    ("words", "statuses"), [(("p5lab", "keys"), {0}), (("p5lab.host.doctor", "--json"), {0, 1})]
)
def test_commands_are_quiet_if_their_reader_ends_first(unread, words, statuses):
    ended = python("-m", *words, stdout=unread)
    assert ended.stderr == ""
    assert ended.returncode in statuses


def test_two_views_of_a_run_are_refused(p5lab):
    for words in ("--cpi --timeline", "--calls --modes", "--cpi --calls", "--by ring --calls"):
        status, out, err = p5lab("show", "0000", *words.split())
        options = [word for word in words.split() if word.startswith("--")]
        assert (status, out) == (2, "") and all(option in err for option in options)
