# SPDX-License-Identifier: MIT
"""The output that README.md and docs/start/tutorial.md print.

Each quoted line must occur in the output of its command, in this order. quoting.py states the
tolerance. The tutorial is executed in a copy of the work tree (tutorial.py).
"""

import contextlib
import io

import pytest
import tutorial
from quoting import missing, quoted_rows

from p5lab.cli import main as cli
from p5lab.lab import Lab

ROOT = Lab.here().root


def test_run_prints_what_the_readme_quotes(own_lab, monkeypatch):
    """test_chen95_core.py does the same for two systems."""
    monkeypatch.setenv("COLUMNS", "120")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli.main(["run", "smoke", "--no-build"], own_lab) == 0
    rows = quoted_rows((ROOT / "README.md").read_text(), "## What `run smoke` prints")
    assert missing(rows, out.getvalue()) == []


@pytest.mark.full
def test_the_tutorial_does_what_it_says(tmp_path):
    """The fast set adds its workload, guest and policy in unit/test_extending.py, parses its
    commands in unit/test_printed_commands.py, and runs the templates in test_templates.py."""
    place = tmp_path / "tutorial"
    tutorial.copy(ROOT, place)
    quoted = list(tutorial.play(place))
    assert len({one.command for one in quoted}) >= 4
    for one in quoted:
        assert missing(one.quote, one.output) == [], one.output


QUOTED = "  busy cycles   470.6   10,233\n...\n  ring crossings   2   4\n"
PRINTED = "head\n  busy cycles  500  10,233  7\n  lowest 3\n  ring crossings  2  4  0\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("500", "700"), ("2  4", "2  5"), ("busy", "idle"), ("10,233  7", ""), ("cross", "x")],
)
def test_a_quote_that_no_longer_holds_is_found(old, new):
    assert missing(QUOTED, PRINTED) == []
    assert len(missing(QUOTED, PRINTED.replace(old, new))) == 1
