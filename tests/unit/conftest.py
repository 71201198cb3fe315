# SPDX-License-Identifier: MIT
import fakelab
import hostile
import pytest
from hypothesis import HealthCheck, settings

from p5lab.cli import main as cli

# The tests use the same examples at every run, even on a busy host, and store no data between runs.
settings.register_profile(
    "p5lab",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("p5lab")


@pytest.fixture
def lab(tmp_path):
    """Returns a miniature checkout with a scripted engine (fakelab.py)."""
    return fakelab.make(tmp_path / "lab")


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory):
    """Returns a laboratory with hostile names and outputs (hostile.py), its page and its exported
    figures.
    """
    lab = hostile.make(fakelab.make(tmp_path_factory.mktemp("page") / "lab"))
    output, export = lab.root / "page.html", lab.root / "figures"
    assert cli.main(["report", "tests", "--output", str(output), "--export", str(export)], lab) == 0
    return lab, output, export
