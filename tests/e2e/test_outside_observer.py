# SPDX-License-Identifier: MIT
"""An observer in a directory of P5LAB_PATH: the build of another checkout contains it, and it is in
the help text, in `--by`, on a page and in Python.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from p5lab.lab import Lab

ROOT = Lab.here().root
# Products, results, and files that other test processes write at the same time.
LEFT_OUT = ("build", "results", ".venv", ".git", ".*_cache", ".hypothesis", "__pycache__", "docs")
ASKED = """
import json
import p5lab
from p5stats import dimensions, tidy
table = p5lab.by("smoke", "paging,ring", metric="instructions", per="all")
(place,) = p5lab.load("smoke")["run"].unique()
files = {one.file: one for one in dimensions.OBSERVERS if one.has(["ring"])}
directory = p5lab.lab.Lab.here().results / "smoke" / place
sums = {
    name: dimensions.of_run(directory, files[name], [])
    .frame.groupby(["phase", "event"])["count"].sum()
    for name in ("paging.jsonl", tidy.COUNTS)
}
marked = sums[tidy.COUNTS]
differ = [key for key, count in marked.items() if sums["paging.jsonl"].get(key, 0) != count]
print(json.dumps({"rows": table.to_dict("records"), "events": len(marked), "differ": differ}))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Returns a function that runs Python in a copy of this checkout, with an observer outside of
    it."""
    place = tmp_path_factory.mktemp("outside")
    root = shutil.copytree(ROOT, place / "p5lab", ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.copytree(ROOT / "tests/templates/paging", place / "mine/observers/paging")

    def python(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=root,
            env={
                **os.environ,
                "PYTHONPATH": f"{root}/src:{root}/stats-parsers",
                "P5LAB_PATH": str(place / "mine"),
            },
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return python


@pytest.mark.full
def test_one_directory_outside_of_the_checkout_is_an_observer(checkout, tmp_path):
    """In the fast set, unit/test_extending.py compiles this observer, and reads it outside."""
    lab = ("-m", "p5lab")
    assert "--paging" in checkout(*lab, "run", "--help")
    words = ("smoke", "--guest", "linux", "--workload", "null")
    checkout(*lab, "run", *words, "--by", "paging,call,ring")
    assert "paging" in checkout(*lab, "show", "smoke", "--by", "paging,ring")
    said = checkout(*lab, "show", "smoke", "--by", "paging,call", "--metric", "instructions")
    assert re.search(r"on +outside of any call", said)
    found = json.loads(checkout("-c", ASKED))
    assert found["differ"] == []
    assert found["events"] > 50
    # Linux has switched paging on long before its ready marker.
    assert {(row["paging"], row["ring"]) for row in found["rows"]} == {("on", "0"), ("on", "3")}
    page = tmp_path / "page.html"
    checkout(*lab, "report", "smoke", "--by", "paging,ring", "--output", str(page))
    assert "pair by paging, ring" in page.read_text()
