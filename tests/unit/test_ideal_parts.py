# SPDX-License-Identifier: MIT
"""Ideal parts: the machines of --ideal, and the cost of each part."""

import io

import pytest
from rich.console import Console

from p5lab.describe import ideal, machine, sweep
from p5lab.engines.gem5 import parameters
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.present import ideal_parts


def machines(text):
    """The sets of ideal parts that --ideal makes."""
    return [ideal.of(point.machine) for point in sweep.points(ideal.parse(text))]


def test_each_part_is_ideal_alone_and_real_alone():
    found = machines("each")
    every = frozenset(ideal.PARTS)
    assert len(found) == len(set(found)) == 2 * len(ideal.PARTS) + 2
    assert found[0] == ideal.PLAIN
    for part in ideal.PARTS:
        assert {part} in found
        assert every - {part} in found
    assert every in found


def test_two_parts_make_four_machines():
    assert set(machines("l1i,dtlb")) == {
        frozenset(),
        frozenset({"l1i"}),
        frozenset({"dtlb"}),
        frozenset({"l1i", "dtlb"}),
    }
    assert set(machines("btb")) == {frozenset(), frozenset({"btb"})}
    assert ideal.parse("") == ()
    with pytest.raises(UserError, match="--ideal"):
        ideal.parse("l1i,tlb")


def cost(**cycles):
    """A cost, with the parts of each set separated by `_`."""
    sets = {frozenset(filter(None, name.split("_"))): value for name, value in cycles.items()}
    return ideal_parts.Cost("dup", "linux p90", sets)


def test_a_part_can_cost_more_alone_than_last():
    one = cost(**{"": 100.0, "l1i": 70.0, "l2": 60.0, "l1i_l2": 55.0})
    assert one.parts == ("l1i", "l2")
    assert (one.alone("l1i"), one.last("l1i")) == (30.0, 5.0)
    assert (one.alone("l2"), one.last("l2")) == (40.0, 15.0)
    only = cost(**{"": 100.0, "l1i_l2": 55.0})
    assert (only.alone("l1i"), only.last("l1i")) == (None, None)


def test_the_table_shows_both_costs(monkeypatch):
    one = cost(**{"": 1000.0, "l1i": 700.0, "l2": 600.0, "l1i_l2": 550.0})
    monkeypatch.setattr(ideal_parts, "costs", lambda runs: [one])
    file = io.StringIO()
    ideal_parts.show(Console(file=file, width=100), [], "table")
    rows = {line.split()[0]: line.split() for line in file.getvalue().splitlines() if line.strip()}
    assert rows["l1i"] == ["l1i", "300", "30.0", "50.0", "5.0"]
    assert rows["busy"][-1] == "1,000"
    assert rows["with"][-1] == "550"
    file = io.StringIO()
    ideal_parts.show(Console(file=file), [], "csv")
    assert file.getvalue().splitlines()[1] == "dup,linux p90,l1i,1000.0,300.0,50.0"


def test_runs_without_ideal_parts_are_refused():
    with pytest.raises(UserError, match="expected runs with --ideal"):
        ideal_parts.show(Console(file=io.StringIO()), [], "table")
    assert ideal.of({"l2.size": "256K"}) == ideal.PLAIN  # a record of an older version


def test_gem5_has_no_ideal_parts():
    board = machine.load(Lab.here(), "p90-premiere2")
    parameters.derive(board.values)
    with pytest.raises(UserError, match=r"ideal\.btb: gem5 has no ideal parts"):
        parameters.derive(board.with_set({"ideal.btb": "true"}, "--set").values)
