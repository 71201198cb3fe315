# SPDX-License-Identifier: MIT
"""What the x87 of the emulated machine computes."""

import subprocess
from pathlib import Path

import pytest
from boot_sector import new_runs

HERE = Path(__file__).parent


def printed(own_lab, program, *words):
    """Returns the lines that a program of this directory prints in the guest."""
    (run,) = new_runs(own_lab, "--program", HERE / program, *words)
    return (run / "output.log").read_text().splitlines()


def test_functions_are_exact_values_rounded_to_64_bits(own_lab, built, full):
    """All four rounding controls. P is set, and C1 if the magnitude was rounded up."""
    if not Path("/usr/include/mpfr.h").exists():
        pytest.skip("MPFR is missing: apt-get install libmpfr-dev")
    count = 4_000 if full else 100
    lines = printed(own_lab, "x87_functions.c", "--args", str(count))
    assert "fsincos differs" not in lines
    judged = subprocess.run(
        [built("build/tests/p5ulps"), "--check"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
    )
    assert judged.stdout == f"0 of {7 * count} are wrong\n"
