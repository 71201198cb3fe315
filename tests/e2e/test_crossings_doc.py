# SPDX-License-Identifier: MIT
"""Compares docs/evidence/crossings.md with fresh runs."""

import re

import pytest

from p5lab.evidence import calls, documents
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.lab import Lab

# If another compiler has built the kernel, there may be a few more page faults or clock interrupts.
LOOSE = 0.4


@pytest.fixture(scope="module")
def tables(tmp_path_factory, full):
    """Returns the document's tables and the same tables from fresh runs. Each table is a list of
    rows. The fast set checks only the tables of `dup`.
    """
    root = Lab.here().root
    text = documents.read(Lab.here(), documents.BY_NAME["crossings"])
    if not full:
        text = "".join(found[0] for found in calls.TABLE.finditer(text) if found[3] == "dup")
    lab = Lab(root, tmp_path_factory.mktemp("crossings") / "results")
    now = calls.render(lab, text, documents.CHEN95, Runner(lab, jobs=cores()).run_all)
    return _tables(text), _tables(now)


def _tables(text):
    return {
        (found[2], found[3], found[4]): [
            re.split(r" *\| *", line)[1:-1] for line in found[5].splitlines()
        ]
        for found in calls.TABLE.finditer(text)
    }


def value(cell):
    return int(cell.strip("*").replace(",", "") or 0)


@pytest.mark.parametrize("guest", ["linux", "linux-uml"])
def test_dup_goes_the_way_that_is_described(tables, guest):
    shown, now = (side["steps", "dup", guest] for side in tables)
    assert [[who, until] for who, _, until in shown] == [[who, until] for who, _, until in now]
    for (_, before, _), (_, after, _) in zip(shown[2:], now[2:], strict=True):
        assert abs(value(before) - value(after)) <= max(100, LOOSE * value(before)), (before, after)


@pytest.mark.full
@pytest.mark.parametrize("guest", ["linux", "linux-uml"])
@pytest.mark.parametrize("workload", ["exec-static", "exec-dynamic"])
def test_exec_asks_for_what_is_described(tables, workload, guest):
    shown, now = (side["services", workload, guest] for side in tables)
    assert [row[0] for row in shown] == [row[0] for row in now]
    for before, after in zip(shown[2:], now[2:], strict=True):
        for left, right in zip(before[1:5], after[1:5], strict=True):
            slack = max(4, LOOSE * max(value(left), value(right)))
            assert abs(value(left) - value(right)) <= slack, (before, after)


def test_the_text_counts_as_the_tables_do(tables):
    """On linux-uml there are seven pairs of ring crossings and two address space switches. On linux
    there are one pair of ring crossings and no address space switch.
    """
    shown, _ = tables
    for guest, total in (
        ("linux", "2 ring crossings, 0 CR3"),
        ("linux-uml", "14 ring crossings, 2"),
    ):
        assert shown["steps", "dup", guest][-1][2].startswith(total)
