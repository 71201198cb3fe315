# SPDX-License-Identifier: MIT
"""The recorded numbers of the documents (docs/recorded.toml) are those of new runs.

Other files compare the sources whose runs they make. This file makes the runs of all other sources.
"""

import pytest

from p5lab.evidence import numbers, places, recorded
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.keep import store
from p5lab.keep.store import Stored
from p5lab.lab import Lab

PLACES = places.load(Lab.here().root)
OTHER_FILES = {
    "smoke": "test_smoke.py",
    "chen95-core": "test_chen95_core.py",
    "tutorial": "test_tutorial.py",
}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=[pytest.mark.full] if table.flag("costly", False) else [])
        for name, table in PLACES.sources.items()
        if name not in OTHER_FILES
    ],
)
def test_the_documents_print_the_numbers_of_new_runs(source, tmp_path):
    """docs/evidence/numbers.md explains what to do if the numbers have changed."""
    lab = Lab(Lab.here().root, tmp_path / "results")
    found = []
    for result in Runner(lab, jobs=cores()).run_all(numbers.runs_of(lab, PLACES.sources[source])):
        assert result.status == "ok", result.reason
        found.append(Stored(result.directory, store.read(result.directory)))
    assert recorded.differences(recorded.load(lab.root), source, found) == []


@pytest.mark.parametrize("source", OTHER_FILES)
def test_another_file_compares_the_other_sources(source):
    text = (Lab.here().root / "tests/e2e" / OTHER_FILES[source]).read_text()
    assert "recorded.differences(" in text
    assert f'"{source}"' in text
