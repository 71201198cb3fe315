# SPDX-License-Identifier: MIT
"""`explain` of labels: the runs of a label are one system, whose numbers are means over seeds."""

import pytest
from fakelab import END, HEADER, snapshot
from test_program import elf

import p5lab as functions
from p5lab.cli import main as cli
from p5lab.describe.markers import WHOLE_PHASE

NAMES = ["cycles.busy", "cycles.idle", "cpi.pairs", "cpi.code.l2", "instructions"]


@pytest.fixture
def run(lab, tmp_path, capsys):
    """Runs a program with this name, which waits `cycles` for code, once with each seed."""

    def execute(name, label, *cycles, words=("--cpi",)):
        path = tmp_path / name
        path.write_bytes(elf(segments=((1, name.encode()),)))
        given = ["run", "--program", str(path), "--guest", "toy", "--no-build", *words]
        for seed, waits in enumerate(cycles):
            counts = [20 + waits, 0, 20, waits, 40]
            lab.behave(
                events={
                    "@program": [
                        {**HEADER, "events": NAMES, "units": ["cycles"] * 4 + ["events"]},
                        snapshot("begin", WHOLE_PHASE, [0], []),
                        snapshot("end", WHOLE_PHASE, counts, []),
                        END,
                    ]
                }
            )
            labelled = ["--label", label] if label else []
            assert cli.main([*given, *labelled, "--seed", str(seed)], lab) == 0
        capsys.readouterr()

    return execute


def waits_for_code(table):
    row = table[table["component"] == "cpi.code.l2"].iloc[0]
    return row[["first", "second", "difference", "lowest", "highest"]].tolist()


def test_the_runs_of_a_label_are_one_system(lab, here, run, p5lab):
    run("a", "base", 10, 14, 18)
    run("b", "new", 30, 32)
    assert waits_for_code(functions.explain("base", "new", single=True)) == [14, 31, 17, 12, 22]
    status, out, _ = p5lab("explain", "base", "new", "--single")
    assert status == 0
    assert "new: b takes 17.0 busy cycles more than base: a: 51.0 instead of 34.0" in out
    said = p5lab("compare", "base", "new")[1]
    assert "new: b takes 1.50 times the busy cycles of base: a: 17.0 more" in said
    status, _, err = p5lab("explain", "base", "new")
    assert status == 2 and "5 or more placement seeds for each system, found 2" in err


def test_a_word_is_a_label_or_an_id(lab, here, run, p5lab):
    run("a", "base", 10, 14)
    run("a", "", 40, words=("--cpi", "--set", "l2.size=128K"))
    table = functions.load("program", keys=["l2.size"])
    (plain,) = table[table["l2.size"] == 128 << 10]["run"].unique()
    assert waits_for_code(functions.explain("base", plain, single=True)) == [12, 40, 28, 26, 30]
    out = p5lab("explain", "base", plain, "--single")[1]
    assert "a l2.size=128K takes 28.0 busy cycles more than base: a" in out
    assert p5lab("compare", "base", plain)[0] == 0  # one has a label, and the other has none


def test_a_label_of_several_versions_or_systems_is_refused(lab, here, run, p5lab):
    run("a", "base", 10, 14)
    run("join", "base", 10)
    run("b", "new", 30)
    run("b", "new", 30, words=("--cpi", "--feedback", "off"))
    for words, what in ((("base", "new"), "(a)"), (("new", "base"), "(b)")):
        status, _, err = p5lab("explain", *words, "--single")
        assert status == 2 and len(err.splitlines()) == 1
        assert f"{words[0]}: " in err and what in err and "--only TEXT" in err
    run("join2", "after", 50)
    run("d", "after", 90)
    found = functions.explain("base", "after", only="join", single=True)
    assert waits_for_code(found)[:2] == [10, 50]


def test_runs_without_a_stack_are_left_out_or_named(lab, here, run, p5lab):
    run("a", "base", 10, 14)
    run("a", "base", 99, 99, 99, words=())
    run("b", "new", 30, words=())
    status, _, err = p5lab("explain", "base", "new", "--single")
    assert status == 2 and "has no CPI stack" in err and "--label new --cpi" in err
    run("b", "newer", 30)
    table = functions.explain("base", "newer", single=True)
    assert waits_for_code(table)[0] == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("base", "base"), "expected two different runs"),
        (("base",), "expected two runs or labels"),
        (("base", "other"), "no run or experiment 'other'"),
        (("base", "tests"), "tests"),
    ],
)
def test_words_that_are_no_two_systems(lab, run, p5lab, words, message):
    run("a", "base", 10, 14)
    status, _, err = p5lab("explain", *words, "--single")
    assert status == 2 and message in err and len(err.splitlines()) == 1
