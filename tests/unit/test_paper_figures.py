# SPDX-License-Identifier: MIT
"""Figures for a paper: `p5lab plot`, and `p5lab.plot` with a width and a font size."""

import re
import struct
import xml.etree.ElementTree as ElementTree

import pandas as pd
import pytest
from fakelab import END, HEADER, snapshot
from test_program import elf

import p5lab
from p5lab.cli import main as cli
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.errors import UserError
from p5lab.present import figure_size

WIDTH = ("--width", "3.3in", "--font-size", "8")
POINTS = 3.3 * 72


@pytest.fixture
def versions(here, tmp_path):
    """Makes the runs of two programs with one label, and returns their names."""
    for number, name in enumerate(("a", "b")):
        begin = snapshot("begin", WHOLE_PHASE, [500, 0, 100], [10, 0, 5])
        stop = snapshot("end", WHOLE_PHASE, [900 + number, 0, 180], [90, 0, 45])
        here.behave(events={"@program": [HEADER, begin, stop, END]})
        (tmp_path / name).write_bytes(elf(segments=((1, name.encode()),)))
        run = p5lab.run(program=tmp_path / name, guest="toy", build=False)["run"].iloc[0]
        assert cli.main(["label", run, "join"], here) == 0
    return ["a", "b"]


@pytest.mark.parametrize(
    ("width", "points"), [("3.3in", 237.6), ("84mm", 238.11), ("8.4 cm", 238.11), ("240pt", 240)]
)
def test_a_width_has_a_unit(width, points):
    found = figure_size.parse(width, None, "plot")
    assert found.width == pytest.approx(points, abs=0.01)
    assert found.font_size == figure_size.FONT_SIZE


@pytest.mark.parametrize(
    ("width", "font", "expected"),
    [
        ("3.3", None, "width '3.3': expected"),
        ("-3in", None, "width '-3in': expected"),
        ("0in", None, "width '0in': expected"),
        ("900in", None, "width '900in': expected"),
        ("3in", 0.5, "font size 0.5: expected"),
        ("3in", float("nan"), "font size nan: expected"),
        (None, 8, "expected with a width"),
    ],
)
def test_a_wrong_size_is_one_line(sweep, width, font, expected):
    with pytest.raises(UserError, match=re.escape(expected)):
        p5lab.plot(sweep, width=width, font_size=font)


def test_files_have_the_width_of_the_column(sweep, tmp_path):
    p5lab.plot(sweep, x="l2.size", width="3.3in").save(tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.get("width") == f"{POINTS:g}pt"
    scale = POINTS / float(root.get("viewBox").split()[2])
    assert scale == pytest.approx(8 / 12, abs=0.01)  # letters of 12 units have 8 points
    p5lab.plot(sweep, x="l2.size", width="3.3in").save(tmp_path / "a.pdf")
    box = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ", (tmp_path / "a.pdf").read_bytes())
    assert float(box[1]) == pytest.approx(POINTS, abs=0.1)
    p5lab.plot(sweep, x="l2.size", width="3.3in").save(tmp_path / "a.png")
    pixels = struct.unpack(">I", (tmp_path / "a.png").read_bytes()[16:20])[0]
    assert pixels == pytest.approx(3.3 * 300, abs=1)


def test_larger_letters_leave_less_space(sweep):
    small, large = (p5lab.plot(sweep, width="3.3in", font_size=size) for size in (6, 12))
    assert (small.width, large.width) == pytest.approx((2 * POINTS, POINTS))


def test_a_figure_has_a_title_only_if_one_is_given(sweep):
    assert "title" not in p5lab.plot(sweep, width="3.3in").to_dict()
    assert p5lab.plot(sweep, width="3.3in", title="a").to_dict()["title"] == "a"


def test_the_command_draws_what_the_function_draws(here, sweep, tmp_path, capsys):
    p5lab.plot(sweep, width="3.3in", font_size=8).save(tmp_path / "function.svg")
    assert cli.main(["plot", "tests", "--output", str(tmp_path / "command.svg"), *WIDTH], here) == 0
    assert "command.svg" in capsys.readouterr().out
    texts = [(tmp_path / f"{name}.svg").read_text() for name in ("function", "command")]
    assert texts[0] == texts[1]
    assert "nan" not in texts[0].lower()


def test_a_swept_parameter_can_be_the_axis(here, tmp_path, capsys):
    words = ["run", "tests", "--workload", "chase", "--sweep", "parameters.loads=5,20"]
    assert cli.main([*words, "--no-build"], here) == 0
    path = tmp_path / "loads.svg"
    words = ["plot", "tests", "--x", "parameters.loads", "--output", str(path)]
    assert cli.main(words, here) == 0, capsys.readouterr().err
    assert "X-axis titled 'parameters.loads'" in path.read_text()


def test_versions_of_a_program_are_named_and_compared(here, versions, tmp_path):
    path = tmp_path / "join.svg"
    assert cli.main(["plot", "join", "--ratio", "--output", str(path), *WIDTH], here) == 0
    assert "b / a" in path.read_text()
    table = p5lab.load("join")
    assert set(table["label"]) == {"join"}
    assert list(table["program"].unique()) == versions
    compared = p5lab.compare(p5lab.measure(table, "cycles"))
    assert list(compared["against"].unique()) == ["program=a"]
    first, second = compared["ratio"]
    assert first == 1 < second
    assert list(compared)[:4] == ["workload", "phase", "parameters", "program"]


def test_a_list_of_runs_is_a_table(here, versions):
    ids = list(p5lab.load("join")["run"].unique())
    assert list(p5lab.load(ids)["run"].unique()) == ids
    with pytest.raises(UserError, match="expected with the name of an experiment"):
        p5lab.load(ids, own=True)


def test_a_saved_table_keeps_the_labels(here, versions, tmp_path):
    from p5stats import tidy

    table = p5lab.load("join")
    tidy.save(tmp_path / "join.parquet", table)
    assert set(p5lab.load(tmp_path / "join.parquet")["label"]) == {"join"}


def test_variants_have_ratios(here):
    variants = {"as it is": {}, "write allocate": {"l1d.write_allocate": True}}
    table = p5lab.run("tests", workload="call", variants=variants, build=False)
    compared = p5lab.compare(p5lab.measure(table, "cycles"))
    assert list(compared["against"].unique()) == ["l1d.write_allocate=False"]
    compared = p5lab.compare(p5lab.measure(table, "cycles"), variant="as it is")
    assert compared["ratio"].tolist() == [1, 1]


def test_two_references_are_named_with_a_way_to_keep_one(here, sweep, monkeypatch, capsys):
    from p5lab.api import tables

    first, *_ = sweep["run"].unique()
    both = pd.concat([sweep, sweep.assign(run=sweep["run"] + "x")])
    monkeypatch.setattr(tables, "load", lambda words: both)
    assert cli.main(["plot", "tests", "--ratio", "--output", "a.pdf"], here) == 2
    text = capsys.readouterr().err
    assert text.startswith("p5lab: plot --ratio: ")
    assert f"{first}, {first}x" in text
    assert "ids or labels" in text
    assert "keep one" not in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--output", "a.gif"], "expected a name with .pdf, .svg, .png"),
        (["--output", "a.pdf", "--width", "3"], "width '3': expected"),
        (["--output", "a.pdf", "--font-size", "8"], "expected with a width"),
        (["--output", "a.pdf", "--ratio", "--cpi"], "--ratio: expected without --cpi"),
        (["--output", "a.pdf", "--workload", "cal"], "did you mean 'call'"),
        (["--output", "a.pdf", "--metric", "cyles"], "unknown metric"),
        (["--output", "nowhere/a.pdf"], "expected a directory nowhere; there is none"),
    ],
)
def test_bad_input_is_one_line(here, sweep, capsys, words, expected):
    assert cli.main(["plot", "tests", *words], here) in (1, 2)
    assert expected in capsys.readouterr().err


def test_exported_figures_take_a_size(here, sweep, tmp_path, capsys):
    p5lab.run("tests", build=False)
    here._put("configs/claims.toml", "schema_version = 1\n")
    export = tmp_path / "figures"
    words = ["report", "tests", "--output", str(tmp_path / "a.html")]
    assert cli.main([*words, *WIDTH], here) == 2
    assert "--width, --font-size: expected with --export" in capsys.readouterr().err
    assert cli.main([*words, "--export", str(export), *WIDTH], here) == 0
    roots = [ElementTree.parse(path).getroot() for path in export.glob("*.svg")]
    assert roots
    assert {root.get("width") for root in roots} == {f"{POINTS:g}pt"}
