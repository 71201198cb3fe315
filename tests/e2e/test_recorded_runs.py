# SPDX-License-Identifier: MIT
"""The records of docs/evidence/records are those of new runs.

test_smoke.py and test_chen95_core.py compare the counts of their runs, test_mach.py the calls of
its guests, test_published.py the claims, test_chen95_method.py the method, and test_cpi_stack.py
the lower bound.
"""

from functools import partial

import pytest
import recorded_counts

from p5lab.describe import tomlfile
from p5lab.evidence import applications, calls, counts, period, records
from p5lab.execute.build_and_run import execute
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.keep import store
from p5lab.keep.store import Stored
from p5lab.lab import Lab
from p5lab.progress import Progress

ROOT = Lab.here().root
RECORD = records.load(ROOT, records.RUNS)
ELSEWHERE = {"smoke": "test_smoke.py", "chen95-core": "test_chen95_core.py"}


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(name, marks=[pytest.mark.full] if name in recorded_counts.COSTLY else [])
        for name in counts.SOURCES
        if name not in ELSEWHERE
    ],
)
def test_the_counts_are_the_recorded_ones(source, own_lab):
    """docs/evidence/README.md says what to do if the counts have changed."""
    found = []
    for result in Runner(own_lab, jobs=cores()).run_all(counts.runs_of(own_lab, source)):
        assert result.status == "ok", result.reason
        found.append(Stored(result.directory, store.read(result.directory)))
    assert recorded_counts.differences(RECORD["counts"], source, found) == []


@pytest.mark.parametrize("source", ELSEWHERE)
def test_another_file_compares_the_other_sources(source):
    text = (ROOT / "tests/e2e" / ELSEWHERE[source]).read_text()
    assert f'recorded_counts.differences(record, "{source}"' in text


# --- calls ----------------------------------------------------------------------------------------

# If another compiler has built the kernel, there may be a few more page faults or clock interrupts.
LOOSE = 0.4


@pytest.fixture(scope="module")
def now(full, tmp_path_factory):
    """Returns the record of new runs on linux and linux-uml. The fast set checks only `dup`."""
    lab = Lab(ROOT, tmp_path_factory.mktemp("calls") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(calls.STEPS, "structure")
        if not full:
            patch.setattr(calls, "SERVICES", {})
        return calls.measured(lab, Runner(lab, jobs=cores()).run_all)


@pytest.mark.parametrize(("guest", "crossed"), [("linux", (2, 0)), ("linux-uml", (14, 2))])
def test_dup_goes_the_recorded_way(now, guest, crossed):
    """The documents say how many ring crossings and address space switches there are."""
    before, after = (
        calls.recorded_steps(known["steps"][f"dup {guest}"]) for known in (RECORD["calls"], now)
    )
    assert before.shape == after.shape
    for old, new in zip(before.steps, after.steps, strict=True):
        assert abs(old.clocks - new.clocks) <= max(100, LOOSE * old.clocks), (old, new)
    assert crossed == tuple(
        sum(getattr(step, what) for step in after.steps) for what in ("crosses", "switches")
    )


@pytest.mark.full
@pytest.mark.parametrize("guest", ["linux", "linux-uml"])
@pytest.mark.parametrize("workload", ["exec-static", "exec-dynamic"])
def test_exec_asks_for_the_recorded_services(now, workload, guest):
    before, after = (
        calls.recorded_services(known["services"][f"{workload} {guest}"])
        for known in (RECORD["calls"], now)
    )
    assert [one.event for one in before] == [one.event for one in after]
    for old, new in zip(before, after, strict=True):
        for what in ("times", *calls.SUMS):
            left, right = getattr(old, what), getattr(new, what)
            assert abs(left - right) <= max(4, LOOSE * max(left, right)), (old, new)


# --- records that need more than p5lab builds -----------------------------------------------------

MISSING = period.missing(Lab.here())
RECORDED = records.load(ROOT, "applications")
DISKS = {
    name: applications.disk(Lab.here(), applications.packages(Lab.here(), name))
    for name, _ in applications.experiments(tomlfile.load(ROOT / applications.FILE))
}


@pytest.mark.full
@pytest.mark.skipif(bool(MISSING), reason=f"P5LAB_MEDIA has no {', '.join(MISSING)}")
def test_the_systems_of_the_time_have_the_recorded_counts(own_lab):
    before = records.load(ROOT, "period")
    assert period.measured(own_lab, before, Runner(own_lab, jobs=cores()).run_all) == before


@pytest.mark.full
@pytest.mark.skipif(
    not any(DISKS.values())
    or any(found not in ("", RECORDED["disk"][name]) for name, found in DISKS.items()),
    reason="no disk of debian32 as a recorded one",
)
def test_the_applications_have_the_recorded_counts(own_lab):
    make = partial(execute, own_lab, progress=Progress(), no_build=False, jobs=cores())
    assert applications.measured(own_lab, RECORDED, make) == RECORDED
