# SPDX-License-Identifier: MIT
"""The transcendental functions of the x87 against MPFR (tests/engine/p5ulps.cc)."""

import re
import subprocess
from pathlib import Path

import pytest

FUNCTIONS = {"f2xm1", "fyl2x", "fyl2xp1", "fpatan", "fsin", "fcos", "fptan"}


@pytest.fixture
def p5ulps(built):
    """The program that compares them. The build needs MPFR."""
    if not Path("/usr/include/mpfr.h").exists():
        pytest.skip("MPFR is missing: apt-get install libmpfr-dev")
    return built("build/tests/p5ulps")


def test_results_are_the_exact_values_rounded(p5ulps, full):
    """Intel promises an error of at most 1 unit of the last place. The error of a nearest number is
    at most 0.5, and the four rounding controls agree with MPFR."""
    arguments = 1_000_000 if full else 5_000
    run = subprocess.run([p5ulps, str(arguments)], capture_output=True, text=True, check=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    assert {row[0] for row in rows} == FUNCTIONS
    for name, count, largest, median, unrounded, others in rows:
        assert int(count) == arguments
        assert float(median) < 0.3 < float(largest) <= 0.5, name
        assert float(unrounded) < 2.0**-40, name
        assert int(others) == 0, name


def test_a_wrong_result_is_found(p5ulps):
    """The result of F2XM1 that Bochs 3.0 gives (13 units), the right one, and one without P."""
    x = "3ffeb8aa3b295c17f0bc 3fff8000000000000000"
    lines = [
        f"f2xm1 0 {x} 3ffea61298e1e069bc8a 3020",
        f"f2xm1 0 {x} 3ffea61298e1e069bc97 3020",
        f"f2xm1 0 {x} 3ffea61298e1e069bc97 3000",
    ]
    run = subprocess.run(
        [p5ulps, "--check"], input="\n".join([*lines, ""]), capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stdout.splitlines() == [lines[0], lines[2], "2 of 3 are wrong"]


def test_without_a_number_it_says_what_it_expects(p5ulps):
    run = subprocess.run([p5ulps], capture_output=True, text=True)
    assert run.returncode == 2
    assert re.search(r"number of arguments", run.stderr)
