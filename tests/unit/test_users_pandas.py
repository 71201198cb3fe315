# SPDX-License-Identifier: MIT
"""p5stats in an environment of the user's own, which has an older pandas."""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import fakelab
import pytest
from fakelab import REPO
from packaging.requirements import Requirement

PACKAGE = REPO / "stats-parsers"
PROGRAM = """
import sys
from pathlib import Path

import pandas
from p5stats import compare, events, tidy

path, place = map(Path, sys.argv[1:])
found = events.parse(path)
origin = tidy.Origin("tests", "id", "bochs", "p90", "", "yes", "toy", 0, "call", "")
tidy.write(place, tidy.table(found, origin, {0: "call"}), clock_hz=found.clock_hz)
frame, _ = tidy.read(place)
counts = compare.counts(frame)
print(pandas.__version__, len(frame), int(frame["value"].sum()), len(counts))
"""


def test_the_tables_leave_an_installed_pandas_alone():
    """pip replaces a package only if a requirement excludes its version."""
    said = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    needs = [Requirement(one) for one in said["project"]["optional-dependencies"]["tables"]]
    (pandas,) = [one for one in needs if one.name == "pandas"]
    for version in ("2.0.3", "2.3.3", "3.1.1"):
        assert pandas.specifier.contains(version)


@pytest.mark.full
@pytest.mark.parametrize(
    "installed",
    [("pandas==2.0.3", "numpy<2", "pyarrow<18"), ("pandas<3", "pyarrow"), ("pandas>=3", "pyarrow")],
)
def test_the_same_tables_with_each_pandas(tmp_path, installed):
    python = tmp_path / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)

    def pip(*words):
        return subprocess.run(
            [python, "-I", "-m", "pip", "--disable-pip-version-check", *words],
            capture_output=True,
            text=True,
        )

    # pip builds a package in its directory.
    package = shutil.copytree(PACKAGE, tmp_path / "package")
    if pip("install", "-q", *installed).returncode:
        pytest.skip("pip cannot install these versions here")
    before = pip("list", "--format=freeze").stdout.splitlines()
    done = pip("install", "-q", f"{package}[tables]")
    assert done.returncode == 0, done.stderr
    after = pip("list", "--format=freeze").stdout.splitlines()
    assert set(before) <= set(after)
    assert len(after) == len(before) + 1  # p5stats

    rows = fakelab.call_events()
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def ran(python, **paths):
        words = [python, "-P", "-c", PROGRAM, path, tmp_path / "counts.parquet"]
        return subprocess.run(
            words, capture_output=True, text=True, check=True, env={**os.environ, **paths}
        ).stdout.split()

    found, expected = ran(python, PYTHONPATH=""), ran(sys.executable, PYTHONPATH=str(PACKAGE))
    assert f"pandas=={found[0]}" in before
    assert found[1:] == expected[1:]
