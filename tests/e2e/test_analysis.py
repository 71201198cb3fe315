# SPDX-License-Identifier: MIT
"""docs/start/analysis.md: its examples run on fresh results and print the quoted output."""

import pytest
from examples import DOCUMENT, outputs, render
from quoting import missing

from p5lab.describe import experiment
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.lab import Lab

CORE = ("getpid", "dup", "cswitch")
FAST_SEEDS = (1, 2)
LOTTERY = 4  # examples from this number on use all seeds


@pytest.fixture(scope="module")
def lab(tmp_path_factory, full):
    """Returns a laboratory with fresh runs of the examples' experiments."""
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("analysis") / "results")
    runs = [
        *(run for run in experiment.load(lab, "chen95-core") if run.workload.name in CORE),
        *(
            run
            for run in experiment.load(lab, "chen95-method")
            if run.parameters["operation"] in ("null", "dup")
            and run.parameters["counters"] == "used"
            and not run.machine.geometry
        ),
        *(run for run in experiment.load(lab, "page-colours") if full or run.seed in FAST_SEEDS),
    ]
    results = Runner(lab, jobs=cores()).run_all(runs)
    assert [(one.run.label, one.reason) for one in results if one.status != "ok"] == []
    return lab


@pytest.fixture(scope="module")
def rendered(lab):
    """Returns the document with the outputs of fresh runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(lab.results.parent)
        return render(DOCUMENT.read_text())


def test_the_document_shows_what_its_examples_print(rendered, full):
    shown, now = outputs(DOCUMENT.read_text()), outputs(rendered)
    assert len(shown) == len(now) > LOTTERY
    for quoted, printed in list(zip(shown, now, strict=True))[: None if full else LOTTERY]:
        assert quoted.strip()
        assert missing(quoted, printed) == []


def test_seeds_move_scattered_pages_and_no_others(rendered):
    """Two seeds are enough to show which benchmarks depend on the placement of pages."""
    lines = outputs(rendered)[LOTTERY].splitlines()
    width = {}
    for line in lines:
        words = line.split()
        if line in ("contiguous", "guest"):
            placement = line
        elif words[1:2] == ["KB"]:
            width[placement, int(words[0])] = float(words[-1])
    small = [size for placement, size in width if placement == "guest" and 16 <= size <= 128]
    assert max(width["contiguous", size] for size in small) <= 0.001
    assert max(width["guest", size] for size in small) > 0.02
