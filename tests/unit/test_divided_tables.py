# SPDX-License-Identifier: MIT
"""The tables of `show --by` and `compare --by`: the order of their rows, and their sums."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from p5lab.keep.store import Stored
from p5lab.present import breakdown_table, column
from p5lab.present.breakdown import BreakdownQuestion, BreakdownRow, BreakdownTable, SeedGroup
from p5stats.dimensions import WHOLE_RUN

RECORD = {
    "workload": {"operation": "call", "curve": "", "operations": 1},
    "guest": {"name": "toy", "clock_vector": 48},
}
CYCLES, INSTRUCTIONS = "cycles.busy", "instructions"


def table(rows, metrics, systems=2, phase="dup", by=("function",), **question):
    """A table with the busy cycles and instructions of each function, for each system."""
    named = tuple(
        SeedGroup(name, (Stored(Path(name), RECORD | {"run": name}),))
        for name in ("before", "after")[:systems]
    )
    counts = tuple(
        BreakdownRow(
            (name,), tuple(own and dict(zip((CYCLES, INSTRUCTIONS), own, strict=True)) for own in n)
        )
        for name, n in rows.items()
    )
    columns = column.parse([metrics])
    asked = BreakdownQuestion(by, metrics=columns, **question)
    return BreakdownTable("dup", phase, asked, named, (), counts).ordered(columns)


def printed(one, top=9):
    file = io.StringIO()
    breakdown_table.show(Console(file=file, width=100), [one], "table", top)
    return file.getvalue()


def cells(text):
    """The words of each line by the first of them, the last line with this word."""
    return {line.split()[0]: line.split() for line in text.splitlines() if line.split()}


def test_the_whole_program_contains_its_other_phases():
    rows = {"whole": ((100, 10),), "work": ((60, 6),)}
    text = printed(table(rows, "cycles", systems=1, phase="", by=("phase",)))
    assert cells(text)["work"] == ["work", "60", "60.0"]
    assert cells(text)["all"] == ["all", "100", "100.0"]
    assert "whole contains the others" in text
    text = printed(table({"a": ((100, 10),), "b": ((60, 6),)}, "cycles", systems=1, by=("phase",)))
    assert cells(text)["all"] == ["all", "160", "100.0"]


def test_each_metric_has_its_own_order():
    rows = {
        "slow": ((100, 10), (900, 10)),
        "long": ((100, 10), (120, 99)),
        "same": ((7, 7), (7, 7)),
    }
    first, second = printed(table(rows, "cycles,instructions"), top=1).split("instructions of")
    assert "slow" in cells(first) and "long" not in cells(first)
    assert cells(second)["long"] == ["long", "10", "99", "+89", "9.90"]
    assert "slow" not in cells(second)
    assert cells(second)["all"] == ["all", "27", "116", "+89", "4.30"]


def test_what_no_system_counted_is_not_new():
    rows = {"a": ((5, 5), (9, 9)), "new": (None, (4, 0)), "gone": ((3, 0), None)}
    first, second = printed(table(rows, "cycles,instructions")).split("instructions of")
    assert cells(first)["new"][-1] == "new" and cells(first)["gone"][-1] == "gone"
    assert cells(second)["new"][-1] == cells(second)["gone"][-1] == "-"
    found = breakdown_table.rows(table(rows, "cycles,instructions"))
    states = {(row["function"], row["metric"]): row["state"] for row in found if row["difference"]}
    assert states["new", "busy cycles"] == "new" and ("new", INSTRUCTIONS) not in states


@pytest.mark.parametrize("systems", [1, 2])
def test_a_ratio_is_in_the_order_of_its_dividend(systems):
    """The CPI of one instruction says little about the CPI of the whole."""
    rows = {"tiny": ((400, 1), (900, 1)), "hot": ((3000, 1000), (9000, 1000))}
    own = {name: counts[:systems] for name, counts in rows.items()}
    text = printed(table(own, "cpi", systems))
    assert text.index("hot") < text.index("tiny")
    assert cells(text)["all"][1:3] == (["3.397"] if systems == 1 else ["3.397", "9.89"])
    assert "%" not in text and "dividend" in text and "add up" not in text
    both = printed(table(own, "cycles,cpi", systems))
    assert "add up" in both and ("dividend" in both) == (systems == 2)


def test_only_what_adds_up_is_said_to_add_up():
    rows = {"a": ((5, 5),), "b": ((3, 3),)}
    assert "between the markers" in printed(table(rows, "cycles", 1))
    chosen = printed(table(rows, "cycles", 1, where={"ring": ("0",)}))
    assert "markers" not in chosen and "--where" in chosen
    whole = printed(table(rows, "cycles", 1, phase=WHOLE_RUN))
    assert "markers" not in whole and WHOLE_RUN in whole
