# SPDX-License-Identifier: MIT
"""Guest linux-coloured: an allocator that gives pages the colours of their addresses."""

from p5lab.describe.request import Filter, Request
from p5lab.execute.build_and_run import execute
from p5lab.prepare import prepare
from p5lab.progress import Progress
from p5stats import papers, tidy


def test_coloured_pages_do_not_evict_each_other(own_lab):
    """An array of half of the L2: on scattered pages of any colour, some loads go to memory; on
    coloured pages, none does."""
    asked = Request("page-colouring", Filter(seeds=(1, 2)))
    results = execute(own_lab, prepare(own_lab, asked).runs, Progress(), no_build=True, jobs=2)
    assert {one.status for one in results} == {"ok"}
    numbers = papers.measured(tidy.of_runs([one.directory for one in results]))
    loads = numbers[(numbers["metric"] == "L2 misses") & (numbers["phase"] == "128 KB")]
    misses = loads.groupby("guest")["value"].max()
    assert misses["linux"] > 0.05
    assert misses["linux-coloured"] < 0.01
