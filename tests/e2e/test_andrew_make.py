# SPDX-License-Identifier: MIT
"""Workload andrew-make: the gcc of the image makes a program with the result of another compiler.

The tests are skipped if the checkout has no disk of debian32 with a compiler (`./p5lab image debian
--arch i386 --packages gcc,make`).
"""

import json
import re
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
from andrew_tree import CLANG, compiled, writer_in, written

from p5lab.describe import experiment
from p5lab.execute.build_and_run import execute
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import events

RECORD = Lab.here().rootfs("debian32").with_name("rootfs.json")
SMALL = {"files": 8, "kilobytes": 20, "directories": 2}
MAKE, ALL = 4, 5


def has_compiler():
    return RECORD.is_file() and json.loads(RECORD.read_text())["packages"].keys() >= {"gcc", "make"}


pytestmark = pytest.mark.skipif(not has_compiler(), reason="no disk of debian32 with a compiler")


@pytest.fixture(scope="module")
def workload(lab):
    """The runs of experiment `andrew`, small, with the program compiled."""
    if not lab.engine.is_file():
        pytest.skip("the engine is not built: run ./p5lab build")
    subprocess.run([lab.root / "p5lab", "build", "build/guests/debian32"], check=True)
    runs = [
        replace(run, parameters=run.parameters | SMALL) for run in experiment.load(lab, "andrew")
    ]
    return {run.parameters["filesystem"]: run for run in runs}


def ran(own_lab, run, **options):
    (result,) = execute(own_lab, [run], Progress(), no_build=True, jobs=1, **options)
    assert result.status == "ok", result.reason
    return result.directory


@pytest.mark.full
@pytest.mark.parametrize("filesystem", ["data", "nfs-async"])
def test_the_program_has_the_result_of_another_compiler(own_lab, workload, filesystem, tmp_path):
    directory = ran(own_lab, workload[filesystem])
    tree = written(writer_in(tmp_path), tmp_path / "host", *SMALL.values())
    output = (directory / "output.log").read_text()
    # Over NFS, make first warns that the clock of the server is ahead.
    size, result = re.search(
        r"^program: (\d+) bytes with the sum 0x[0-9a-f]+\n([0-9a-f]{8}\n)\Z", output, re.MULTILINE
    ).groups()
    assert int(size) > 4096
    assert result == compiled(tree, CLANG, "-O0")
    found = events.parse(directory / "events.jsonl")
    counted = Counter(one.phase for one in found.brackets)
    assert [counted[phase] for phase in range(ALL + 1)] == [1] * (ALL + 1)


@pytest.mark.full
def test_the_workload_repeats(own_lab, workload):
    first = ran(own_lab, workload["data"])
    # `force` fails if the events differ from those of the first run.
    assert ran(own_lab, workload["data"], force=True, fork=False) == first
