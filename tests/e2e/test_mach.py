# SPDX-License-Identifier: MIT
"""Guest mach on the engine: boot, jobs, the crossings of a system call, and UNIX behaviour."""

import itertools
import re

import pytest
from delivered_workload import ran

from p5lab.describe import guest, workload
from p5lab.evidence import calls, records
from p5lab.execute.runner import Runner
from p5lab.host.processors import cores
from p5lab.lab import Lab
from p5stats import events

EMPTY = 0xFFFFFFFF  # phase of the empty brackets (workloads/lib/p5w.h)
CYCLES = "cycles.busy"
SYSTEMS = ("mach", "mach-split")
ALL = ("linux", "linux-uml", *SYSTEMS)
# The two systems have the same server and library, so the fast set tests some properties on one.
ONE = ("mach", pytest.param("mach-split", marks=pytest.mark.full))


@pytest.fixture
def mach(boot):
    """Runs one job on mach, which must succeed. Returns the finished simulation."""

    def run(job, system="mach", **options):
        booted = boot(job, system=system, **options)
        assert booted.outcome.status == "ok", (booted.outcome.reason, booted.output)
        return booted

    return run


def crossings(booted, phase=0):
    """Returns the ring changes that instructions cause, in the iteration with the fewest ring
    changes."""
    kinds = ("crossings.int", "crossings.iret", "crossings.gate", "crossings.far_return")
    known = [kind for kind in kinds if kind in booted.events.units]
    return min(map(sum, zip(*(booted.totals(phase, kind) for kind in known), strict=True)))


def test_boots_and_measures(mach):
    booted = mach("getpid iterations=50")
    assert booted.events.ready is not None
    phases = [bracket.phase for bracket in booted.events.brackets]
    assert phases == [EMPTY] * 10 + [0] * 50


@pytest.mark.parametrize("system", ALL)
def test_a_call_crosses_what_its_design_says(mach, lab, system):
    """For each call, guest.toml, [calls], contains the counted ring crossings and CR3 loads."""
    calls = guest.load(lab, system).calls
    assert set(calls) == {"getpid", "dup", "null", "open-close filesystem=memory"}
    for call, design in calls.items():
        booted = mach(f"{call} iterations=10", system=system)
        assert booted.output == ""
        assert crossings(booted) == design.ring_crossings, call
        assert min(booted.totals(0, "cr3_loads.changed")) == design.cr3_loads, call


EVERYWHERE = (
    "exec-dynamic iterations=1",
    "cswitch iterations=3",
    "ipc mechanism=pipe transactions=5",
    "select iterations=2",
    "ctx processes=8 switches=80",
    "create-delete filesystem=memory iterations=1",
)
ON_MACH = (
    "ipc mechanism=socket transactions=5",
    "ipc mechanism=shm transactions=5",
    "pipe-bandwidth",
    "exec-dynamic libraries=4 iterations=1",
    "fork iterations=3",
    "pipe",
    "mmap-fault iterations=2",
    "create filesystem=memory iterations=1",
    "file-read filesystem=memory",
    "small-files filesystem=memory iterations=1 files=32 directories=4",
    "ctx processes=40 switches=80",
    "andrew filesystem=memory files=10 kilobytes=20 directories=4",
    "mem-write iterations=1 max=16K",
    "segload",
    "int-iret",
)
# The server's own file system and buffer cache serve the ext2 of the IDE disk.
ON_DISK = (
    ("mach", "create iterations=1"),
    ("mach", "cached-read iterations=1"),
    ("mach-split", "create iterations=1"),
    ("mach-split", "create-delete iterations=1"),
    ("mach-split", "file-read"),
)
# test_chen95_core.py and test_ipc_workloads.py make these runs on linux and linux-uml.
ALSO = (
    *(f"ipc mechanism={name}" for name in ("pipe", "message", "socket", "shm")),
    "cached-read filesystem=memory iterations=1",
    "ctx processes=100 switches=200",
    "bcopy",
    "branch",
    "counted iterations=2",
    "pairing",
)


@pytest.mark.parametrize(
    ("system", "job"),
    [
        *itertools.product(SYSTEMS, EVERYWHERE),
        *(("mach", job) for job in ON_MACH),
        *ON_DISK,
        *(
            pytest.param(*one, marks=pytest.mark.full)
            for one in (
                *itertools.product(ALL, ALSO),
                *itertools.product(("linux", "linux-uml"), (*EVERYWHERE, "pipe-bandwidth")),
            )
        ),
    ],
)
def test_a_workload_checks_its_results(mach, system, job):
    """Each workload checks its data, and exits with status 0 or with an error message."""
    booted = mach(job, system=system)
    assert booted.events.guest_status == 0
    # `counted` prints what it reads from the counters of the chip.
    assert (booted.output == "") == (not job.startswith("counted"))
    assert {bracket.phase for bracket in booted.events.brackets} - {EMPTY}


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """Returns the recorded steps of each call, and those of new runs."""
    lab = Lab(Lab.here().root, tmp_path_factory.mktemp("calls") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(calls.STEPS, "chen95-core")
        patch.setattr(calls, "SERVICES", {})
        now = calls.measured(lab, Runner(lab, jobs=cores()).run_all)
    return records.load(lab.root, records.RUNS)["calls"]["steps"], now["steps"]


def near(before, after, loose=0.25):
    """Compares clocks. If a library is a few bytes longer, its code lies in other cache lines. Then
    clocks move from one step to another.
    """
    return abs(before - after) <= max(200, loose * before)


def test_a_call_goes_the_recorded_way(steps):
    """Each step of each call, and the sums."""
    recorded, now = steps
    assert set(now) == {f"{call} {side}" for call in ("dup", "open-close") for side in SYSTEMS}
    for which, after in now.items():
        before = recorded[which]
        assert [(who, *rest) for who, _, *rest in before] == [
            (who, *rest) for who, _, *rest in after
        ], which
        for (_, old, *_), (_, new, *_) in zip(before, after, strict=True):
            assert near(old, new), which
        old, new = (calls.recorded_steps(one).clocks for one in (before, after))
        assert near(old, new, 0.1), which


def test_programs_see_the_counters_of_the_chip(mach):
    """The values that a program reads from /dev/p5ctr equal the engine's record bit for bit."""
    booted = mach("selftest-counters reads=10", trace_reads=True)
    assert len(booted.printed_counters) == 10 * 4 + 3
    rest = iter(booted.recorded_counters)
    assert all(value in rest for value in booted.printed_counters)


@pytest.mark.parametrize("system", ONE)
def test_it_is_a_unix(mach, system):
    """Files, pipes, processes, signals, groups, links, sockets and System V work. Bad pointers,
    missing files and unknown calls give POSIX errors.
    """
    booted = mach("test-unix", system=system)
    assert booted.output == "all is well\n"
    assert booted.events.guest_status == 0


@pytest.fixture
def for_linux(lab, guest_program):
    """Compiles a test program of guest mach for guest linux."""
    return lambda name: guest_program(lab.root / f"guest-images/mach/tests/{name}.c")


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "said"), [("test-unix", "all is well\n"), ("test-kill", "all are gone\n")]
)
def test_the_same_program_agrees_with_linux(mach, for_linux, name, said):
    """Linux has the behaviour that the tests expect."""
    needed = ("true-static", "dup")
    booted = mach("@program", system="linux", program=for_linux(name), beside=needed)
    assert booted.output == said


@pytest.mark.parametrize("system", ONE)
def test_killed_in_any_state(mach, system):
    """Processes are killed in seventeen states, each early and late in the state. After that, other
    processes can use the objects for which the killed processes waited.
    """
    assert mach("test-kill", system=system).output == "all are gone\n"


@pytest.mark.full
@pytest.mark.parametrize("place", ["/tmp", "/data"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_full_disk(mach, system, place):
    """Memory and disk return ENOSPC. Programs still start, and the space of removed files is free
    again. test_mach_files.py runs the same code, and checks that the disk is clean afterwards.
    """
    booted = mach(f"test-full {place}", system=system)
    assert booted.output == "full, and empty again\n"


# The program reads one byte of the second-last line, and discards the other bytes.
TYPED = (
    (b"line?", b"wrongx\x15abX\x7fc\r"),
    (b"end?", b"\x04"),
    (b"secret?", b"hidden\n"),
    (b"key?", b"k"),
    (b"flush?", b"one\n"),
    (b"last?", b"z\x7fy\n"),
)
READ = """line: 4 61 62 63 0a
end: 0
secret: 7 68 69 64 64 65 6e 0a
key: 1 6b
first: 6f
last: 2 79 0a
"""


@pytest.mark.parametrize(
    "system",
    ["mach", *(pytest.param(one, marks=pytest.mark.full) for one in ("linux", "mach-split"))],
)
def test_the_console_is_a_terminal(mach, for_linux, system):
    """The console echoes, erases, kills, ends and discards input in the same way as Linux."""
    program = for_linux("test-terminal") if system == "linux" else None
    booted = mach(
        "@program" if program else "test-terminal",
        system=system,
        program=program,
        typed=TYPED,
        limit_seconds=36000,
    )
    assert booted.output == READ
    assert b"abX\b \bc" in booted.line
    assert b"hidden" not in booted.line
    assert b"key?k" not in booted.line


@pytest.mark.parametrize("system", ONE)
def test_a_workload_that_the_server_does_not_contain(own_lab, lab, tmp_path, system):
    """The puzzle is built, scrambled and solved, as on linux. The program checks it."""
    if not lab.engine.is_file():
        pytest.skip("the engine is not built: run ./p5lab build")
    directory = ran(own_lab, tmp_path, system, "jigsaw", "tiles = 64, iterations = 1")
    found = {bracket.phase for bracket in events.parse(directory / "events.jsonl").brackets}
    assert found >= {0, 1, 2}


@pytest.mark.parametrize(
    "job",
    [
        "mach-rpc iterations=5",
        "mach-message iterations=2",
        "mach-create iterations=3",
        "mach-message iterations=2 transfer=out-of-line",
        "mach-threads transactions=5",
        "mach-fault iterations=5",
    ],
)
def test_calls_of_the_kernel_itself(mach, job):
    assert mach(job).events.guest_status == 0


@pytest.mark.parametrize(
    "name", sorted(name for name in workload.load(Lab.here()) if name.startswith("mach-"))
)
def test_described_parameters_are_the_programs_own(boot, name):
    """test_guest_images.py makes this check for all other workloads, which the host can run."""
    described = workload.load(Lab.here())[name].parameters
    shown = dict(re.findall(r"^  ([a-z0-9]+)=(\S+)", boot(f"{name} ?", system="mach").output, re.M))
    assert shown == {key: str(parameter.default) for key, parameter in described.items()}


def test_a_null_rpc_crosses_as_often_as_a_call_of_unix(mach):
    booted = mach("mach-rpc iterations=10")
    assert crossings(booted) == 4
    assert min(booted.totals(0, "cr3_loads.changed")) == 2


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_call_takes_no_more_of_the_stack_than_it_needs(mach, system):
    """The kernel must allocate each page that the library touches in a new process. An older
    version of the library touched two more pages in the child of vfork() and two more pages in the
    child's program. This caused 30 faults in total, and the clocks increased by a fifth.
    """
    booted = mach("exec-static iterations=10", system=system)
    assert min(booted.totals(0, "exceptions")) <= (28 if system == "mach" else 30)


def test_a_short_message_comes_inline(mach):
    """msgrcv() requests 8 KB but receives one byte, and the kernel allocates no page."""
    booted = mach("ipc mechanism=message transactions=5")
    assert booted.totals(1, "exceptions")[0] < 5
    assert booted.totals(8192, "exceptions")[0] > 50


def test_threads_exchange_without_a_change_of_address_space(mach):
    booted = mach("mach-threads transactions=10")
    assert min(booted.totals(1, "cr3_loads.changed")) == 0


def test_a_program_runs_at_its_full_speed_between_calls(mach):
    job = "mem-read iterations=100000 max=64K placement=contiguous"
    linux, here = (mach(job, system=name) for name in ("linux", "mach"))
    for size in (512, 8192, 65536):
        assert here.totals(size, CYCLES)[0] < 1.02 * linux.totals(size, CYCLES)[0], size


def test_fork_and_exec_leave_nothing_behind(mach, full):
    """The last calls take as long as the first calls: no list grows, and no memory is lost."""
    booted = mach(f"exec-static iterations={150 if full else 70}")
    clocks = booted.totals(0, CYCLES)
    early, late = (sorted(part)[len(part) // 2] for part in (clocks[10:30], clocks[-20:]))
    assert 0.9 * early < late < 1.1 * early


@pytest.mark.parametrize("system", ONE)
@pytest.mark.parametrize(
    ("load", "seconds"),
    [
        ("rounds=12", 300),
        pytest.param("rounds=1000 seconds=3600 pause=3000", 7200, marks=pytest.mark.full),
    ],
)
def test_nothing_is_lost(mach, system, load, seconds):
    """After many programs, killed processes, pipes, sockets, System V objects and files, the
    numbers of port names and the memory use are the same as at first.
    """
    booted = mach(f"test-endurance {load}", system=system, limit_seconds=seconds)
    assert booted.output == "nothing was lost\n"


def test_output_and_exit_status(mach):
    booted = mach("test-output status=5 lines=40")
    assert booted.events.guest_status == 5
    assert len(booted.output.splitlines()) == 80


def test_a_delivered_program_runs(mach, lab):
    """The program is built for this guest. A program for Linux would make Linux calls."""
    booted = mach("@program lines=40 status=9", program=lab.program("mach", "test-output"))
    assert booted.events.guest_status == 9
    assert len(booted.output.splitlines()) == 80


def test_sleeping_is_idle_time(mach):
    booted = mach("test-sleep ms=100")
    idle, busy = booted.totals(0, "cycles.idle")[0], booted.totals(0, CYCLES)[0]
    assert 9_000_000 <= idle + busy <= 9_000_000 + 4 * 900_000
    assert idle > 0.8 * (idle + busy)


def test_clock_ticks_are_recognized(mach, lab):
    """The clock vector in guest.toml is right: this vector has a hundred interrupts in a second."""
    booted = mach("test-sleep ms=1000")
    begin, end = next((b.begin, b.end) for b in booted.events.brackets if b.phase == 0)
    clock = guest.load(lab, "mach").clock_vector

    def ticks(marker):
        return sum(count for key, count in marker.vectors.items() if clock in key)

    assert 98 <= ticks(end) - ticks(begin) <= 104


@pytest.mark.full
@pytest.mark.parametrize("system", SYSTEMS)
def test_same_run_same_events(mach, tmp_path, system):
    """A run that is forked from a boot and two runs from reset have the same events. In the fast
    set, test_fork.py compares them on guest linux.
    """
    job = "exec-static iterations=2"
    forked = mach(job, system=system)
    for place in "ab":
        alone = mach(job, system=system, directory=tmp_path / place)
        for name in ("events.jsonl", "output.log"):
            assert (alone.directory / name).read_bytes() == (forked.directory / name).read_bytes()


def test_seeds_place_pages_differently(mach, full):
    job = "mem-read size=192K iterations=5000 placement=guest"
    seeds = range(3 if full else 2)
    assert len({mach(job, seed=seed).totals(196608, CYCLES)[0] for seed in seeds}) == len(seeds)
