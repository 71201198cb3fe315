# SPDX-License-Identifier: MIT
"""Compares the model's caches with a cache simulator of other authors. Each access of a guest's
trace hits in both cache models or misses in both cache models. tests/third_party/replay.c describes
how it adapts the simulator's policies.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from p5lab.files import digest_of
from p5lab.lab import cache_directory

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from archives import extract

FULL = os.environ.get("P5LAB_FULL") == "1"
ACCESSES = 10_000_000 if FULL else 300_000
# The command prints the counts of each kind of access in this order, and then the number of
# differences.
L1D_READ, L1D_WRITE, L1I_READ, L2_READ, L2_WRITE = range(5)
P54C = (8192, 2, 8192, 2, 262144, 1)  # bytes and ways of L1D, L1I and L2


@pytest.fixture(scope="session")
def simulator(lab, tmp_path_factory):
    """Returns the command that replays a trace. The command is compiled from pycachesim's source
    with our main().
    """
    place = lab.root / "tests/third_party"
    wanted = (place / "requirements.txt").read_text()
    name, version, sha256 = re.search(r"^(\w+)==(\S+) .*\n.*sha256:(\w+)", wanted, re.M).groups()
    cache = cache_directory() / "third-party"
    archive = cache / f"{name}-{version}.tar.gz"
    if not archive.is_file() or digest_of(archive) != sha256:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "--disable-pip-version-check",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                ":all:",
                "--require-hashes",
                "--dest",
                cache,
                "--requirement",
                place / "requirements.txt",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and not FULL:
            pytest.skip(f"{name} cannot be downloaded: {done.stderr.strip().splitlines()[-1:]}")
        assert done.returncode == 0, done.stderr
    assert digest_of(archive) == sha256
    build = tmp_path_factory.mktemp("simulator")
    extract(archive, build)
    command = build / "replay"
    subprocess.run(
        ["gcc", "-O2", f"-I{build}/{name}-{version}/cachesim", place / "replay.c", "-o", command],
        check=True,
    )
    return command


def replay(simulator, trace, geometry=P54C):
    """Returns accesses and misses of each kind, and the number of accesses that differ."""
    done = subprocess.run(
        [simulator, trace, *map(str, geometry)], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(lines) == L2_WRITE + 2, done.stderr
    return lines[:-1], lines[-1][0]


@pytest.mark.parametrize(
    "job",
    [
        "forkexec iterations=150",
        "cached-read iterations=15",
        "mem-read placement=guest iterations=500000",
    ]
    if FULL
    else [
        "forkexec iterations=4",
        "cached-read files=50 iterations=2",
        "mem-read placement=guest size=64K iterations=400000",
    ],
)
def test_each_access_hits_or_misses_in_both(boot, simulator, job):
    booted = boot(job, trace=("accesses",), accesses=ACCESSES, limit_seconds=600)
    assert booted.outcome.status == "ok", booted.outcome.reason
    trace = booted.directory / "accesses.bin"
    counts, differences = replay(simulator, trace)
    assert differences == 0
    assert sum(counts[kind][0] for kind in (L1D_READ, L1D_WRITE, L1I_READ)) == ACCESSES
    for accesses, misses in counts:
        assert 0 < misses < accesses
    # The comparison detects another geometry in each of the three caches.
    for place in (1, 3, 4):
        other = list(P54C)
        other[place] = other[place] * 2 if place == 4 else 1
        assert replay(simulator, trace, other)[1] > 0
