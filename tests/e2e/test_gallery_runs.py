# SPDX-License-Identifier: MIT
"""The gallery's record against new runs."""

import pytest

from p5lab.evidence import gallery, records
from p5lab.execute.build_and_run import execute
from p5lab.progress import Progress

# They are quick, and the guest's kernel has no part in their numbers.
QUICK = ("tlb-reach", "misaligned", "mode-change", "pairing")


def made(lab, runs):
    return execute(lab, runs, Progress(), no_build=True, jobs=2)


@pytest.mark.parametrize("name", QUICK)
def test_the_record_is_what_runs_give(own_lab, name):
    (effect,) = [one for one in gallery.effects(own_lab) if one.name == name]
    recorded = records.load(own_lab.root, gallery.NAME)[name]
    new = gallery._rows(own_lab, effect, lambda runs: made(own_lab, runs))
    assert [mark[:2] for mark in new] == [mark[:2] for mark in recorded]
    for mark, before in zip(new, recorded, strict=True):
        assert mark[2] == pytest.approx(before[2], rel=0.02), mark
