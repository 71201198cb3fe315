# SPDX-License-Identifier: MIT
"""Figures of counts by dimension: rows beside each other for all systems, on a page and alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import test_program
from fakelab import END, HEADER, snapshot, written

from p5lab.describe.markers import WHOLE_PHASE
from p5lab.keep import store
from p5lab.keep.store import Stored
from p5lab.page import charts, divided_figure, svg
from p5lab.page.run_figures import functions
from p5lab.present.breakdown import BreakdownQuestion, BreakdownRow, BreakdownTable, SeedGroup
from p5lab.present.column import Column

CYCLES = Column("busy cycles", "cycles", False)
EVENTS = ["cycles.busy", "instructions"]
RECORD = {
    "workload": {"operation": "call", "curve": "", "operations": 1},
    "guest": {"name": "toy", "clock_vector": 48},
}


def table(by, rows, systems=1):
    """A table with these busy cycles of each row, or None for a row that a system lacks."""
    named = [
        SeedGroup(name, (Stored(Path(name), RECORD | {"run": name}),))
        for name in ("before", "after", "other")[:systems]
    ]
    counts = [
        BreakdownRow(key, tuple(None if n is None else {"cycles.busy": float(n)} for n in own))
        for key, own in rows.items()
    ]
    return BreakdownTable(
        "dup", "dup", BreakdownQuestion(by), tuple(named), (CYCLES,), tuple(counts)
    )


def test_functions_of_one_run_are_bars():
    rows = {("dup<b>", "linux", "0"): (40,), ("main", "/bin/dup", "3"): (2,)}
    figure = divided_figure._figure(table(("function", "module", "ring"), rows), None)
    assert dict(zip(figure.frame["benchmark"], figure.frame["value"], strict=True)) == {
        "dup<b>, linux, ring 0": 40,
        "main, /bin/dup, ring 3": 2,
    }
    assert figure.runs == ("before",) and "before" in figure.title
    assert "dup&lt;b&gt;" in svg.panel(charts.panels(figure)[0])


def test_systems_stand_beside_each_other_and_new_rows_say_so():
    rows = {("a",): (1, 90), ("b",): (None, 20), ("c",): (10, None), ("d",): (5, 5)}
    figure = divided_figure._figure(table(("function",), rows, 2), 3)
    assert figure.form == "groups" and figure.series == ["before", "after"]
    values = {
        (row["benchmark"], row["series"]): row["value"] for row in figure.frame.to_dict("records")
    }
    assert values["a", "after"] == 90 and values["(1 others)", "before"] == 5
    assert {"b (new)", "c (gone)"} <= {name for name, _ in values}
    assert values["c (gone)", "after"] != values["c (gone)", "after"]
    (panel,) = charts.panels(figure)
    assert "b (new), after: 20 cycles" in panel.description.replace(", dup", "")
    both = {("a",): (None, 3, None), ("b",): (1, None, None), ("c",): (1, None, 2)}
    figure = divided_figure._figure(table(("function",), both, 3), None)
    assert set(figure.frame["benchmark"]) == {"a (new)", "b (gone)", "c"}


def test_a_large_sum_of_others_is_a_sentence_and_makes_no_bar_small():
    rows = {("a",): (10, 90), ("b",): (9, 20), ("c",): (300, 290), ("d",): (200, None)}
    figure = divided_figure._figure(table(("function",), rows, 2), 2)
    assert set(figure.frame["benchmark"]) == {"a", "b"}
    assert "The sum of the 2 others is 500 (before) and 290 (after) cycles." in figure.caption[0]


def test_the_caption_says_only_what_is_true():
    (said,) = divided_figure._figure(table(("function",), {("a",): (1,)}), None).caption
    assert "add up" in said and "value comes first" in said
    chosen = table(("function",), {("a",): (1,)})
    chosen = replace(chosen, question=replace(chosen.question, where={"ring": ("0",)}))
    (said,) = divided_figure._figure(chosen, None).caption
    assert "add up" not in said and "ring=0" in said
    ratio = Column("CPI (busy)", "cycles/instruction", False)
    asked = BreakdownQuestion(("function",), metrics=(ratio,))
    rows = {("tiny",): (9, 1), ("hot",): (30, 10)}
    counts = [
        BreakdownRow(key, ({"cycles.busy": float(a), "instructions": float(b)},))
        for key, (a, b) in rows.items()
    ]
    of_ratio = replace(table(("function",), {}), question=asked, rows=tuple(counts))
    figure = divided_figure._figure(of_ratio.ordered((ratio,)), None)
    assert list(figure.frame["benchmark"]) == ["hot", "tiny"]
    assert "add up" not in figure.caption[0] and "dividend" in figure.caption[0]


def test_iterations_are_a_curve():
    rows = {(str(number),): (number * 10,) for number in range(4)}
    figure = divided_figure._figure(table(("iteration",), rows), None)
    assert (figure.form, list(figure.frame["point"])) == ("curve", [0, 1, 2, 3])
    assert charts.panels(figure)
    figure = divided_figure._figure(table(("iteration",), rows), 2)
    assert list(figure.frame["point"]) == [0, 1]  # the sum of the others is no point


def test_a_line_has_its_text():
    texts = {"/home/x/a.c": "\n  i = <b>;\n"}
    assert functions._line(texts, "line", "a.c:2") == "a.c:2: i = <b>;"
    assert functions._line(texts, "line", "a.c:7") == "a.c:7"


@pytest.fixture
def two(p5lab, lab, tmp_path):
    """Two programs of the user with counts by function, whose modules have their names."""
    lab._put("configs/claims.toml", "schema_version = 1\n")
    files = []
    for number, name in enumerate(("first", "second")):
        files.append(tmp_path / name)
        files[-1].write_bytes(test_program.elf() + name.encode())
        begin = snapshot("begin", WHOLE_PHASE, [0, 0, 0], [0, 0, 0])
        stop = snapshot("end", WHOLE_PHASE, [0, 0, 0], [90 + number, 0, 45])
        lab.behave(events={"@program": [HEADER, begin, stop, END]})
        program = ("--program", str(files[-1]), "--guest", "toy", "--no-build")
        assert p5lab("run", *program)[0] == 0
        (stored,) = (one for one in store.all_runs(lab) if one.record["program"]["name"] == name)
        node = {"type": "node", "id": 1, "parent": 0, "function": 1, "cr3": 0, "ring": 3}
        lines = [
            {"type": "header", "schema_version": 1, "stacks": False, "events": EVENTS},
            {"type": "function", "id": 1, "name": "main", "module": name},
            {**node, "entrance": 0},
            {"type": "counts", "phase": WHOLE_PHASE, "node": 1, "counts": [90 + number, 45]},
            {"type": "end"},
        ]
        written(stored.directory / "attribution.jsonl", lines)
    return lab, files


def test_two_programs_have_one_figure_of_functions(p5lab, two):
    lab, files = two
    assert p5lab("report", "program")[0] == 0
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert text.count("by function, module, ring") == 1
    assert "main, program, ring 3" in text and "(gone)" not in text
    words = ("--program", *map(str, files), "--guest", "toy")
    assert p5lab("report", *words, "--by", "function", "--metric", "cycles")[0] == 0
    text = (lab.results / "program.html").read_text(encoding="utf-8")
    assert text.index("by function, for one run") < text.index("<h3>Ratios")


def test_report_divides_what_stored_runs_counted(p5lab, two):
    lab, _ = two
    status, out, _ = p5lab("report", "program", "--by", "function", "--json")
    assert (status, json.loads(out)["missing"]) == (0, [])
    written_by_the_first = (lab.results / "program.html").read_text(encoding="utf-8")
    status, _, err = p5lab("report", "program", "--by", "call")
    assert status == 2 and "--by call" in err and err.count("\n") == 1
    status, _, err = p5lab("report", "program", "--by", "call,part")
    assert status == 2 and "exclude each other" in err
    status, _, err = p5lab("report", "program", "--where", "ring=0")
    assert status == 2 and "--by" in err
    status, _, err = p5lab("report", "program", "--by", "function", "--where", "function=nope")
    assert status == 2 and "nope" in err
    assert written_by_the_first == (lab.results / "program.html").read_text(encoding="utf-8")
