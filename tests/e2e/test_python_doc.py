# SPDX-License-Identifier: MIT
"""docs/start/python.md and the Python example of README.md: the examples run and print the quoted
output. The templates' notebook runs too.
"""

import contextlib
import io

import nbformat
import pytest
from examples import EXAMPLE, PYTHON, ROOT, outputs, render
from quoting import missing

from p5lab.api import checkout
from p5lab.host import build
from p5lab.lab import Lab
from p5stats import papers, tidy


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Returns a laboratory with its own results. The examples run in this laboratory."""
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("python") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkout, "here", lambda: lab)
        patch.chdir(lab.results.parent)
        yield lab


@pytest.fixture(scope="module")
def rendered(lab):
    """Returns the document with the outputs of fresh runs."""
    with pytest.MonkeyPatch.context() as patch:
        # `./p5lab test` has built everything. In test_the_example_of_the_first_page, p5lab.run
        # compares the products with their sources.
        patch.setattr(build, "ensure", lambda *given, **named: None)
        return render(PYTHON.read_text())


def test_the_document_shows_what_its_examples_print(rendered):
    shown, now = outputs(PYTHON.read_text()), outputs(rendered)
    assert len(shown) == len(now) > 4
    for quoted, printed in zip(shown, now, strict=True):
        assert quoted.strip()
        assert missing(quoted, printed) == []


def test_the_examples_write_figures(rendered, lab):
    assert (lab.results.parent / "l2.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (lab.results.parent / "server.svg").read_text()


def test_a_larger_cache_has_fewer_misses(rendered, lab):
    """The sweep of the first example, checked by its counts: a larger L2 never misses more often on
    the same pages, and every point is another machine."""
    table = tidy.load(lab.results / "smoke")
    sweep = papers.measured(table[table["workload"] == "exec-static"])
    misses = sweep[sweep["metric"] == "L2 misses"].set_index("l2.size")["value"]
    assert len(misses) == 3
    assert misses.sort_index().is_monotonic_decreasing
    assert misses.nunique() == 3


def test_the_example_of_the_first_page(rendered, lab):
    (example,) = EXAMPLE.findall((ROOT / "README.md").read_text())
    (lab.results.parent / "l2.png").unlink()
    exec(compile(example[0], "README.md", "exec"), {})
    assert (lab.results.parent / "l2.png").exists()


def test_the_template_of_a_notebook(lab):
    path = ROOT / "docs/extend/templates/notebooks/my-notebook.ipynb"
    names = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, path.name, "exec"), names)
    assert set(names["table"]["workload"]) == {"getpid", "dup"}
