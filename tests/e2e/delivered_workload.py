# SPDX-License-Identifier: MIT
"""A run of one workload on one guest."""

from dataclasses import replace

from p5lab.describe import experiment
from p5lab.execute.build_and_run import execute
from p5lab.progress import Progress

EXPERIMENT = """
schema_version = 1
title = "one workload"
machines = ["p90-premiere2"]
guests = ["{}"]
limit_seconds = 300
[[run]]
workload = "{}"
parameters = {{ {} }}
set = {{ {} }}
"""


def ran(lab, place, system, name, parameters="", settings=""):
    """The directory of the run. `place`: a directory for the description of the experiment.
    `parameters` and `settings` of the machine: as in a TOML file."""
    (place / "experiments").mkdir(parents=True)
    (place / "experiments/one.toml").write_text(
        EXPERIMENT.format(system, name, parameters, settings)
    )
    mine = replace(lab, path=(place,))
    runs = experiment.load(mine, "one")
    (result,) = execute(mine, runs, Progress(), no_build=True, jobs=1)
    assert result.status == "ok", (result.reason, (result.directory / "output.log").read_text())
    return result.directory
