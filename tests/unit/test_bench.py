# SPDX-License-Identifier: MIT
"""bench/run.py: the evaluation of the profiler's report."""

import importlib.util

import pytest

from p5lab.lab import Lab

REPORT = """
# Overhead  Symbol
# ........  ......
    40.00%  [.] BX_CPU_C::linkTrace
    30.50%  [.] p5::Pentium::retire_slow
    14.50%  [.] p5_before
    10.00%  [.] (anonymous namespace)::refresh_state
     5.00%  [k] clear_page_erms
"""


@pytest.fixture
def bench():
    spec = importlib.util.spec_from_file_location("bench", Lab.here().root / "bench/run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_each_function_belongs_to_one_part(bench):
    parts, functions = bench.shares(REPORT)
    assert parts == {
        "Pentium model and its hooks": 55.0,
        "kernel of the host": 5.0,
        "emulator": 40.0,
    }
    assert functions[0] == (40.0, "[.] BX_CPU_C::linkTrace")
    assert len(functions) == 5
