# SPDX-License-Identifier: MIT
"""`whatif`: which changes are tried, and how their gains are shown."""

import io
import json

import pytest
from rich.console import Console

from p5lab.describe import machine
from p5lab.lab import Lab
from p5lab.present import what_if
from p5lab.present.what_if import Change, Effect, Effects


@pytest.fixture(scope="module")
def board():
    return machine.load(Lab.here(), "p90-premiere2")


def names(board):
    return {one.name for one in what_if.changes(board)}


def test_changes_differ_from_the_machine(board):
    for change in what_if.changes(board):
        changed = board.with_set(dict(change.settings), "test").canonical("engine")
        own = board.canonical("engine")
        assert any(changed[key] != own[key] for key in change.settings), change.name


def test_a_machine_is_changed_only_in_what_it_has(board):
    assert {"ideal.memory=true", "l2.ways=2", "l1d.write_allocate=true"} <= names(board)
    assert "ideal.network=true" not in names(board)  # it has no network card
    already = board.with_set({"l1d.write_allocate": "true", "ideal.btb": "true"}, "test")
    assert {"ideal.btb=true", "l1d.write_allocate=true"}.isdisjoint(names(already))


def test_shadows_are_the_changes_with_misses(board):
    found = what_if.changes(board)
    shadows = {one.name: one.settings for one in what_if.shadows(found)}
    assert shadows["l2.size=524288"] == {"l2.size": "524288"}
    assert "btb.entries=512" not in shadows and "ideal.l2=true" not in shadows


def effects(**most):
    every = (
        Effect(Change({"l2.ways": "2"}, (), ("l2_read_misses",)), most["a"], 0.25, 30.0),
        Effect(Change({"ideal.btb": "true"}, ()), most["b"], None, 70.0),
        Effect(Change({"l1i.ways": "4"}, ()), most["c"], 0.0),
    )
    return Effects("dup", "linux p90-premiere2", 1000.0, every)


def test_a_change_that_can_gain_nothing_is_not_tried():
    found = [effects(a=10.0, b=9.0, c=0.0), effects(a=0.0, b=0.0, c=500.0)]
    assert [one.name for one in what_if.worth_trying(found[:1])] == ["l2.ways=2"]
    assert {one.name for one in what_if.worth_trying(found)} == {"l2.ways=2", "l1i.ways=4"}


def test_the_largest_gain_is_first():
    file = io.StringIO()
    what_if.show(Console(file=file, width=100), [effects(a=10, b=10, c=0)], "table")
    text = file.getvalue()
    assert text.index("ideal.btb=true") < text.index("l2.ways=2") < text.index("l1i.ways=4")
    assert "7.0" in text and "25%" in text
    file = io.StringIO()
    what_if.show(Console(file=file), [effects(a=10, b=10, c=0)], "json")
    rows = json.loads(file.getvalue())["rows"]
    assert [(row["change"], row["gain"]) for row in rows] == [
        ("ideal.btb=true", 70.0),
        ("l2.ways=2", 30.0),
        ("l1i.ways=4", None),
    ]
