# SPDX-License-Identifier: MIT
"""`--engine native`: the workloads run directly on this host."""

import json
import os
import re
import subprocess

import command_line
import pytest

from p5lab.lab import Lab
from p5stats import events

ROOT = Lab.here().root
PROGRAMS = ROOT / "build/workloads/native"
ALWAYS = ["time.wall", "time.cpu"]


def record(tmp_path, program, *arguments):
    """Runs one program in the same way as the engine. Returns its events."""
    path = tmp_path / "events.jsonl"
    processor = str(max(os.sched_getaffinity(0)))
    result = subprocess.run(
        [PROGRAMS / program, *arguments],
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=False,
        env={"P5LAB_EVENTS": str(path), "P5LAB_DATA": str(tmp_path), "P5LAB_CPU": processor},
    )
    assert result.returncode == 0, result.stderr
    return events.parse(path)


def differences(parsed, phase, event):
    """Returns one value for each bracket of a phase: the sum of the user and kernel counts."""
    index = list(parsed.units).index(event)

    def total(marker):
        return sum(bank[index] for bank in marker.banks.values())

    return [total(b.end) - total(b.begin) for b in parsed.brackets if b.phase == phase]


def test_every_bracket_has_times(tmp_path):
    parsed = record(tmp_path, "getpid", "iterations=300")  # more than one chunk of records
    assert list(parsed.units)[:2] == ALWAYS
    assert parsed.engine == "native" and parsed.clock_hz == 10**9
    times = differences(parsed, 0, "time.wall")
    assert len(times) == 300
    assert all(0 < ns < 10**8 for ns in times)


def test_children_are_counted(tmp_path):
    """The counts include the page faults of a started program. A dynamically linked program has
    more page faults.
    """
    static = record(tmp_path, "exec-static", "iterations=10")
    dynamic = record(tmp_path, "exec-dynamic", "iterations=10")
    libraries = record(tmp_path, "exec-dynamic", "iterations=10", "libraries=4")
    few, more, most = (
        min(differences(parsed, 0, "page_faults")) for parsed in (static, dynamic, libraries)
    )
    assert 0 < few < more < most


def test_memory_that_is_touched_is_counted(tmp_path):
    parsed = record(tmp_path, "mmap-fault", "iterations=3", "pages=50")
    assert differences(parsed, 0, "page_faults") == [50, 50, 50]


def test_what_is_not_counted_is_named_with_the_reason(tmp_path):
    """Each event is either in the header or in a note, but not in both."""
    parsed = record(tmp_path, "getpid")
    missing = [
        name
        for note in parsed.notes
        if note["what"].startswith("not counted: ")
        for name in note["what"].removeprefix("not counted: ").split(", ")
    ]
    assert all(note["reason"] for note in parsed.notes)
    counted = [name.removesuffix(".user") for name in parsed.units if name not in ALWAYS]
    assert sorted(missing + counted) == sorted(
        "page_faults context_switches cycles.busy instructions dtlb_misses itlb_misses"
        " data_read_misses code_misses data_reads llc_misses".split()
    )


FAKE_HOST = """
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
long host(long number, ...);
#define syscall host
#define P5LAB_NATIVE
#include "p5w.h"
#undef syscall
long syscall(long number, ...);

/* Grants nothing, or the user mode of cycles and instructions (processor time in their place). */
long host(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  struct perf_event_attr *asked = va_arg(arguments, void *);
  va_end(arguments);
  struct perf_event_attr given = *asked;
  int partly = strcmp(getenv("GRANT"), "user") == 0 && !asked->exclude_user;
  if (number != SYS_perf_event_open || !partly || asked->type != PERF_TYPE_HARDWARE ||
      asked->config > PERF_COUNT_HW_INSTRUCTIONS) {
    errno = EACCES;
    return -1;
  }
  given.type = PERF_TYPE_SOFTWARE;
  given.config = PERF_COUNT_SW_TASK_CLOCK;
  return syscall(number, &given, 0, -1, -1, 0);
}

int main(int argc, char **argv) {
  struct p5w_option options[] = {{0}};
  p5w_start(argc, argv, options);
  p5_begin(0);
  volatile char *memory = mmap(NULL, 1 << 16, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int page = 0; page < 16; page++) memory[page << 12] = 1;
  p5_end(0);
  return 0;
}
"""


@pytest.mark.parametrize(
    ("grant", "counted", "note"),
    [
        ("nothing", [], "not counted: cycles.busy, instructions, dtlb_misses"),
        (
            "user",
            ["cycles.busy.user", "instructions.user"],
            "counted in user mode only: cycles.busy, instructions",
        ),
    ],
)
def test_a_host_that_grants_little(tmp_path, grant, counted, note):
    """If the host counts an event only in user mode, the event has the name NAME.user. getrusage()
    always counts page faults.
    """
    (tmp_path / "fake.c").write_text(FAKE_HOST)
    subprocess.run(
        ["cc", "-O1", "-I", ROOT / "workloads/lib", "-o", tmp_path / "fake", tmp_path / "fake.c"],
        check=True,
    )
    path = tmp_path / "events.jsonl"
    environment = {"P5LAB_EVENTS": str(path), "GRANT": grant}
    subprocess.run([tmp_path / "fake"], env=environment, check=True)
    parsed = events.parse(path)
    assert list(parsed.units) == [*ALWAYS, "page_faults", "context_switches", *counted]
    assert any(found["what"].startswith(note) for found in parsed.notes)
    assert all("perf_event_paranoid" in found["reason"] for found in parsed.notes)
    (faults,) = differences(parsed, 0, "page_faults")
    assert 16 <= faults < 24


def test_without_the_variable_nothing_is_written(tmp_path):
    subprocess.run([PROGRAMS / "getpid"], cwd=tmp_path, env={}, check=True)
    assert not list(tmp_path.iterdir())


def test_the_programs_of_the_guests_know_nothing_of_it():
    for program in (ROOT / "build/workloads/linux").iterdir():
        if program.is_file():
            assert b"P5LAB_EVENTS" not in program.read_bytes(), program.name
    assert b"P5LAB_EVENTS" in (PROGRAMS / "getpid").read_bytes()


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Returns a function that runs a command line, with its own results directory. The function
    returns the exit status, the output and the messages."""
    lab = Lab(ROOT, tmp_path_factory.mktemp("native") / "results")

    def run(*arguments):
        done = command_line.ran(lab, *arguments, "--no-build", columns=200)
        return subprocess.CompletedProcess(arguments, *done)

    return run


def test_micro_on_the_host(command):
    result = command("run", "micro", "--engine", "native", "--all-tables")
    assert result.returncode == 0, result.stderr
    assert "getpid, host: ok" in result.stderr
    rows = {line.split("  ")[1]: line for line in result.stdout.splitlines() if line[:2] == "  "}
    assert "microseconds" in rows and "processor time" in rows
    assert "segment loads" not in rows  # no column has this row
    if not os.path.exists("/dev/p5ctr"):  # noqa: PTH110
        assert "this host cannot run null: needs /dev/p5ctr" in result.stdout
    if result.stdout.count("Not counted: ") == 0:
        assert "CPI (busy)" in rows
    assert result.stdout.count("Not counted: cycles.busy") <= 1  # one note for all columns
    again = command("run", "micro", "--engine", "native", "--workload", "dup")
    assert "already stored" in again.stderr
    measured = command("run", "micro", "--engine", "native", "--workload", "dup", "--force")
    assert measured.returncode == 0, measured.stderr
    assert "already stored" not in measured.stderr


def test_a_curve_has_the_columns_that_were_counted(command):
    result = command("run", "smoke", "--engine", "native", "--workload", "mem-read", "--all-tables")
    assert result.returncode == 0, result.stderr
    points = [line.split() for line in result.stdout.splitlines() if re.match(r" +\d+ K?B ", line)]
    assert len(points) >= 20
    assert "L2" not in result.stdout.partition("mem-read guest: counts per load")[2]
    assert all(float(point[-1]) > 0 for point in points)  # microseconds


def test_a_run_names_its_host(command):
    result = command(
        "run", "micro", "--engine", "native", "--workload", "getpid", "--format", "json"
    )
    assert result.returncode == 0, result.stderr
    assert '"engine": "native"' in result.stdout
    assert f'"machine": "{os.uname().nodename}"' in result.stdout
    rows = {row["metric"]: row["value"] for row in json.loads(result.stdout)["rows"]}
    assert rows["microseconds"] > 0
    assert rows["data writes"] is None  # no host counts this event


def test_a_program_of_ones_own_is_measured_whole(command):
    program = ROOT / "build/workloads/linux/getpid"
    result = command(
        "run", "--program", str(program), "--args", "iterations=3", "--engine", "native"
    )
    assert result.returncode == 0, result.stderr
    assert "microseconds" in result.stdout
    bad = command("run", "--program", str(program), "--args", "iterations=x", "--engine", "native")
    assert bad.returncode == 1
    assert "the program ended with status 2" in bad.stderr


def test_what_a_host_does_not_have_is_refused(command):
    result = command("run", "micro", "--engine", "native", "--machine", "p90-premiere2")
    assert result.returncode == 2
    assert "--machine: expected without --engine native" in result.stderr
