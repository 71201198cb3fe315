# SPDX-License-Identifier: MIT
"""Tests those parts of gem5's configurations that work without gem5.

The tests check the parameters from machine files, the layout of memory, the checkpoint of a run,
and the errors before a run.
"""

import io
import json
import re
import struct
import subprocess
import sys
import tarfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from p5lab.describe import machine
from p5lab.engines.gem5 import (
    checkpoint,
    direct,
    parameters,
    stack,
    versions,
    workload,
)
from p5lab.engines.gem5.setup import Setup
from p5lab.errors import UserError
from p5lab.lab import Lab

ROOT = Lab.here().root
MACHINES = Lab.here().machines
P90 = "p90-premiere2"


def values(name=P90, **settings):
    board = machine.load(MACHINES, name)
    keys = {key.replace("__", "."): value for key, value in settings.items()}
    return (board.with_set(keys, "test") if keys else board).values


def derive(name=P90, **settings):
    return parameters.derive(values(name, **settings))


# --- parameters from a machine file -----------------------------------------------------------


def test_geometry_is_the_machine_files():
    p90 = derive()
    assert (p90.core_hz, p90.bus_hz, p90.line) == (90_000_000, 60_000_000, 32)
    assert (p90.l1i.size, p90.l1i.ways, p90.l1d.size, p90.l1d.ways) == (8192, 2, 8192, 2)
    assert (p90.l2.size, p90.l2.ways, p90.l2.policy) == (256 * 1024, 1, "LRURP")
    assert not p90.l1d.write_allocate and not p90.l2.write_allocate
    assert p90.itlb == parameters.Tlb(32, 4, 0, 1, "plru")
    assert p90.dtlb == parameters.Tlb(64, 4, 8, 4, "plru")
    assert p90.memory_bytes == 32 << 20
    assert (p90.isa_port, p90.pci_port) == (1_000_000, 150_000)


def test_latencies_add_up_to_the_first_transfer():
    """gem5's latencies add up to the first number of l2.read or dram.read, in bus clocks.
    parameters.py explains which latencies gem5 adds.
    """
    for name, lead_l2, lead_dram in ((P90, 4, 7), ("p133-triton", 3, 9)):
        found = derive(name)
        # the data are ready one core clock before the bus clock that ends the transfer
        clocks = lead_l2 * found.core_hz / found.bus_hz
        assert found.l2.data_latency == pytest.approx(clocks - 1, abs=0.01)
        assert found.memory_latency == pytest.approx((lead_dram - 2) * 1e12 / found.bus_hz, abs=1)
        assert found.l1d.response_latency == values(name)["penalty.l1_miss"]


def test_bandwidth_is_a_line_in_the_time_of_its_transfers():
    assert derive().memory_bandwidth == round(32 * 60e6 / (7 + 4 + 4 + 4))
    assert derive().bus_hold == 4 + 2 + 2 + 2 - 4
    assert derive(dram__read="9-2-2-2").memory_bandwidth == round(32 * 60e6 / 15)
    assert derive(dram__read="9-2-2-2").memory_latency == round(7e12 / 60e6)


def test_without_a_board_cache_memory_is_behind_l1():
    found = derive(l2__present="false")
    assert found.l2 is None
    assert found.memory_latency == round(7e12 / 60e6)


def test_an_overlay_changes_what_it_names():
    assert derive(l2__size="512K").l2.size == 512 * 1024
    assert replace(derive(l2__size="512K"), l2=derive().l2) == derive()
    assert derive(l1d__replacement="plru").l1d.policy == "TreePLRURP"
    assert derive(bus__post_buffer_qwords="16").write_buffers == 4


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"l2__line": "64"}, "l2.line = 64: expected l1d.line, 32"),
        ({"l1d__write_policy": "write-through"}, 'l1d.write_policy = "write-through"'),
        ({"l2__write_policy": "write-through"}, 'l2.write_policy = "write-through"'),
        ({"l2__read": "1-1-1-1"}, "l2.read: the first transfer is too fast"),
        ({"itlb__replacement": "fifo"}, 'itlb.replacement = "fifo": gem5 supports lru for'),
        ({"dtlb_large__replacement": "lru"}, "expected the policy of dtlb, plru"),
        ({"dram__read": "1-1-1-1"}, "dram.read: the first transfer is too fast"),
    ],
)
def test_what_gem5_has_not_is_refused(settings, message):
    with pytest.raises(UserError, match=message):
        derive(**settings)


def test_deviations_are_named():
    stock = parameters.deviations(values(), cpu="timing", extras=False)
    ours = parameters.deviations(values(), cpu="timing", extras=True)
    assert "l1d and l2: a write miss fills a line" in stock
    assert any("32 code entries, 64 + 8 data entries" in line for line in stock)
    assert any("no event by ring" in line for line in stock)
    assert not any("no event by ring" in line or "fully associative" in line for line in ours)
    assert any("a write miss fills no line" in line for line in ours)
    allocating = values(l1d__write_allocate="true", l2__write_allocate="true")
    assert not any(
        "write miss" in line
        for line in parameters.deviations(allocating, cpu="timing", extras=False)
    )
    assert any("no SCSI disks" in line for line in ours)
    without = parameters.deviations(values(disk__count="0"), cpu="timing", extras=True)
    assert not any("no SCSI disks" in line for line in without)
    atomic = parameters.deviations(values(), cpu="atomic", extras=True)
    assert any("events are valid, cycles are not" in line for line in atomic)


# --- the layout of memory ---------------------------------------------------------------------


def vmlinux(end=0x500000, machine_id=62, elf_class=2):
    """Returns an ELF64 kernel of one segment. The segment and its zeroed data end at `end`."""
    start = 0x200000
    header = struct.pack(
        "<4sBBBBQHHIQQQIHHHHHH",
        b"\x7fELF",
        elf_class,
        1,
        1,
        0,
        0,
        2,
        machine_id,
        1,
        start,
        64,
        0,
        0,
        64,
        56,
        1,
        0,
        0,
        0,
    )
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0, start, 0x100, end - start, 0x1000)
    return header + segment


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "vmlinux"
    path.write_bytes(vmlinux())
    return path


def test_the_ram_disk_is_at_the_end_of_memory(tmp_path, kernel):
    initramfs = tmp_path / "initramfs.cpio"
    initramfs.write_bytes(b"x" * 5000)
    place = workload.layout(kernel, initramfs, 32 << 20)
    assert place.initramfs_address == (32 << 20) - 0x20000 - 8192  # below the BIOS's tables
    assert place.header_address == 0x90410
    # boot.rst: type_of_loader, then at 0x218 ramdisk_image and ramdisk_size
    assert place.header[0] == 0xFF and len(place.header) == 16
    assert struct.unpack("<II", place.header[8:]) == (place.initramfs_address, 5000)
    alone = workload.layout(kernel, None, 32 << 20)
    assert struct.unpack("<B7xII", alone.header) == (0xFF, 0, 0)
    with pytest.raises(UserError, match=r"vmlinux ends at 0x500000 .* do not fit"):
        workload.layout(kernel, initramfs, 5 << 20)


@pytest.mark.parametrize("bad", [b"", b"MZ" * 100, vmlinux(machine_id=3), vmlinux(elf_class=1)])
def test_what_is_no_64_bit_kernel_is_refused(kernel, bad):
    kernel.write_bytes(bad)
    with pytest.raises(UserError, match="expected an x86-64 ELF kernel"):
        workload.kernel_end(kernel)


def test_the_command_line_is_the_guests_and_gem5s():
    line = workload.command_line("console=ttyS0 quiet", 90_000_000, 0)
    assert line == "console=ttyS0 quiet P5LAB_MARKERS=m5 lpj=900000"
    assert workload.command_line("quiet", 90_000_000, 7).endswith(" p5seed=7")
    # P5CPU knows the markers of the embedded engine, so a program executes the same code.
    assert workload.command_line("quiet", 90_000_000, 0, chip=True) == "quiet lpj=900000"
    with pytest.raises(UserError, match="expected at most 511"):
        workload.command_line("x" * 500, 90_000_000, 0)


# --- the input of a run -----------------------------------------------------------------------


@pytest.fixture
def setup(tmp_path, kernel):
    files = {"kernel": kernel}
    for role in ("initramfs", "disk", "job"):
        files[role] = tmp_path / role
        files[role].write_text(role)
    return Setup(
        machine=values(),
        files={role: str(path) for role, path in files.items()},
        command_line="console=ttyS0",
        cpu="timing",
        extras="off",
        limit_seconds=120,
        checkpoints=str(tmp_path / "checkpoints"),
    )


def test_a_setup_is_read_as_it_was_written(setup, tmp_path):
    path = tmp_path / "setup.json"
    setup.write(path)
    again = Setup.read(path)
    again.check()
    assert again == setup
    assert parameters.derive(again.machine) == derive()


def test_a_setup_that_makes_no_sense_is_refused(setup, tmp_path):
    path = tmp_path / "setup.json"
    for text, message in (
        ("{", "not a setup"),
        ("[]", "not a setup"),
        ('{"schema_version": 1}', "not a setup"),
        ('{"schema_version": 2}', "schema_version: expected 1, found 2"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=message):
            Setup.read(path)
    with pytest.raises(UserError, match="cannot read"):
        Setup.read(tmp_path / "nothing")
    for bad, message in (
        (replace(setup, cpu="pentium"), "cpu: expected one of timing"),
        (replace(setup, extras="yes"), "extras: expected one of auto"),
        (replace(setup, files={**setup.files, "disk": "/nowhere"}), "missing disk: /nowhere"),
    ):
        with pytest.raises(UserError, match=message):
            bad.check()


# --- checkpoints ------------------------------------------------------------------------------


def key(setup, **changes):
    sources = Path(setup.files["kernel"]).parent / "sources"
    sources.mkdir(exist_ok=True)
    given = {"gem5": "1234", "version": "24.0.0.1", "extras": False, "sources": [sources]}
    return checkpoint.key(setup, **{**given, **changes})


def test_what_went_into_a_checkpoint_is_its_key(setup, tmp_path):
    known = key(setup)
    for changed in (
        key(setup, gem5="1235"),
        key(setup, version="24.0.0.0"),
        key(setup, extras=True),
        key(replace(setup, command_line="quiet")),
        key(replace(setup, machine=values(dtlb__entries="128"))),
        key(replace(setup, machine=values(cpu__clock_mhz="120"))),
        key(replace(setup, machine=values(dram__size="16M"))),
    ):
        assert checkpoint.name(changed) != checkpoint.name(known)
    for role in ("kernel", "initramfs", "disk"):
        Path(setup.files[role]).write_bytes(b"another")
        assert key(setup)[role] != known[role]
    (tmp_path / "sources/board.py").write_text("pass")
    assert key(setup)["configs/gem5"] != known["configs/gem5"]


def test_what_matters_only_afterwards_is_not(setup):
    known = key(setup)
    Path(setup.files["job"]).write_text("another job")
    later = values(l2__size="512K", l1d__ways="4", dram__read="9-4-4-4", penalty__l1_miss="9")
    assert key(replace(setup, cpu="o3", limit_seconds=9, machine=later)) == known


def test_a_checkpoint_is_made_once(setup, tmp_path):
    store, parts, made = tmp_path / "checkpoints", key(setup), []

    def make(place):
        made.append(place)
        place.mkdir()
        (place / "m5.cpt").write_text("state")

    results = []

    def find():
        results.append(checkpoint.find(store, parts, make))

    threads = [threading.Thread(target=find) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert sorted(first for _, first in results) == [False, False, False, True]
    assert {place for place, _ in results} == {store / checkpoint.name(parts)}
    assert (results[0][0] / "m5.cpt").read_text() == "state"


def test_a_boot_that_fails_leaves_no_checkpoint(setup, tmp_path):
    store, parts = tmp_path / "checkpoints", key(setup)

    def fail(place):
        place.mkdir()
        raise UserError("the boot failed")

    with pytest.raises(UserError, match="the boot failed"):
        checkpoint.find(store, parts, fail)
    assert not [path for path in store.iterdir() if path.is_dir()]


def test_a_boot_that_outlives_its_starter_is_waited_for(setup, tmp_path):
    store, parts, done = tmp_path / "checkpoints", key(setup), tmp_path / "done"

    def abandon(place):
        source = f"import time; time.sleep(0.5); open({str(done)!r}, 'w')"
        subprocess.Popen([sys.executable, "-c", source], close_fds=False)
        raise KeyboardInterrupt

    def make(place):
        assert done.exists()
        place.mkdir()

    with pytest.raises(KeyboardInterrupt):
        checkpoint.find(store, parts, abandon)
    assert checkpoint.find(store, parts, make)[1]


def test_a_checkpoint_of_something_else_is_refused_and_the_part_named(setup, tmp_path):
    place, _ = checkpoint.find(tmp_path / "checkpoints", key(setup), lambda path: path.mkdir())
    checkpoint.check(place, key(setup))
    with pytest.raises(UserError, match=r"another command line: console=ttyS0; this run has quiet"):
        checkpoint.check(place, key(replace(setup, command_line="quiet")))
    without = {role: name for role, name in setup.files.items() if role != "disk"}
    with pytest.raises(UserError, match=r"another disk: .*; this run has nothing"):
        checkpoint.check(place, key(replace(setup, files=without)))
    with pytest.raises(UserError, match="expected a checkpoint of these configurations"):
        checkpoint.check(tmp_path, key(setup))


# --- releases ---------------------------------------------------------------------------------


def test_releases_and_cpus_that_are_not_taken():
    cpus = list(versions.CPUS.values())
    assert versions.why_not("24.0.0.1") == ""
    assert "gem5 23.1.0.0: these configurations are tested with 24.0" in versions.why_not(
        "23.1.0.0"
    )
    for newer in ("[DEVELOP-FOR-24.1]", "24.1.0.0", "25.0.0.0"):
        assert not versions.why_not(newer) and "tested with 24.0" in versions.remark(newer)
    assert "microcode" in versions.why_no_cpu("24.0.0.1", "minor", cpus)
    assert "built without X86O3CPU" in versions.why_no_cpu("24.0.0.1", "o3", cpus[:1])
    assert versions.why_no_cpu("24.0.0.1", "timing", cpus) == ""


# --- names on gem5's own command line -----------------------------------------------------------


def look_up(**changes):
    given = {
        "machine": P90,
        "settings": [],
        "guest": "linux",
        "workload": "getpid",
        "parameters": [],
        "program": None,
        "arguments": "",
    }
    return direct.look_up(**{**given, **changes})


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"machine": "p90-premier"}, "did you mean 'p90-premiere2'"),
        ({"settings": ["l2.size=3"]}, "l2.size: expected"),
        ({"settings": ["l2.size"]}, "expected KEY=VALUE"),
        ({"guest": "linx"}, "unknown guest"),
        ({"guest": "linux"}, "guest linux is built for pentium; gem5 boots x86-64 kernels only"),
    ],
)
def test_a_wrong_name_or_guest_is_one_line(changes, message):
    with pytest.raises(UserError, match=message):
        look_up(**changes)


def test_gem5s_interpreter_can_import_it():
    """gem5's interpreter has only the standard library."""
    configs = [path.read_text() for path in (ROOT / "configs/gem5").rglob("*.py")]
    imports = re.findall(r"^from p5\S* import [^#(\n]*", "\n".join(configs), re.MULTILINE)
    imports = [one for one in imports if not one.startswith("from p5pc")]
    assert len(imports) > 5
    places = [str(ROOT / "src"), str(ROOT / "stats-parsers")]
    source = "\n".join([f"import sys; sys.path[:0] = {places!r}", *imports])
    subprocess.run([sys.executable, "-I", "-S", "-c", source], check=True)


def test_the_first_stack_of_a_program():
    """The stack pointers that a program printed on guest linux and on a gem5 24.0.0.1."""
    in_linux = stack.linux_size(["/tmp/program"], stack.ENVIRONMENT)
    assert 0xC0000000 - in_linux == 0xBFFFFEC0
    assert 0xFFFFD000 - stack.gem5_size(["spx/tmp/program"], []) == 0xFFFFCF00
    for arguments in (["/tmp/program"], ["/bin/timed-ciphers", "bytes=8192", "iterations=3"]):
        there = stack.linux_size(arguments, stack.ENVIRONMENT)
        here = stack.gem5_size(arguments, stack.environment(arguments))
        assert there % 4096 == here % 4096


def test_a_job_is_a_line_and_the_program():
    assert direct.job_file("getpid calls=5") == b"getpid calls=5\n"
    assert direct.job_file("@program -n", b"\x7fELF\n") == b"@program -n\n\x7fELF\n"
    assert json.dumps(values())  # a setup can contain it


def delivered(job):
    """Returns the first line of a job file, and the paths of the archive behind it."""
    line, _, archive = job.partition(b"\n")
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return line.decode(), tar.getnames()


def test_a_job_brings_the_programs_of_its_workload(built):
    for name in ("getpid", "exec-static", "true-static", "hbench-bandwidth"):
        built(f"build/workloads/linux64/{name}")
    built("build/guests/linux64/vmlinux")
    found = look_up(guest="linux64", workload="exec-static", parameters=["iterations=3"])
    line = "exec-static iterations=3 warmup=2"
    assert delivered(found.job) == (line, ["bin/exec-static", "bin/true-static"])
    found = look_up(guest="linux64", workload="hbench-bandwidth")
    assert delivered(found.job)[1] == ["bin/hbench-bandwidth"]
    program = Lab.here().program("linux64", "getpid")
    own = look_up(guest="linux64", workload=None, program=program, arguments="a b")
    assert delivered(own.job) == ("@program a b", ["tmp/program"])
