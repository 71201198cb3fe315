# SPDX-License-Identifier: MIT
"""Ideal parts: the machines of --ideal, and the cost of each part."""

import io

import pytest
from rich.console import Console

from p5lab.describe import experiment, ideal, machine, sweep
from p5lab.describe.request import Filter
from p5lab.engines.gem5 import parameters
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.present import ideal_parts
from p5stats import cpi


def machines(text):
    """The sets of ideal parts that --ideal makes."""
    return [
        ideal.of({**point.machine, **point.optional}) for point in sweep.points(ideal.parse(text))
    ]


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


@pytest.mark.parametrize(
    ("settings", "without"),
    [
        ({}, {"network"}),
        ({"net.card": "ne2000"}, set()),
        ({"disk.count": "0"}, {"disk", "network"}),
        ({"ideal.l2": "false"}, {"l2", "network"}),
    ],
)
def test_each_means_the_parts_that_a_machine_has(settings, without):
    choice = Filter(
        workloads=("getpid",),
        guests=("linux",),
        sweeps=ideal.parse("each"),
        settings=tuple(settings.items()),
    )
    sets = [ideal.of(run.machine.overlay) for run in experiment.load(Lab.here(), "smoke", choice)]
    has = frozenset(ideal.PARTS) - without
    assert len(sets) == len(set(sets)) == 2 * len(has) + 2
    assert set(sets) == {
        frozenset(),
        has,
        *(frozenset({part}) for part in has),
        *(has - {part} for part in has),
    }


@pytest.mark.parametrize("part", ["disk", "network"])
def test_a_part_that_the_machine_does_not_have_is_refused(part):
    bare = machine.load(Lab.here(), "p90-premiere2").with_set({"disk.count": "0"}, "--set")
    with pytest.raises(UserError, match=rf"ideal\.{part} = true: expected false, because"):
        bare.with_set({f"ideal.{part}": "true"}, "--set")


def test_a_part_that_no_machine_has_is_refused():
    p90 = machine.load(Lab.here(), "p90-premiere2")
    with_disk = p90.with_set({"ideal.disk": "true"}, "test")
    ideal.check("disk", [p90, with_disk])
    ideal.check("each", [p90])
    ideal.check("", [])
    with pytest.raises(UserError, match="--ideal network: no machine of these runs has this part"):
        ideal.check("disk, network", [p90, with_disk])


def test_the_table_has_the_stack_beside_the_costs(monkeypatch):
    sets = {frozenset(): 1000.0, frozenset({"l1i"}): 700.0, frozenset({"disk"}): 400.0}
    one = ideal_parts.Cost("read", "linux p90", sets, {"l1i": 320.0})
    monkeypatch.setattr(ideal_parts, "costs", lambda runs: [one])
    file = io.StringIO()
    ideal_parts.show(Console(file=file, width=100), [], "table")
    rows = {line.split()[0]: line.split() for line in file.getvalue().splitlines() if line.strip()}
    assert rows["l1i"][:5] == ["l1i", "320", "32.0", "300", "30.0"]
    assert rows["disk"][:5] == ["disk", "-", "-", "600", "60.0"]
    assert "stack: the cycles" in file.getvalue()


def test_the_components_of_a_part_exist():
    known = {name for group in cpi.GROUPS.values() for name in group}
    assert set(ideal_parts.COMPONENTS) == set(ideal.PARTS) - {"disk", "network"}
    assert known.issuperset(name for names in ideal_parts.COMPONENTS.values() for name in names)


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
    assert rows["cycles"][-1] == "1,000"
    assert rows["with"][-1] == "550"
    file = io.StringIO()
    ideal_parts.show(Console(file=file), [], "csv")
    assert file.getvalue().splitlines()[1] == "dup,linux p90,l1i,1000.0,,300.0,50.0"


def test_runs_without_ideal_parts_are_refused():
    with pytest.raises(UserError, match="expected runs with --ideal"):
        ideal_parts.show(Console(file=io.StringIO()), [], "table")
    assert ideal.of({"l2.size": "256K"}) == ideal.PLAIN  # a record of an older version


def test_gem5_has_no_ideal_parts():
    board = machine.load(Lab.here(), "p90-premiere2")
    parameters.derive(board.values)
    with pytest.raises(UserError, match=r"ideal\.btb: gem5 has no ideal parts"):
        parameters.derive(board.with_set({"ideal.btb": "true"}, "--set").values)
