# SPDX-License-Identifier: MIT
"""chen95's method in the guest against the engine's own counts, and its record."""

from dataclasses import fields

import pytest

from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.engines.bochs.engine import OUTPUT
from p5lab.evidence import counter_method, records
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.keep import store
from p5lab.keep.store import COUNTS, Stored
from p5lab.lab import Lab
from p5stats import compare, tidy
from p5stats.method import CYCLES, OPERATION, WITH_COUNTERS, MethodRow

OPERATIONS = ("getpid", "dup", "pipe", "exec", "misaligned-load", "misaligned-store", "rep-stos")
SHORT = tuple(name for name in OPERATIONS if name != "exec")
FAST = ("null", "getpid", "misaligned-load", "misaligned-store")
# These events depend only on the executed program, not on the caches.
EXECUTED = ("instructions", "data_reads", "data_writes", "segment_loads", "hw_interrupts")
# The events of the engine that show waiting cycles of start and stop, and the cycles for each
# event. The events are stall clocks, mispredicted branches (penalty.mispredict_v at most),
# and instructions in V (one clock for each instruction that did not pair).
WAITS = {"stall.": 1, "pipeline_flushes": 4, "instructions.v": 1}
OTHER_CYCLES = 20  # AGIs, bank conflicts, prefixes
LOOSE = 0.25  # another compiler's kernel uses other cache lines


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(Lab.here().root, tmp_path_factory.mktemp("method") / "results")


@pytest.fixture(scope="module")
def runs(lab, full):
    wanted = [
        run
        for run in experiment.load(lab, counter_method.EXPERIMENT)
        if full or run.parameters["operation"] in FAST
    ]
    results = Runner(lab, jobs=cores()).run_all(wanted)
    assert [(one.run.label, one.reason) for one in results if one.status != "ok"] == []
    return [Stored(one.directory, store.read(one.directory)) for one in results]


@pytest.fixture(scope="module")
def rows(runs):
    """Returns the rows of the table by operation and event."""
    return {
        operation: {row.event: row for row in found}
        for operation, found in counter_method.rows(runs).items()
    }


@pytest.fixture(scope="module")
def waited(runs):
    """Returns, for each operation, how much the waiting cycles of start and stop differ from the
    waiting cycles with the operation Null.
    """
    access = {}
    for one in runs:
        asked = one.record["parameters"]
        if asked["counters"] == "used" and not one.record["machine"]["geometry"]:
            counts = compare.without_empty(compare.counts(tidy.read(one.directory / COUNTS)[0]))
            inside, around = (
                counts.xs(phase, level="phase").mean() for phase in (OPERATION, WITH_COUNTERS)
            )
            access[asked["operation"]] = around - inside
    return {
        operation: sum(
            weight * abs(value - access["null"][event])
            for event, value in found.items()
            for prefix, weight in WAITS.items()
            if event.startswith(prefix)
        )
        for operation, found in access.items()
    }


@pytest.mark.full
def test_every_operation_is_there(rows):
    assert tuple(rows) == OPERATIONS


def only(operations):
    """Returns a test parameter for each operation. Operations outside the fast set run only with
    --full.
    """
    return [
        pytest.param(name, marks=() if name in FAST else pytest.mark.full) for name in operations
    ]


@pytest.mark.parametrize("operation", only(SHORT))
def test_what_is_executed_comes_out_exactly(rows, operation):
    for event in EXECUTED:
        row = rows[operation][event]
        assert row.left == pytest.approx(row.miscounts + row.interrupts, abs=1e-6), event
        assert row.access == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("operation", only(OPERATIONS))
def test_what_is_left_over_of_the_cycles_is_explained(rows, waited, operation):
    left = rows[operation][CYCLES]
    assert abs(left.left - left.interrupts) <= waited[operation] + OTHER_CYCLES
    assert left.miscounts == 0  # RDTSC is not an event counter
    parts = left.first + left.interrupts + left.access + left.miscounts
    assert left.left == pytest.approx(parts)


@pytest.mark.full
def test_long_operations_are_hardly_wrong(rows):
    cycles = rows["exec"][CYCLES]
    assert abs(cycles.left) < 0.01 * cycles.engine


def test_what_table_2_says_of_misaligned_accesses(rows):
    """The counters count a misaligned read twice and a misaligned write once. Each of these
    accesses makes two cache accesses.
    """
    assert rows["misaligned-load"]["data_reads"].method == pytest.approx(2)
    assert rows["misaligned-store"]["data_writes"].method == pytest.approx(1)
    assert rows["misaligned-store"]["data_writes"].engine == pytest.approx(2)
    assert rows["misaligned-store"]["data_writes"].miscounts == pytest.approx(-1)


@pytest.mark.full
def test_the_numbers_are_the_same_again(lab, runs, own_boots):
    """The engine's events, and the values that the guest read from its counters. test_fork.py
    compares them in the fast set, also with runs from reset."""
    before = {one.id: (one.directory / OUTPUT).read_bytes() for one in runs}
    again = [
        run
        for run in experiment.load(lab, counter_method.EXPERIMENT)
        if run.parameters["counters"] == "used" and run.parameters["operation"] in ("dup", "exec")
    ]
    for result in Runner(lab, jobs=cores(), force=True).run_all(again):
        assert result.status == "ok", result.reason  # it would fail if events differed
        assert (result.directory / OUTPUT).read_bytes() == before[result.id] != b""


@pytest.mark.full
def test_the_command_prints_every_operation(lab, runs, capsys):
    assert cli.main(["run", counter_method.EXPERIMENT, "--no-build"], lab) == 0
    out, err = capsys.readouterr()
    assert err.count("already stored") == len(runs)
    for operation in OPERATIONS:
        assert f"{operation}: by the method of chen95, and by the engine" in out


def test_the_rows_are_the_recorded_ones(rows):
    known = records.load(Lab.here().root, records.RUNS)["method"]
    assert set(known) == set(OPERATIONS)
    names = [one.name for one in fields(MethodRow)][1:]
    for operation, found in rows.items():
        assert set(known[operation]) == set(found)
        for event, row in found.items():
            for name, before in zip(names, known[operation][event], strict=True):
                after = getattr(row, name)
                slack = 100 if event == CYCLES else 5
                near = max(slack, LOOSE * max(abs(before), abs(after)))
                assert abs(before - after) <= near, (operation, event, name)
