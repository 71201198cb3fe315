# SPDX-License-Identifier: MIT
"""Hostile media and hosts: images that are cut, boot sectors that loop, runs that are killed or
stopped. A run has one clear line, and writes nothing outside of its directory."""

import os
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from boot_sector import assembled, bootable, keys_floppy, new_runs, record

from p5lab.lab import Lab

CYLINDER = 16 * 63 * 512
HEAD = ".code16\n.globl _start\n_start:\n"
LOOP = f"{HEAD} cli\n1: jmp 1b\n"
# The guest asks the BIOS for the last sector of cylinder 99, which is not in the image.
BEYOND = f"""{HEAD}
        xorw %ax, %ax
        movw %ax, %ds
        movw %ax, %es
        movw $0x0201, %ax
        movw $0x7E00, %bx
        movw $0x633F, %cx
        movw $0x0F80, %dx
        int $0x13
        movw $0x0E00 + 'R', %ax
        jnc 1f
        movb $'E', %al
1:      int $0x10
2:      cli
        hlt
        jmp 2b
"""
STEPS = """schema_version = 1
[[script]]
wait = ">"
[[script]]
end = "boot"
[[script]]
type = "abc\\n"
[[script]]
wait = "floppy one"
[[script]]
pause = 200
[[script]]
begin = "again"
[[script]]
type = "xyz\\n"
[[script]]
wait = "floppy one"
[[script]]
end = "again"
"""
COMMAND = """
import sys
from pathlib import Path
from p5lab.cli.main import main
from p5lab.lab import Lab
sys.exit(main(sys.argv[2:], Lab(Lab.here().root, results_in=Path(sys.argv[1]))))
"""


def files_of(place, without):
    """Every file below `place` with its content, except those below the directory `without`."""
    return {
        path: path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and without not in path.parents
    }


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Executes `p5lab run` in a directory of its own, and checks that only its results have
    changed. Returns the run directory and the output."""
    results, here = tmp_path / "results", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    lab = Lab(Lab.here().root, results_in=results)

    def run(*words, status=0):
        before = files_of(tmp_path, results)
        made = new_runs(lab, *words, status=status)
        assert files_of(tmp_path, results) == before
        return made[0] if made else None, capsys.readouterr()

    return run


def test_a_boot_sector_that_loops_ends_at_the_limit(run, tmp_path):
    floppy = tmp_path / "loop.img"
    floppy.write_bytes(bootable(assembled(LOOP, tmp_path)))
    made, said = run("--floppy", floppy, "--limit", 1, "--until", "never", status=1)
    assert record(made)["status"] == "timeout"
    assert "`never` did not appear: virtual-time limit of 1.000 s reached" in said.err
    made, _ = run("--floppy", floppy, "--limit", 1)
    assert record(made)["status"] == "ok"


def test_an_image_that_is_cut_within_its_partition(run, tmp_path):
    # A partition of 100 cylinders with 16 heads of 63 sectors; the image has five of them.
    disk = tmp_path / "cut.img"
    content = bytearray(bootable(assembled(BEYOND, tmp_path), 5 * CYLINDER))
    last = (15, 63 | (99 >> 2 & 0xC0), 99 & 0xFF)
    entry = struct.pack("<4B4BII", 0x80, 1, 1, 0, 6, *last, 63, 100 * 16 * 63 - 63)
    content[0x1BE : 0x1BE + 16] = entry
    disk.write_bytes(content)
    made, _ = run("--disk", disk, "--limit", 5)
    rows = [row for row in (made / "screen.txt").read_text().splitlines() if row]
    assert record(made)["status"] == "ok"
    assert rows[-1].endswith("E")  # the BIOS reports an error to the guest


def test_an_image_that_is_cut_within_a_sector_is_one_line(run, tmp_path):
    disk = tmp_path / "cut.img"
    disk.write_bytes(bootable(assembled(LOOP, tmp_path), 5 * CYLINDER)[:-100])
    made, said = run("--disk", disk, "--limit", 5, status=2)
    assert made is None
    assert "expected a multiple of 512" in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_a_geometry_that_does_not_fit_the_image_is_one_line(run, tmp_path):
    disk = tmp_path / "small.img"
    disk.write_bytes(bootable(assembled(LOOP, tmp_path), 5 * CYLINDER))
    made, said = run("--disk", disk, "--geometry", "900/16/63", "--limit", 5, status=2)
    assert made is None
    assert "geometry 900/16/63" in said.err
    assert len(said.err.strip().splitlines()) == 1


# --- a run that is killed, and a host that stops -------------------------------------------------


@pytest.fixture
def scripted(tmp_path):
    """The words of a run with a script, and the digests of its results."""
    floppy, steps = keys_floppy(tmp_path), tmp_path / "steps.toml"
    steps.write_text(STEPS)
    words = ["--floppy", floppy, "--script", steps, "--limit", "400"]
    lab = Lab(Lab.here().root, results_in=tmp_path / "reference")
    (made,) = new_runs(lab, *words)
    assert record(made)["status"] == "ok"
    return words, record(made)["digests"]


def started(words, results):
    """Starts the run in another process. Returns it, with its engine after the first steps of the
    script; no engine if the run has ended before."""
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND, results, "run", *map(str, words), "--no-build"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while command.poll() is None:
        if any(path.stat().st_size for path in results.glob("media/*/steps.txt")):
            with suppress(psutil.Error):
                family = psutil.Process(command.pid).children(recursive=True)
                engines = [one for one in family if one.name() == "p5bochs"]
                if engines:
                    return command, engines[0]
        time.sleep(0.01)
    return command, None


def test_a_run_that_is_killed_is_made_again(scripted, tmp_path):
    words, digests = scripted
    results = tmp_path / "results"
    command, engine = started(words, results)
    for process in (engine, command):
        with suppress(psutil.Error, ProcessLookupError, AttributeError):
            os.kill(process.pid, signal.SIGKILL)
    command.wait()
    lab = Lab(Lab.here().root, results_in=results)
    new_runs(lab, *words)
    (made,) = (path.parent for path in results.glob("*/*/run.json"))
    assert record(made)["status"] == "ok"
    assert record(made)["digests"] == digests


def test_a_host_that_stops_for_a_while_changes_nothing(scripted, tmp_path):
    words, digests = scripted
    results = tmp_path / "results"
    command, engine = started(words, results)
    if engine:
        with suppress(psutil.Error):
            engine.suspend()
            time.sleep(1)
            engine.resume()
    assert command.wait() == 0
    (made,) = (path.parent for path in results.glob("*/*/run.json"))
    assert record(made)["digests"] == digests
