# SPDX-License-Identifier: MIT
"""The README's commands in root file systems of Debian releases (tests/hosts/run.py)."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "hosts/run.py"


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize("release", ["bookworm", "trixie"])
@pytest.mark.parametrize("user", ["ordinary", "root"])
def test_both_commands_of_the_readme_succeed_on_a_stock_host(release, user):
    command = [sys.executable, SCRIPT, release, "--user", user]
    command += ["--command", "run smoke", "--command", "test"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    if last.startswith("hosts: skipped: "):
        pytest.skip(last)
    assert done.returncode == 0, done.stdout[-5000:]
    assert last == "hosts: 2 passed, 0 failed"
