# SPDX-License-Identifier: MIT
"""What the notebooks of the lab courses share (notebooks/course.py)."""

import sys

import pytest
from fakelab import REPO

sys.path.insert(0, str(REPO / "notebooks"))
from course import Course

HINTS = ["the first hint", "the second hint"]


@pytest.fixture
def course(tmp_path):
    return Course("Group 1 / A", tmp_path)


def said(capsys):
    return capsys.readouterr().out


def test_a_check_gives_hints_in_steps_and_not_the_answer(course, capsys):
    course.predict(cycles=(300, "a reason"))
    course.check("cycles", None, 4321.5, hints=HINTS)
    assert "write your answer" in said(capsys)
    shown = []
    for answer in (1, 1, 2, 3):
        course.check("cycles", answer, 4321.5, hints=HINTS)
        shown.append(said(capsys))
    assert [text.count("hint") for text in shown] == [2, 2, 4, 4]  # "hint 1 of 2: the first hint"
    assert "4321" not in "".join(shown)
    course.check("cycles", 4300, 4321.5, hints=HINTS)
    assert "fits" in said(capsys)


def test_a_prediction_needs_a_reason_and_stays_after_the_measurement(course, capsys):
    course.predict(cycles=(300, None))
    assert "reason" in said(capsys)
    course.predict(cycles=(300, "a reason"))
    assert said(capsys) == ""
    course.predict(cycles=(100, "I saw it"))  # nothing was checked yet
    assert "first prediction stays" in said(capsys)
    course.check("cycles", 100, 100)
    row = course.results().loc["cycles"]
    assert (row["predicted"], row["answer"], row["reason"]) == (300, 100, "a reason")
    assert row["answer / predicted"] == round(100 / 300, 2)


def test_a_prediction_after_the_measurement_is_marked(course, capsys):
    course.predict(cycles=(None, None), misses=(4, "a reason"))
    course.predict(cycles=(100, "I saw it"), misses=(4, "a reason"))
    assert "| cycles | 100 (after the measurement) |" in course.file.read_text()
    assert "| misses | 4 |" in course.file.read_text()
    again = Course(course.group, course.file.parent)
    again.predict(cycles=(100, "I saw it"))
    assert "(after the measurement)" in again.file.read_text()


def test_a_result_is_shown_only_if_it_fits(course):
    course.predict(cycles=(300, "a reason"))
    course.check("cycles", 200, 100)
    assert course.results().loc["cycles", "answer"] == ""


def test_the_file_to_hand_in(course, tmp_path):
    course.predict(cycles=(300, "a | reason"))
    course.check("cycles", 90, 100, 1.2)
    path = course.program("sum.c", "int main(void) {}")
    course.explain("lesson", "")  # nothing is noted
    assert path.read_text() == "int main(void) {}"
    text = (tmp_path / "hand-in-group-1-a.md").read_text()
    assert "| cycles | 300 | 90 | 1 | a / reason |" in text
    assert "## sum.c" in text and "## lesson" not in text


def test_a_question_without_a_prediction_is_named(course, capsys):
    course.predict(cycles=(None, None))
    said(capsys)
    course.check("cycles", 90, 100)
    assert "no prediction" in said(capsys)
    course.check("never asked", 100, 100)
    assert "no prediction" not in said(capsys)


@pytest.mark.parametrize("answer", ["365", "4K", True])
def test_an_answer_that_is_no_number_is_not_counted(course, capsys, answer):
    course.check("cycles", answer, 365, hints=HINTS)
    assert "number without quotes" in said(capsys)
    assert not course.questions["cycles"].checked


def test_a_prediction_that_is_no_pair_gets_the_form(course, capsys):
    course.predict(cycles=100)
    assert '100, "because' in said(capsys)


def test_the_work_goes_on_after_a_restart(course, tmp_path):
    course.predict(cycles=(300, "a reason"))
    course.check("cycles", 90, 100)
    course.check("cycles", 100, 100)
    course.explain("lesson", "measure")
    before = course.file.read_text()
    again = Course("Group 1 / A", tmp_path)
    again.predict(cycles=(100, "I knew it"))
    assert again.file.read_text() == before
