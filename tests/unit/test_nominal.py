# SPDX-License-Identifier: MIT
"""Nominal clocks of x86-64 guests: never in one column, ratio or figure with a Pentium's cycles."""

import csv
import io

import pytest
from fakelab import END, EVENTS, GUEST, HEADER, call_events, snapshot

from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.describe.observation import NominalClocks, Observation
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.keep import store
from p5lab.page import figures
from p5lab.present.comparison import CYCLES, INSTRUCTIONS, NOMINAL, TIME, Comparison
from p5stats import cpi, declared, metrics, tidy

NOMINAL_EVENTS = [
    f"nominal.{name}" if name.startswith(("cycles.", "cpi.")) else name for name in EVENTS
]
RUN = ["run", "tests", "--workload", "call", "--no-build"]


def nominal_events(**given):
    """The events of a call in nominal clocks."""
    return [{**HEADER, "events": NOMINAL_EVENTS}, *call_events(**given)[1:]]


def stack_events(*, nominal):
    """One bracket of 30 cycles, of which 20 are in pairs and 10 wait for code."""
    prefix = "nominal." if nominal else ""
    names = ["cycles.busy", "cycles.idle", "cpi.pairs", "cpi.code.l2"]
    events = [*(prefix + name for name in names), "instructions"]
    header = {**HEADER, "events": events, "units": ["cycles"] * 4 + ["events"]}
    marks = [snapshot("begin", 0, [0], []), snapshot("end", 0, [30, 0, 20, 10, 40], [])]
    return [header, *marks, END]


@pytest.fixture
def lab(lab):
    """The miniature checkout with two more guests, for x86-64."""
    for name in ("wide", "wide2"):
        text = GUEST.replace('"pentium"', '"x86-64"').replace('name = "toy"', f'name = "{name}"')
        lab._put(f"guest-images/{name}/guest.toml", text)
        lab._put(f"build/workloads/{name}/call", name)
    return lab


def both(lab, *options):
    """Makes the run of the Pentium guest and the runs of two x86-64 guests with nominal clocks."""
    lab.behave(events={"call": call_events()})
    assert cli.main([*RUN, *options], lab) == 0
    lab.behave(events={"call": nominal_events(more=7)})
    for guest in ("wide", "wide2"):
        assert cli.main([*RUN, "--guest", guest, "--clocks", "nominal", *options], lab) == 0


def stored(lab, *guests):
    found = [one for one in store.all_runs(lab, "tests") if one.record["guest"]["name"] in guests]
    return sorted(found, key=lambda one: guests.index(one.record["guest"]["name"]))


def test_each_event_that_needs_clocks_has_a_nominal_name():
    events = declared.events()
    for name, event in declared.nominal().items():
        plain = events[name.removeprefix("nominal.")]
        assert plain.depends == "clocks"
        assert name not in events
        assert (event.report == "") == (plain.report == "")
        assert event.report != plain.report or not event.report
    assert "nominal.cycles.busy" in declared.nominal()
    assert "nominal.cpi.pairs" in declared.nominal()
    assert "nominal.data_reads" not in declared.nominal()


def test_no_metric_reads_cycles_of_both_kinds():
    for metric in metrics.metrics(0):
        noted = metrics._Noted()
        metric.value(noted, 1)
        nominal = {name for name in noted.read if name.startswith(declared.NOMINAL)}
        plain = {name for name in noted.read if declared.NOMINAL + name in declared.nominal()}
        assert not (nominal and plain), metric.name
        assert bool(nominal) == metric.name.startswith("nominal"), metric.name


def test_the_run_asks_the_engine_for_nominal_clocks(lab):
    lab.behave(events={"call": nominal_events()})
    assert cli.main([*RUN, "--guest", "wide", "--clocks", "nominal"], lab) == 0
    (one,) = stored(lab, "wide")
    conf = one.record["identity"]["settings"]["engine.conf"]
    assert conf["run.clocks"] == "nominal"
    assert conf["run.feedback"] == "on"
    assert conf["run.timing_table"] == "timing"
    assert one.record["request"]["clocks"] == "nominal"
    assert "nominal clocks" in one.record["label"]
    assert Observation.of_record(one.record).get(NominalClocks) == NominalClocks()
    assert cli.main([*RUN, "--guest", "wide"], lab) == 0
    plain = next(one for one in stored(lab, "wide") if not one.record["request"]["clocks"])
    conf = plain.record["identity"]["settings"]["engine.conf"]
    assert not {"run.clocks", "run.timing_table"} & {*conf}
    assert conf["run.feedback"] == "off"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--clocks nominal: expected a guest for x86-64; guest toy is for pentium"),
        (("--guest", "wide", "--feedback", "off"), "expected without --feedback off"),
        (("--guest", "wide", "--model", "off"), "expected without --model off"),
        (("--guest", "wide", "--calls"), "--calls: expected without --clocks nominal"),
        (("--guest", "wide", "--modes"), "--modes: expected without --clocks nominal"),
        (("--guest", "wide", "--interval", "100"), "--interval: expected without --clocks nominal"),
        (("--guest", "wide", "--trace", "crossings"), "--trace: expected without --clocks nominal"),
        (("--guest", "wide", "--ideal", "l2"), "--ideal: expected without --clocks nominal"),
        (("--guest", "wide", "--engine", "gem5"), "--clocks: expected with the engine bochs"),
    ],
)
def test_what_does_not_go_together_is_one_line(lab, capsys, words, said):
    assert cli.main([*RUN, "--clocks", "nominal", *words], lab) == 2
    error = capsys.readouterr().err
    assert said in error
    assert not store.all_runs(lab, "tests")


def test_unknown_clocks_are_refused(lab, capsys):
    assert cli.main([*RUN, "--clocks", "real"], lab) == 2
    assert "unknown --clocks value 'real'; known: nominal" in capsys.readouterr().err
    with pytest.raises(UserError, match="--clocks: unknown clocks 'real'"):
        NominalClocks.of("real")


def test_a_comparison_has_no_ratio_of_both_kinds(lab):
    both(lab)
    found = Comparison(stored(lab, "toy", "wide", "wide2"))
    assert found.cost == TIME
    pentium, wide, _ = found.cells(found.questions[0])
    assert pentium.has(CYCLES)
    assert not pentium.has(NOMINAL)
    assert wide.has(NOMINAL)
    assert not wide.has(CYCLES)
    assert not wide.has(TIME)
    for row in found.table():
        if row["metric"].startswith("nominal") or row["metric"] in (CYCLES, TIME, "CPI (busy)"):
            assert (row["value"] is not None) == (
                (row["guest"] != "toy") == row["metric"].startswith("nominal")
            ), row
            assert row["ratio"] in (None, 1.0), row
    assert any("nominal clocks" in note for note in found.without_clocks)


def test_nominal_systems_are_compared_by_nominal_cycles(lab):
    both(lab)
    found = Comparison(stored(lab, "wide", "wide2"))
    assert found.cost == NOMINAL
    plain = Comparison(stored(lab, "wide"))
    assert plain.cost == NOMINAL


def test_tables_and_pages_keep_them_apart(lab, capsys):
    both(lab)
    capsys.readouterr()
    assert cli.main(["show", "tests", "--all-tables"], lab) == 0
    shown = capsys.readouterr().out
    rows = [line for line in shown.splitlines() if "busy cycles" in line]
    assert any("nominal busy cycles" in row for row in rows)
    assert any("nominal" not in row for row in rows)
    assert cli.main(["show", "tests", "--format", "csv"], lab) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["unit"] for row in rows if row["metric"] == NOMINAL} == {"nominal cycles"}
    for figure in figures.of(Comparison(stored(lab, "toy", "wide", "wide2"))):
        marks = figure.frame[figure.frame["value"].notna()]
        for metric, panel in marks.groupby("metric"):
            guests = {"toy" if "toy" in name else "wide" for name in panel["series"]}
            if "cycles" in metric or "time" in metric or "CPI" in metric:
                assert guests == {"wide" if "nominal" in metric else "toy"}, (figure.title, metric)


def test_a_page_names_them(lab):
    lab.behave(events={"call": nominal_events()})
    assert cli.main([*RUN, "--guest", "wide", "--clocks", "nominal"], lab) == 0
    page = lab.root / "page.html"
    assert cli.main(["report", stored(lab, "wide")[0].id, "--output", str(page)], lab) == 0
    assert "nominal busy cycles" in page.read_text()


def test_runs_with_and_without_the_option_are_not_of_one_kind(lab, capsys):
    lab.behave(events={"call": nominal_events()})
    assert cli.main([*RUN, "--guest", "wide", "--clocks", "nominal"], lab) == 0
    names = [name for name in EVENTS if not name.startswith("cycles.")]
    bare = [{**HEADER, "events": names, "units": ["events"] * len(names)}]
    for line in call_events()[1:]:
        banks = [[cr3, ring, counts[2:]] for cr3, ring, counts in line.get("banks", ())]
        bare.append({**line, "banks": banks} if "banks" in line else line)
    lab.behave(events={"call": bare})
    assert cli.main([*RUN, "--guest", "wide"], lab) == 0
    found = Comparison(stored(lab, "wide"))
    assert {system.clocks for system in found.systems} == {"", "nominal clocks"}
    assert found.cost == INSTRUCTIONS
    capsys.readouterr()
    assert cli.main(["show", "tests"], lab) == 0
    assert "nominal clocks" in capsys.readouterr().out


def test_stacks_are_apart_and_explain_refuses_both_kinds(lab, capsys):
    lab.behave(events={"call": stack_events(nominal=False)})
    assert cli.main([*RUN, "--cpi"], lab) == 0
    lab.behave(events={"call": stack_events(nominal=True)})
    for guest in ("wide", "wide2"):
        assert cli.main([*RUN, "--cpi", "--guest", guest, "--clocks", "nominal"], lab) == 0
    capsys.readouterr()
    assert cli.main(["show", "tests", "--cpi"], lab) == 0
    shown = capsys.readouterr().out
    assert "CPI stack of call (nominal cycles): nominal cycles of one call" in shown
    assert "CPI stack of call: cycles of one call" in shown
    assert cli.main(["show", "tests", "--cpi", "--format", "csv"], lab) == 0
    for row in csv.DictReader(io.StringIO(capsys.readouterr().out)):
        assert bool(row["cycles"]) != bool(row["nominal cycles"])
    assert cli.main(["explain", "tests", "toy", "wide", "--single"], lab) == 2
    error = capsys.readouterr().err
    assert "nominal cycles" in error
    assert len(error.strip().splitlines()) == 1
    assert cli.main(["explain", "tests", "wide", "wide2", "--single"], lab) == 0
    assert "busy nominal cycles" in capsys.readouterr().out


def test_the_stack_of_nominal_cycles_adds_up(lab):
    lab.behave(events={"call": stack_events(nominal=True)})
    command = [*RUN, "--cpi", "--guest", "wide", "--clocks", "nominal"]
    assert cli.main(command, lab) == 0
    (one,) = stored(lab, "wide")
    found = cpi.stack(tidy.read_run(one.directory)[0])
    parts = found[found["event"].str.startswith("cpi.")]
    assert parts["value"].sum() == 30
    wrong = stack_events(nominal=True)
    wrong[2]["banks"][0][2][0] = 31
    lab.behave(events={"call": wrong})
    assert cli.main([*command, "--force"], lab) == 1


def test_python_has_the_option(lab):
    (run,) = experiment.load(
        lab,
        "tests",
        Filter(
            workloads=("call",),
            guests=("wide",),
            observation=Observation.of(NominalClocks.of("nominal")),
        ),
    )
    assert run.has_clocks
    assert run.has_nominal_clocks
    assert run.has_feedback
