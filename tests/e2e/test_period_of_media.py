# SPDX-License-Identifier: MIT
"""The record of docs/evidence/period.md is that of new runs, if the user's media are there."""

import pytest

from p5lab.evidence import period
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.lab import Lab

ABSENT = period.missing(Lab.here())


@pytest.mark.full
@pytest.mark.skipif(bool(ABSENT), reason=f"P5LAB_MEDIA has no {', '.join(ABSENT)}")
def test_the_page_is_that_of_new_runs(own_lab):
    text = (own_lab.root / "docs/evidence/period.md").read_text()
    assert period.render(own_lab, text, Runner(own_lab, jobs=cores()).run_all) == text
