# SPDX-License-Identifier: MIT
"""The output that README.md, docs/start/reading-a-report.md and docs/start/tutorial.md print.

Each quoted line must occur in the output of its command, in this order. quoting.py states the
tolerance. The tutorial is executed in a copy of the work tree (tutorial.py).
"""

import contextlib
import io

import pytest
import tutorial
from quoting import missing

from p5lab.cli import main as cli
from p5lab.lab import Lab

ROOT = Lab.here().root


@pytest.mark.parametrize(
    ("document", "heading", "command"),
    [
        ("README.md", "## What `run smoke` prints", ("smoke",)),
        (
            "docs/start/reading-a-report.md",
            "## Two systems side by side",
            ("chen95-core", "--all-tables"),
        ),
    ],
)
def test_a_command_prints_what_the_document_quotes(
    document, heading, command, own_lab, monkeypatch
):
    text = (ROOT / document).read_text()
    quoted = text.split(heading)[1].split("```text\n")[1].split("```")[0]
    monkeypatch.setenv("COLUMNS", "120")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert cli.main(["run", *command, "--no-build"], own_lab) == 0
    rows = quoted.splitlines()[1:]  # without the heads
    assert len(rows) >= 4
    assert missing("\n".join(rows), out.getvalue()) == []


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
