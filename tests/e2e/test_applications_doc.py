# SPDX-License-Identifier: MIT
"""docs/evidence/applications.md has the counts of new runs, if the disk is the recorded one."""

from functools import partial

import pytest

from p5lab.cli.execute import execute
from p5lab.evidence import applications, page_record
from p5lab.host.processors import cores
from p5lab.host.progress import Progress
from p5lab.lab import Lab

PAGE = "docs/evidence/applications.md"
RECORDED = page_record.read((Lab.here().root / PAGE).read_text())["disk"]


@pytest.mark.full
@pytest.mark.skipif(
    applications.disk(Lab.here()) != RECORDED, reason="no disk of debian32 as the recorded one"
)
def test_the_page_is_that_of_new_runs(own_lab):
    text = (own_lab.root / PAGE).read_text()
    make = partial(execute, own_lab, progress=Progress(), no_build=False, jobs=cores())
    assert applications.render(own_lab, text, make) == text
