# SPDX-License-Identifier: MIT
"""A run of a workload whose program the guest does not contain, so that the engine delivers it."""

from dataclasses import replace

from p5lab.describe import experiment, guest, workload
from p5lab.execute.build_and_run import execute
from p5lab.host import delivered
from p5lab.host.progress import Progress

EXPERIMENT = """
schema_version = 1
title = "one workload"
machines = ["p90-premiere2"]
guests = ["{}"]
limit_seconds = 300
[[run]]
workload = "{}"
parameters = {{ {} }}
set = {{ "net.card" = "ne2000" }}
"""


def ran(lab, place, system, name, parameters=""):
    """The directory of the run. `place`: a directory for the description of the experiment.
    `parameters`: as in a TOML file."""
    (place / "experiments").mkdir(parents=True)
    (place / "experiments/one.toml").write_text(EXPERIMENT.format(system, name, parameters))
    mine = replace(lab, path=(place,))
    assert not guest.load(mine, system).takes(name, workload.load(mine))
    runs = experiment.load(mine, "one")
    delivered.ensure(mine, runs, Progress())
    (result,) = execute(mine, runs, Progress(), no_build=True, jobs=1)
    assert result.status == "ok", (result.reason, (result.directory / "output.log").read_text())
    return result.directory
