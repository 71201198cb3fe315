# SPDX-License-Identifier: MIT
"""The notebooks that make runs, on the real engine: every cell runs before the student has
answered, the checks accept the answers of the solutions and no others, and the file to hand in has
the predictions beside the results. The cells run in this process, so that they share its boots.
With --full, the student's notebook also has a kernel of its own.
"""

import re

import nbclient
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from p5lab.api import checkout
from p5lab.host import build
from p5lab.lab import Lab

ROOT = Lab.here().root
# The kernel writes its results into a directory of the test, and builds nothing: `./p5lab test` has
# built everything.
ELSEWHERE = """
import os
import sys
from pathlib import Path
from p5lab.api import checkout
from p5lab.host import build
from p5lab.lab import Lab
build.ensure = lambda *given, **named: None
checkout.here = lambda: Lab(Lab.here().root, Path({results!r}))
sys.path.insert(0, os.getcwd())  # for course.py
os.makedirs({work!r}, exist_ok=True)
os.chdir({work!r})  # for the file to hand in
"""
# After the definition of the course. Each answer is checked a second time, doubled.
WRONG = """
rightly = course.check
def check(name, answer, *measured, **named):
    rightly("doubled_" + name, 2 * answer, *measured, **named)
    rightly(name, answer, *measured, **named)
course.check = check
"""
COURSES = {"lab": 12, "lab-structure": 6}  # and the number of their checks
MACHINE_SECONDS = 15 * 60  # the course's limit; the runs of a quiet host take less than a minute


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Returns the directory of the results that both notebooks share."""
    return tmp_path_factory.mktemp("lab") / "results"


def cells(name, change=lambda source: source):
    """Returns the code of the cells of a notebook. `change` replaces the text of each cell."""
    notebook = nbformat.read(ROOT / f"notebooks/{name}.ipynb", as_version=4)
    return [change(cell.source) for cell in notebook.cells if cell.cell_type == "code"]


def in_a_kernel(name, results):
    """Returns the outputs of a notebook in a kernel of its own, as one text for each cell."""
    work = results.parent / name
    first = ELSEWHERE.format(results=str(results), work=str(work))
    code = [nbformat.v4.new_code_cell(one) for one in (first, *cells(name))]
    notebook = nbformat.v4.new_notebook(cells=code)
    place = {"metadata": {"path": str(ROOT / "notebooks")}}
    nbclient.NotebookClient(notebook, timeout=MACHINE_SECONDS, resources=place).execute()
    return [
        "".join(
            one.get("text", "") or one.get("data", {}).get("text/plain", "")
            for one in cell.get("outputs", [])
        )
        for cell in notebook.cells
    ]


def executed(name, results, change=lambda source: source):
    """Returns the outputs of a notebook in this process, as one text for each cell."""
    work = results.parent / name
    work.mkdir(exist_ok=True)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "ensure", lambda *given, **named: None)
        patch.setattr(checkout, "here", lambda: Lab(ROOT, results))
        patch.syspath_prepend(ROOT / "notebooks")  # for course.py
        patch.chdir(work)  # for the file to hand in
        shell = InteractiveShell.instance()
        for code in cells(name, change):
            with capture_output() as said:
                done = shell.run_cell(code)
            done.raise_error()
            shown = [one.data.get("text/plain", "") for one in said.outputs]
            result = "" if done.result is None else repr(done.result)
            found.append("".join([result, said.stdout, *shown]))
        InteractiveShell.clear_instance()
    return found


def checks(outputs):
    """Returns the lines that the checks of the notebook printed."""
    return re.findall(
        r"^(.*?): (.*(?:fits|does not fit|write your answer).*)$", "\n".join(outputs), re.M
    )


@pytest.mark.parametrize(
    ("name", "execute"),
    [
        ("lab", executed),
        pytest.param("lab-structure", executed, marks=pytest.mark.full),
        *(pytest.param(name, in_a_kernel, marks=pytest.mark.full) for name in COURSES),
    ],
)
def test_every_cell_runs_before_the_student_has_answered(results, name, execute):
    outputs = execute(name, results)
    lines = checks(outputs)
    assert len(lines) >= COURSES[name] - 2  # without a program of C, nothing of it is checked
    assert {line for _, line in lines} == {"write your answer into the cell above first"}
    if execute is in_a_kernel:
        assert re.search(r"\d/\d runs in \d", "\n".join(outputs))  # progress that fits a cell


@pytest.fixture(scope="module", params=COURSES)
def solutions(request, results):
    """Returns the name of a course, the lines of the checks of its solutions, and those of the
    doubled answers."""

    def change(source):
        return source + WRONG if "course = Course(" in source else source

    lines = checks(executed(f"{request.param}-solutions", results, change))
    doubled = [line for line in lines if line[0].startswith("doubled ")]
    return request.param, [line for line in lines if line not in doubled], doubled


def test_the_checks_accept_the_solutions(solutions):
    name, lines, _ = solutions
    assert len(lines) == COURSES[name]
    assert [line for line in lines if not line[1].endswith("fits the measurement")] == []


def test_the_checks_refuse_other_answers(solutions):
    """Every answer of the solutions, doubled."""
    _, lines, doubled = solutions
    assert [f"doubled {line[0]}" for line in lines] == [line[0] for line in doubled]
    assert [line for line in doubled if "does not fit" not in line[1]] == []


def test_the_file_to_hand_in_has_predictions_and_results(solutions, results):
    name, _, _ = solutions
    (file,) = (results.parent / f"{name}-solutions").glob("hand-in-*.md")
    text = file.read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    asked = [row for row in rows if row[1]]
    assert len(asked) >= 5
    assert all(row[2] != "open" and row[4].strip(" |") for row in asked)
    assert "## lesson" in text
    assert ".c\n\n```\n#include" in text  # the program


def test_two_systems_are_compared_by_each_dimension(results):
    """The differences by component, ring, call and function add up to the whole difference."""
    parts = """
for name in ("component", "ring", "call", "function"):
    rows = p5lab.by(table, name, metric="cycles")
    print("sum:", name, round(rows["difference"].sum()), round(whole))
"""
    outputs = executed(
        "compare", results, lambda source: source + parts if "whole =" in source else source
    )
    sums = re.findall(r"^sum: (\w+) (\d+) (\d+)$", "\n".join(outputs), re.M)
    assert [name for name, _, _ in sums] == ["component", "ring", "call", "function"]
    assert all(own == whole for _, own, whole in sums)
    assert [text for text in outputs if text.startswith("Profile('dup: mach against linux')")]
    assert [text for text in outputs if text.startswith("Explorer(")]


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
                if any(word in source for word in ("GROUP =", "predicted_l2", "l1_size"))
                else "pass"
            ),
        )
        found = [line for what, line in checks(outputs) if what == "l1 size in bytes"]
        assert found == [line for line in found if line.endswith("fits the measurement")]
        sizes |= set(found)
    assert len(sizes) == 3
