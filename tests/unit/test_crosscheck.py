# SPDX-License-Identifier: MIT
"""./p5lab cross-check, with artificial results."""

import csv
import io
import json
import math
from dataclasses import replace
from functools import partial

import fakelab
import pandas as pd
import pytest

from p5lab.cli import main as cli
from p5lab.cli import options
from p5lab.describe import experiment, machine
from p5lab.describe.markers import EMPTY_PHASE
from p5lab.describe.observation import NominalClocks
from p5lab.describe.request import Filter
from p5lab.engines import gem5_chip
from p5lab.engines.gem5 import parameters
from p5lab.engines.gem5.engine import Classic
from p5lab.evidence import agreement, gem5_programs
from p5lab.evidence.agreement import Ask
from p5lab.execute.runner import Result
from p5lab.keep import store
from p5stats import tidy
from p5stats.crosscheck import (
    ABSENT,
    AGREES,
    COLUMNS,
    DIFFERS,
    QUANTITIES,
    UNBOUND,
    against,
    differences,
    judge,
)
from p5stats.events import Bracket, Events, Marker

ASK = Ask(guest="toy", experiment="tests", workloads=("call",))
COUNTS = {
    "instructions": 1000,
    "data_reads": 400,
    "data_writes": 200,
    "data_read_misses": 40,
    "code_misses": 20,
    "dtlb_misses": 3,
    "hw_interrupts": 0,
}
STATISTICS = (
    "\n---------- Begin Simulation Statistics ----------\n{}\n"
    "---------- End Simulation Statistics   ----------\n"
)


def table(run, counts, iterations=3):
    """Returns a table of brackets with `counts`, and of empty brackets. An interrupt disturbs the
    last bracket.
    """
    rows = []
    for phase, number in [("empty", 0), *(("call", n) for n in range(iterations))]:
        for event, value in counts.items():
            value = value if phase == "call" else value // 100
            if number == iterations - 1:
                value = value * 3 if event != "hw_interrupts" else 1
            rows.append(
                {
                    "experiment": "tests",
                    "run": f"id-{run.engine}",
                    "engine": run.engine,
                    "machine": "m",
                    "geometry": run.machine.geometry,
                    "feedback": "no",
                    "guest": "toy",
                    "seed": run.seed,
                    "workload": run.workload.name,
                    "parameters": run.parameter_text,
                    "phase": phase,
                    "iteration": number,
                    "ring": 3,
                    "address_space": "0x0",
                    "symbol": "",
                    "event": event,
                    "unit": "events",
                    "value": value,
                }
            )
    return pd.DataFrame(rows, columns=tidy.COLUMNS)


class Engines:
    """Takes the place of the engines: writes the files of each run without a simulation. `counts`
    returns the counts of a run.
    """

    def __init__(self, place):
        self.place, self.asked, self.failing = place, [], ()

    def counts(self, run):
        return COUNTS

    def __call__(self, runs):
        self.asked.append([(run.engine, run.machine.geometry) for run in runs])
        return [self.result(run) for run in runs]

    def result(self, run):
        directory = self.place / f"{len(self.asked)}-{run.engine}-{run.workload.name}"
        (directory / "m5out").mkdir(parents=True)
        if run.engine in self.failing:
            return Result(run, "x", directory, "failed", "it did not work", False, 1.0)
        tidy.write(directory / store.COUNTS, table(run, self.counts(run)), clock_hz=90_000_000)
        (directory / "events.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in fakelab.call_events())
        )
        record = {"notes": [], "after_boot_seconds": 0.5}
        if run.engine != "bochs":
            record = {"notes": [{"what": "gem5 differs", "reason": "a TLB of another kind"}]}
            dump = STATISTICS.format("hostSeconds 2 # real time (Second)\n")
            (directory / "m5out/stats.txt").write_text(dump * 3)
        (directory / "run.json").write_text(json.dumps({**RECORD, **record}))
        return Result(run, "x", directory, "ok", "", False, 3.0)


RECORD = {"schema_version": store.SCHEMA_VERSION, "status": "ok", "run": "x", "reason": ""}


@pytest.fixture
def engines(tmp_path, monkeypatch):
    def read(directory):
        return json.loads((directory / "run.json").read_text())

    monkeypatch.setattr(store, "read", read)
    for engine in (Classic, gem5_chip.Chip):
        monkeypatch.setattr(engine, "examine", lambda self, lab, runs: [])
    return Engines(tmp_path / "results")


def verdicts(found):
    own = found.rows[found.rows["explanation"] == ""]
    return dict(zip(own["quantity"], own["verdict"], strict=True))


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "first", "second", "difference", "verdict"),
    [
        ("architectural", 1000, 1010, 10 / 1010, AGREES),
        ("architectural", 1010, 1000, -10 / 1010, AGREES),
        ("architectural", 1000, 1011, 11 / 1011, DIFFERS),
        ("architectural", 0, 0, 0, AGREES),
        ("architectural", 0, 1, 1, DIFFERS),
        ("L1", 95, 100, 0.05, AGREES),
        ("L1", 94, 100, 0.06, DIFFERS),
        ("modelled", 1, 100, 0.99, UNBOUND),
    ],
)
def test_what_agrees(kind, first, second, difference, verdict):
    found = judge(kind, first, second)
    assert found[0] == pytest.approx(difference)
    assert found[2] == verdict


def test_what_an_engine_does_not_count_is_absent():
    assert judge("L1", math.nan, 3)[2] == ABSENT
    assert judge("architectural", 0, math.nan)[2] == ABSENT


def test_brackets_without_interrupts_are_compared_and_the_empty_one_subtracted(lab):
    (run,) = experiment.load(lab, "tests", Filter(workloads=("call",)))
    rows = differences(table(run, COUNTS), table(run, {**COUNTS, "instructions": 2000}))
    by_quantity = rows.set_index("quantity")
    assert by_quantity.loc["instructions", "first"] == 990
    assert by_quantity.loc["instructions", "second"] == 1980
    assert by_quantity.loc["hw interrupts", "first"] == 0
    assert by_quantity.loc["segment loads", "verdict"] == ABSENT


def counted(instructions, share=1):
    """Returns a table like the result of `differences`, for one phase with two quantities."""
    rows = []
    for quantity, pair in (("data reads", (1, 1)), ("instructions", instructions)):
        rows.append(("w", "", "call", quantity, "L1", *pair, *judge("L1", *pair)))
    return pd.DataFrame(rows, columns=COLUMNS).assign(share=share)


@pytest.mark.parametrize(
    ("again", "share", "difference", "verdict"),
    [
        # Before, the difference is 130 of 1000. If 4 of 1000 are left, the difference has gone,
        # although the counts of the experiment are 2 and 6.
        ((2, 6), 1, 0.004, AGREES),
        ((20, 80), 1, 0.06, DIFFERS),
        ((2000, 2120), 1, 120 / 2120, DIFFERS),  # an experiment can also add counts
        ((math.nan, 6), 1, math.nan, ABSENT),
        # An experiment with a tenth of the operations has a tenth of the counts.
        ((2, 6), 0.1, 0.04, AGREES),
        ((2, 8), 0.1, 0.06, DIFFERS),
        ((100, 120), 0.1, 20 / 120, DIFFERS),
    ],
)
def test_what_is_left_is_relative_to_the_larger_count(again, share, difference, verdict):
    rows = against(counted((1000, 870)), counted(again, share))
    found = rows.set_index("quantity").loc["instructions"]
    assert found["difference"] == pytest.approx(difference, nan_ok=True)
    assert found["verdict"] == verdict


def test_a_count_that_was_zero_and_is_zero_has_no_difference():
    assert against(counted((0, 0)), counted((0, 0)))["difference"].tolist() == [0, 0]


# --- runs -----------------------------------------------------------------------------------------


def test_the_same_chip_on_both_has_nominal_clocks(lab):
    found = agreement.expansions(lab, replace(ASK, chip=True))
    runs = [run for expansion in found for run in expansion.runs]
    assert [run.engine for run in runs] == ["bochs", "gem5_chip"]
    assert all(NominalClocks() in run.observation for run in runs)


def test_the_same_on_both(lab, engines):
    found = agreement.check(lab, ASK, engines)
    assert engines.asked == [[("bochs", ""), ("gem5_classic", "")]]
    said = verdicts(found)
    assert said["instructions"] == said["L1D read misses"] == AGREES
    assert said["DTLB misses"] == UNBOUND
    assert said["ring crossings"] == ABSENT
    assert found.unexplained.empty
    assert found.deviations == ["a TLB of another kind"]


def test_host_times(lab, engines):
    hosts = agreement.check(lab, ASK, engines).hosts.set_index("engine")
    assert hosts.loc["bochs", "after_boot_seconds"] == 0.5
    assert hosts.loc["gem5", "after_boot_seconds"] == 4  # not the section before the ready marker
    assert hosts.loc["gem5", "instructions"] > 0


class WriteAllocate(Engines):
    """gem5 has fewer misses than the machine if only gem5 allocates lines on writes."""

    def counts(self, run):
        less = run.engine == "gem5_classic" and "write_allocate" not in run.machine.geometry
        return {**COUNTS, "data_read_misses": 20 if less else 40, "instructions": 1000}


class Wrong(Engines):
    def counts(self, run):
        return {**COUNTS, "instructions": 1100 if run.engine == "gem5_classic" else 1000}


def test_an_experiment_explains_what_it_removes(lab, engines):
    engines.__class__ = WriteAllocate
    assert verdicts(agreement.check(lab, ASK, engines))["L1D read misses"] == DIFFERS
    engines.place = engines.place / "again"
    found = agreement.check(lab, ASK, engines, None)
    row = found.rows[(found.rows["quantity"] == "L1D read misses")].set_index("explanation")
    assert row.loc["", "explained_by"] == "write-allocate"
    assert row.loc["", "difference"] == pytest.approx(-0.5)
    assert row.loc["write-allocate", "difference"] == 0
    assert found.unexplained.empty
    geometries = {geometry for runs in engines.asked[1:] for _, geometry in runs}
    assert any("l1d.write_allocate=true" in geometry for geometry in geometries)
    assert not any("tlb" in geometry for geometry in geometries)  # no difference to explain


class Ticks(Engines):
    """Clock ticks add instructions if memory takes time on gem5."""

    def counts(self, run):
        ticks = 300 if run.engine == "gem5_classic" and run.feedback else 0
        return {**COUNTS, "instructions": 100 * run.parameters["loads"] + ticks}


def test_an_experiment_has_short_brackets_without_clock_ticks(lab, engines):
    engines.__class__ = Ticks
    found = agreement.check(lab, replace(ASK, workloads=("chase",)), engines, None)
    assert found.unexplained.empty
    rows = found.rows[found.rows["quantity"] == "instructions"].set_index("explanation")
    assert rows.loc["", ["first", "second", "share"]].tolist() == [990, 1287, 1]
    assert rows.loc["no-ticks", ["first", "second", "share"]].tolist() == [99, 99, 0.1]
    assert rows["parameters"].nunique() == 1  # those of the unchanged run
    (_, before), (_, after) = engines.asked[0][0], engines.asked[1][0]
    assert (before, after) == ("", "cpu.bus_mhz=100 cpu.clock_mhz=400")


class OneChip(Engines):
    """One chip on both engines. Clock ticks disturb one event, what the branch target buffer held
    disturbs another one, and a third one differs always."""

    def counts(self, run):
        other = run.engine == "gem5_chip"
        ticks = other and not run.machine.geometry
        history = other and "btb.ways=1" not in run.machine.geometry
        return {
            **COUNTS,
            "data_reads": 401 if ticks else 400,
            "data_writes": 201 if history else 200,
            "code_misses": 21 if other else 20,
        }


def test_every_event_of_one_chip_is_compared_in_each_experiment(lab, engines):
    engines.__class__ = OneChip
    asked = agreement.choose(agreement.ON_ONE_CHIP)
    found = agreement.check(lab, replace(ASK, chip=True), engines, asked)
    apart = found.events[found.events["first"] != found.events["second"]]
    assert list(zip(apart["explanation"], apart["event"], strict=True)) == [
        ("", "code_misses"),
        ("", "data_reads"),
        ("", "data_writes"),
        ("no-ticks", "code_misses"),
        ("no-ticks", "data_writes"),
        ("no-history", "code_misses"),
    ]
    assert set(found.events["phase"]) == {"call"}
    (grid,) = [grid for grid in agreement.grids(found) if grid.title == agreement.EQUAL]
    all_events = str(len(COUNTS))
    equal = [cell for apart in (3, 2, 1) for cell in (str(len(COUNTS) - apart), "0")]
    assert grid.rows == [("call", all_events, *equal, "code_misses")]


def test_what_no_experiment_removes_stays(lab, engines):
    engines.__class__ = Wrong
    found = agreement.check(lab, ASK, engines, None)
    assert list(found.unexplained["quantity"]) == ["instructions"]


def test_a_run_that_fails(lab, engines):
    engines.failing = ("gem5_classic",)
    found = agreement.check(lab, ASK, engines)
    assert [result.reason for result in found.failed] == ["it did not work"]
    assert found.rows.empty


@pytest.mark.parametrize("one", agreement.EXPLANATIONS, ids=lambda one: one.name)
def test_each_explanation_is_a_machine_that_both_engines_can_be(lab, one):
    known = {quantity.name for quantity in QUANTITIES}
    assert set(one.quantities) <= known
    for name in machine.names(lab.machines):
        expanded = agreement.expansions(lab, replace(ASK, machine=name), one)
        values = [expansion.runs[0].machine.values for expansion in expanded]
        assert values[0] == values[1] != machine.load(lab.machines, name).values
        parameters.derive(values[1])


def test_of_a_curve_three_sizes_are_shown():
    sizes = ["1 KB", "1 MB", "1.5 KB", "12 KB", "2 KB", "512 B", "64 KB", "768 B", "8 KB"]
    rows = [
        (*phase, quantity, "architectural", 1, 1, 0.0, 0.01, AGREES, "", "")
        for phase in [*(("curve", "", size) for size in sizes), ("call", "", "call")]
        for quantity in agreement.SHOWN
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "explanation", "explained_by"])
    found = agreement.Check(frame, pd.DataFrame(columns=["workload", "parameters", "seed"]))
    (grid,) = agreement.grids(found)
    assert [row[0] for row in grid.rows] == ["curve, 512 B", "curve, 2 KB", "curve, 1 MB", "call"]
    note = "curve: the tables show three of 9 sizes; --format csv prints all sizes."
    assert note in agreement.notes(found)


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def p5lab(p5lab, engines, monkeypatch):
    monkeypatch.setattr(options, "execute", lambda lab, runs, progress, **options: engines(runs))
    words = ("cross-check", "tests", "--guest", "toy", "--workload", "call")
    return partial(p5lab, *words, columns=140)


def test_what_is_printed(p5lab, engines):
    status, out, _ = p5lab()
    assert status == 0
    assert "gem5 against bochs" in out
    assert "architectural: 3 of 3 agree." in out
    assert "L1: 2 of 2 agree." in out
    assert "gem5 differs from the machine: a TLB of another kind." in out
    assert "Host time in seconds" in out
    assert "What differs" not in out


def test_the_status_says_whether_they_agree(p5lab, engines):
    engines.__class__ = Wrong
    status, out, _ = p5lab("--explain")
    assert status == 1
    assert "What differs" in out
    assert "+9.09 %*" in out
    engines.__class__, engines.place = WriteAllocate, engines.place / "again"
    assert p5lab()[0] == 1
    engines.place = engines.place / "again"
    status, out, _ = p5lab("--explain", "write-allocate")
    assert status == 0
    assert "Experiments" in out
    assert "Experiment write-allocate: a write miss in L1D fills the line" in out


def test_for_programs(p5lab, engines):
    rows = list(csv.DictReader(io.StringIO(p5lab("--format", "csv")[1])))
    assert rows[0]["quantity"] == "instructions"
    assert (rows[0]["first"], rows[0]["verdict"], rows[0]["explanation"]) == ("990.0", "agrees", "")
    engines.place = engines.place / "again"
    found = json.loads(p5lab("--format", "json")[1])
    absent = next(row for row in found["rows"] if row["quantity"] == "segment loads")
    assert absent["first"] is None
    assert {row["engine"] for row in found["host"]} == {"bochs", "gem5"}
    engines.place = engines.place / "more"
    assert "| call |" in p5lab("--format", "markdown")[1]


def test_what_gem5_cannot_do_is_said_before_anything_runs(lab, capsys, monkeypatch):
    monkeypatch.setattr(options, "execute", lambda *_, **__: pytest.fail("a run was started"))
    assert cli.main(["cross-check", "tests", "--guest", "toy", "--workload", "call"], lab) == 2
    assert "--engine gem5: guest toy" in capsys.readouterr().err


def test_errors(p5lab, lab):
    status, _, err = p5lab("--explain", "write-alocate")
    assert status == 2
    assert "--explain: unknown explanation 'write-alocate'; did you mean 'write-allocate'?" in err


def test_the_record_has_the_tables_and_notes(lab, engines):
    found = agreement.check(lab, ASK, engines)
    record = agreement.record(found)
    assert [one["title"] for one in record["tables"]] == [
        one.title for one in agreement.grids(found)
    ]
    for one, grid in zip(record["tables"], agreement.grids(found), strict=True):
        assert [tuple(row) for row in one["rows"]] == [tuple(grid.heads), *grid.rows]
    assert record["notes"] == agreement.notes(found)


def test_programs_are_compared_bracket_by_bracket_in_the_users_ring():
    """The kernel's counts and the empty bracket do not matter."""

    def run(*clocks, kernel):
        brackets = []
        for phase, number in enumerate(clocks):
            end = {(1, 3): [5 + number, 3], (1, 0): [kernel, kernel]}
            marks = [Marker("", 0, 0, banks, {}, 0) for banks in ({(1, 3): [5, 0]}, end)]
            brackets.append(Bracket(phase, 0, *marks))
        around = [Marker("", 0, 0, {(1, 3): [n, n]}, {}, 0) for n in (0, kernel)]
        empty = Bracket(EMPTY_PHASE, 0, *around)
        units = {"cycles.busy": "cycle", "code_misses": "miss"}
        return Events("", 1, units, [], [], [], "ok", "", 0, [empty, *brackets])

    one, other = run(10, 1000, 1000, 1000, kernel=7), run(10, 1001, 998, 1000, kernel=9)
    assert gem5_programs.compared(one, other) == (4, 2, 2, 3, 0.002)
