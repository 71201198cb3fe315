# SPDX-License-Identifier: MIT
"""P5CPU (configs/gem5/extras) on a real gem5, with gem5's emulation of system calls. The embedded
engine runs the same programs on the same chip, so user code must have the same clocks.
"""

import json
import os
import re
import statistics
import subprocess
from pathlib import Path

import pytest

from p5lab import engines
from p5lab.cli import main as cli
from p5lab.lab import Lab
from p5stats import events, gem5_events
from p5stats import gem5 as gem5_stats

ROOT = Lab.here().root
PROGRAM = ROOT / "configs/gem5/program.py"
WORKLOADS = ROOT / "build/workloads/linux"
RING = 3
# Without a kernel, the branch target buffer and the phase of the bus clock differ at the begin of a
# bracket: one branch, and one clock of waiting for code.
MOST = 4
# An iteration of the delay loop takes one clock or five, which depends on the entry of the branch
# target buffer that the loop finds.
DELAY = 30
# Neither the code before a bracket nor the time decides: the branch target buffer chooses no way,
# and few brackets have a clock tick or a refresh of DRAM.
NO_HISTORY = {
    "btb.ways": "1",
    "dram.refresh_us": "0",
    "cpu.clock_mhz": "400",
    "cpu.bus_mhz": "100",
}
AFTER_A_CALL = (41, 42)  # phases of branch: a system call, and a load of CR3 in the kernel


@pytest.fixture(scope="session")
def gem5():
    """Returns the gem5 of P5LAB_GEM5, which must have P5CPU."""
    path = os.environ.get("P5LAB_GEM5")
    if not path:
        pytest.skip("P5LAB_GEM5 is not set")
    return path


@pytest.fixture
def emulate(gem5, tmp_path):
    """Runs a program. Returns gem5's finished process, and the directory m5out."""

    def run(*arguments):
        command = [gem5, "-d", tmp_path / "m5out", PROGRAM, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "has no P5CPU" in ended.stderr:
            pytest.skip("P5LAB_GEM5 is a gem5 without P5CPU")
        return ended, tmp_path / "m5out"

    return run


def counts(m5out):
    """The counts of a run on gem5."""
    gem5_events.convert(m5out, m5out / "events.jsonl")
    return events.parse(m5out / "events.jsonl")


def clocks(found):
    """The fewest busy clocks in ring 3 of the brackets of each phase."""
    index = list(found.units).index("cycles.busy")
    least = {}
    for bracket in found.brackets:
        total = sum(
            after[index] - bracket.begin.banks.get((space, ring), [0] * (index + 1))[index]
            for (space, ring), after in bracket.end.banks.items()
            if ring == RING
        )
        least[bracket.phase] = min(total, least.get(bracket.phase, total))
    return least


def test_user_code_has_the_clocks_of_the_embedded_engine(emulate, boot):
    job = "timed-loops", "words=24", "iterations=2"
    ended, m5out = emulate(str(WORKLOADS / job[0]), *job[1:])
    assert ended.returncode == 0, ended.stderr
    expected, found = clocks(boot(" ".join(job)).events), clocks(counts(m5out))
    assert found.keys() == expected.keys() and len(found) > 20
    apart = {phase: found[phase] - expected[phase] for phase in expected if phase != DELAY}
    assert all(abs(difference) <= MOST for difference in apart.values()), apart
    assert sum(clocks == 0 for clocks in apart.values()) > len(apart) / 2


def test_branches_have_the_predictions_of_the_embedded_engine(emulate, boot):
    job = "branch", "iterations=1", "warmup=1"
    changed = [word for key, value in NO_HISTORY.items() for word in ("--set", f"{key}={value}")]
    ended, m5out = emulate(*changed, str(WORKLOADS / job[0]), *job[1:])
    assert ended.returncode == 0, ended.stderr
    expected = clocks(boot(" ".join(job), settings=NO_HISTORY).events)
    found = clocks(counts(m5out))
    assert found.keys() == expected.keys()
    apart = {phase for phase in expected if found[phase] != expected[phase]}
    assert apart == set(AFTER_A_CALL)


def test_the_components_of_the_cpi_stack_add_up(emulate):
    ended, m5out = emulate("--cpi", str(WORKLOADS / "timed-loops"), "words=24", "iterations=1")
    assert ended.returncode == 0, ended.stderr
    found = counts(m5out)
    names = list(found.units)
    values = found.markers[-1].banks[0, RING]
    parts = sum(value for name, value in zip(names, values, strict=True) if name.startswith("cpi."))
    assert parts == values[names.index("cycles.busy")]


def test_an_instruction_that_gem5_lacks_ends_the_run_with_one_line(emulate):
    ended, _ = emulate(str(WORKLOADS / "timed-instructions"))
    assert ended.returncode != 0
    assert "gem5 does not implement the instruction" in ended.stderr


def test_only_the_flags_tell_whether_a_branch_to_the_next_instruction_is_taken(emulate, tmp_path):
    """A taken one is mispredicted each time, because the branch target buffer takes no entry."""
    options = "-m32", "-nostdlib", "-static", f"-I{ROOT / 'workloads/lib'}"
    source = ROOT / "tests/e2e/gem5/next.S"
    subprocess.run(["cc", *options, "-o", tmp_path / "next", source], check=True)
    ended, m5out = emulate(str(tmp_path / "next"))
    assert ended.returncode == 0, ended.stderr
    found = counts(m5out)
    taken, not_taken = (medians(found, phase)["pipeline_flushes"] for phase in (1, 2))
    assert taken >= 100 > 10 > not_taken


def test_a_wrong_program_is_refused(emulate, tmp_path):
    text = tmp_path / "text"
    text.write_text("#!/bin/sh\n")
    ended, _ = emulate(str(text))
    assert ended.returncode == 2
    assert "expected an ELF program" in ended.stderr


def medians(found, phase):
    """The median of each event in the brackets of a phase, of all rings."""
    brackets = [bracket for bracket in found.brackets if bracket.phase == phase]
    totals = [
        [_sum(one.end, i) - _sum(one.begin, i) for one in brackets] for i in range(len(found.units))
    ]
    return dict(zip(found.units, map(statistics.median, totals), strict=True))


def _sum(marker, index):
    """The count of an event in all banks. Zeros at the end of a bank are left out."""
    return sum(bank[index] for bank in marker.banks.values() if index < len(bank))


@pytest.fixture
def on_both(gem5, boot, tmp_path):
    """Runs a workload with 50 brackets on linux64. Returns the medians of the events of the
    embedded engine and of gem5."""

    def run(workload):
        command = [gem5, "-d", tmp_path / "m5out", ROOT / "configs/gem5/run.py"]
        command += ["--guest", "linux64", "--cpu", "p5", "--clocks", "nominal", "--cpi"]
        command += ["--workload", workload]
        ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "built without P5CPU" in ended.stderr:
            pytest.skip("P5LAB_GEM5 is a gem5 without P5CPU")
        assert ended.returncode == 0, ended.stderr
        how = {"system": "linux64", "clocks": "nominal", "conf": ("run.cpi = true",)}
        embedded = boot(f"{workload} iterations=50 warmup=5", **how).events
        return medians(embedded, 0), medians(counts(tmp_path / "m5out"), 0)

    return run


@pytest.mark.usefixtures("built64")
def test_a_system_call_has_all_counts_of_the_embedded_engine(on_both):
    expected, measured = on_both("dup")
    both = expected.keys() & measured.keys()
    assert expected.keys() - both == {event for event in expected if ".disk." in event}
    apart = {event: (expected[event], measured[event]) for event in both}
    assert not {event: pair for event, pair in apart.items() if pair[0] != pair[1]}
    assert measured["nominal.cycles.busy"] == sum(
        value for event, value in measured.items() if event.startswith("nominal.cpi.")
    )


@pytest.mark.usefixtures("built64")
def test_a_context_switch_has_the_accesses_of_the_embedded_engine(on_both):
    """The kernel's tasks have the same frames, because it has found the same devices."""
    expected, measured = on_both("cswitch")
    same = ("instructions", "data_reads", "data_writes", "dtlb_misses", "itlb_misses", "branches")
    assert {event: measured[event] for event in same} == {event: expected[event] for event in same}
    clocks = "nominal.cycles.busy"
    assert measured[clocks] == pytest.approx(expected[clocks], rel=0.01)


@pytest.mark.usefixtures("built64")
def test_the_chip_takes_over_from_the_atomic_cpu_and_gives_back(gem5, tmp_path):
    """P5CPU runs the brackets, and gem5's atomic CPU all else, from a checkpoint of the atomic
    CPU. The TLBs are empty at each take-over, and the time of the other CPU is not idle time.
    """
    first, second = tmp_path / "atomic", tmp_path / "switched"
    command = [gem5, "-d", first, ROOT / "configs/gem5/run.py", "--guest", "linux64"]
    command += ["--cpu", "atomic", "--workload", "getpid", "iterations=3", "warmup=1"]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ended.returncode == 0, ended.stderr
    kept = Path(json.loads((first / "setup.json").read_text())["checkpoints"])
    checkpoint = kept / re.search(r"(?:booted|restored): (\w+)", ended.stdout)[1]
    script = ROOT / "tests/e2e/gem5/switching.py"
    command = [gem5, "-d", second, script, first / "setup.json", checkpoint]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "P5CPU" in ended.stderr and "AttributeError" in ended.stderr:
        pytest.skip("P5LAB_GEM5 is a gem5 without P5CPU")
    assert ended.returncode == 0, ended.stderr
    chip = "board.processor.chip.core.chip."
    parts = list(gem5_stats.sections(second / "stats.txt", lambda name: name.startswith(chip)))

    def total(section, event):
        return sum(section.get(f"{chip}{event}::ring{ring}") for ring in range(4))

    lines = (second / "markers.jsonl").read_text().splitlines()[1:]
    ends = [line["dump"] for line in map(json.loads, lines) if line["op"] == "end"]
    brackets = [parts[dump] for dump in ends]
    *empty, first_call, second_call = (total(one, "instructions") for one in brackets)
    assert 0 < empty[0] < first_call == second_call  # and no clock tick in them
    assert all(total(one, "nominal_cycles_idle") == 0 for one in parts)
    assert all(total(one, "itlb_misses") > 0 for one in brackets)
    others = [one for dump, one in enumerate(parts) if dump not in ends]
    assert all(total(one, "instructions") == 0 for one in others)


def test_a_script_of_gem5s_library_runs_a_program(gem5, tmp_path):
    script = ROOT / "configs/gem5/library.py"
    command = [gem5, "-d", tmp_path / "m5out", script, WORKLOADS / "timed-loops"]
    command += ["words=24", "iterations=1"]
    ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "P5CPU" in ended.stderr:
        pytest.skip("P5LAB_GEM5 is a gem5 without P5CPU")
    assert ended.returncode == 0, ended.stderr
    statistics_text = (tmp_path / "m5out/stats.txt").read_text()
    assert "board.processor.cores.core.chip.cycles_busy::ring3" in statistics_text


@pytest.mark.usefixtures("built64")
def test_the_cross_check_of_one_chip(gem5, tmp_path, capsys):
    lab = Lab(ROOT, tmp_path)
    if engines.get("gem5").instead(lab) != "gem5_chip":
        pytest.skip("P5LAB_GEM5 is a gem5 without P5CPU")
    assert cli.main(["cross-check", "--chip", "--workload", "getpid", "--json"], lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    apart = {row["quantity"] for row in rows if row["first"] != row["second"]}
    assert "nominal cycles" in {row["quantity"] for row in rows} and "nominal cycles" not in apart
    assert len(apart) < len(rows) / 4
