# SPDX-License-Identifier: MIT
"""Every notebook runs from top to bottom and is stored without outputs."""

import os

import nbclient
import nbformat
import pytest
from fakelab import REPO

NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))


def test_there_is_one():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_runs(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(REPO / "src"), str(REPO / "stats-parsers")])
    )
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}
    ).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook_is_stored_without_outputs_and_asks_a_question(path):
    notebook = nbformat.read(path, as_version=4)
    assert "?" in notebook.cells[0].source
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
