# SPDX-License-Identifier: MIT
"""Durations as texts."""

import pytest

from p5lab.duration import duration, roughly


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.21, "4.2 s"), (42, "42 s"), (185, "3 min"), (7500, "2 h 5 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "10 s"), (14, "10 s"), (89, "90 s"), (106, "2 min"), (500, "8 min"), (7500, "2 h 5 min")],
)
def test_an_estimate_is_rounded(seconds, text):
    assert roughly(seconds) == text
