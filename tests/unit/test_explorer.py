# SPDX-License-Identifier: MIT
"""`p5lab.explore`: the printed Python line of each figure makes the same data."""

import shutil
from html.parser import HTMLParser

import pytest
from test_dimensions import is_call
from test_dimensions import stored as stored  # a run with counts by function, mode and interval

import p5lab as lab_functions
from p5lab.errors import UserError
from p5lab.keep import store
from p5lab.present.breakdown_table import KINDS_OF_VALUE

PLACES = dict(zip(KINDS_OF_VALUE, (2, 4, 3), strict=True))


def drawn(line):
    return eval(line, {"p5lab": lab_functions}).data


@pytest.fixture
def found(here, results_by_size):
    """The figures of a benchmark with two sizes of the L2, side by side."""
    shutil.copytree(results_by_size, here.results, dirs_exist_ok=True)
    runs = [one.id for one in store.all_runs(here, "tests") if is_call(one)]
    return lab_functions.explore(runs[:2])


def test_the_line_makes_the_marks_of_the_figure(found):
    """For figures of all dimensions and systems, in each kind of value."""
    assert {one.dimension for one in found.figures} >= {"ring", "space", "iteration"}
    kinds, last = set(), {(one.dimension, one.system): one for one in found.figures}
    assert len({one.system for one in found.figures}) == 3
    for one in last.values():
        series = list(dict.fromkeys(mark[1] for mark in one.marks))
        for kind in KINDS_OF_VALUE if len(series) > 1 else KINDS_OF_VALUE[:1]:
            marks = [
                (mark[1], mark[PLACES[kind]])
                for mark in one.marks
                if mark[PLACES[kind]] is not None and (kind == "absolute" or mark[1] != series[0])
            ]
            if not marks:
                continue
            data = drawn(one.python(kind))
            own = list(zip(data["series"], data["value"], strict=True))
            assert sorted(own) == sorted(marks), one.python(kind)
            kinds.add(kind)
    assert kinds == set(KINDS_OF_VALUE)


def test_the_dimensions_are_those_that_the_runs_counted(here, stored):
    found = lab_functions.explore(stored.id)
    assert {"ring", "function", "module", "interval"} <= {one.dimension for one in found.figures}
    assert "call" not in {one.dimension for one in found.figures}
    (by_function,) = (
        one for one in found.figures if (one.dimension, one.metric) == ("function", "busy cycles")
    )
    assert dict(zip(drawn(by_function.line)["row"], drawn(by_function.line)["value"], strict=True))
    assert {mark[0]: mark[2] for mark in by_function.marks} == {"sys_dup": 60, "main": 55}


class Parts(HTMLParser):
    """The attributes of the elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_needs_no_other_file(found, tmp_path):
    found.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    parts = Parts(text).found
    assert not [one for one in parts if {"src", "href"} & set(one[1])]
    (policy,) = (one["content"] for tag, one in parts if one.get("http-equiv"))
    assert "default-src 'none'" in policy and "connect-src" not in policy
    assert text == found.page()  # the same runs give the same bytes
    (frame,) = Parts(found._repr_html_()).found
    assert frame[0] == "iframe" and frame[1]["srcdoc"] == text
    with pytest.raises(UserError, match="nowhere"):
        found.save(tmp_path / "nowhere" / "page.html")


def test_a_library_that_is_missing_is_one_line(here, monkeypatch):
    def refuse(group):
        raise UserError(f"{group}: pip install")

    monkeypatch.setattr("p5lab.packages.ensure", refuse)
    with pytest.raises(UserError, match="report: pip install"):
        _ = lab_functions.explore


def test_wrong_words_are_one_line(p5lab, found, here, tmp_path):
    with pytest.raises(UserError, match="testz"):
        lab_functions.explore("testz")
    output = ("--output", str(tmp_path / "page.html"))
    run = store.all_runs(here, "tests")[0].id
    assert p5lab("report", run, "--explore", *output)[0] == 0
    assert "Benchmark" in (tmp_path / "page.html").read_text(encoding="utf-8")
    for words in (("--by", "ring"), ("--seed", "1")):
        status, _, err = p5lab("report", "tests", "--explore", *words, *output)
        assert status == 2 and err.count("\n") == 1
    table = lab_functions.by(run, "ring")
    with pytest.raises(UserError, match="kind"):
        lab_functions.plot(table, kind="rato")
    with pytest.raises(UserError, match="table of by"):
        lab_functions.plot(lab_functions.load(run), kind="ratio")
