# SPDX-License-Identifier: MIT
"""Guests that are a distribution. The tests make Debian's disk if it is missing, and boot it."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from p5lab import engines
from p5lab.describe import guest
from p5lab.files import sha256_of

SYSTEM = "debian64"
PHASE_WHOLE = 0xFFFFFFFE
NO_MIRROR = re.compile(r"p5lab: (mmdebstrap: |image debian: .* names no mirror)")


def started(lab, *words):
    return subprocess.run([lab.root / "p5lab", *words], capture_output=True, text=True)


def p5lab(lab, *words):
    done = started(lab, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archive(lab):
    """Returns Debian's root file system. The first build of this file system in a checkout takes
    about two minutes.
    """
    path = lab.rootfs(SYSTEM)
    if not path.is_file():
        if not shutil.which("mmdebstrap"):
            pytest.skip("no root file system of Debian, and no mmdebstrap that could make it")
        done = started(lab, "image", "debian")
        said = done.stderr.splitlines()
        if done.returncode and any(NO_MIRROR.match(line) for line in said):
            pytest.skip(f"no root file system of Debian: {said[-1]}")
        assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def debian(lab, archive):
    """Returns the guest. The guest's disk contains the files of the archive and the programs of
    this checkout.
    """
    system = guest.load(lab, SYSTEM)
    if not (lab.root / "build/engine/p5bochs64").is_file() or not system.kernel.is_file():
        pytest.skip(f"guest {SYSTEM}'s kernel and engine are not built: run ./p5lab build")
    p5lab(lab, "build", f"build/guests/{SYSTEM}")
    return system


def content(archive, name):
    with tarfile.open(archive) as tar:
        return tar.extractfile(name).read().decode()


def test_the_disk_is_made_of_the_archive(lab, archive, debian, tmp_path):
    """A second build gives the same bytes, and the record names the distribution."""
    first = sha256_of(debian.disk)
    debian.disk.unlink()
    p5lab(lab, "build", f"build/guests/{SYSTEM}")
    assert sha256_of(debian.disk) == first
    about = json.loads(archive.with_name("rootfs.json").read_text())
    assert about["sha256"] == sha256_of(archive)
    recorded = json.loads(debian.record.read_text())["inputs"]
    assert recorded["os-release"] == about["os_release"]["PRETTY_NAME"]
    assert recorded["os-release"].startswith("Debian GNU/Linux ")
    assert recorded["glibc"] == about["glibc"]


def test_a_workload_is_linked_to_the_images_own_c_library(archive, boot, debian):
    booted = boot("@run /lib64/ld-linux-x86-64.so.2 --list /p5/bin/getpid", system=SYSTEM)
    assert booted.outcome.status == "ok"
    assert "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6" in booted.output
    version = json.loads(archive.with_name("rootfs.json").read_text())["glibc"]
    libc = boot("@run /lib/x86_64-linux-gnu/libc.so.6", system=SYSTEM)
    assert f"release version {version}." in libc.output


def test_a_workload_runs(boot, debian):
    booted = boot("getpid iterations=20", system=SYSTEM)
    assert booted.outcome.status == "ok", booted.outcome.reason
    brackets = [bracket for bracket in booted.events.brackets if bracket.phase == 0]
    assert len(brackets) == 20
    assert min(booted.totals(0, "instructions")) > 0


def test_a_program_of_debian_runs_between_markers(archive, boot, debian):
    booted = boot("@run /usr/bin/sort /etc/passwd", system=SYSTEM)
    assert booted.outcome.status == "ok", booted.outcome.reason
    lines = content(archive, "etc/passwd").splitlines()
    assert booted.output.splitlines() == sorted(lines)
    (instructions,) = booted.totals(PHASE_WHOLE, "instructions")
    assert instructions > 100_000  # fork, exec, the loader, and the sort


def test_no_service_of_debian_runs(boot, debian):
    """All processes belong to the kernel, except two: our init and the program itself."""
    booted = boot("@run /usr/bin/find /proc -maxdepth 2 -name exe -printf %l\\n", system=SYSTEM)
    # For the kernel's own processes, `find` prints no path, because these processes have no
    # program.
    programs = re.findall(r"^/\S+$", booted.output, re.MULTILINE)
    assert sorted(programs) == ["/p5/init", "/usr/bin/find"]


def test_the_run_has_what_os_release_says(lab, debian):
    shown = p5lab(lab, "run", "--program", "guest:/bin/true", "--guest", SYSTEM, "--format", "json")
    (run,) = {row["runs"] for row in json.loads(shown)["rows"]}
    (record,) = lab.results.glob(f"*/{run}*/run.json")
    built_from = json.loads(record.read_text())["built_from"]["guest"]["inputs"]
    assert re.match(r"Debian GNU/Linux \d+", built_from["os-release"])


@pytest.mark.skipif("P5LAB_GEM5" not in os.environ, reason="P5LAB_GEM5 is not set: no gem5")
def test_it_boots_on_gem5_too(lab, debian, archive):
    """On the two engines, a program of the distribution reads a file from the same disk. gem5 reads
    the disk by DMA, and our engine reads the disk by PIO.
    """
    words = ["run", "--program", "guest:/usr/bin/sha256sum", "--args", "/usr/bin/true"]
    with tarfile.open(archive) as tar:
        digest = hashlib.file_digest(tar.extractfile("usr/bin/true"), "sha256").hexdigest()
    for engine in ("bochs", "gem5"):
        shown = p5lab(lab, *words, "--guest", SYSTEM, "--engine", engine, "--format", "json")
        (run,) = {row["runs"] for row in json.loads(shown)["rows"]}
        (place,) = lab.results.glob(f"*/{run}")
        assert engines.get(engine).last_output(place) == f"{digest}  /usr/bin/true"
