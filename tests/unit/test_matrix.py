# SPDX-License-Identifier: MIT
"""`./p5lab matrix` in a miniature laboratory: which guests run which benchmarks.

test_documents.py checks the matrix of the real laboratory.
"""

import csv
import io
import json

import pytest

from p5lab.cli import main as cli
from p5lab.evidence import matrix

PAPER = 'source = "lai96 section 5"'


@pytest.fixture
def lab(lab):
    """Returns a laboratory with one more guest, which cannot run all workloads, and an experiment
    of a paper with three runs.
    """
    for path in lab.files("workload").values():
        lines = path.read_text().splitlines()
        path.write_text(
            "\n".join(PAPER if line.startswith("source = ") else line for line in lines)
        )
    toy = (lab.root / "guest-images/toy/guest.toml").read_text()
    other = toy.replace('name = "toy"', 'name = "other"')
    assert "[cannot]\n" in other
    other = other.replace("[cannot]\n", '[cannot]\ncall = "no calls"\n')
    lab._put("guest-images/other/guest.toml", other)
    lab._put(
        "configs/experiments/lai96-tests.toml",
        """schema_version = 1
title = "three runs"
machines = ["p90-premiere2", "p100-plato"]
guests = ["toy", "other"]

[[run]]
workload = "chase"

[[run]]
workload = "chase"
parameters = { loads = 2000 }
guests = ["toy"]

[[run]]
workload = "call"
""",
    )
    return lab


def states(lab):
    return {(cell.benchmark, cell.guest): (cell.state, cell.runs) for cell in matrix.cells(lab)}


def test_states(lab):
    found = states(lab)
    assert found["chase", "toy"] == ("all", 2)  # the runs on two machines are the same
    assert found["chase", "other"] == ("some", 1)
    assert found["call", "toy"] == ("all", 1)
    assert found["call", "other"] == ("no", 0)
    (lab.root / "configs/experiments/lai96-tests.toml").rename(
        lab.root / "configs/experiments/own.toml"
    )
    assert states(lab)["chase", "toy"] == ("can", 0)  # no experiment of a paper


def test_what_is_of_no_paper_is_left_out(lab):
    path = lab.files("workload")["call"]
    path.write_text(path.read_text().replace(PAPER, 'source = "p5lab tests"', 1))
    assert {cell.benchmark for cell in matrix.cells(lab)} == {"chase"}


def test_forms(lab, capsys):
    def printed(*arguments):
        assert cli.main(["matrix", *arguments], lab) == 0
        return capsys.readouterr().out

    assert "(1) no calls" in printed()
    assert "| call | no (1) | 1 | lai96 section 5 |" in printed("--format", "markdown")
    rows = list(csv.DictReader(io.StringIO(printed("--format", "csv"))))
    (row,) = [one for one in rows if (one["benchmark"], one["guest"]) == ("call", "other")]
    assert (row["state"], row["reason"], row["runs"]) == ("no", "no calls", "0")
    cells = json.loads(printed("--json"))["cells"]
    assert [str(cell["runs"]) for cell in cells] == [row["runs"] for row in rows]
    assert cells[rows.index(row)]["experiments"] == []
    assert ["lai96-tests"] in [cell["experiments"] for cell in cells]
