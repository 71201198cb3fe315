# SPDX-License-Identifier: MIT
"""Versions of a program side by side: how they are named, and why one needs more cycles."""

import subprocess
from pathlib import Path

import pytest
from test_explain import DRAM, PAIRS
from test_program import elf

from p5lab.cli import main as cli
from p5lab.describe.observation import Cpi
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.errors import UserError
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.prepare import prepare, revision
from p5lab.prepare.program import _names
from p5lab.present import explanation
from p5lab.present.cpi_stack import Stack

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")


def asked(*names, **more):
    return [UserProgram(Path(name), **more) for name in names]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (("a.c", "b.c"), ["a.c", "b.c"]),
        (("v1/join.c", "v2/join.c"), ["v1/join.c", "v2/join.c"]),
        (("x/v1/join.c", "x/v2/join.c", "x/v2/a.c"), ["v1/join.c", "v2/join.c", "a.c"]),
        (("v1/src/join.c", "v2/src/join.c"), ["v1/src/join.c", "v2/src/join.c"]),
        (("join.c@HEAD~1", "join.c"), ["join.c@HEAD~1", "join.c"]),
        (("guest:/bin/sort", "guest:/usr/bin/sort"), ["guest:/bin/sort", "guest:/usr/bin/sort"]),
    ],
)
def test_a_name_has_the_part_of_the_path_that_differs(files, names):
    assert _names(asked(*files)) == names


def test_a_program_that_is_named_twice_is_refused():
    with pytest.raises(UserError, match=r"b\.c: named twice"):
        _names(asked("a.c", "b.c", "b.c"))
    flags = [UserProgram(Path("a.c"), cflags=text) for text in ("-O1", "-O2")]
    assert _names(flags) == ["a.c", "a.c"]  # the options follow in the title


def test_the_programs_of_a_command_line_become_versions(tmp_path, capsys, monkeypatch):
    found = []
    monkeypatch.setattr(
        "p5lab.cli.commands.run.prepare", lambda lab, request: found.append(request) or stop()
    )

    def stop():
        raise UserError("stop")

    lab = Lab.here()
    program = ("run", "--program")
    cli.main([*program, "a.c", "b.c", "--program", "c.c", "--args", "-n 3"], lab)
    assert [(str(one.path), one.arguments) for one in found[0].what] == [
        ("a.c", "-n 3"),
        ("b.c", "-n 3"),
        ("c.c", "-n 3"),
    ]
    cli.main([*program, "a.c", "--cflags=-g", "--sweep", "cflags=-O1,-O2"], lab)
    assert [one.cflags for one in found[1].what] == ["-g -O1", "-g -O2"]
    assert not found[1].choice.sweeps
    cli.main([*program, "a.c", "--cflags", "-O1", "--cflags", "-O3"], lab)
    assert [one.cflags for one in found[2].what] == ["-O1", "-O3"]
    capsys.readouterr()
    assert cli.main([*program, "a.c", "smoke"], lab) == 2
    assert "smoke is an experiment" in capsys.readouterr().err
    assert cli.main(["run", "smoke", "--sweep", "cflags=-O1,-O2"], lab) == 2
    assert "--sweep cflags: expected with --program" in capsys.readouterr().err


def test_versions_count_the_stack_and_equal_ones_share_a_run(lab, tmp_path):
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file, text in zip(files, (b"1", b"2", b"1"), strict=True):
        file.write_bytes(elf() + text)
    what = tuple(UserProgram(file) for file in files)
    runs = prepare(lab, Request(what, Filter(guests=("toy",)))).runs
    assert [run.called for run in runs] == ["a = c", "b"]
    assert all(run.observation.get(Cpi) for run in runs)
    (alone,) = prepare(lab, Request(what[0], Filter(guests=("toy",)))).runs
    assert not alone.called and not alone.observation


def test_a_revision_of_a_file(tmp_path, fake_root):
    def git(*words):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True, capture_output=True)

    source, header = tmp_path / "src/a.c", tmp_path / "src/a.h"
    source.parent.mkdir()
    git("init")
    for text in ("first", "second"):
        source.write_text(text)
        header.write_text(f"header of {text}")
        git("add", ".")
        git("commit", "-m", text)
    file, wanted = revision.divided(f"{source}@HEAD~1")
    found = revision.checked_out(fake_root, file, wanted)
    assert (found.read_text(), found.with_name("a.h").read_text()) == ("first", "header of first")
    assert source.read_text() == "second"
    for name, why in (
        (f"{source}@HEAD~9", "no work tree of git with a revision 'HEAD~9'"),
        (f"{source.parent}/b.c@HEAD", "revision HEAD has no such file"),
    ):
        with pytest.raises(UserError, match=why):
            revision.checked_out(fake_root, *revision.divided(name))
    odd = tmp_path / "a@b.c"
    odd.write_text("")
    assert revision.divided(str(odd)) == (odd, "")


@pytest.fixture
def fake_root(tmp_path):
    return Lab(tmp_path / "lab")


def record(name, digest="1234", experiment="program"):
    return {
        "experiment": experiment,
        "label": f"{name}, linux, p90",
        "workload": {"name": "program", "operation": "run", "operations": 1},
        "identity": {"digests": {"program": digest}},
        "guest": {"name": "linux"},
        "machine": {"name": "p90", "geometry": ""},
        "request": {},
    }


def stored(*arguments, **more):
    return Stored(Path("/nowhere"), record(*arguments, **more))


def test_stored_runs_of_different_programs_are_versions():
    def names(*runs):
        return [selection.called(one.record) for one in selection.as_versions(runs)]

    assert names(stored("a.c", "11"), stored("b.c", "22")) == ["a.c", "b.c"]
    assert names(stored("a.c", "1111"), stored("a.c", "2222")) == ["a.c [1111]", "a.c [2222]"]
    assert names(stored("a.c"), stored("a.c")) == ["", ""]
    assert names(stored("a.c"), stored("dup", experiment="smoke")) == ["", ""]


def explained(*seeds):
    """An explanation of two versions. `seeds`: for each version, the cycles of PAIRS and DRAM with
    each seed."""
    stacks = [
        tuple(
            Stack(
                Stored(Path("/nowhere"), record(name) | {"seed": seed}),
                "whole",
                {(PAIRS, 3, ""): pairs, (DRAM, 3, ""): dram},
                10,
            )
            for seed, (pairs, dram) in enumerate(own)
        )
        for name, own in zip(("a.c", "b.c"), seeds, strict=True)
    ]
    return explanation._explained("program", ("a.c", "b.c"), *stacks)


def test_the_largest_causes_in_words():
    first, *causes = explanation.in_brief(explained([(100, 50)], [(90, 260)]))
    assert "b.c takes 2.33 times the busy cycles of a.c: 200 more" in first
    assert "range" not in first
    assert causes[0].startswith("+210 (105 %) data.dram: waits for data from DRAM")
    assert causes[1].startswith("-10.0 (-5 %) pairs: ")
    (small,) = explanation.in_brief(explained([(1000, 500)], [(980, 515)]))
    assert explanation.NOT_LISTED in small  # as `explain` says
    (same,) = explanation.in_brief(explained([(100, 50)], [(100, 50)]))
    assert "same number" in same


def test_seeds_tell_whether_the_difference_is_more_than_chance():
    apart = explanation.in_brief(explained([(100, 50), (110, 50)], [(120, 90), (130, 90)]))
    assert "do not overlap" in apart[0]
    mixed = explanation.in_brief(explained([(100, 50), (150, 90)], [(120, 90), (130, 90)]))
    assert "the ranges over the seeds overlap" in mixed[0]
