# SPDX-License-Identifier: MIT
"""Counts by function: their sum equals the counts of the run, and attribution does not change the
run.

The tests find code in kernels, programs, libraries and in a kernel that runs as a program.
"""

from collections import Counter

import pytest

from p5lab.describe import guest, workload
from p5lab.describe.observation import functions
from p5lab.describe.observation.attribute import ATTRIBUTIONS
from p5stats import attribution as stats
from p5stats import misses

EXEC = "exec-dynamic libraries=1 iterations=2 warmup=1"
UML = "linux-uml"


@pytest.fixture(scope="module")
def runs():
    return {}


@pytest.fixture
def run(boot, runs):
    """Returns a function that makes each kind of run once, and returns the same run at later
    calls."""

    def once(job, attribute, system="linux"):
        key = job, attribute, system
        if key not in runs:
            runs[key] = boot(job, attribute=attribute, system=system)
            outcome = runs[key].outcome
            assert outcome.status == "ok", outcome.reason
        return runs[key]

    return once


def brackets(booted):
    """Computes the counts from the markers, by phase, address space, ring and event."""
    parsed = booted.events
    sums = Counter()
    for bracket in parsed.brackets:
        begin, end = bracket.begin.banks, bracket.end.banks
        for (cr3, ring), after in end.items():
            before = begin.get((cr3, ring), ())
            for number, event in enumerate(parsed.units):
                now = after[number] if number < len(after) else 0
                was = before[number] if number < len(before) else 0
                if now != was:
                    sums[bracket.phase, cr3, ring, event] += now - was
    return sums


def attributed(found):
    """Computes the same counts from an attribution."""
    sums = Counter()
    for phase, by_node in found.counts.items():
        for number, counts in by_node.items():
            node = found.nodes[number]
            for event, count in zip(found.events, counts, strict=True):
                sums[phase, node.cr3, node.ring, event] += count
    return sums


@pytest.mark.parametrize(
    ("job", "attribute", "system"),
    [
        (EXEC, ATTRIBUTIONS, "linux"),
        pytest.param("dup iterations=3 warmup=1", ("functions",), UML, marks=pytest.mark.full),
        pytest.param(EXEC, ATTRIBUTIONS, UML, marks=pytest.mark.full),
        pytest.param("cswitch iterations=5 warmup=1", ("stacks",), "linux", marks=pytest.mark.full),
        pytest.param("getpid iterations=3", ("stacks",), "linux64", marks=pytest.mark.full),
    ],
)
def test_the_sum_is_what_was_counted(run, job, attribute, system):
    booted = run(job, attribute, system)
    found = stats.read(booted.directory / "attribution.jsonl")
    parts = attributed(found)
    whole = brackets(booted)
    assert whole == {
        key: count for key, count in parts.items() if count and key[3] in booted.events.units
    }
    assert sum(whole.values()) > 1000


@pytest.mark.parametrize(
    "attribute",
    [
        ATTRIBUTIONS,
        pytest.param(("functions",), marks=pytest.mark.full),
        pytest.param(("stacks",), marks=pytest.mark.full),
    ],
)
def test_and_the_run_is_what_it_is_without(run, attribute):
    with_it, without = run(EXEC, attribute), run(EXEC, ())
    assert (with_it.directory / "events.jsonl").read_bytes() == (
        without.directory / "events.jsonl"
    ).read_bytes()
    assert not (without.directory / "attribution.jsonl").exists()


def test_code_is_found_wherever_it_is(run):
    """The kernel, the program, the loader and the library have names. The instructions that the
    kernel executes for a call are counted under the name of this call.
    """
    frame = stats.read(run(EXEC, ATTRIBUTIONS).directory / "attribution.jsonl").frame()
    frame = frame[frame["event"] == "instructions"]
    by_module = frame.groupby("module")["count"].sum()
    wanted = {"linux", "/bin/exec-dynamic", "/bin/true-dynamic-1", "/lib/ld-musl-i386.so.1", "vdso"}
    assert wanted <= set(by_module.index)
    assert by_module.get("[unknown]", 0) < by_module.sum() / 1000
    kernel = frame[(frame["ring"] == 0) & (frame["module"] == "linux")]
    assert kernel["count"].sum() / frame[frame["ring"] == 0]["count"].sum() > 0.999
    by_call = kernel.groupby("crossing")["count"].sum()
    assert {"vfork", "execve", "wait4", "exit_group", "page fault"} <= set(by_call.index)
    assert by_call["execve"] > 10_000
    asked = kernel[kernel["crossing"] == "page fault"]
    assert asked[asked["function"] == "handle_mm_fault"]["count"].sum() > 1000
    assert frame[frame["function"] == "exec_once"]["module"].unique() == ["/bin/exec-dynamic"]
    assert {"exec-dynamic", "true-dynamic-1"} <= set(frame["space"])


@pytest.mark.full
def test_a_kernel_that_is_a_program(run):
    frame = stats.read(
        run("dup iterations=3 warmup=1", ("functions",), UML).directory / "attribution.jsonl"
    ).frame()
    frame = frame[frame["event"] == "instructions"]
    uml = frame[(frame["module"] == "/bin/linux") & (frame["ring"] == 3)]
    assert {"userspace", "handle_syscall"} <= set(uml["function"])
    assert {"linux", "dup"} <= set(frame["space"])
    host = frame[(frame["module"] == "linux") & (frame["ring"] == 0)]
    assert {"ptrace", "wait4"} <= set(host["crossing"])


def test_classes_of_misses_add_up(run):
    """Every L2 miss belongs to exactly one class of misses. This is also true for every L1 miss
    that reached L2.
    """
    booted = run(EXEC, ATTRIBUTIONS)
    frame = stats.read(booted.directory / "attribution.jsonl").frame()
    totals = frame.groupby("event")["count"].sum()
    for event in ("l2_read_misses", "l2_write_misses", "code_misses", "data_read_misses"):
        classes = sum(
            totals.get(f"{event}.{name}", 0)
            for name in ("compulsory", "capacity", "conflict", "removed")
        )
        slack = 0 if event.startswith("l2") else totals["locked_cycles"]
        assert totals[event] - slack <= classes <= totals[event], event
    assert totals["code_misses.conflict"] > 100


CAUSES = ("capacity", "conflict", "removed")


def test_every_line_that_was_taken_away_has_an_evictor(run):
    """Of several accesses that miss a line and load nothing (writes, faults of a page), only the
    first has an evictor."""
    booted = run(EXEC, ATTRIBUTIONS)
    found = stats.read(booted.directory / "attribution.jsonl")
    totals = found.frame().groupby("event")["count"].sum()
    evicted = Counter()
    for one in found.evictions:
        evicted[one.cache, one.cause] += one.count
    for cause in CAUSES:
        assert evicted["L1I", cause] == totals.get(f"code_misses.{cause}", 0)
        for array, event in (("L1D", "data"), ("L2", "l2")):
            read = totals.get(f"{event}_read_misses.{cause}", 0)
            write = totals.get(f"{event}_write_misses.{cause}", 0)
            assert read <= evicted[array, cause] <= read + write
        for array, event in (("ITLB", "itlb_misses"), ("DTLB", "dtlb_misses")):
            assert evicted[array, cause] <= totals.get(f"{event}.{cause}", 0)
    assert min(evicted[array, "capacity"] for array in ("L1I", "L1D", "L2", "ITLB")) > 100
    # exec loads CR3, which empties the TLBs.
    flushes = {(one.cache, one.cause) for one in found.evictions if one.won == "flush"}
    assert flushes == {("ITLB", "removed"), ("DTLB", "removed")}


def test_the_trace_has_each_miss(run, boot):
    """The misses of the trace are those that the classes count, and the accesses before them agree
    with each other."""
    job = "cswitch iterations=5 warmup=1"
    booted = run(job, ATTRIBUTIONS)
    traced = boot(job, attribute=ATTRIBUTIONS, trace=("misses",))
    for file in ("events.jsonl", "attribution.jsonl"):
        assert (traced.directory / file).read_bytes() == (booted.directory / file).read_bytes()
    brackets = misses.read(traced.directory / "misses.jsonl")
    frame = stats.read(traced.directory / "attribution.jsonl").frame()
    names = frame["event"].str.rpartition(".")
    classes = frame[names[2].isin({*CAUSES, "compulsory"})]
    counted = classes.groupby(["phase", "event"])["count"].sum()
    seen = Counter(
        (phase, f"{miss.event}.{miss.cause}")
        for phase, found in brackets.items()
        for bracket in found
        for miss in bracket.misses
    )
    assert not any(bracket.beyond for found in brackets.values() for bracket in found)
    assert seen == {key: count for key, count in counted.items() if key[0] in brackets}
    every = [miss for found in brackets.values() for one in found for miss in one.misses]
    assert len(every) > 1000
    for miss in every:
        if miss.cause == "compulsory":
            assert (miss.loaded, miss.lost) == (None, None)
        else:
            assert miss.loaded.tsc <= (miss.lost.tsc if miss.lost else miss.tsc) <= miss.tsc
            assert miss.loaded.address >> 12 == miss.address >> 12 or miss.event == "dtlb_misses"


def chains(found):
    """Returns the functions of each stack with counts, the outermost first."""
    return {
        tuple(node.function for node in found.stack(number))
        for by_node in found.counts.values()
        for number in by_node
    }


def test_stacks_lead_from_the_program_into_the_kernel(run):
    found = stats.read(run(EXEC, ATTRIBUTIONS).directory / "attribution.jsonl")
    stacks = chains(found)
    paths = {" ".join(one.name for one in stack) for stack in stacks}
    assert any("main" in path and "__ia32_sys_execve" in path for path in paths)
    assert any("exc_page_fault" in path and path.endswith("handle_mm_fault") for path in paths)
    assert max(map(len, stacks)) < 100


def test_a_program_begins_without_callers(run):
    found = stats.read(run(EXEC, ATTRIBUTIONS).directory / "attribution.jsonl")
    modules = [{one.module for one in stack} for stack in chains(found)]
    both = {"/bin/exec-dynamic", "/bin/true-dynamic-1"}
    assert any("/bin/true-dynamic-1" in stack for stack in modules)
    assert not [stack for stack in modules if both <= stack]


def test_a_table_names_static_functions(lab):
    """The build's symbols give names to static functions of our programs and of the kernel."""

    class Run:
        guest = guest.load(lab, "linux")
        workload = workload.load(lab)["dup"]
        program = None

    table = functions.table(lab, Run)
    lines = set(table.splitlines())
    assert "module /bin/dup" in lines
    words = [line.split() for line in lines if line.startswith("function ")]
    names = {line[3] for line in words}
    assert {"iteration", "printf_core", "get_page_from_freelist", "entry_INT80_32"} <= names
