# SPDX-License-Identifier: MIT
"""The modelled disks in a guest: measurements agree with the drive's data sheet."""

import pytest

from p5lab.describe import machine
from p5lab.lab import Lab

CLOCK = {"p90-premiere2": 90_000_000, "p100-plato": 100_000_000}


def milliseconds(booted, board, phase, operations):
    """Returns the milliseconds of one operation, as the mean over the brackets of a phase."""
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.guest_status == 0, booted.output
    clocks = [
        sum(pair)
        for pair in zip(
            booted.totals(phase, "cycles.busy"), booted.totals(phase, "cycles.idle"), strict=True
        )
    ]
    return sum(clocks) / len(clocks) / operations / CLOCK[board] * 1e3


def test_random_blocks_of_the_hp_disk_take_what_lai96_found(boot):
    job = "raw-seek iterations=1 batch=64 mode=write"
    write = boot(job, board="p100-plato")
    assert milliseconds(write, "p100-plato", 0, 64) == pytest.approx(14, rel=0.1)
    read = boot(job.replace("write", "read"), board="p100-plato")
    assert milliseconds(read, "p100-plato", 0, 64) == pytest.approx(14, rel=0.12)
    # Each operation makes one request and one interrupt. The four parts of the time (seek,
    # rotation, transfer, wait) add up to the time of the requests.
    assert read.totals(0, "disk.reads") == [64]
    assert read.totals(0, "disk.sectors_read") == [64 * 16]
    parts = sum(
        read.totals(0, f"disk.{part}")[0] for part in ("seek", "rotation", "transfer", "wait")
    )
    assert parts == pytest.approx(read.totals(0, "disk.busy")[0], rel=0.001)
    rotation = read.totals(0, "disk.rotation")[0] / 64 / CLOCK["p100-plato"] * 1e3
    assert rotation == pytest.approx(60e3 / 5400 / 2, rel=0.15)


def test_sequential_reads_come_at_the_rate_of_the_media(boot):
    board = machine.load(Lab.here().machines, "p90-premiere2")
    job = "raw-read kb=1024 size=65536"
    took = milliseconds(boot(job), "p90-premiere2", 65536, 1024)
    # The read data begin at 1 GB. They are in the zone of cylinders 1054 to 1404, or in the next
    # zone. (Each of these zones has 351 cylinders.)
    sectors = [int(zone.split("x")[1]) for zone in str(board.values["disk.zones"]).split(",")][3:6]
    track = min(sectors) * 512 / (60 / float(board.values["disk.rpm"])) / 1e6
    assert 1024 / took / 1e3 >= 0.85 * track


def test_a_write_waits_for_the_media_unless_the_drive_has_a_cache(boot):
    # Each write writes one sector, and all these sectors are on a few tracks. Each write takes at
    # least half a rotation if the drive has no write cache.
    job = "raw-seek iterations=1 batch=32 span=1 bytes=512 mode=write"
    off = milliseconds(boot(job), "p90-premiere2", 0, 32)
    cache = {"disk.write_cache": True, "disk.buffer": "1M"}
    on = milliseconds(boot(job, settings=cache), "p90-premiere2", 0, 32)
    assert off > 60e3 / 7200 / 2
    assert on < 60e3 / 7200 / 3


def test_two_disks_on_two_adapters_are_faster_than_one(boot):
    def read(**settings):
        keys = {f"disk.{name}": value for name, value in settings.items()}
        job = f"parallel-read kb=2048 through=raw disks={settings['count']}"
        return 2048 / milliseconds(boot(job, settings=keys), "p90-premiere2", 0, 1)

    assert read(count=2, adapters=2) > 1.5 * read(count=1, adapters=1)


def test_an_ideal_disk_takes_no_time_and_returns_the_same_data(boot):
    """The workload prints no data, so the test of a power cut and those of the file systems check
    the data. The counts of requests and sectors are those of the real disk."""
    job = "raw-read kb=1024 size=65536"
    real, ideal = (boot(job, settings={"ideal.disk": value}) for value in ("false", "true"))
    for event in ("disk.reads", "disk.sectors_read"):
        assert real.totals(65536, event) == ideal.totals(65536, event)
        assert sum(ideal.totals(65536, event)) > 0
    for event in ("disk.busy", "disk.transfer", "disk.wait", "cycles.idle"):
        assert sum(real.totals(65536, event)) > 0, event
        assert sum(ideal.totals(65536, event)) == 0, event


def test_a_machine_without_disks_has_no_adapter(boot):
    booted = boot("raw-seek", settings={"disk.count": 0})
    assert booted.events.guest_status
    assert "needs a modelled disk" in booted.output
