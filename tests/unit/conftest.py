# SPDX-License-Identifier: MIT
import fakelab
import pytest


@pytest.fixture
def lab(tmp_path):
    """A miniature checkout with a scripted engine (fakelab.py)."""
    return fakelab.make(tmp_path / "lab")
