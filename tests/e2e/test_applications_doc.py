# SPDX-License-Identifier: MIT
"""docs/evidence/applications.md has the counts of new runs, if the disk is the recorded one."""

from functools import partial

import pytest

from p5lab.describe import tomlfile
from p5lab.evidence import applications, page_record
from p5lab.execute.build_and_run import execute
from p5lab.host.processors import cores
from p5lab.host.progress import Progress
from p5lab.lab import Lab

PAGE = "docs/evidence/applications.md"
ROOT = Lab.here().root
RECORDED = page_record.read((ROOT / PAGE).read_text())["disk"]
TABLE = tomlfile.load(ROOT / applications.FILE, schema_version=1)
DISKS = {
    name: applications.disk(Lab.here(), one.texts("packages"))
    for name, one in applications.experiments(TABLE)
}


@pytest.mark.full
@pytest.mark.skipif(
    not any(DISKS.values())
    or any(found not in ("", RECORDED[name]) for name, found in DISKS.items()),
    reason="no disk of debian32 as a recorded one",
)
def test_the_page_is_that_of_new_runs(own_lab):
    text = (own_lab.root / PAGE).read_text()
    make = partial(execute, own_lab, progress=Progress(), no_build=False, jobs=cores())
    assert applications.render(own_lab, text, make) == text
