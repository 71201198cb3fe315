# SPDX-License-Identifier: MIT
"""One's own program from its source on the real engine: regions, counts by line, output, refused
instructions and limits.
"""

import csv
import json
import re
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from p5lab.cli import main as cli
from p5lab.describe.observation import AttributedCounts, Observation, Region
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.runner import Runner
from p5lab.keep import store
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5stats import attribution, events

WHOLE, REGION = 0xFFFFFFFE, 0xFFFFFFFD
# Marker 0 is an empty bracket. Marker 1 is around each call of work(). The argument selects a part
# of the program.
SOURCE = """\
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "marker.h"

#define KEEP __attribute__((noinline))
static jmp_buf away;
static int grid[4096];
static volatile int one = 1; /* hides the value from the compiler */

KEEP int work(int n) {
  int sum = 0;
  for (int i = 0; i < 40 * n; i++) {
    sum += grid[i * 7 & 4095];
    grid[i & 4095] = sum ^ i;
  }
  return sum;
}
KEEP int recurse(int n) { return n ? 1 + recurse(n - 1) * work(one) : work(one); }
KEEP int tail(int n) {
  grid[0] = n;
  return work(10 * n);
}
KEEP void jumper(int n) {
  grid[1] += work(n);
  longjmp(away, 1);
}
KEEP void quitter(int n) {
  grid[1] += work(n);
  exit(0);
}
KEEP int tiny(int n) { return n ^ grid[2]; }

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "work";
  int sum = 0;
  memset(grid, one, sizeof(grid)); /* no page fault inside the brackets */
#ifdef MARKED
  p5_marker_init();
#endif
  for (int n = 1; n <= 6; n++) {
#ifdef MARKED
    p5_begin(0);
    p5_end(0);
    p5_begin(1);
#endif
    sum += work(n);
#ifdef MARKED
    p5_end(1);
#endif
  }
  for (int n = 1; n <= 3; n++) {
    sum += recurse(n) + tail(n);
    if (!setjmp(away)) jumper(n);
    sum += work(50 * one);
  }
  if (!strcmp(part, "tiny"))
    for (int n = 0; n < 1500; n++) sum += tiny(n);
  if (!strcmp(part, "fork")) {
    if (fork() == 0) return work(3 * one) == 1;
    wait(NULL);
    sum += work(7 * one);
  }
  printf("sum %d\\n", sum);
  if (!strcmp(part, "spin"))
    for (;;) grid[3]++;
  if (!strcmp(part, "refuse")) __asm__ volatile("cmovne %edx, %eax");
  fflush(stdout);
  if (!strcmp(part, "quit")) quitter(2 * one);
  return 0;
}
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return Lab(Lab.here().root, tmp_path_factory.mktemp("own") / "results")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "parts.c"
    path.write_text(SOURCE)
    return path


class Ran:
    """A finished run of the program, with its brackets."""

    def __init__(self, stored):
        self.stored = stored
        self.events = events.parse(stored.directory / "events.jsonl")
        self.notes = {note["what"]: note["count"] for note in self.events.notes}

    def brackets(self, phase):
        return [one for one in self.events.brackets if one.phase == phase]

    def counts(self, bracket, rings=(0, 3)):
        """Returns what a bracket counted: the sum over these rings and all address spaces."""
        sums = Counter()
        for (_, ring), after in bracket.end.banks.items():
            if ring not in rings:
                continue
            before = bracket.begin.banks.get((_, ring), [])
            for number, event in enumerate(self.events.units):
                now = after[number] if number < len(after) else 0
                sums[event] += now - (before[number] if number < len(before) else 0)
        return sums

    def of(self, phase, event, rings=(0, 3)):
        return [self.counts(one, rings)[event] for one in self.brackets(phase)]


@pytest.fixture(scope="module")
def ran(results, source):
    """Returns a function that makes each run once."""
    known = {}

    def once(part="work", region=None, by=(), cflags=""):
        key = part, region, by, cflags
        if key not in known:
            wishes = [Region(region)] if region else []
            wishes += [AttributedCounts(by)] if by else []
            choice = Filter(observation=Observation.of(*wishes))
            (run,) = prepare(
                results, Request(UserProgram(source, part, cflags=cflags), choice)
            ).runs
            (result,) = Runner(results).run_all([run])
            assert result.status == "ok", result.reason
            known[key] = Ran(store.Stored(result.directory, store.read(result.directory)))
        return known[key]

    return once


def test_a_region_and_markers_count_the_same(ran):
    """The bracket of marker 1 also contains the marker's own instructions and the CALL, which are
    the same for each call of work().
    """
    found = ran(region="work", cflags="-DMARKED")
    own, marked = found.brackets(REGION)[:6], found.brackets(1)
    assert len(marked) == 6
    for one, other in zip(own, marked, strict=True):
        assert other.begin.tsc <= one.begin.tsc <= one.end.tsc <= other.end.tsc
    differences = {
        tuple(
            found.counts(two, (3,))[event] - found.counts(one, (3,))[event]
            for event in ("instructions", "data_reads", "data_writes")
        )
        for one, two in zip(own, marked, strict=True)
    }
    assert len(differences) == 1
    (instructions, reads, writes) = differences.pop()
    assert 0 < instructions < 20
    assert 0 <= reads <= 4
    assert 0 <= writes <= 6
    for event in ("crossings.int", "crossings.iret", "cr3_loads.changed", "segment_loads"):
        assert found.of(REGION, event)[:6] == found.of(1, event)
    longer = [found.counts(two)["cycles.busy"] for two in marked]
    shorter = [found.counts(one)["cycles.busy"] for one in own]
    assert all(0 <= b - a < 400 for a, b in zip(shorter, longer, strict=True))


def test_a_program_without_markers_counts_the_same_instructions(ran):
    marked, plain = ran(region="work", cflags="-DMARKED"), ran(region="work")
    assert not plain.brackets(1)
    for event in ("instructions", "data_reads", "data_writes", "branches"):
        of_plain = plain.of(REGION, event, (3,))
        assert of_plain == marked.of(REGION, event, (3,))
        assert len(of_plain) == plain.notes["region-calls"]


def test_the_region_changes_nothing_else(ran):
    without, within = ran(), ran(region="work")
    (before,), (after,) = without.brackets(WHOLE), within.brackets(WHOLE)
    assert without.counts(before) == within.counts(after)
    assert before.end.tsc == after.end.tsc


def test_recursive_calls_belong_to_the_outermost_call(ran):
    found = ran(region="recurse")
    assert found.notes == {"region-calls": 3, "region-measured": 3}
    instructions = found.of(REGION, "instructions", (3,))
    work = ran(region="work").of(REGION, "instructions", (3,))[0]
    assert [count // work for count in instructions] == [2, 3, 4]  # calls of work(1)


def test_after_a_tail_call_the_other_function_ends_the_region(ran):
    found = ran(region="tail")
    assert found.notes["region-calls"] == 3
    work = ran(region="work").of(REGION, "instructions", (3,))
    each = (work[1] - work[0]) * 10  # of work(10) more than of work(0)
    instructions = found.of(REGION, "instructions", (3,))
    assert [b - a for a, b in pairwise(instructions)] == [each, each]


def test_longjmp_and_the_end_of_the_program_end_the_region(ran):
    found = ran(region="jumper")
    assert found.notes["region-calls"] == 3
    instructions = found.of(REGION, "instructions", (3,))
    work = ran(region="work").of(REGION, "instructions", (3,))
    for count, inner in zip(instructions, work, strict=False):
        assert inner < count < inner + 60  # work(50) after the jump has more
    quits = ran("quit", region="quitter")
    assert quits.notes["region-calls"] == 1
    (region,), (whole,) = quits.brackets(REGION), quits.brackets(WHOLE)
    assert region.end.tsc == whole.end.tsc


def test_only_the_process_that_called_first(ran):
    plain, forked = ran(region="work"), ran("fork", region="work")
    assert forked.notes["region-calls"] == plain.notes["region-calls"] + 1


def test_the_first_thousand_calls_are_measured(ran):
    found = ran("tiny", region="tiny")
    assert found.notes == {"region-calls": 1500, "region-measured": 1000}
    instructions = found.of(REGION, "instructions", (3,))
    assert len(instructions) == 1000
    assert len(set(instructions)) == 1


def test_callers_begin_at_the_entry_of_the_program(ran, source):
    found = attribution.read(ran("recurse", by=("stacks",)).stored.directory / "attribution.jsonl")
    chains = {
        tuple(one.function.name for one in found.stack(node))
        for counts in found.counts.values()
        for node in counts
        if found.nodes[node].ring == 3 and found.nodes[node].function.module == source.stem
    }
    assert {chain[0] for chain in chains} == {"_start"}
    assert any(chain[-2:] == ("recurse", "work") for chain in chains)
    # Position-independent code reads EIP with a CALL. This is no call of the function by itself.
    assert {a for chain in chains for a, b in pairwise(chain) if a == b} == {"recurse"}


def test_counts_by_line_and_region_are_the_counts(ran, source):
    found = ran(region="tail", by=("lines",))
    lines = attribution.read(found.stored.directory / "attribution.jsonl").line_frame()
    for phase in (WHOLE, REGION):
        sums = Counter()
        for bracket in found.brackets(phase):
            sums.update(found.counts(bracket))
        chosen = lines[lines["phase"] == phase].groupby("event")["count"].sum()
        assert {event: count for event, count in sums.items() if count} == {
            event: count for event, count in chosen.items() if count
        }
    hot = lines[(lines["event"] == "instructions") & (lines["phase"] == WHOLE)]
    here = hot[hot["file"] == str(source)]
    loop = [number for number, text in enumerate(SOURCE.split("\n"), 1) if "sum += grid" in text]
    assert int(here.sort_values("count")["line"].iloc[-1]) in range(loop[0] - 1, loop[0] + 3)
    plain = ran(region="tail")
    for phase in (WHOLE, REGION):
        assert [found.counts(one) for one in found.brackets(phase)] == [
            plain.counts(one) for one in plain.brackets(phase)
        ]


def test_from_the_source_to_the_lines_on_the_command_line(results, source, capsys):
    words = ["run", "--program", str(source), "--region", "work", "--attribute", "lines"]
    assert cli.main([*words, "--no-build"], results) == 0
    printed = capsys.readouterr()
    assert "parts.c printed:\nsum " in printed.err
    assert "Region work: 24 calls." in printed.err
    runs = [
        json.loads(path.read_text())["run"]
        for path in results.results.glob("program/*/run.json")
        if (path.parent / "sources.json").exists() and "region work" in path.read_text()
    ]
    assert len(runs) == 1
    assert cli.main(["show", runs[0], "--attribution", "--source"], results) == 0
    shown = capsys.readouterr().out
    (row,) = (line for line in shown.splitlines() if "sum += grid" in line)
    assert "%" in row
    assert cli.main(["show", runs[0], "--attribution", "--source", "--format", "csv"], results) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert any(row["file"] == str(source) for row in rows)
    assert cli.main(["show", runs[0]], results) == 0
    assert "parts.c printed:\nsum " in capsys.readouterr().out


def test_a_refused_instruction_and_a_limit_are_explained(results, source, capsys):
    line = next(n for n, text in enumerate(SOURCE.split("\n"), 1) if "cmovne" in text)
    words = ["run", "--program", str(source), "--no-build", "--quiet"]
    assert cli.main([*words, "--args", "refuse"], results) == 1
    said = capsys.readouterr().err
    assert f"`cmovne eax,edx` (0f 45 c2) in main, {source}:{line}; the processor (pentium)" in said
    assert "it comes from inline assembly or from an option in --cflags" in said
    assert cli.main([*words, "--args", "spin", "--limit", "2"], results) == 1
    said = capsys.readouterr().err
    assert "virtual-time limit of 2.000 s reached; `run --limit SECONDS` sets another" in said


@pytest.fixture
def short_place():
    """A directory whose path always has the same length, and is about as long as a user's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        yield Path(place)


def test_the_document_shows_the_numbers_of_this_build(results, short_place, capsys):
    """The path of the source is a part of the debug information, so its length can move the pages
    of the program. The counts may therefore differ a little.
    """
    document = (Lab.here().root / "docs/start/your-program.md").read_text()
    (code,) = re.findall(r"```c\n(.*?)```", document, re.DOTALL)
    (listed,) = re.findall(r"```text\n(cycles\.busy: .*?)```", document, re.DOTALL)
    source = short_place / "matrix.c"
    source.write_text(code)
    words = ["run", "--program", str(source), "--region", "multiply", "--attribute", "lines"]
    assert cli.main([*words, "--no-build"], results) == 0
    printed = capsys.readouterr().err
    assert "matrix.c printed:\nc[1][2] = 34496\n" in printed
    run = re.search(r"show (\w+) --attribution --source", printed)[1]
    assert cli.main(["show", run, "--attribution", "--source"], results) == 0
    now, shown = (
        capsys.readouterr().out,
        re.compile(r"^ *([\d,]+) +[\d.]+ % +(\d+)  ", re.MULTILINE),
    )
    today = {line: int(count.replace(",", "")) for count, line in shown.findall(now)}
    known = {line: int(count.replace(",", "")) for count, line in shown.findall(listed)}
    assert len(known) >= 6
    assert known == {line: pytest.approx(today[line], rel=0.03, abs=100) for line in known}
