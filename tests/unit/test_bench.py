# SPDX-License-Identifier: MIT
"""bench/run.py: the evaluation of the profiler's report. bench/peers.py: the peers on a host, their
commands and the table."""

import importlib.util
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from p5lab.describe import experiment
from p5lab.errors import UserError
from p5lab.lab import Lab

REPORT = """
# Overhead  Symbol
# ........  ......
    40.00%  [.] BX_CPU_C::linkTrace
    30.50%  [.] p5::Pentium::retire_general
    14.50%  [.] p5_before
    10.00%  [.] (anonymous namespace)::refresh_state
     5.00%  [k] clear_page_erms
"""


BENCH = Lab.here().root / "bench"


def program(name):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bench():
    return program("run")


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    return program("peers")


@pytest.fixture
def forkexec(tmp_path, built):
    built("build/guests/linux/initramfs.cpio")
    built("build/workloads/linux/forkexec")
    disk = tmp_path / "guest.img"
    disk.write_bytes(b"disk")
    runs = experiment.load(Lab.here(), "bench")
    run = next(one for one in runs if one.workload.name == "forkexec")
    return replace(run, guest=replace(run.guest, disk=disk))


@pytest.fixture
def qemu(tmp_path, monkeypatch):
    """Puts a program with the name of QEMU on the path. The program executes the given script."""

    def make(script):
        file = tmp_path / "bin/qemu-system-i386"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", f"{file.parent}:/usr/bin:/bin")

    return make


def test_each_function_belongs_to_one_part(bench):
    parts, functions = bench.shares(REPORT)
    assert parts == {
        "Pentium model and its hooks": 55.0,
        "kernel of the host": 5.0,
        "emulator": 40.0,
    }
    assert functions[0] == (40.0, "[.] BX_CPU_C::linkTrace")
    assert len(functions) == 5


def test_qemu_boots_the_same_files_with_the_same_job(peers, forkexec, tmp_path):
    plugin = tmp_path / "libcache.so"
    command = peers.qemu_command(forkexec, tmp_path, plugin, ("l1i", "l1d", "l2"))
    after = dict(pairwise(command))
    assert after["-m"] == "32"
    assert after["-kernel"] == str(forkexec.guest.kernel)
    content = Path(after["-initrd"]).read_bytes()
    assert content.startswith(forkexec.guest.initramfs.read_bytes())
    assert content.count(b"bin/forkexec\0") == content.count(b"bin/true-static\0") == 1
    assert after["-append"].startswith(forkexec.guest.cmdline)
    assert after["-append"].endswith(" p5job=forkexec,iterations=2000,warmup=2,pages=16")
    assert after["-plugin"] == (
        f"{plugin},l2=on,evict=lru,icachesize=8192,iassoc=2,iblksize=32"
        ",dcachesize=8192,dassoc=2,dblksize=32,l2cachesize=262144,l2assoc=1,l2blksize=32"
    )
    assert (tmp_path / "disk.img").read_bytes() == b"disk"  # a copy: the guest writes to it


def test_a_run_on_qemu_counts_no_instructions(peers, forkexec, qemu, tmp_path):
    qemu(f"echo '{peers.ENDED}'")
    seconds, instructions = peers.on_qemu(forkexec, tmp_path)
    assert seconds >= 0
    assert instructions == 0


@pytest.mark.parametrize(
    ("script", "said"),
    [("echo 'Kernel panic'", "status is 0 and the last line is: Kernel panic"), ("exit 3", "is 3")],
)
def test_a_guest_that_does_not_end_well_on_qemu_is_an_error(
    peers, forkexec, qemu, tmp_path, script, said
):
    qemu(script)
    with pytest.raises(UserError, match=said):
        peers.on_qemu(forkexec, tmp_path)


def test_peers_that_are_not_installed_are_left_out_with_a_line(peers, qemu, tmp_path, monkeypatch):
    def found():
        names = [one if isinstance(one, str) else one.name for one in peers.installed(Lab.here())]
        assert names[:2] == ["bochs, model on", "bochs, model off"]
        return names[2:]

    monkeypatch.delenv(peers.PLUGINS, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found() == [
        "qemu is left out: no qemu-system-i386 on this host (Debian: qemu-system-x86)"
    ]
    qemu("echo 'QEMU emulator version 9.9'")
    assert found()[0] == "qemu"
    assert found()[1].startswith("qemu with caches is left out: P5LAB_QEMU_PLUGINS names no")
    (tmp_path / "libcache.so").touch()
    monkeypatch.setenv(peers.PLUGINS, str(tmp_path))
    assert found() == ["qemu", "qemu, L1", "qemu, L1 and L2"]


def test_the_first_peer_counts_the_instructions_of_all(peers, capsys):
    Lab.here().root.joinpath("build").mkdir(exist_ok=True)
    times = iter((2.0, 1.0, 4.0, 1.0, 3.0, 1.0) * 2)
    counting = peers.Peer("a", "1", lambda run, place: (next(times), 300_000_000))
    other = peers.Peer("b", "1", lambda run, place: (next(times), 0))
    assert list(peers.compare(Lab.here(), [counting, other], 3)) == [
        "| a | boot | 300 | 3.00 | 2.00 to 4.00 | 100 |",
        "| b | boot | 300 | 1.00 | 1.00 to 1.00 | 300 |",
        "| a | forkexec | 300 | 3.00 | 2.00 to 4.00 | 100 |",
        "| b | forkexec | 300 | 1.00 | 1.00 to 1.00 | 300 |",
    ]
    assert "forkexec, 3: b" in capsys.readouterr().err
