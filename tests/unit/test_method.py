# SPDX-License-Identifier: MIT
"""Tests chen95's method with known readings and brackets."""

from pathlib import Path

import pandas as pd
import pytest

from p5lab.evidence import counter_method as report
from p5lab.keep.store import Stored
from p5stats import StatsError, method, tidy
from p5stats.method import EVENTS, PASSES

PER_PASS = 4


def run(engine, access, *, first=0, interrupted=(), miscounts=0):
    """Returns a run for `method.measured`. Each operation adds `engine` to the count of every
    event, and each access to the counters adds `access`. The first iteration of a pass adds
    `first`. In the iterations `interrupted`, an interrupt occurs during the access and adds 100.
    The counter's reading, but not the engine's count, includes `miscounts`.
    """
    lines, table = [], []
    for number in range(len(PASSES) * PER_PASS):
        index, iteration = divmod(number, PER_PASS)
        extra = access + (first if not iteration else 0) + (100 if number in interrupted else 0)
        reading = engine + extra + miscounts
        lines.append(f"{index} {iteration} {reading} {reading} {engine + extra}")
        for phase, value in (("operation", engine), ("with the counters", engine + extra)):
            counts = {
                **dict.fromkeys(EVENTS[1:], value),
                "cycles.busy": value - 1,
                "cycles.idle": 1,
                "hw_interrupts": int(phase != "operation" and number in interrupted),
            }
            table += [
                {
                    **dict.fromkeys(tidy.COLUMNS, ""),
                    "ring": 0,
                    "run": "r",
                    "phase": phase,
                    "iteration": number,
                    "event": event,
                    "value": count,
                }
                for event, count in counts.items()
            ]
    return "\n".join(lines) + "\n", pd.DataFrame(table, columns=list(tidy.COLUMNS))


def rows(operation, null, alone, alone_null, *exact):
    found = method.rows(
        method.measured(*operation),
        method.measured(*null),
        method.engine_counts(alone[1]),
        method.engine_counts(alone_null[1]),
        *(method.measured(*one) for one in exact),
    )
    return {row.event: row for row in found}


def test_what_the_correction_removes_and_what_it_leaves():
    operation, null = run(70, 33, first=8), run(5, 30, first=4)
    for event, row in rows(operation, null, run(61, 0), run(2, 0)).items():
        if event == "hw_interrupts":
            continue
        assert row.reading == pytest.approx(70 + 33 + 8 / PER_PASS)
        assert row.null == pytest.approx(5 + 30 + 4 / PER_PASS)
        assert (row.engine, row.undisturbed, row.disturbance) == (65, 59, 6)
        assert row.method == pytest.approx(69)
        assert row.left == pytest.approx(4)
        assert (row.first, row.access) == (pytest.approx(1), pytest.approx(3))
        assert (row.interrupts, row.miscounts) == (0, 0)


def test_interrupts_during_the_access_are_separated():
    operation, null = run(70, 33, interrupted=(1, 6, 10)), run(5, 33)
    found = rows(operation, null, run(70, 0), run(5, 0))
    # All 20 iterations measure cycles, and 3 of these iterations have an interrupt of 100 cycles.
    assert found["cycles"].interrupts == pytest.approx(15)
    assert found["data_reads"].interrupts == pytest.approx(25)
    assert found["instructions"].interrupts == 0
    for row in found.values():
        if row.event != "hw_interrupts":
            assert row.access == pytest.approx(0)
            assert row.left == pytest.approx(row.interrupts)


def test_miscounts_are_what_exact_counters_would_not_have():
    runs = run(70, 33, miscounts=7), run(5, 30, miscounts=2), run(70, 0), run(5, 0)
    found = rows(*runs, run(70, 33), run(5, 30))
    assert found["data_reads"].miscounts == pytest.approx(5)
    assert found["data_reads"].access == pytest.approx(3)
    assert found["data_reads"].left == pytest.approx(8)
    assert found["cycles"].miscounts == 0
    # If there are no runs with exact counters, the miscounts cannot be separated from the access.
    assert rows(*runs)["data_reads"].access == pytest.approx(8)


def test_the_parts_add_up():
    runs = [
        run(70, 33, first=9, interrupted=(2, 3, 4), miscounts=4),
        run(5, 30, interrupted=(7,)),
        run(61, 0),
        run(2, 0),
        run(70, 33, first=9, interrupted=(2, 3, 4)),
        run(5, 30, interrupted=(7,)),
    ]
    for row in rows(*runs).values():
        parts = row.first + row.interrupts + row.access + row.miscounts
        assert row.left == pytest.approx(parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("0 0 ", "x 0 ", 1), "line 1 of its output: expected pass"),
        (lambda text: text.replace("\n", " 9\n", 1), "line 1 of its output: expected pass"),
        (lambda text: text.replace("4 3 ", "5 3 ", 1), "line 20 of its output: expected pass"),
        (lambda text: text[: text.rindex("4 3 ")], "19 lines of output are not 5 passes"),
        (lambda text: "", "0 lines of output are not 5 passes"),
        (lambda text: text + text, "40 lines of output are not 5 passes"),
    ],
)
def test_output_that_makes_no_sense(change, message):
    text, table = run(70, 33)
    with pytest.raises(StatsError, match=message):
        method.measured(change(text), table)


def test_output_and_brackets_must_agree():
    text, table = run(70, 33)
    with pytest.raises(StatsError, match="20 lines of output for 19 and 19 brackets"):
        method.measured(text, table[table["iteration"] > 0])


def test_only_interrupted_iterations():
    busy = run(70, 33, interrupted=range(PER_PASS))
    with pytest.raises(StatsError, match="data_reads: expected a later iteration without"):
        rows(busy, run(5, 30), run(70, 0), run(5, 0))


def stored(operation, counters="used", *, geometry="", status="ok", workload="counted", seed=0):
    return Stored(
        Path(),
        {
            "status": status,
            "seed": seed,
            "guest": {"name": "linux"},
            "machine": {"name": "p90", "geometry": geometry},
            "workload": {"name": workload},
            "parameters": {"operation": operation, "counters": counters},
        },
    )


NULLS = [stored("null"), stored("null", "unused")]


@pytest.mark.parametrize(
    ("runs", "applies"),
    [
        ([*NULLS, stored("dup"), stored("dup", "unused")], True),
        ([*NULLS, stored("dup"), stored("dup", geometry=report.EXACT)], True),
        ([], False),
        (NULLS, False),
        ([NULLS[0], stored("dup"), stored("dup", "unused")], False),
        ([*NULLS, stored("dup", status="failed")], False),
        ([*NULLS, stored("dup", geometry="l2.size=524288")], False),
        ([*NULLS, stored("dup", seed=1)], False),
        ([*NULLS, stored("dup", workload="dup")], False),
    ],
)
def test_what_is_shown_in_the_papers_way(runs, applies):
    assert report.applies(runs) is applies
