# SPDX-License-Identifier: MIT
"""`./p5lab validate` on the machines of the papers, and the record of its numbers."""

import pytest

from p5lab import engines
from p5lab.evidence import published, records, validate
from p5lab.execute.runner import Runner
from p5lab.host import build
from p5lab.host.processors import cores
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats.claims import FAILS, HOLDS

# These workloads take long. In the fast set, test_memory_workloads.py checks the plateaus of the
# first two workloads. test_ipc_workloads.py, test_file_workloads.py, test_disk.py and
# test_net_workloads.py check smaller versions of the other workloads.
LONG = (
    "mem-bandwidth",
    "hbench-bandwidth",
    "copy-routines",
    "ctx",
    "pipe-bandwidth",
    "tcp-bandwidth",
    "udp-bandwidth",
    "bonnie",
    "create-delete",
    "small-files",
    "raw-seek",
    "disk-read",
    "disk-write",
    "parallel-read",
    "bcopy",
    "bitblt",
    "andrew",
    "netbw",
    "web",
    "sftp",
    "sdbase",
    "sxipc",
    "ipc-net",
)
# The source of this workload is downloaded only for its runs. test_ciphers.py runs it.
DOWNLOADED = ("timed-ciphers",)
# These experiments need one boot for each seed, for each clock, for each of four systems, or for
# each of three systems with and without an ideal L1I. test_analysis.py, test_machines.py,
# test_mach.py and test_ideal.py check a few of the claims, or the mechanism.
MANY_BOOTS = ("page-colours", "ousterhout90-clocks", "structure", "chen95-icache")
# If another compiler has built the kernel, the clocks of a guest differ slightly.
LOOSE = 0.03


@pytest.fixture(scope="module")
def validation(tmp_path_factory, full):
    """Measures claims in a laboratory that has no results yet. Returns the results. With --full the
    function measures all claims, and otherwise only claims that take a short time.
    """
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("validate") / "results")
    asked = [
        claim
        for claim in published.load(lab)
        if full
        or not claim.measure
        or (
            claim.measure.workload not in (*LONG, *DOWNLOADED)
            and claim.measure.experiment not in MANY_BOOTS
        )
    ]
    runner = Runner(lab, jobs=cores())

    def execute(runs):
        # Only the runs of such a workload build its program.
        spare = [run for run in runs if run.workload.headers]
        if spare:
            build.ensure(lab, Progress(), engines.targets(lab, spare))
        return runner.run_all(runs)

    found = validate.run(lab, asked, execute)
    assert [(one.run.label, one.reason) for one in found.failed] == []
    return found.results


def test_every_claim_is_judged(validation):
    measured = validation[validation["runs"] != ""]
    assert len(measured) > 0
    assert set(measured["verdict"]) <= {HOLDS, FAILS}
    assert "not run" not in set(validation["verdict"])


def test_what_does_not_hold_is_explained(validation):
    """Each claim that does not hold needs a reason."""
    missed = validation[validation["verdict"] == FAILS]
    assert missed[missed["reason"] == ""]["claim"].tolist() == []


def test_the_numbers_are_the_recorded_ones(validation, full):
    lab = Lab.here()
    known = records.load(lab.root, records.RUNS)["claims"]
    now = validate.record(validation)
    assert set(now) == set(known) if full else set(now) <= set(known)
    for claim, value in now.items():
        assert value == pytest.approx(known[claim], rel=LOOSE), claim
    before = validate.recorded(lab, known).set_index("claim")["verdict"]
    after = validation.set_index("claim")["verdict"]
    assert before.loc[list(now)].equals(after.loc[list(now)])
