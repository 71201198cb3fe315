# SPDX-License-Identifier: MIT
"""A power cut while a program creates and removes files.

Afterwards the disk can be repaired, and has all data that the system had reported as written.
"""

import os
import re
import shutil
import subprocess

import pytest

from p5lab.describe.observation.power_cut import DISK_IMAGE

PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
CUTS, CUTS_FULL = 4, 50
BYTES = 3000
SECONDS = {"ext2-sync": 3.6, "ext2": 1.4}  # test-power-cut runs at least this long


def tool(name, *arguments):
    program = shutil.which(name, path=PATH)
    assert program, f"{name}: expected e2fsprogs"
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def listed(image):
    """Returns the sizes of the files in the directory `cut` by name. None if this directory does
    not exist.
    """
    found = tool("debugfs", "-R", "ls -p /cut", image)
    entries = re.findall(r"^/\d+/\d*/\d*/\d*/(\d+)/(\d*)/$", found.stdout, re.MULTILINE)
    return {int(name): int(size or 0) for name, size in entries}


def word(key, number):
    return ((key + 1) * 2654435761 + number * 2246822519) & 0xFFFFFFFF


def content(key):
    """Returns the content that workloads/lib/data.h writes to a file."""
    words = [word(key, at % 512 // 4) for at in range(0, BYTES + 3, 4)]
    for sector in range(0, BYTES, 512):
        words[sector // 4] = ~word(key, 128 + sector // 512) & 0xFFFFFFFF
    return b"".join(one.to_bytes(4, "little") for one in words)[:BYTES]


def said(text):
    """Returns the files whose calls had returned before the cut: file numbers by operation."""
    done = {"created": set(), "synced": set(), "removed": set()}
    for what, number in re.findall(r"^(created|synced|removed) (\d+)$", text, re.MULTILINE):
        done[what].add(int(number))
    return done


def cut(boot, filesystem, microseconds):
    booted = boot(f"test-power-cut files=200 filesystem={filesystem}", power_cut=microseconds)
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.outcome.reason.startswith("power cut")
    return booted


@pytest.fixture(params=["ext2-sync", "ext2"])
def cuts(request, boot, full):
    number = CUTS_FULL if full else CUTS
    times = [round((i + 0.5) * SECONDS[request.param] / number * 1e6) for i in range(number)]
    return request.param, [(time, cut(boot, request.param, time)) for time in times]


def test_what_is_left_can_be_repaired_and_holds_what_was_promised(cuts, tmp_path):
    filesystem, ends = cuts
    lost, synced = 0, 0
    for time, booted in ends:
        image = tmp_path / "disk.img"
        subprocess.run(["cp", "--sparse=always", booted.directory / DISK_IMAGE, image], check=True)
        done = said(booted.output)
        raw = listed(image)
        repaired = tool("e2fsck", "-fy", image)
        assert repaired.returncode in (0, 1), (time, repaired.stdout)
        assert tool("e2fsck", "-fn", image).returncode == 0, time
        # Files that were removed, and files whose removal had perhaps begun.
        at_risk = done["removed"] | {i - 2 for i in done["created"] if i % 4 == 3}
        lost += len(done["created"] - at_risk - set(raw))
        if filesystem != "ext2-sync":
            continue
        # A change of a directory has reached the disk before the call returns.
        assert done["created"] - at_risk <= set(raw), time
        assert not done["removed"] & set(raw), time
        # If the program had waited until a file was on the disk, the file exists with its whole
        # content.
        after = listed(image)
        for number in done["synced"] - at_risk:
            assert after.get(number) == BYTES, (time, number)
            dumped = tmp_path / "file"
            tool("debugfs", "-R", f"dump /cut/{number} {dumped}", image)
            assert dumped.read_bytes() == content(number), (time, number)
            synced += 1
    if filesystem == "ext2-sync":
        assert synced
    else:
        assert lost, "no created file was lost, so the test checks nothing"


def test_a_cut_is_repeatable(boot):
    one, again, other = (cut(boot, "ext2-sync", time) for time in (2_000_000, 2_000_000, 2_000_500))
    image = (one.directory / DISK_IMAGE).read_bytes()
    assert (again.directory / DISK_IMAGE).read_bytes() == image
    events = [(each.directory / "events.jsonl").read_bytes() for each in (one, again, other)]
    assert events[0] == events[1] != events[2]
