# SPDX-License-Identifier: MIT
"""The file benchmarks read the data that they wrote, and report any difference.

Other tests check the requests that reach the disk. The counts are small. The experiments in
configs/experiments use the sizes of the papers.
"""

import subprocess

import pytest
from hostcc import compiled

from p5lab.describe import machine
from p5lab.lab import Lab

LAB = Lab.here()
HOST = LAB.root / "build/workloads/linux"  # also runs on the host, without markers
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
        [HOST / name, *arguments.split()],
        cwd=directory,
        env={"TMPDIR": str(directory)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


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
    source = tmp_path / "checker.c"
    source.write_text(CHECKER)
    program = compiled(tmp_path / "checker", source)
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


def test_a_machine_without_disks_says_so(boot):
    run = boot("create filesystem=ext2", settings={"disk.count": 0})
    assert run.events.guest_status == 77
    assert run.output == "ext2: needs a modelled disk, and this machine has none\n"


@pytest.fixture
def measured(boot):
    """Returns the counts of the single bracket of phase 0, by event."""

    def run(job, **how):
        done = boot(job, **how)
        assert (done.outcome.status, done.output) == ("ok", ""), done.outcome.reason
        events = (
            "cycles.busy",
            "cycles.idle",
            "disk.reads",
            "disk.writes",
            "disk.sectors_read",
            "disk.sectors_written",
        )
        counts = {event: done.totals(0, event) for event in events}
        assert all(len(each) == 1 for each in counts.values())
        return {event: each[0] for event, each in counts.items()}

    return run


def requests(counts):
    return counts["disk.reads"], counts["disk.writes"]


def megabytes_a_second(counts, kilobytes, clock_hz):
    return kilobytes * 1024 * clock_hz / (counts["cycles.busy"] + counts["cycles.idle"]) / 1e6


def test_a_new_file_waits_for_two_writes_where_directories_do(measured):
    """chen95 section 4.5: one write is for the directory, the other write is for the i-node."""
    assert requests(measured("create files=40 iterations=1 filesystem=ext2-sync")) == (0, 80)


@pytest.mark.parametrize("place", ["ext2", "fat"])
def test_a_new_file_waits_for_nothing_elsewhere(measured, place):
    assert requests(measured(f"create files=40 iterations=1 filesystem={place}")) == (0, 0)


@pytest.mark.parametrize("place", ["ext2", "fat"])
def test_small_files_come_from_the_disk(measured, place):
    """Each file needs at least one request. The files are neighbours on the disk, but each is
    opened separately.
    """
    counts = measured(f"small-files files=60 directories=3 filesystem={place}")
    assert counts["disk.sectors_read"] >= 60 * 8192 // 512
    assert 60 <= counts["disk.reads"] <= 3 * 60
    # The requests also read a few tables and directories.
    assert counts["disk.sectors_read"] < 1.5 * 60 * 8192 // 512


def test_files_in_the_cache_do_not(measured):
    counts = measured("cached-read files=40 iterations=1 filesystem=ext2")
    assert requests(counts) == (0, 0)


def test_a_file_is_read_nearly_as_fast_as_the_tracks_pass(measured):
    """The measured rate is at least 85 % of the media's rate. At the media's rate, the head reads
    the outermost tracks one after another.
    """
    disk = machine.load(LAB.machines, "p90-premiere2").values
    sectors = int(str(disk["disk.zones"]).split(",")[0].split("x")[1])
    round_ms = 60_000 / float(disk["disk.rpm"])
    media = sectors * 512 / (round_ms + float(disk["disk.track_skew_ms"])) / 1000
    counts = measured("disk-read kb=6144 filesystem=ext2")
    rate = megabytes_a_second(counts, 6144, 90e6)
    assert 0.85 * media < rate < media
    blocks = counts["disk.sectors_read"] - 6144 * 2
    assert 0 <= blocks < 64  # blocks of the file's own table


def test_a_stripe_of_three_disks_is_faster_than_one(measured, full):
    kb, rates = 4096 if full else 2048, {}
    for disks in (1, 3):
        settings = {"disk.count": disks, "disk.adapters": disks}
        counts = measured(f"disk-read kb={kb} filesystem=raid0", settings=settings)
        assert counts["disk.sectors_read"] >= kb * 2
        rates[disks] = megabytes_a_second(counts, kb, 90e6)
    assert rates[3] > 1.7 * rates[1]


def test_more_disks_than_there_are(boot):
    run = boot("parallel-read disks=2")
    assert run.events.guest_status == 77
    assert "needs more modelled disks than this machine has" in run.output


def test_the_raw_disk_is_asked_as_the_program_asks(boot):
    """Each read of up to 64 KB is one request. 64 KB is the largest request that the kernel makes
    here.
    """
    run = boot("raw-read kb=256")
    assert run.outcome.status == "ok", run.outcome.reason
    for size in (512, 4096, 65536):
        assert run.totals(size, "disk.reads") == [256 * 1024 // size]
        assert run.totals(size, "disk.sectors_read") == [512]
    assert run.totals(262144, "disk.reads") == [4]


def test_random_blocks_are_the_same_in_every_run(boot):
    job = "bonnie kb=1024 batch=16 seeks=32 filesystem=ext2"
    first, second = ((boot(job).directory / "events.jsonl").read_bytes() for _ in range(2))
    assert first == second
