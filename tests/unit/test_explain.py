# SPDX-License-Identifier: MIT
"""CPI stacks: the sum of the components, the tables, and the explanation of a difference."""

import io
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from p5lab.cli.commands import explain as command
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.page import charts, svg, waterfall_figure
from p5lab.present import breakdown, cpi_stack, explanation, two_systems
from p5lab.present.cpi_stack import Stack
from p5stats import StatsError, cpi

DRAM, PAIRS, WAITS = "cpi.data.dram", "cpi.pairs", "cpi.code.l2"


def tidy_table(*brackets):
    """A tidy table of brackets: (phase, {ring: {event: count}})."""
    iterations: dict[str, int] = {}
    rows = []
    for phase, rings in brackets:
        iteration = iterations.setdefault(phase, 0)
        iterations[phase] += 1
        rows += [
            (phase, iteration, ring, event, value)
            for ring, counts in rings.items()
            for event, value in counts.items()
        ]
    return pd.DataFrame(rows, columns=["phase", "iteration", "ring", "event", "value"])


def counts(**values):
    """Counts of components, with their sum as busy cycles."""
    found = {f"cpi.{name.replace('__', '.')}": value for name, value in values.items()}
    return {**found, "cycles.busy": sum(values.values()), "instructions": 10}


def test_the_components_must_add_up_to_the_busy_cycles():
    cpi.check("line 7", counts(pairs=3, data__dram=4))
    cpi.check("line 7", {"cycles.busy": 3, "instructions": 2})  # a run without --cpi
    wrong = {**counts(pairs=3), "cycles.busy": 4}
    with pytest.raises(StatsError, match=r"line 7: .* add up to 3 cycles, and cycles.busy is 4"):
        cpi.check("line 7", wrong)


def test_every_declared_component_is_requested_by_the_option():
    declared = cpi.declared.events()
    asked = [event for event in declared.values() if event.when]
    assert [event.name for event in asked] == list(cpi.components())
    assert {(event.when, event.unit, event.depends) for event in asked} == {
        ("--cpi", "cycles", "clocks")
    }
    assert len(cpi.components()) > 30
    assert sorted(one for group in cpi.GROUPS.values() for one in group) == sorted(cpi.components())
    for name in cpi.components():
        assert f"`{name}`" in cpi.reference()


@pytest.mark.parametrize("busy", [[5], [5, 9], [9, 5, 7], [5, 7, 9, 5]])
def test_the_sum_stays_exact_without_the_empty_bracket(busy):
    """The components of the empty bracket differ from bracket to bracket."""
    empties = [
        ("empty", {3: counts(pairs=2, code__l2=cycles - 2 - at, data__dram=at)})
        for at, cycles in enumerate(busy)
    ]
    work = [
        ("call", {3: counts(pairs=20, data__dram=7), 0: counts(pairs=100 + at, code__l2=13)})
        for at in range(2)
    ]
    found = cpi.stack(tidy_table(*empties, *work))
    assert set(found["phase"]) == {"call"}
    for ring in (0, 3):
        own = found[found["ring"] == ring].set_index("event")["value"]
        parts = sum(value for event, value in own.items() if event.startswith("cpi."))
        assert parts == pytest.approx(own["cycles.busy"])
    median = float(pd.Series(busy).median())
    total = found[found["event"] == "cycles.busy"]["value"].sum()
    assert total == pytest.approx(27 + 113.5 - median)


def test_a_run_without_components_is_refused():
    table = tidy_table(("call", {3: {"cycles.busy": 3, "instructions": 2}}))
    with pytest.raises(StatsError, match="expected a run with --cpi"):
        cpi.stack(table)


def stored(guest="linux", run="a" * 16, seed=0):
    record = {
        "run": run,
        "label": f"dup, {guest}, p90, CPI stack",
        "guest": {"name": guest},
        "machine": {"name": "p90", "geometry": ""},
        "seed": seed,
        "workload": {"operation": "call"},
    }
    return Stored(Path("results") / run, record)


def stack(cycles, instructions=100.0, guest="linux", **more):
    return Stack(stored(guest, **more), "dup", cycles, instructions)


def printed(show, *things, width=100, form="table"):
    file = io.StringIO()
    show(Console(file=file, width=width), *things, form)
    return file.getvalue()


def test_the_table_of_one_run_has_a_column_for_each_ring(monkeypatch):
    one = stack(
        {(PAIRS, 3, ""): 20.0, (PAIRS, 0, ""): 60.0, (DRAM, 0, ""): 120.0, (WAITS, 0, ""): 0.4}
    )
    monkeypatch.setattr(cpi_stack, "of_run", lambda stored: [one])
    said = printed(cpi_stack.show, [one.stored])
    assert "CPI stack of dup: cycles of one call" in said
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    assert rows["pairs"] == ["pairs", "80.0", "39.9", "60.0", "20.0"]
    assert rows["data.dram"] == ["data.dram", "120", "59.9", "120", "0.0"]
    assert rows["busy"] == ["busy", "cycles", "200", "100.0", "180", "20.0"]
    assert "(1 others)" in said  # a component with less than 0.5 %
    assert "2.00" in rows["cycles/instruction"]
    csv = printed(cpi_stack.show, [one.stored], form="csv").splitlines()
    assert csv[0] == "run,phase,component,ring,cycles"
    assert f"{'a' * 16},dup,cpi.data.dram,0,120.0" in csv


def test_the_table_of_several_runs_has_columns_for_each_system(monkeypatch):
    found = {
        "linux": stack({(PAIRS, 0, ""): 100.0}),
        "mach": stack({(PAIRS, 0, ""): 100.0, (DRAM, 0, ""): 300.0}, guest="mach", run="b" * 16),
    }
    monkeypatch.setattr(cpi_stack, "of_run", lambda stored: [found[stored.record["guest"]["name"]]])
    said = printed(cpi_stack.show, [one.stored for one in found.values()])
    rows = {line.split()[0]: line.split() for line in said.splitlines() if line.strip()}
    assert rows["pairs"] == ["pairs", "100", "100.0", "100", "25.0"]
    assert rows["data.dram"] == ["data.dram", "0.0", "0.0", "300", "75.0"]
    assert "linux" in said
    assert "mach" in said


def explained(first, second):
    a = tuple(stack(one, seed=at) for at, one in enumerate(first))
    b = tuple(stack(one, 300.0, "mach", seed=at) for at, one in enumerate(second))
    return explanation._explained("dup", ("linux", "mach"), a, b)


def test_the_differences_add_up_and_the_largest_cause_is_named_first():
    found = explained(
        [{(PAIRS, 0, ""): 100.0, (DRAM, 0, ""): 10.0}],
        [{(PAIRS, 0, ""): 150.0, (PAIRS, 3, ""): 5.0, (DRAM, 0, ""): 410.0}],
    )
    assert sum(cause.difference for cause in found.causes) == 455.0
    assert [cause.component for cause in found.named] == [DRAM, PAIRS]
    assert found.named[1].rings == {0: 50.0, 3: 5.0}
    said = explanation.in_words(found)
    assert said.startswith(
        "dup: mach takes 455 busy cycles more than linux: 565 instead of 110 (5.14 times)."
    )
    assert "executes 3.00 times the instructions, and needs 1.88 cycles for each instead of" in said
    # 200 additional instructions, at 1.1 cycles each, are 220 of 455 cycles.
    assert "At 1.10 cycles each, the additional instructions are 220 cycles, 48 % of the" in said
    assert "By kind: waits for data 88 %, pairs and single instructions 12 %." in said
    assert "By ring: ring 0 99 %." in said  # ring 3 has one percent
    assert "The largest cause is data.dram: +400 cycles (88 %)." in said
    table = printed(explanation.show, [found])
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line.strip()}
    assert rows["pairs"] == ["100", "155", "+55.0", "12", "11"]
    assert rows["busy"] == ["cycles", "110", "565", "+455", "100", "99"]
    assert rows["instructions"] == ["100", "300", "+200"]
    assert explanation.SPREAD not in table  # one seed has no range


def test_a_cause_whose_range_includes_zero_is_not_named():
    found = explained(
        [{(PAIRS, 0, ""): 100.0, (DRAM, 0, ""): value} for value in (10.0, 900.0)],
        [{(PAIRS, 0, ""): 150.0, (DRAM, 0, ""): value} for value in (800.0, 910.0)],
    )
    assert [cause.component for cause in found.named] == [PAIRS]
    (dram,) = [cause for cause in found.causes if cause.component == DRAM]
    assert (dram.low, dram.high) == (-100.0, 900.0)
    table = printed(explanation.show, [found])
    assert explanation.SPREAD in table
    (pairs,) = [cause for cause in found.causes if cause.component == PAIRS]
    assert pairs.spread == 0.0
    assert dram.spread == 500.0  # the mean difference is 400
    same = explained([{(PAIRS, 0, ""): 100.0}, {(PAIRS, 0, ""): 130.0}], [{(PAIRS, 0, ""): 120.0}])
    assert same.named == ()
    assert "No component differs for certain" in explanation.in_words(same)


def test_runs_of_one_seed_have_no_ranges():
    """Such runs differ in their labels."""
    systems = [
        [stack({(PAIRS, 0, ""): cycles}, guest=guest, seed=4) for _ in range(2)]
        for guest, cycles in (("linux", 100.0), ("mach", 150.0))
    ]
    found = explanation._explained("dup", ("linux", "mach"), *map(tuple, systems))
    assert found.seeds == (1, 1)
    table = printed(explanation.show, [found])
    assert explanation.SPREAD not in table
    assert explanation.SINGLE.strip() in " ".join(table.split())


def test_fewer_cycles_are_said_as_fewer():
    found = explained([{(PAIRS, 0, ""): 200.0}], [{(PAIRS, 0, ""): 150.0}])
    said = explanation.in_words(found)
    assert "mach takes 50.0 busy cycles fewer than linux: 150 instead of 200 (0.75 times)" in said
    assert "additional instructions" not in said  # they do not explain fewer cycles


def test_equal_cycles_are_said_as_equal():
    said = explanation.in_words(explained([{(PAIRS, 0, ""): 200.0}], [{(PAIRS, 0, ""): 200.0}]))
    assert "same number" in said and "fewer" not in said


def test_idle_cycles_are_said():
    first = Stack(stored("linux"), "dup", {(PAIRS, 0, ""): 200.0}, 100.0, idle=300.0)
    second = Stack(stored("mach"), "dup", {(PAIRS, 0, ""): 300.0}, 100.0, idle=100.0)
    found = explanation._explained("dup", ("linux", "mach"), (first,), (second,))
    said = explanation.in_words(found)
    assert "It also is idle for 200 cycles fewer; with the idle cycles, it takes 0.80 times" in said


def test_the_causes_of_a_small_difference_are_not_listed():
    found = explained([{(PAIRS, 0, ""): 1000.0}], [{(PAIRS, 0, ""): 1019.0}])
    table = printed(explanation.show, [found])
    assert "less than 2 %, so the causes are not listed" in " ".join(table.split())
    assert "component" not in table
    assert "cpi.pairs" in printed(explanation.show, [found], form="csv")


def test_instructions_can_be_more_than_the_difference():
    found = explained([{(PAIRS, 0, ""): 200.0}], [{(PAIRS, 0, ""): 300.0}])
    assert "instructions are 400 cycles, more than the difference." in explanation.in_words(found)


def test_csv_and_json_contain_every_component():
    found = explained([{(PAIRS, 0, ""): 100.0, (WAITS, 3, ""): 1.0}], [{(PAIRS, 0, ""): 150.0}])
    lines = printed(explanation.show, [found], form="csv").splitlines()
    assert lines[0].endswith("second,difference,lowest,highest,named,ring 0,ring 3,state")
    # One seed has no range.
    assert lines[1] == "dup,cpi.pairs,,100.0,150.0,50.0,,,True,50.0,0.0,"
    assert lines[2] == "dup,cpi.code.l2,,1.0,0.0,-1.0,,,False,0.0,-1.0,"
    assert lines[3].startswith("dup,cycles.busy,,101.0,150.0,49.0,")
    assert lines[5].startswith("dup,instructions,,100.0,300.0,200.0,")


def test_csv_has_the_ranges_of_several_seeds():
    found = explained([{(PAIRS, 0, ""): 100.0}, {(PAIRS, 0, ""): 110.0}], [{(PAIRS, 0, ""): 150.0}])
    lines = printed(explanation.show, [found], form="csv").splitlines()
    assert lines[1].startswith("dup,cpi.pairs,,105.0,150.0,45.0,40.0,50.0,")


def test_the_largest_cause_points_in_the_direction_of_the_difference():
    """Once, an increase was named as the largest cause of a decrease."""
    found = explained(
        [{(PAIRS, 0, ""): 900.0, (DRAM, 0, ""): 500.0, (WAITS, 0, ""): 500.0}],
        [{(PAIRS, 0, ""): 1200.0, (DRAM, 0, ""): 250.0, (WAITS, 0, ""): 260.0}],
    )
    assert [cause.component for cause in found.causes] == [PAIRS, DRAM, WAITS]
    assert (found.largest.component, found.largest_against.component) == (DRAM, PAIRS)
    said = explanation.in_words(found)
    assert "The largest cause is data.dram: -250 cycles (132 %)." in said
    assert "in the other direction is pairs: +300 cycles (-158 %)." in said
    fewer = explained(
        [{(PAIRS, 0, ""): 900.0, (DRAM, 0, ""): 500.0}],
        [{(PAIRS, 0, ""): 1000.0, (DRAM, 0, ""): 250.0}],
    )
    assert "other direction" not in explanation.in_words(fewer)
    placed = explained(
        [{(PAIRS, 0, "read"): 900.0, (DRAM, 0, "open"): 500.0}],
        [{(PAIRS, 0, "read"): 1100.0, (DRAM, 0, "open"): 450.0}],
    )
    assert "The largest cause is pairs in read: +200 cycles" in explanation.in_words(placed)


def test_a_waterfall_goes_from_one_system_to_the_other():
    found = explained(
        [{(PAIRS, 0, ""): 100.0, (DRAM, 0, ""): 40.0, (WAITS, 0, ""): 3.0}] * 2,
        [{(PAIRS, 0, ""): 150.0, (DRAM, 0, ""): value, (WAITS, 0, ""): 1.0} for value in (1, 3)],
    )
    figure = waterfall_figure.of(found)
    marks = figure.frame[["benchmark", "series", "point", "value"]].to_numpy().tolist()
    assert marks == [
        ["linux", "busy cycles", 0, 143],
        ["pairs", "more cycles", 143, 50],
        ["data.dram", "fewer cycles", 193, -38],
        ["(1 others)", "fewer cycles", 155, -2],
        ["mach", "busy cycles", 0, 153],
    ]
    ranges = figure.frame[["lowest seed", "highest seed"]].dropna().to_numpy().tolist()
    assert ranges == [[-39, -37]]
    assert figure.caption[0].startswith("dup: mach takes 10.0 busy cycles more than linux")
    (panel,) = charts.panels(figure)
    assert "data.dram, fewer cycles: -38 cycles (-39 to -37)" in panel.description


def test_a_component_has_its_places_below_it():
    """The parts of a component add up to it. A place that only one system has says so."""
    before = {(PAIRS, 0, "main"): 100.0, (DRAM, 0, "main"): 10.0, (PAIRS, 0, "sort"): 30.0}
    after = {(PAIRS, 0, "main"): 140.0, (PAIRS, 0, "copy"): 2.0, (PAIRS, 0, "find"): 300.0}
    after |= {(PAIRS, 0, f"f{n}"): 5.0 for n in range(4)}
    found = explained([before], [after])
    states = {cause.place: cause.state for cause in found.causes}
    assert (states["main"], states["sort"], states["find"]) == ("", "gone", "new")
    rows = waterfall_figure.of(found).frame
    steps = rows[rows["series"] != waterfall_figure.PART]
    assert steps["value"].iloc[1:-1].sum() == found.cycles[1] - found.cycles[0]
    parts = rows[rows["series"] == waterfall_figure.PART]
    assert list(parts["benchmark"]) == [
        "pairs: find (new)",
        "pairs: main",
        "pairs: (6 others)",
    ]
    assert parts["value"].sum() == steps["value"].iloc[1]
    assert parts["point"].iloc[0] == steps["point"].iloc[1]
    drawing = svg.panel(charts.panels(waterfall_figure.of(found))[0])
    assert "· find (new)" in drawing
    (only,) = explanation._named(found.causes, 1)
    assert only.place == "find"


def test_steps_that_the_busy_cycles_would_hide_stand_alone():
    before = {(PAIRS, 0, ""): 1000.0, (DRAM, 0, ""): 40.0}
    rows = waterfall_figure.of(explained([before], [{**before, (DRAM, 0, ""): 80.0}])).frame
    assert rows[["benchmark", "point", "value"]].to_numpy().tolist() == [
        ["data.dram", 0, 40],
        [waterfall_figure.DIFFERENCE, 0, 40],
    ]


def test_explain_exports_its_figures(tmp_path, capsys):
    found = explained([{(PAIRS, 0, ""): 100.0}], [{(PAIRS, 0, ""): 150.0, (DRAM, 0, ""): 400.0}])
    command._export([found], tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {f"explain-dup-linux-mach.{suffix}" for suffix in ("csv", "pdf", "png", "svg")}
    text = (tmp_path / "out/explain-dup-linux-mach.svg").read_text()
    assert "data.dram" in text
    assert "Figures: 4 files in" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="file: "):
        command._export([found], tmp_path / "file")


def test_the_rows_add_up_to_the_busy_cycles_of_both_systems():
    """Also what did not change, which is no cause of the difference."""
    before = {
        (PAIRS, 0, "a"): 100.0,
        (DRAM, 0, "a"): 10.0,
        (WAITS, 0, "a"): 7.0,
        (WAITS, 3, "b"): 0.0,
    }
    after = {**before, (DRAM, 0, "a"): 410.0}
    table = printed(explanation.show, [explained([before], [after])])
    rows = {line.split()[0]: line.split() for line in table.splitlines() if line.strip()}
    assert rows["data.dram"][2:5] == ["10.0", "410", "+400"]
    assert rows["(2"][2:5] == ["107", "107", "0"]
    assert rows["busy"][2:5] == ["117", "517", "+400"]


def test_reads_that_wait_for_the_bus_are_not_called_writes():
    (group,) = [name for name, own in cpi.GROUPS.items() if "cpi.bus.reads" in own]
    assert "write" not in group and "bus" in group


@pytest.mark.parametrize("name", ["cause", "winner"])
def test_what_divides_no_clocks_explains_nothing(name):
    with pytest.raises(UserError, match=rf"--by {name}: .*`compare"):
        two_systems._with_ring(breakdown.ask([name]))
