# SPDX-License-Identifier: MIT
import fakelab
import pytest
from hypothesis import HealthCheck, settings

# The same examples every time, whatever the load; nothing is kept between runs.
settings.register_profile(
    "p5lab", deadline=None, derandomize=True, database=None, max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("p5lab")


@pytest.fixture
def lab(tmp_path):
    """A miniature checkout with a scripted engine (fakelab.py)."""
    return fakelab.make(tmp_path / "lab")
