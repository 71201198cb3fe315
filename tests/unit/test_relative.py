# SPDX-License-Identifier: MIT
"""The figure of MIPS-relative speeds, from counts with known results."""

import math
from types import SimpleNamespace

import pytest

from p5lab.page import document, relative_figure
from p5lab.page.figure import MODELLED
from p5lab.page.figure import PUBLISHED as PRINTED
from p5lab.present.comparison import Question
from p5stats import papers
from p5stats.claims import Claim

CLOCK_MHZ = 66
RATING = 112 / 0.9  # speed relative to a Microvax II


class Cells:
    """A comparison of two systems, with the methods that of_relative uses."""

    def __init__(self, times):
        self.systems = ["fast", "slow"]
        self.times = times  # by workload, what, phase and system; MB/s of file-read
        self.questions = [Question(what, phase) for _, what, phase in times]

    def names(self):
        return {system: system for system in self.systems}

    def cell(self, question, system):
        (value,) = [
            values.get(system)
            for (_, what, phase), values in self.times.items()
            if (what, phase) == (question.what, question.phase)
        ]
        if value is None:
            return None
        time = 1.0 if question.what == "file-read" else value
        metrics = {
            "microseconds": time,
            "busy cycles": time * CLOCK_MHZ,
            "idle cycles": 0.0,
            "MB/s": value,
        }
        return SimpleNamespace(
            has=lambda metric: metric in metrics,
            mean=metrics.__getitem__,
            runs=f"{question.what}-{system}".replace(" ", "-"),
        )

    def any_cell(self, question):
        (name,) = [
            workload
            for workload, what, phase in self.times
            if (what, phase) == (question.what, question.phase)
        ]
        return SimpleNamespace(record={"workload": {"name": name}})


def claim(name, value):
    return Claim(name, "ousterhout90 table 2", "q", value, "exact", "times", "untestable", "")


PUBLISHED = [
    claim("ousterhout90-getpid-relative MVAX2 Ultrix 3.0", 1.0),
    claim("ousterhout90-read-relative MVAX2 Ultrix 3.0", 4.0),
    claim("ousterhout90-read-relative DS3100 Sprite NFS", 9.0),  # not a local disk
    claim("ousterhout90-select-relative MVAX2 Ultrix 3.0", 7.0),  # no workload here to compare with
    claim("ousterhout90-getpid MVAX2 Ultrix 3.0", 207.0),
]
TIMES = {
    ("getpid", "getpid", "call"): {"fast": 207 / RATING, "slow": 414 / RATING},
    ("file-read", "file-read", "blocks"): {"fast": 2.3 * RATING * 4},
    ("open-close", "open-close", "a/b/c/foo"): {"fast": 1.0},  # the paper scales "foo"
    ("create-delete", "create-delete memory", "no data"): {"fast": 25_000 / RATING},
    ("create-delete", "create-delete ext2", "no data"): {"fast": 400_000 / RATING},
}


@pytest.fixture
def figure():
    (found,) = relative_figure.of(Cells(TIMES), PUBLISHED)
    return found


def test_speeds(figure):
    rows = figure.frame[figure.frame["kind"] == MODELLED]
    found = {(row.benchmark, row.series): row.value for row in rows.itertuples()}
    assert found == {
        ("getpid", "fast"): pytest.approx(1),
        ("getpid", "slow"): pytest.approx(0.5),
        ("file-read", "fast"): pytest.approx(4),
        ("create-delete memory", "fast"): pytest.approx(4),
        ("create-delete ext2", "fast"): pytest.approx(0.25),
        # The geometric mean of getpid (1), file-read (4) and create-delete (1). The value 1 of
        # create-delete is the geometric mean of its two file systems (4 and 1/4).
        (relative_figure.MEAN, "fast"): pytest.approx(4 ** (1 / 3)),
        (relative_figure.MEAN, "slow"): pytest.approx(0.5),
    }
    assert figure.frame["benchmark"].iloc[-1] == relative_figure.MEAN


def test_what_is_published_stands_beside_them(figure):
    rows = figure.frame[figure.frame["kind"] == PRINTED]
    found = [(row.benchmark, row.why, row.value) for row in rows.itertuples()]
    assert found == [
        ("getpid", "MVAX2 Ultrix 3.0, exact", 1),
        ("file-read", "MVAX2 Ultrix 3.0, exact", 4),
        (relative_figure.MEAN, "MVAX2", pytest.approx(2)),
    ]
    assert set(figure.series) == {"fast", "slow"}


def test_one_benchmark_makes_no_mean():
    alone = {key: value for key, value in TIMES.items() if key[0] == "getpid"}
    assert relative_figure.of(Cells(alone), PUBLISHED) == []


def test_many_published_values_are_one_line(figure):
    rows = figure.frame[figure.frame["kind"] == PRINTED].assign(claim="table 2")
    assert document._published(rows) == "table 2, 3 values from 1 to 4 times"


def test_the_bases_are_those_of_the_relative_speeds():
    """On the Microvax II itself, each relative speed is 1."""
    for base in papers.MVAX2_BASES:
        assert (
            papers.mips_relative(
                base.value, papers.MVAX2_MIPS, base.value, bandwidth=base.bandwidth
            )
            == 1
        )
    assert math.isclose(papers.pentium_mips(66e6), 112)
    assert {
        base.workload: base.value for base in papers.MVAX2_BASES
    }.items() >= papers.MVAX2.items()
