# SPDX-License-Identifier: MIT
"""The linux guest on the engine: boot, jobs, output, markers, counters, and how runs fail."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from p5lab.describe.markers import WHOLE_PHASE

EMPTY = 0xFFFFFFFF  # phase of the empty brackets (workloads/lib/p5w.h)
CYCLES, INSTRUCTIONS = "cycles.busy", "instructions"
DISK_VECTOR = 0x30 + 14  # IRQ 14; guest.toml has the first vector


def test_boots_and_measures(boot):
    booted = boot("getpid iterations=50")
    assert booted.outcome.status == "ok", booted.outcome.reason
    assert booted.events.ready is not None
    phases = [bracket.phase for bracket in booted.events.brackets]
    assert phases == [EMPTY] * 10 + [0] * 50


def test_a_bracket_holds_one_system_call(boot):
    booted = boot("getpid iterations=20")
    assert booted.totals(0, "soft_interrupts") == [1] * 20
    assert booted.totals(0, "crossings.int") == [1] * 20
    # The handler of an interrupt also returns by IRET.
    returns = booted.totals(0, "crossings.iret")
    interrupts = booted.totals(0, "hw_interrupts")
    assert [r - i for r, i in zip(returns, interrupts, strict=True)] == [1] * 20


def test_markers_cost_nothing(boot):
    """An empty bracket contains only four register loads and the test for an engine."""
    booted = boot("getpid iterations=1")
    assert max(booted.totals(EMPTY, INSTRUCTIONS)) <= 7
    assert max(booted.totals(EMPTY, CYCLES)) <= 10
    assert max(booted.totals(EMPTY, "code_misses")) == 0


def test_mem_read_shows_the_caches(boot):
    """chen95 figure 4: a load takes 2 cycles in L1 (8 KB). There is a plateau in L2, and the rates
    are lower beyond L2.
    """
    sizes = [512, 4096, 8192, 12288, 65536, 131072, 262144, 524288, 1048576]
    iterations = 200_000

    def cycles(l2_size):
        booted = boot(f"mem-read iterations={iterations}", settings={"l2.size": l2_size})
        assert booted.outcome.status == "ok", booted.outcome.reason
        return {size: booted.totals(size, CYCLES)[0] / iterations for size in sizes}

    small, large = cycles("256K"), cycles("512K")
    for size in (512, 4096, 8192):
        assert 1.95 < small[size] < 2.3, size
    plateau = [small[size] for size in (12288, 65536, 131072, 262144)]
    assert min(plateau) > 4
    assert max(plateau) < 1.1 * min(plateau)
    assert small[524288] > 1.4 * max(plateau)
    assert large[524288] < 1.15 * max(plateau)
    assert large[1048576] > 1.4 * max(plateau)


def test_guest_sees_the_recorded_counters(boot):
    """Every printed value equals the engine's record, bit for bit and in order."""
    booted = boot("selftest-counters reads=25", trace_reads=True)
    assert len(booted.printed_counters) == 25 * 4 + 3
    # The record also contains the kernel's own reads of the TSC. So the printed values are only a
    # subsequence of the record.
    rest = iter(booted.recorded_counters)
    assert all(value in rest for value in booted.printed_counters)


def test_counters_count_what_the_engine_counts(boot):
    """The counters that the driver reads are above zero and below the engine's counts."""
    booted = boot("selftest-counters reads=3 event0=0x16 event1=0x00")
    lines = [line.split() for line in booted.output.splitlines() if line.startswith("p5ctr")]
    assert all(int(fields[1], 16) > 0 and int(fields[2], 16) > 0 for fields in lines)
    last = lines[-1]
    assert int(last[1], 16) < booted.totals(0, INSTRUCTIONS)[0]
    assert int(last[2], 16) < booted.totals(0, "data_reads")[0]


def test_sleeping_is_idle_time(boot):
    """100 ms at 90 MHz are 9 million cycles. Linux sleeps at most two ticks (of 10 ms) longer."""
    booted = boot("test-sleep ms=100")
    idle, busy = booted.totals(0, "cycles.idle")[0], booted.totals(0, CYCLES)[0]
    assert 9_000_000 <= idle + busy <= 9_000_000 + 2 * 900_000
    assert idle > 0.95 * (idle + busy)
    assert 10 <= booted.totals(0, "hw_interrupts")[0] <= 12


def test_guest_sees_the_machine(boot):
    """The guest sees a Pentium without later features. Linux calibrates the clock of the processor
    with the PIT. The result is exact to 0.1 %.
    """
    text = boot("test-proc file=cpuinfo").output
    info = dict(line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    info = {key.strip(): value.partition(":")[2].strip() for key, value in info.items()}
    assert info["vendor_id"] == "GenuineIntel"
    assert (info["cpu family"], info["model"]) == ("5", "2")
    assert abs(float(info["cpu MHz"]) - 90) < 0.09
    flags = info["flags"].split()
    assert {"fpu", "pse", "tsc", "msr", "cx8"} <= set(flags)
    assert not {"cmov", "mmx", "sse", "sep", "pae", "pge", "apic", "fxsr"} & set(flags)
    interrupts = boot("test-proc file=interrupts").output
    assert re.search(r"^ *0: +\d+ .*timer$", interrupts, re.MULTILINE)


def test_output_and_status_arrive(boot):
    booted = boot("test-output lines=300 status=7")
    lines = booted.output.splitlines()
    assert [x for x in lines if x.startswith("stdout")] == [f"stdout line {n}" for n in range(300)]
    assert [x for x in lines if x.startswith("stderr")] == [f"stderr line {n}" for n in range(300)]
    assert booted.events.guest_status == 7


def test_unknown_program(boot):
    booted = boot("no-such-program")
    assert booted.events.guest_status == 127
    assert "/bin/no-such-program" in booted.output


def test_wrong_argument(boot):
    booted = boot("getpid iteration=5")
    assert booted.events.guest_status == 2
    assert "unknown argument `iteration=5`" in booted.output


def test_cmov_fails_the_run_with_its_address(boot, lab):
    program = lab.program("linux", "test-ud")
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True
    ).stdout
    address = re.search(r"^ *([0-9a-f]+):\tcmov", listing, re.MULTILINE)[1]
    outcome = boot("test-ud").outcome
    assert outcome.status == "failed"
    assert re.search(rf"invalid opcode.*0x0*{address}\b", outcome.reason)


@pytest.mark.parametrize(
    "instruction", ["cmov", "fcmov", "fcomi", "nopl", "mmx", "sse", "sysenter", "rdpmc"]
)
def test_isa_levels(boot, instruction):
    job = f"test-ud instruction={instruction}"
    refused = boot(job).outcome
    assert refused.status == "failed"
    assert "invalid opcode" in refused.reason
    wider = boot(job, settings={"cpu.isa": "pentium+cmov"})
    if instruction in {"cmov", "fcmov", "fcomi", "nopl"}:
        assert wider.outcome.status == "ok"
        assert wider.output == f"{instruction} was executed\n"
    else:
        assert wider.outcome.status == "failed"
        assert "invalid opcode" in wider.outcome.reason


def test_panic_fails_the_run_with_its_message(boot):
    outcome = boot("test-panic really=yes").outcome
    assert outcome.status == "failed"
    assert "sysrq triggered crash" in outcome.reason


def test_hang_ends_at_the_limit(boot):
    outcome = boot("test-hang", limit_seconds=3).outcome
    assert outcome.status == "timeout"


def test_unbalanced_markers_fail_the_run(boot):
    outcome = boot("test-unbalanced").outcome
    assert outcome.status == "failed"
    assert "phase 7" in outcome.reason


@pytest.mark.parametrize("job", ["exec-dynamic iterations=3", "create iterations=1", "pipe"])
def test_short_cuts_change_nothing(boot, job):
    """With short cuts, repeated string instructions run in blocks. Without short cuts, they run
    access by access. Both runs begin at reset.
    """
    fast, slow = (boot(job, fast=on) for on in (True, False))
    assert fast.outcome.status == "ok", fast.outcome.reason
    one, two = ((x.directory / "events.jsonl").read_bytes() for x in (fast, slow))
    assert one == two


def test_repetition_is_identical(boot, tmp_path):
    """Two runs at the same time give the same bytes, also in directories with names of different
    lengths. The first run is forked from a boot.
    """
    places = [None, tmp_path / "some" / "longer name" / "b"]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda place: boot("exec-static iterations=10", directory=place), places
        )
    assert first.outcome.status == "ok", first.outcome.reason
    one, two = ((x.directory / "events.jsonl").read_bytes() for x in (first, second))
    assert one == two


def test_workloads_run(boot):
    """test_chen95_core.py runs the others."""
    for job in ("fork", "pipe", "forkexec iterations=20"):
        booted = boot(job)
        assert booted.outcome.status == "ok", (job, booted.outcome.reason)
        assert booted.events.guest_status == 0, (job, booted.output)


def test_a_context_switch_changes_the_address_space_twice(boot):
    booted = boot("cswitch iterations=20")
    assert booted.outcome.status == "ok", booted.output
    assert sorted(booted.totals(0, "cr3_loads.changed"))[10] == 2
    # each of the two processes writes and reads
    assert sorted(booted.totals(0, "soft_interrupts"))[10] == 4


def test_each_fresh_page_faults_once(boot):
    booted = boot("mmap-fault pages=40 iterations=5")
    assert booted.outcome.status == "ok", booted.output
    assert min(booted.totals(0, "exceptions")) == max(booted.totals(0, "exceptions")) == 40


def disk_interrupts(booted, phase):
    """Returns the interrupts of the disk in each bracket of a phase."""

    def count(marker):
        return sum(
            times
            for (_, _, kind, vector), times in marker.vectors.items()
            if (kind, vector) == ("irq", DISK_VECTOR)
        )

    return [count(b.end) - count(b.begin) for b in booted.events.brackets if b.phase == phase]


def test_the_disk_is_mounted(boot):
    mounts = [line.split()[:3] for line in boot("test-proc file=mounts").output.splitlines()]
    assert ["/dev/sdb", "/data", "ext2"] in mounts  # sda is the modelled SCSI disk


def test_a_guest_without_a_disk_boots_and_says_what_cannot_run(boot):
    booted = boot("create", disk=False)
    assert booted.events.guest_status == 77
    assert booted.output == "p5lab-create: needs a disk, and this guest has none\n"


def test_delayed_creation_leaves_the_disk_alone(boot):
    booted = boot("create files=100 iterations=3")
    assert booted.events.guest_status == 0, booted.output
    assert disk_interrupts(booted, 0) == [0] * 3
    assert booted.totals(0, "soft_interrupts") == [200] * 3  # open and close


def test_synchronous_creation_writes_twice_a_file_and_the_image_stays_as_it_is(boot, lab):
    """chen95 table 5: FFS makes two writes per file. A write here has two sectors. A disk without
    multiple mode makes one interrupt for each sector.
    """
    image = lab.root / "build/guests/linux/disk.img"
    before = image.read_bytes()
    booted = boot("create files=50 iterations=2 writes=synchronous")
    assert booted.events.guest_status == 0, booted.output
    assert disk_interrupts(booted, 0) == [50 * 2 * 2] * 2
    assert image.read_bytes() == before


def test_cached_files_are_not_read_from_the_disk(boot):
    booted = boot("cached-read files=100 iterations=3")
    assert booted.events.guest_status == 0, booted.output
    assert disk_interrupts(booted, 0) == [0] * 3
    assert booted.totals(0, "soft_interrupts") == [300] * 3  # open, read, close


def test_a_delivered_program_runs_whole_and_between_its_own_markers(boot, lab):
    booted = boot("@program iterations=5", program=lab.program("linux", "getpid"))
    assert booted.events.guest_status == 0, booted.output
    phases = [bracket.phase for bracket in booted.events.brackets]
    assert phases == [EMPTY] * 10 + [0] * 5 + [WHOLE_PHASE]
    assert booted.totals(WHOLE_PHASE, INSTRUCTIONS)[0] > sum(booted.totals(0, INSTRUCTIONS))
    assert booted.totals(0, "soft_interrupts") == [1] * 5


def test_a_delivered_program_without_markers(boot, lab):
    booted = boot("@program", program=lab.program("linux", "true-static"))
    assert booted.events.guest_status == 0, booted.output
    assert [bracket.phase for bracket in booted.events.brackets] == [WHOLE_PHASE]
    assert booted.totals(WHOLE_PHASE, "soft_interrupts")[0] > 2


def test_a_delivered_programs_output_and_status(boot, lab):
    """The output is longer than a buffer of init. The length of the program is not a multiple of
    the buffer's length.
    """
    booted = boot("@program lines=400 status=9", program=lab.program("linux", "test-output"))
    lines = booted.output.splitlines()
    assert [x for x in lines if x.startswith("stdout")] == [f"stdout line {n}" for n in range(400)]
    assert booted.events.guest_status == 9


def test_a_delivered_program_that_leaves_its_bracket_open(boot, lab):
    outcome = boot("@program", program=lab.program("linux", "test-unbalanced")).outcome
    assert outcome.status == "failed"
    assert outcome.reason == (
        f"unbalanced markers: phase 7 was not ended before phase {WHOLE_PHASE}"
    )


def test_no_program_was_delivered(boot):
    booted = boot("@program")
    assert booted.events.guest_status == 127
    assert booted.output == "init: /tmp/program: No such file or directory\n"


def test_the_phase_of_the_clock_tick(boot):
    """The processor stands still before the ready marker. The clock goes on, so its next tick comes
    earlier after the marker."""
    phase = 123_456
    runs = [boot("getpid", boot_conf=conf) for conf in ((), (f"run.phase = {phase}",))]
    assert runs[1].events.ready.tsc - runs[0].events.ready.tsc == phase
    assert runs[0].totals(0, "soft_interrupts") == runs[1].totals(0, "soft_interrupts")


def test_seeds_change_the_placement_of_pages(boot, tmp_path, full):
    """If a machine has just booted, the kernel allocates neighbouring pages. An array that is half
    as large as L2 then has no conflicts in L2. Each seed scatters the pages differently. The same
    seed always gives the same pages.
    """

    def measure(seed, directory=None):
        booted = boot(
            "mem-read placement=guest size=128K iterations=20000", seed=seed, directory=directory
        )
        assert booted.events.guest_status == 0, booted.output
        return booted

    others = (1, 2, 3) if full else (1, 2)
    runs = {seed: measure(seed) for seed in (0, *others)}
    misses = {seed: run.totals(131072, "l2_read_misses")[0] for seed, run in runs.items()}
    cycles = {seed: run.totals(131072, CYCLES)[0] for seed, run in runs.items()}
    assert misses[0] < 500
    assert min(misses[seed] for seed in others) > 2000
    assert len(set(misses.values())) == len(set(cycles.values())) == len(runs)
    assert min(cycles[seed] for seed in others) > 1.1 * cycles[0]
    one, other = (run.directory / "events.jsonl" for run in (runs[2], measure(2, tmp_path / "2")))
    assert one.read_bytes() == other.read_bytes()
