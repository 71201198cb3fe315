# SPDX-License-Identifier: MIT
"""Guest linux-uml on the engine: boot, jobs, crossings of a system call, device, disk, failures."""

import importlib.util
import subprocess

import pytest

from p5lab.describe import guest

EMPTY = 0xFFFFFFFF  # phase of the empty brackets (workloads/lib/p5w.h)
CYCLES = "cycles.busy"
GUESTS = ("linux", "linux-uml")


@pytest.fixture
def uml(boot):
    """Runs one job on linux-uml, which must succeed. Returns the finished simulation."""

    def run(job, system="linux-uml", **options):
        booted = boot(job, system=system, **options)
        assert booted.outcome.status == "ok", booted.outcome.reason
        return booted

    return run


def test_boots_and_measures(uml):
    booted = uml("getpid iterations=50")
    assert booted.events.ready is not None
    phases = [bracket.phase for bracket in booted.events.brackets]
    assert phases == [EMPTY] * 10 + [0] * 50
    # The two kernels printed no message, because the serial port was not used.
    assert not (booted.directory / "serial.log").exists()


def test_programs_are_those_of_linux(lab):
    """The RAM disk of linux-uml contains the RAM disk of guest linux, byte for byte."""
    linux, nested = (guest.load(lab, name) for name in GUESTS)
    assert (nested.kernel, nested.disk, nested.programs) == (linux.kernel, linux.disk, "linux")
    assert linux.initramfs.read_bytes() in nested.initramfs.read_bytes()


def test_a_system_call_is_reflected_to_the_server(uml):
    """dup() enters the host seven times instead of once. The first entry is the call itself, and
    the host stops the program. For the other six entries, the server makes one wait4() and five
    ptrace() calls. guest.toml lists these calls.
    """
    linux, nested = (uml("dup iterations=20", system=name) for name in GUESTS)
    assert min(linux.totals(0, "crossings.int")) == 1
    assert min(nested.totals(0, "crossings.int")) == 7
    assert min(linux.totals(0, "cr3_loads.changed")) == 0
    assert min(nested.totals(0, "cr3_loads.changed")) == 2
    assert min(nested.totals(0, CYCLES)) > 20 * min(linux.totals(0, CYCLES))


def test_a_program_runs_at_its_full_speed_between_calls(uml):
    """A loop in user mode needs the server only for clock ticks."""
    job = "mem-read iterations=100000 max=64K placement=contiguous"
    linux, nested = (uml(job, system=name) for name in GUESTS)
    for size in (512, 8192, 65536):
        assert nested.totals(size, CYCLES)[0] < 1.5 * linux.totals(size, CYCLES)[0], size


@pytest.mark.parametrize(
    "job", ["fork iterations=3", "pipe", "mmap-fault iterations=2", "ipc bytes=4096 transactions=5"]
)
def test_workloads_run(uml, job):
    """test_chen95_core.py runs the others."""
    booted = uml(job)
    operations = {bracket.phase for bracket in booted.events.brackets} - {EMPTY}
    assert operations
    assert all(min(booted.totals(phase, CYCLES)) > 0 for phase in operations)


def test_runs_without_a_disk(uml):
    uml("getpid iterations=1", disk=False)


def test_output_and_exit_status(uml):
    booted = uml("test-output status=5 lines=40")
    assert booted.events.guest_status == 5
    assert len(booted.output.splitlines()) == 80


def test_a_delivered_program_runs(uml, lab):
    booted = uml("@program lines=40 status=9", program=lab.program("linux", "test-output"))
    assert booted.events.guest_status == 9
    assert len(booted.output.splitlines()) == 80


def test_signals_keep_the_registers(uml):
    """Without FXSAVE the server keeps x87 registers in the older format."""
    booted = uml("test-signal")
    assert booted.output == "200 signals, 0 with other registers\n"
    assert booted.events.guest_status == 0


def test_sleeping_is_idle_time(uml):
    """While User-Mode Linux waits, the host halts the processor. 100 ms are 9 million cycles, and
    each kernel rounds up by at most two ticks of 10 ms.
    """
    booted = uml("test-sleep ms=100")
    idle, busy = booted.totals(0, "cycles.idle")[0], booted.totals(0, CYCLES)[0]
    assert 9_000_000 <= idle + busy <= 9_000_000 + 4 * 900_000
    assert idle > 0.8 * (idle + busy)


def test_programs_see_the_counters_of_the_host(uml):
    """The values that a program reads from /dev/p5ctr equal the engine's record bit for bit."""
    booted = uml("selftest-counters reads=10", trace_reads=True)
    assert len(booted.printed_counters) == 10 * 4 + 3
    rest = iter(booted.recorded_counters)
    assert all(value in rest for value in booted.printed_counters)


def test_contiguous_buffer_has_no_conflicts(uml, full):
    """A buffer of the size of the L2 cache fits into this cache only if its pages are neighbours.
    If the buffer fits into the cache, few of its reads go to memory. This is true on the two
    systems and for every seed.
    """
    job = "mem-read size=256K iterations=25000 placement={}"

    def misses(system, placement):
        return uml(job.format(placement), system=system, seed=1).totals(262144, "l2_read_misses")[0]

    for name in GUESTS if full else GUESTS[1:]:
        assert misses(name, "contiguous") < 0.1 * misses(name, "guest"), name


@pytest.mark.full
def test_same_run_same_events(uml, tmp_path):
    """The two runs begin at reset. test_fork.py compares a run from reset with a forked run."""
    first, second = (uml("exec-static iterations=2", directory=tmp_path / name) for name in "ab")
    names = ("events.jsonl", "output.log")
    for name in names:
        assert (first.directory / name).read_bytes() == (second.directory / name).read_bytes()


def test_seeds_place_pages_differently(uml, full):
    job = "mem-read size=192K iterations=50000 placement=guest"
    seeds = (0, 1, 2) if full else (0, 1)
    cycles = {uml(job, seed=seed).totals(196608, CYCLES)[0] for seed in seeds}
    assert len(cycles) == len(seeds)


def test_the_end_of_the_server_fails_the_run(boot):
    booted = boot("test-panic really=yes", system="linux-uml")
    assert booted.outcome.status == "failed"
    assert "Kernel panic - not syncing: sysrq triggered crash" in booted.outcome.reason
    serial = (booted.directory / "serial.log").read_text()
    assert "init: User-Mode Linux was killed by signal 6" in serial


def test_user_mode_linux_is_static(lab):
    """The program loads no library. The build checks its instructions."""
    program = lab.root / "build/guests/linux-uml/vmlinux"
    headers = subprocess.run(
        ["readelf", "-lW", program], capture_output=True, text=True, check=True
    )
    assert "LOAD" in headers.stdout
    assert "INTERP" not in headers.stdout


def test_a_patch_that_does_not_fit_is_named(lab, tmp_path):
    spec = importlib.util.spec_from_file_location(
        "build_uml", lab.root / "guest-images/linux-uml/build_uml.py"
    )
    build_uml = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build_uml)
    patch = tmp_path / "0001-other.patch"
    patch.write_text("--- a/file\n+++ b/file\n@@ -1 +1 @@\n-before\n+after\n")
    (tmp_path / "file").write_text("before\n")
    build_uml.apply_patches(tmp_path, [patch])
    assert (tmp_path / "file").read_text() == "after\n"
    with pytest.raises(build_uml.BuildError, match=r"0001-other\.patch: does not fit this kernel"):
        build_uml.apply_patches(tmp_path, [patch])
