# SPDX-License-Identifier: MIT
"""docs/start/tutorial.md, executed in a copy of the work tree (p5lab.evidence.tutorial).

The quoted lines must occur in the output in the same order (except a line `...`). A line may quote
only the first columns. The numbers of the runs are the recorded numbers (docs/evidence/numbers.md).
"""

import pytest
from quoting import missing

from p5lab.evidence import numbers, recorded, tutorial
from p5lab.lab import Lab


def test_the_tutorial_does_what_it_says(tmp_path):
    root, place = Lab.here().root, tmp_path / "tutorial"
    tutorial.copy(root, place)
    quoted = list(tutorial.play(place))
    assert len({one.command for one in quoted}) >= 4
    for one in quoted:
        assert missing(one.quote, one.output) == [], one.output
    runs = numbers.tutorial_results(place)
    assert recorded.differences(recorded.load(root), "tutorial", runs) == []


QUOTED = "  busy cycles   470.6   10,233\n...\n  ring crossings   2   4\n"
PRINTED = "head\n  busy cycles  500  10,233  7\n  lowest 3\n  ring crossings  2  4  0\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("500", "700"), ("2  4", "2  5"), ("busy", "idle"), ("10,233  7", ""), ("cross", "x")],
)
def test_a_quote_that_no_longer_holds_is_found(old, new):
    assert missing(QUOTED, PRINTED) == []
    assert len(missing(QUOTED, PRINTED.replace(old, new))) == 1
