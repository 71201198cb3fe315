# SPDX-License-Identifier: MIT
"""The file benchmarks: that what they read is what they wrote, that they say so when it is not, and
what reaches the disk. Small counts here; the sizes of the papers are in configs/experiments."""

import subprocess

import pytest

from p5lab.lab import Lab

LAB = Lab.here()
HOST = LAB.root / "build/workloads/linux"  # runs on the host too, without markers
PROGRAMS = {
    "cached-read": "files=5 iterations=2",
    "create": "files=5 iterations=2",
    "small-files": "files=20 directories=3 iterations=2",
    "bonnie": "kb=256 batch=16 seeks=16",
    "disk-read": "kb=100",  # the last request is shorter
    "disk-write": "kb=100",
    "file-read": "blocks=2 iterations=2",
    "open-close": "iterations=5",
    "create-delete": "iterations=2",
    "andrew": "files=9 kilobytes=20 directories=5",
    "scomp": "files=2 headers=3 size=6000",
    "sdump": "kb=100",
}
MODELLED = ("ext2", "ext2-sync", "fat", "raid0")


def on_host(name, arguments, directory):
    return subprocess.run(
        [HOST / name, *arguments.split()], cwd=directory, env={"TMPDIR": str(directory)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


CHECKER = """
#include "data.h"
/* Fills a buffer, changes the byte that the argument names, and checks it. */
int main(int argc, char **argv) {
  enum { SIZE = 1402 }; /* the last sector and the last word are not whole */
  char *buffer = data_buffer(SIZE);
  data_fill(buffer, SIZE, 1024, 7);
  if (argc > 1) buffer[atoi(argv[1])] ^= 1;
  data_check(buffer, SIZE, 1024, 7, "file");
  return 0;
}
"""


def test_a_byte_that_is_not_what_was_written_is_found(tmp_path):
    source, program = tmp_path / "checker.c", tmp_path / "checker"
    source.write_text(CHECKER)
    command = ["cc", "-O2", "-Wall", "-I", LAB.root / "workloads/lib", "-o", program, source]
    subprocess.run(command, check=True)
    assert subprocess.run([program]).returncode == 0
    for byte in (0, 3, 4, 511, 512, 700, 1023, 1024, 1399, 1400, 1401):
        done = subprocess.run([program, str(byte)], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr == f"file: byte {1024 + byte // 4 * 4} is not what was written\n"


@pytest.mark.parametrize("place", ["data", "memory"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_left_behind(name, place, tmp_path):
    done = on_host(name, f"{PROGRAMS[name]} filesystem={place}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", MODELLED)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_disks_of_a_host_are_left_alone(name, place, tmp_path):
    done = on_host(name, f"{PROGRAMS[name]} filesystem={place}", tmp_path)
    assert done.returncode == 77
    assert done.stderr == f"{place}: needs a modelled disk, and this machine has none\n"


@pytest.mark.parametrize("place", ["data", "memory"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_runs_in_the_guest(boot, name, place):
    run = boot(f"{name} {PROGRAMS[name]} filesystem={place}")
    assert (run.outcome.status, run.output) == ("ok", ""), run.outcome.reason
