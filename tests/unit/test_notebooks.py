# SPDX-License-Identifier: MIT
"""Every notebook imports the public API alone, runs completely on the stored samples, draws
figures, and is stored without outputs. The notebooks share one kernel, because the start of a
kernel takes most of the time. The test clears the kernel between two notebooks. The notebooks of
the lab course and `compare` make runs, so tests/e2e/test_lab.py runs them.
"""

import ast
import itertools
import re

import nbclient
import nbformat
import pytest
import samples
from fakelab import REPO
from jupyter_client.manager import KernelManager

import p5lab
from p5stats import cpi, tidy

PLACE = REPO / "notebooks"
NOTEBOOKS = sorted(PLACE.glob("*.ipynb"))
COURSES = ["lab", "lab-structure"]
COURSE = sorted([*COURSES, *(f"{name}-solutions" for name in COURSES)])
NAMES = [
    "applications",
    "chen95",
    "compare",
    "engines",
    "getting-started",
    *COURSE,
    "method",
    "what-if",
]
ON_SAMPLES = [path for path in NOTEBOOKS if path.stem not in ("compare", *COURSE)]
# The public modules of p5stats (docs/start/analysis.md). The other imports are of Python itself and
# of well-known packages.
PUBLIC = {
    "altair",
    "pandas",
    "course",  # beside the notebooks
    "p5lab",
    "pathlib",
    "zlib",
    "p5stats.cpi",
    "p5stats.crosscheck",
    "p5stats.method",
}
SAMPLE_BYTES = 300_000


def test_there_are_these():
    assert sorted(path.stem for path in NOTEBOOKS) == NAMES


@pytest.fixture(scope="module")
def kernel():
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(PLACE))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", ON_SAMPLES, ids=lambda path: path.stem)
def test_notebook_runs_and_draws(path, kernel):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    nbclient.NotebookClient(notebook, km=kernel, timeout=600).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    drawings = [
        one["data"]["image/svg+xml"] for one in outputs if "image/svg+xml" in one.get("data", {})
    ]
    assert drawings
    for drawing in drawings:
        assert "<path" in drawing
        assert_readable(drawing)


def assert_readable(drawing):
    """The labels of an axis do not overlap, and numbers are not in milli."""
    texts = re.findall(r">([^<>]+)</text>", drawing)
    assert not [text for text in texts if re.fullmatch(r"[−-]?\d+(\.\d+)?m", text)]
    assert [text for text in texts if " " in text], "no title"
    for group in re.findall(r'<g class="mark-text role-axis-label".*?</g>', drawing, re.DOTALL):
        found = re.findall(r"translate\(([-\d.]+),([-\d.]+)\)[^>]*>([^<]*)<", group)
        labels = [(float(x), len(text)) for x, y, text in found if text]
        if len({y for _, y, _ in found}) != 1:
            continue  # a vertical axis, on which each label has its own line
        for (left, before), (right, after) in itertools.pairwise(labels):
            assert right - left >= 5.5 * (before + after) / 2, (group, left, right)


def test_unreadable_figures_would_be_found():
    axis = '<g class="mark-text role-axis-label">{}</g><text>a title</text>'
    label = '<text text-anchor="middle" transform="translate({},15)">{}</text>'
    assert_readable(axis.format(label.format(0, "60") + label.format(40, "80")))
    for labels in (((0, "60,000"), (20, "80,000")), ((0, "20m"), (90, "40m"))):
        with pytest.raises(AssertionError):
            assert_readable(axis.format("".join(label.format(*one) for one in labels)))


def code(notebook):
    """Returns the text of all code cells."""
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            is_package = node.module in ("p5lab", "p5stats")
            yield from (f"{node.module}.{one.name}" for one in node.names if is_package)
            yield from () if is_package else (node.module,)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_imports_the_public_api_alone(path):
    assert set(imported(code(nbformat.read(path, as_version=4)))) <= PUBLIC


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs_and_asks_a_question(path):
    notebook = nbformat.read(path, as_version=4)
    title, question = notebook.cells[0].source.split("\n\n")[:2]
    assert title.startswith("# ")
    assert question.startswith("**")
    assert question.endswith("?**")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def is_answer(text):
    """Whether a cell of the course is for the student: it only assigns None."""
    return bool(text) and all(
        isinstance(node, ast.Assign)
        and all(
            isinstance(one, ast.Constant) and one.value is None
            for one in getattr(node.value, "elts", [node.value])
        )
        for node in ast.parse(text).body
    )


@pytest.mark.parametrize("name", COURSES)
def test_a_course_and_its_solutions_differ_only_in_answers(name):
    """The solutions have the same questions, measurements and checks in the same order. They give a
    value to every name that the student must fill in."""
    lab, solutions = (
        nbformat.read(PLACE / f"{one}.ipynb", as_version=4).cells[1:]
        for one in (name, f"{name}-solutions")
    )
    own = [cell.source for cell in lab if cell.cell_type == "code" and is_answer(cell.source)]
    assert len(own) >= 8  # a prediction and an answer for each of four questions
    rest = iter([cell.source for cell in solutions])
    for cell in lab:
        if cell.source not in own:
            assert cell.source in rest, cell.source  # in this order
    given = "\n".join(cell.source for cell in solutions if cell.cell_type == "code")
    assert names_set("\n".join(own)) <= names_set(given)
    assert not [cell.source for cell in solutions if cell.source in own]


def names_set(text):
    """Returns the names that a program assigns to."""
    return {
        node.id
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_samples_are_small():
    sizes = [path.stat().st_size for path in (PLACE / "samples").iterdir()]
    assert sum(sizes) < SAMPLE_BYTES


@pytest.mark.parametrize("name", [*samples.MADE, *samples.OTHERS])
def test_a_sample_is_what_its_maker_keeps(name, tmp_path):
    """A sample read, written and read again is the same table, with few brackets."""
    table = p5lab.sample(name)
    assert set(table["experiment"]) == {"chen95-core" if name == "engines" else name}
    columns = list(tidy.COLUMNS)
    (tmp_path / "sample").write_bytes(samples.parquet(table))
    again = tidy.load(tmp_path / "sample")
    before, after = (one[columns].sort_values(columns, ignore_index=True) for one in (table, again))
    assert after.equals(before)
    if name in ("smoke", "chen95-core", "what-if"):
        assert samples.few(table, *cpi.components()).equals(table)


def test_a_sample_has_the_output_of_its_runs():
    table = p5lab.sample("chen95-method")
    used = table[table["parameters"].str.contains("counters=used")]
    assert used["run"].nunique() == 2 * len(samples.OPERATIONS)
    for run in used["run"].unique():
        assert p5lab.output(run)


def test_an_unknown_sample_is_named():
    with pytest.raises(p5lab.UserError, match=r"'smok'.*smoke"):
        p5lab.sample("smok")
    with pytest.raises(p5lab.UserError, match="unknown sample 3; known: "):
        p5lab.sample(3)
    with pytest.raises(p5lab.UserError, match="0123456789"):
        p5lab.output("0123456789")
