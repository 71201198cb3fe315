# SPDX-License-Identifier: MIT
"""The three formats of a real gem5 (P5LAB_GEM5), and a comparison of the two engines."""

import json
import math
import os
import subprocess

import pytest

from p5lab.cli import main as cli
from p5lab.lab import Lab
from p5stats.gem5 import sections

pytestmark = pytest.mark.skipif(
    "P5LAB_GEM5" not in os.environ, reason="P5LAB_GEM5 is not set: no gem5 to test with"
)

# The script's machine has no processor. A traffic generator reads and writes the memory. The script
# makes two dumps.
SCRIPT = """
import m5
import _m5.stats
from m5.objects import *

system = System(mem_mode="timing", mem_ranges=[AddrRange("64KiB")])
system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
system.membus = IOXBar(width=8)
system.memory = SimpleMemory(range=system.mem_ranges[0], port=system.membus.mem_side_ports)
system.generator = PyTrafficGen(port=system.membus.cpu_side_ports)
system.system_port = system.membus.cpu_side_ports
root = Root(full_system=False, system=system)
m5.stats.addStatVisitor("json://stats.json")
if hasattr(_m5.stats, "initHDF5"):
    m5.stats.addStatVisitor("h5://stats.h5")
m5.instantiate()
generator = system.generator
generator.start(iter([
    generator.createLinear(10**7, 0, 65535, 64, 1000, 1000, 100, 0),  # reads only
    generator.createExit(0),
    generator.createLinear(10**7, 0, 65535, 64, 1000, 1000, 50, 0),
    generator.createExit(0),
]))
for _ in range(2):
    m5.simulate()
    m5.stats.dump()
    m5.stats.reset()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Returns a directory with the run's files: m5out/stats.txt, m5out/stats.h5, stats.json."""
    found = tmp_path_factory.mktemp("gem5")
    (found / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [os.environ["P5LAB_GEM5"], "--listener-mode=off", "script.py"],
        cwd=found,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return found


def numbers(section):
    return {(statistic, element): number.value for statistic, element, number in section}


def same(one, other):
    """Checks two values for equality. Text has at most six digits after the point. The statistic
    sets their number.
    """
    rounded = any(one == pytest.approx(round(other, digits), abs=1e-9) for digits in (0, 1, 2, 6))
    return (math.isnan(one) and math.isnan(other)) or rounded


def test_text(place):
    first, second = sections(place / "m5out/stats.txt")
    assert first["simTicks"] > 0
    assert first.get("system.memory.numWrites::total") == 0
    assert first.total("system.memory.numReads") > second.total("system.memory.numReads") > 0
    assert second["system.memory.numWrites::total"] > 0
    assert first.statistics["simTicks"][""].unit == "Tick"


def test_hdf5_says_what_text_says(place):
    if not (place / "m5out/stats.h5").exists():
        pytest.skip("this gem5 is built without HDF5")
    pairs = list(
        zip(sections(place / "m5out/stats.txt"), sections(place / "m5out/stats.h5"), strict=True)
    )
    for text, hdf5 in pairs:
        one, other = numbers(text), numbers(hdf5)
        shared = {name for name in one.keys() & other.keys() if not name[0].startswith("host")}
        assert len(shared) > 20
        assert all(same(one[name], other[name]) for name in shared)


def test_json_says_what_the_last_dump_says(place):
    *_, text = sections(place / "m5out/stats.txt")
    (found,) = sections(place / "stats.json")
    one, other = numbers(text), numbers(found)
    shared = {name for name in one.keys() & other.keys() if not name[0].startswith("host")}
    assert len(shared) > 5
    assert all(same(one[name], other[name]) for name in shared)


def test_both_engines_count_the_same_instructions(tmp_path, capsys):
    lab = Lab(Lab.here().root, tmp_path)
    words = ["cross-check", "--workload", "getpid", "--workload", "dup", "--format", "json"]
    cli.main(words, lab)
    found = json.loads(capsys.readouterr().out)
    assert not found["failed"]
    counted = [row for row in found["rows"] if row["quantity"] == "instructions"]
    assert {row["workload"] for row in counted} == {"getpid", "dup"}
    assert all(abs(row["difference"]) <= 0.01 for row in counted)
    assert {row["engine"] for row in found["host"]} == {"bochs", "gem5"}
    assert all(row["wall_seconds"] > 0 for row in found["host"])
