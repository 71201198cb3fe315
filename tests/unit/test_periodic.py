# SPDX-License-Identifier: MIT
"""An action that is repeated while other work runs."""

import threading

import pytest

from p5lab.periodic import every


def test_the_action_is_repeated_until_the_block_ends():
    before = set(threading.enumerate())
    done = threading.Semaphore(0)
    with every(0.001, done.release):
        for _ in range(3):
            assert done.acquire(timeout=600)
    assert set(threading.enumerate()) <= before


def test_the_first_call_comes_after_a_pause():
    calls = []
    with every(3600, lambda: calls.append(1)):
        pass
    assert calls == []


def test_an_error_of_the_work_ends_the_repetition():
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="work"), every(0.001, str):
        raise ValueError("work")
    assert set(threading.enumerate()) <= before
