# SPDX-License-Identifier: MIT
"""`p5lab.run` in a cell of a notebook: the progress is one text that changes, and an interrupted
cell stops the runs. The cells run in a real kernel, in a laboratory with a scripted engine.
"""

import fakelab
import nbclient
import nbformat
import pytest

BEGIN = """
import p5lab
from p5lab.api import checkout
from p5lab.lab import Lab
from pathlib import Path
checkout.here = lambda: Lab(Path({root!r}))
"""
# The engine sleeps for ten minutes. A thread of the kernel interrupts the cell, as the button of
# JupyterLab does, when the engine has started.
INTERRUPT = """
import os, signal, threading, time
engine = checkout.here().root / "build/engine"
def interrupt():
    while not (engine / "starts").exists():
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
p5lab.run("tests", build=False)
"""
AGAIN = """
plan = engine / "behaviour.json"
plan.write_text(plan.read_text().replace("600", "0"))
p5lab.run("tests", build=False)["run"].nunique()
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Returns the outputs of the cells that ran in one kernel, also after errors: the cells of one
    laboratory, and the interrupted cell and the next cell of another laboratory."""
    place = tmp_path_factory.mktemp("cells")
    lab, slow = (fakelab.make(place / name) for name in ("lab", "slow"))
    slow.behave(sleep_of={"call": 600, "chase": 600})
    sources = (
        BEGIN.format(root=str(lab.root)),
        'table = p5lab.run("tests", sweep={"l2.size": ["128K", "256K"]}, build=False)',
        'p5lab.measure(table[table["workload"] == "call"], "busy cycles")',
        'p5lab.plot(table[table["workload"] == "call"])',
        'p5lab.run("test", build=False)',
        BEGIN.format(root=str(slow.root)),
        INTERRUPT,
        AGAIN,
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(t) for t in sources])
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, allow_errors=True).execute()
    return [cell["outputs"] for cell in notebook.cells]


@pytest.fixture
def outputs(cells):
    return cells[1:5]


def text(output):
    return output.get("text") or output["data"]["text/plain"]


def test_progress_is_one_text_in_the_cell(outputs):
    progress = outputs[0]
    assert [one["output_type"] for one in progress] == ["display_data"]
    assert text(progress[0]).startswith("4/4 runs in ")


def test_a_table_and_a_figure_are_shown(outputs):
    _, table, figure, _ = outputs
    assert "busy cycles" in text(table[0])
    assert "<svg" in figure[0]["data"]["image/svg+xml"]


def test_an_error_is_the_last_line_of_the_cell(outputs):
    error = outputs[-1]
    assert error[-1]["ename"] == "UserError"
    assert error[-1]["evalue"] == "unknown experiment 'test'; did you mean 'tests'?"


def test_an_interrupted_cell_stops_the_runs_and_the_next_cell_goes_on(cells):
    stopped, repeated = cells[-2:]
    assert stopped[-1]["ename"] == "Stopped"  # a KeyboardInterrupt that describes what is kept
    assert text(repeated[-1]) == "2"
