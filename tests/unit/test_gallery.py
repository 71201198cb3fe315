# SPDX-License-Identifier: MIT
"""The gallery: its commands, its record, its figures and its page belong together."""

import copy
import xml.etree.ElementTree as ElementTree

import pytest
from fakelab import REPO

from p5lab.cli import parser as parsers
from p5lab.cli import request
from p5lab.describe import experiment
from p5lab.evidence import gallery, records
from p5lab.lab import Lab
from p5lab.page import gallery_figures as drawing
from p5lab.prepare import prepare

LAB = Lab(REPO)
EFFECTS = gallery.effects(LAB)
BYTES = 80_000  # of one file


@pytest.fixture(scope="module")
def record():
    return records.load(REPO, gallery.NAME)


def test_there_are_ten_effects_with_two_sentences():
    assert len({one.name for one in EFFECTS}) == 10
    for one in EFFECTS:
        assert one.text.count(". ") + one.text.count(": ") >= 1, one.name
        assert one.text.endswith("."), one.name


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda one: one.name)
def test_the_command_makes_the_runs_of_the_figure(effect):
    _, *words = effect.command.split()
    args = parsers.of_one(words[0]).parse_args(words)
    args.words = words
    assert args.experiment in experiment.names(LAB)
    asked = prepare(LAB, request.of(args, LAB)).runs
    assert asked
    wanted = prepare(LAB, effect.request).runs
    assert [one.label for one in asked] == [one.label for one in wanted]


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda one: one.name)
def test_the_record_has_the_marks_of_the_figure(effect, record):
    marks = record[effect.name]
    assert len(marks) > 2
    for row, series, mean, lowest, highest in marks:
        assert row or "" in effect.names
        assert bool(series) == bool(effect.series)
        assert 0 < lowest <= mean <= highest
    if effect.only:
        assert list(dict.fromkeys(mark[0] for mark in marks)) == list(effect.only)
    shown = {mark[1] if effect.series else mark[0] for mark in marks}
    assert set(effect.names) <= shown
    if effect.axis:
        for series in {mark[1] for mark in marks}:
            points = [gallery.point(mark[0]) for mark in marks if mark[1] == series]
            assert points == sorted(points)


def test_the_figures_follow_from_the_record():
    changed = [name for name, differs in drawing.update(LAB, check=True) if differs]
    assert changed == [], "./p5lab docs --no-runs"
    names = {path.stem for path in (REPO / gallery.PLACE).iterdir()}
    assert names == {*(one.name for one in EFFECTS), "overview"}


def test_a_changed_number_changes_its_figure_and_the_overview(record, monkeypatch):
    other = copy.deepcopy(record)
    other["pairing"][0][2] += 1
    monkeypatch.setattr(records, "load", lambda root, name: other)
    changed = [name for name, differs in drawing.update(LAB, check=True) if differs]
    assert [name.rpartition("/")[2] for name in changed] == ["pairing.svg", "overview.svg"]


def test_figures_are_small_and_only_drawn():
    for path in (REPO / gallery.PLACE).iterdir():
        assert path.stat().st_size < BYTES
        tags = {one.tag.rpartition("}")[2] for one in ElementTree.parse(path).iter()}
        assert tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "title"}


def test_the_first_page_begins_with_the_picture():
    text = (REPO / "README.md").read_text(encoding="utf-8")
    picture = text.index(f"({gallery.PLACE}/overview.svg)")
    assert picture < text.index("\n## ")
