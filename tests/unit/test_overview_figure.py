# SPDX-License-Identifier: MIT
"""The first figure of a page that compares systems, and what is folded behind it."""

import re

import pytest
from test_explain import DRAM, PAIRS, explained
from test_page import Document

from p5lab.keep import selection
from p5lab.page import answer, charts, document, overview_figure, results
from p5lab.present.comparison import Comparison


def compared(lab):
    shown = results.of_stored(selection.groups(lab, ["tests"])).shown
    return Comparison(sorted(shown, key=lambda one: one.record["guest"]["name"] != "toy"))


def test_each_benchmark_has_its_ratio_in_the_colour_of_its_largest_component(two, monkeypatch):
    found = compared(two)
    (figure,) = overview_figure.of(found, [])
    rows = figure.frame.set_index("benchmark")
    assert rows["value"]["call"] == pytest.approx(2)
    assert rows["series"]["call"] == overview_figure.UNKNOWN and "--cpi" in figure.caption[0]
    small = rows.drop(index="call")["series"]
    assert set(small) == {overview_figure.SMALL}
    one = explained([{(PAIRS, 0, ""): 100.0}], [{(PAIRS, 0, ""): 110.0, (DRAM, 0, ""): 90.0}])
    monkeypatch.setattr(answer, "explained", lambda *_: one)
    (figure,) = overview_figure.of(found, [])
    row = figure.frame.set_index("benchmark").loc["call"]
    assert (row["series"], row["why"]) == ("waits for data", "data.dram")
    (panel,) = charts.panels(figure)
    assert "2 times, mostly data.dram" in panel.description


def test_the_answer_names_the_part_with_the_largest_cause(two, monkeypatch):
    found = compared(two)
    whole = explained([{(PAIRS, 0, ""): 100.0}], [{(PAIRS, 0, ""): 110.0, (DRAM, 0, ""): 90.0}])
    parts = {(PAIRS, 0, "f"): 110.0, (DRAM, 0, "copy"): 60.0, (DRAM, 0, "f"): 30.0}
    placed = explained([{(PAIRS, 0, "f"): 100.0}], [parts])
    monkeypatch.setattr(answer, "explained", lambda *words: placed if words[5:] else whole)
    said = answer.of(found, [])
    assert len(said) == 3
    assert "2.00 times" in said[1] and "data.dram" in said[2]
    assert re.search(r"67 % of it in copy", said[2])


def test_of_many_systems_the_answer_names_the_lowest_and_the_highest(two):
    found = compared(two)
    means = {f"system {one}": 1 + one / 10 for one in range(answer.FEW)}
    assert all(name in answer._takes(found, "toy", means) for name in means)
    more = answer._takes(found, "toy", {**means, "slow": 9.0, "fast": 0.5})
    assert "0.50" in more and "fast" in more and "9.00" in more and "slow" in more
    assert not any(name in more for name in means)


def test_the_answer_names_what_the_first_system_has_not_run(two, monkeypatch):
    found = compared(two)
    lost = next(one for one in found.questions if one.what == "call")
    assert len(answer.of(found, [])) < 4
    monkeypatch.delitem(found._cells, (lost, found.systems[0]))
    (said,) = [text for text in answer.of(found, []) if "no ratio" in text]
    assert "call" in said and "toy" in said


def test_many_figures_are_folded_behind_the_overview(p5lab, two, monkeypatch):
    words = ("report", "tests", "--guest", "toy", "--guest", "slower")
    assert p5lab(*words)[0] == 0
    assert 'class="figure"' not in (two.results / "tests.html").read_text(encoding="utf-8")
    monkeypatch.setattr(document, "FLAT", 1)
    assert p5lab(*words)[0] == 0
    text = (two.results / "tests.html").read_text(encoding="utf-8")
    first = text.index('<figure id="ratios">')
    assert first < text.index('<details class="figure"')
    assert text.count("<details") == text.count("</details>")
    assert "At a glance" in Document(text).texts
