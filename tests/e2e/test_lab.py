# SPDX-License-Identifier: MIT
"""The lab course, in a kernel of its own on the real engine: every cell of the notebook runs before
the student has answered, and the checks accept the answers of the solutions, and no others.
"""

import os
import re

import nbclient
import nbformat
import pytest

from p5lab.lab import Lab

ROOT = Lab.here().root
# The kernel writes its results into a directory of the test, and builds nothing: `./p5lab test` has
# built everything.
ELSEWHERE = """
from pathlib import Path
from p5lab.api import checkout
from p5lab.host import build
from p5lab.lab import Lab
build.ensure = lambda *given, **named: None
checkout.here = lambda: Lab(Lab.here().root, Path({results!r}))
"""
# After the definition of check(). Each answer is checked a second time, doubled.
WRONG = """
rightly = check
def check(what, answer, measured, *factor):
    rightly(what, answer, measured, *factor)
    rightly("doubled " + what, 2 * answer, measured, *factor)
"""
MACHINE_SECONDS = 15 * 60  # the course's limit; the runs of a quiet host take less than a minute


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Returns the directory of the results that both notebooks share."""
    return tmp_path_factory.mktemp("lab") / "results"


def executed(name, results, change=lambda source: source):
    """Returns the outputs of all cells of a notebook, as one text for each cell. `change` replaces
    the text of each cell."""
    notebook = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = change(cell.source)
    first = nbformat.v4.new_code_cell(ELSEWHERE.format(results=str(results)))
    notebook.cells.insert(0, first)
    paths = os.pathsep.join(str(ROOT / part) for part in ("src", "stats-parsers"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", paths)
        place = {"metadata": {"path": str(ROOT / "notebooks")}}
        nbclient.NotebookClient(notebook, timeout=MACHINE_SECONDS, resources=place).execute()
    return [
        "".join(
            one.get("text", "") or one.get("data", {}).get("text/plain", "")
            for one in cell.get("outputs", [])
        )
        for cell in notebook.cells
    ]


def checks(outputs):
    """Returns the lines that the checks of the notebook printed."""
    return re.findall(
        r"^(.*?): (.*(?:fits|does not fit|write your answer).*)$", "\n".join(outputs), re.M
    )


def test_every_cell_runs_before_the_student_has_answered(results):
    outputs = executed("lab", results)
    lines = checks(outputs)
    assert len(lines) >= 8
    assert {line for _, line in lines} == {"write your answer into the cell above first"}
    assert re.search(r"\d/\d runs in \d", "\n".join(outputs))  # progress that fits a cell


@pytest.fixture(scope="module")
def solutions(results):
    """Returns the lines of the checks of the solutions, and those of the doubled answers."""

    def change(source):
        return source + WRONG if "def check(" in source else source

    lines = checks(executed("lab-solutions", results, change))
    doubled = [line for line in lines if line[0].startswith("doubled ")]
    return [line for line in lines if line not in doubled], doubled


def test_the_checks_accept_the_solutions(solutions):
    lines, _ = solutions
    assert len(lines) >= 8
    assert [line for line in lines if not line[1].endswith("fits the measurement")] == []


def test_the_checks_refuse_other_answers(solutions):
    """Every answer of the solutions, doubled."""
    lines, doubled = solutions
    assert [f"doubled {line[0]}" for line in lines] == [line[0] for line in doubled]
    assert [line for line in doubled if "does not fit" not in line[1]] == []


@pytest.mark.full
def test_the_question_about_the_cache_depends_on_the_group(results):
    """Three groups have caches of three sizes, and the checks know all of them."""
    sizes = set()
    for group in ("1", "2", "group 2"):
        outputs = executed(
            "lab-solutions",
            results,
            lambda source, group=group: (
                source.replace('GROUP = "our group"', f'GROUP = "{group}"')
                if "GROUP =" in source or "secret" in source or "l1_size" in source
                else "pass"
            ),
        )
        found = [line for what, line in checks(outputs) if what == "size of the first cache"]
        assert found == [line for line in found if line.endswith("fits the measurement")]
        sizes |= set(found)
    assert len(sizes) == 3
