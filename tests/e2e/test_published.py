# SPDX-License-Identifier: MIT
"""`./p5lab validate` on the machines of the papers, and its tables in the documents."""

import re

import pytest

from p5lab.evidence import block, documents, published, validate
from p5lab.execute.runner import Runner
from p5lab.host import build, delivered
from p5lab.host.processors import cores
from p5lab.host.progress import Progress
from p5lab.lab import Lab
from p5stats.claims import FAILS, HOLDS

# These workloads take minutes. In the fast set, test_memory_workloads.py checks the plateaus of the
# first two workloads. test_ipc_workloads.py, test_file_workloads.py and test_net_workloads.py check
# smaller versions of the other workloads.
LONG = (
    "mem-bandwidth",
    "hbench-bandwidth",
    "copy-routines",
    "ctx",
    "pipe-bandwidth",
    "udp-bandwidth",
    "bonnie",
    "create-delete",
    "small-files",
    "disk-read",
    "disk-write",
    "parallel-read",
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
BLOCK = re.compile(
    rf"<!-- {re.escape(validate.COMMAND)}[^>]* -->\n(.*?){re.escape(block.END)}", re.DOTALL
)


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
        headers = dict.fromkeys(header for run in runs for header in run.workload.headers)
        if headers:
            build.ensure(lab, Progress(), tuple(headers))
        delivered.ensure(lab, runs, Progress())
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


@pytest.mark.parametrize("name", ["validation", "claims-systems"])
def test_the_documents_show_this(validation, full, name):
    text = (Lab.here().root / documents.BY_NAME[name].file).read_text()
    made = validate.render(text, validation, systems=name == "claims-systems")
    shown, now = _rows(text), _rows(made)
    if not full:
        measured = {row[0] for row in now}
        shown = [row for row in shown if row[0] in measured]
    assert now
    assert [_words(row) for row in shown] == [_words(row) for row in now]
    for before, after in zip(shown, now, strict=True):
        assert _number(before[2]) == pytest.approx(_number(after[2]), rel=LOOSE), before


def _rows(text):
    """Returns the table's cells: quantity, published, modelled, error, role, verdict, source."""
    lines = BLOCK.search(text)[1].splitlines()
    return [re.split(r" *\| *", line)[1:-1] for line in lines if line.startswith("|")][2:]


def _words(row):
    return row[:2] + row[4:]


def _number(cell):
    return float(cell.replace(",", ""))
