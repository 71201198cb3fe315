# SPDX-License-Identifier: MIT
"""Every notebook runs completely on the stored samples, draws figures, and is stored without
outputs. The notebooks share one kernel, because the start of a kernel takes most of the time. The
test clears the kernel between two notebooks.
"""

import os

import nbclient
import nbformat
import pytest
from fakelab import REPO
from jupyter_client.manager import KernelManager

PLACE = REPO / "notebooks"
NOTEBOOKS = sorted(PLACE.glob("*.ipynb"))
NAMES = ["chen95", "engines", "getting-started", "method", "what-if"]
SAMPLE_BYTES = 600_000


def test_there_are_these():
    assert [path.stem for path in NOTEBOOKS] == NAMES


@pytest.fixture(scope="module")
def kernel():
    paths = os.pathsep.join(str(REPO / name) for name in ("src", "stats-parsers"))
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(PLACE), env={**os.environ, "PYTHONPATH": paths})
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_draws(path, kernel):
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("%reset -f"))
    nbclient.NotebookClient(notebook, km=kernel, timeout=120).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output.get("name") == "stderr"]
    drawings = [
        one["data"]["image/svg+xml"] for one in outputs if "image/svg+xml" in one.get("data", {})
    ]
    assert drawings
    assert all("<path" in drawing for drawing in drawings)


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


def test_samples_are_small():
    sizes = {path: path.stat().st_size for path in PLACE.glob("sample/**/*") if path.is_file()}
    assert sum(sizes.values()) < SAMPLE_BYTES
