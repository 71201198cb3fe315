# SPDX-License-Identifier: MIT
"""The templates, copied out of the checkout into a directory of P5LAB_PATH: a machine, a guest, a
workload and an experiment. They run on the simulated machine.
"""

import shutil
from dataclasses import replace

from p5lab.describe import experiment
from p5lab.execute.runner import Runner
from p5lab.host import delivered
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import compare, tidy


def test_an_experiment_from_outside_of_the_checkout_runs(tmp_path):
    here = Lab.here()
    mine = shutil.copytree(here.root / "docs/extend/templates", tmp_path / "mine")
    lab = replace(here, results_in=tmp_path / "results", path=(mine,))
    runs = experiment.load(lab, "my-experiment")
    delivered.ensure(lab, runs, Progress())
    results = Runner(lab).run_all(runs)
    assert [result.status for result in results] == ["ok"] * 4
    table = tidy.load(lab.results)
    assert set(table["workload"]) == {"my-workload"}
    assert set(table["guest"]) == {"linux", "my-guest"}
    assert set(table["machine"]) == {"my-machine"}
    counts = compare.counts(table[table["phase"] == "write"])
    assert len(counts) == 4 * 50
    crossings = table[(table["phase"] == "write") & table["event"].str.startswith("crossings.")]
    # A write() enters the kernel once and leaves it once.
    each = crossings.groupby(["run", "iteration"])["value"].sum()
    assert each.median() == 2
