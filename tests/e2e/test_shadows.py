# SPDX-License-Identifier: MIT
"""Many geometries from one run. If the caches do not influence time, a shadow has the same counts
as a separate run with the shadow's geometry.

What is fetched ahead depends on time and on the machine's own caches, so the geometries agree
exactly if nothing is fetched ahead (`fetch.ahead`).
"""

import pytest

from p5lab.describe import experiment
from p5stats import tidy

# The fast set tests shadows of each kind: the processor's caches, the board cache, the TLBs. Two of
# them also get a run of their own; tests/engine/shadow_test.cc compares random geometries.
SOME = ("p54c", "l2-2-way", "l1d-write-allocate", "tlb-double")
ALONE = SOME[2:]
JOB = "exec-static iterations=3 warmup=1"
EXACT = {"fetch.ahead": "false"}
CELL = ["phase", "iteration", "ring", "address_space", "event"]


@pytest.fixture
def geometries(lab, full):
    known = experiment.load(lab, "geometries")[0].shadows
    return known if full else tuple(shadow for shadow in known if shadow.name in SOME)


def counts(booted):
    """Returns the value of each row of the tidy table, by geometry."""
    assert booted.outcome.status == "ok", booted.outcome.reason
    origin = tidy.Origin("test", "test", "bochs", "p90", "", "yes", "linux", 0, "test", "")
    frame = tidy.table(booted.events, origin, {}).set_index(CELL)
    return {name: rows["value"] for name, rows in frame.groupby("geometry")}


def test_shadows_are_separate_runs_without_feedback(boot, geometries, tmp_path, full):
    together = boot(
        JOB, feedback=False, settings=EXACT, shadows=geometries, directory=tmp_path / "together"
    )
    found = counts(together)
    assert set(found) == {"", *(shadow.name for shadow in geometries)}
    end = together.events.markers[-1].tsc
    for shadow in (one for one in geometries if full or one.name in ALONE):
        separate = boot(
            JOB,
            feedback=False,
            settings={**shadow.settings, **EXACT},
            directory=tmp_path / shadow.name,
        )
        assert separate.events.markers[-1].tsc == end
        own = counts(separate)[""]
        mine = found[shadow.name]
        assert mine.to_dict() == own.loc[mine.index].to_dict(), shadow.name
        assert mine.sum() > 0
    misses = {name: rows.xs("dtlb_misses", level="event").sum() for name, rows in found.items()}
    assert misses["tlb-double"] < misses["p54c"] == misses[""]


def test_a_shadow_of_the_machine_counts_what_the_machine_counts(boot, geometries):
    """In this run, the caches of the machine influence time, but the shadow does not."""
    found = counts(boot("cached-read files=20 iterations=2", shadows=geometries))
    for name in ("data_read_misses", "code_misses", "dtlb_misses", "l2_read_misses", "walk_reads"):
        mine, own = (rows.xs(name, level="event") for rows in (found["p54c"], found[""]))
        assert mine.to_dict() == own.to_dict()
    assert "cycles.busy" in found[""].index.get_level_values("event")
    assert "cycles.busy" not in found["p54c"].index.get_level_values("event")


def test_shadows_and_their_filter_change_nothing(boot, geometries):
    """The test compares a run with shadows, the same run without the filter of references, and a
    run without shadows.
    """
    runs = {
        (shadows, fast): boot(
            "create files=5 iterations=1",
            shadows=geometries if shadows else (),
            fast=fast,
        )
        for shadows, fast in ((True, True), (True, False), (False, True))
    }
    one, two, none = (counts(run) for run in runs.values())
    assert {name: rows.to_dict() for name, rows in one.items()} == {
        name: rows.to_dict() for name, rows in two.items()
    }
    assert one[""].to_dict() == none[""].to_dict()
