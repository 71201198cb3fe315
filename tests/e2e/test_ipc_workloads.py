# SPDX-License-Identifier: MIT
"""The workloads of processes, IPC and loopback (ousterhout90, lai96, wpi92): that they do what they
say, the same way each time, and notice when they did not."""

import re
import subprocess

import pytest

from p5lab.lab import Lab

ROOT = Lab.here().root
SELECT_ONE_EMPTY, SELECT_TEN_EMPTY, SELECT_TEN_FULL = 0, 1, 2
CACHED, UNCACHED = 0, 1
MECHANISMS = ("pipe", "message", "socket", "shm")
SWITCHES = "cr3_loads.changed"


@pytest.fixture
def counted(boot):
    """The run of a job that ended well."""

    def run(job, **how):
        booted = boot(job, **how)
        assert booted.outcome.status == "ok", booted.outcome.reason
        return booted

    return run


# --- that each can fail: the program again, with a call of the C library that goes wrong ----------

# A call to what is wrapped comes to __wrap_NAME, which can ask __real_NAME.
WRONG = {
    "select": """
        #include <sys/select.h>
        int __real_select(int, fd_set *, fd_set *, fd_set *, struct timeval *);
        int __wrap_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
          int found = __real_select(n, r, w, e, t);
          if (found > 1) for (int i = 0; i < n; i++) if (FD_ISSET(i, r)) { FD_CLR(i, r); break; }
          return found;
        }""",
    # The hundredth call of the first process spoils a byte.
    "read": """
        #include <unistd.h>
        ssize_t __real_read(int, void *, size_t);
        static pid_t first;
        __attribute__((constructor)) static void start(void) { first = getpid(); }
        ssize_t __wrap_read(int file, void *to, size_t size) {
          static int calls;
          ssize_t count = __real_read(file, to, size);
          if (count > 0 && getpid() == first && ++calls == 100) ((char *)to)[0] ^= 4;
          return count;
        }""",
    "msgrcv": """
        #include <sys/msg.h>
        #include <unistd.h>
        ssize_t __real_msgrcv(int, void *, size_t, long, int);
        static pid_t first;
        __attribute__((constructor)) static void start(void) { first = getpid(); }
        ssize_t __wrap_msgrcv(int queue, void *to, size_t size, long type, int flags) {
          static int calls;
          ssize_t count = __real_msgrcv(queue, to, size, type, flags);
          if (getpid() == first && ++calls == 50) ((char *)to)[sizeof(long)] ^= 4;
          return count;
        }""",
}  # fmt: skip


@pytest.mark.parametrize(
    ("job", "call", "said"),
    [
        ("select", "select", "10 of 10 pipes can be read; it says 10 and marks 9"),
        ("ctx processes=8", "read", "ctx: 8 processes: the byte is"),
        ("ctx order=chain processes=5", "read", "ctx: 5 processes: the byte is"),
        ("pipe-bandwidth megabytes=20", "read", "pipe: chunk [0-9]+ is not what was sent"),
        ("tcp-bandwidth buffers=200", "read", "tcp: chunk [0-9]+ is not what was sent"),
        ("ipc mechanism=pipe bytes=64", "read", "ipc: transaction [0-9]+: not the answer"),
        ("ipc mechanism=socket bytes=64", "read", "ipc: transaction [0-9]+: not the answer"),
        ("ipc mechanism=message bytes=64", "msgrcv", "ipc: transaction [0-9]+: not the answer"),
    ],
)
def test_what_goes_wrong_is_noticed(tmp_path, job, call, said):
    name, *arguments = job.split()
    wrong = tmp_path / "wrong.c"
    wrong.write_text(WRONG[call])
    program = tmp_path / name
    subprocess.run(
        ["cc", "-O2", "-D_GNU_SOURCE", "-I", ROOT / "workloads/lib",
         "-I", ROOT / "guest-images/linux/p5ctr", f"-Wl,--wrap={call}", "-o", program,
         ROOT / f"workloads/micro/{name}.c", wrong],
        check=True,
    )  # fmt: skip
    result = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert re.search(said, result.stderr), result.stderr


# --- on the guest ---------------------------------------------------------------------------------


def test_select_asks_more_of_ten_pipes_than_of_one(counted):
    run = counted("select iterations=20")
    one, ten, full = (
        min(run.totals(phase, "instructions"))
        for phase in (SELECT_ONE_EMPTY, SELECT_TEN_EMPTY, SELECT_TEN_FULL)
    )
    assert ten > 1.5 * one
    assert 0.7 * ten < full < 1.3 * ten
    for phase in (SELECT_ONE_EMPTY, SELECT_TEN_EMPTY, SELECT_TEN_FULL):
        assert run.totals(phase, "crossings.int") == [1] * 20


def test_bcopy_stays_in_the_cache_or_does_not(counted):
    """Of 64 KB; a word is one read and one write, and a line of eight words is fetched once."""
    words = 16 << 10
    run = counted("bcopy words=16K uncached=32K placement=contiguous", settings={"l2.size": "64K"})
    reads = {phase: run.totals(phase, "data_read_misses")[0] for phase in (CACHED, UNCACHED)}
    writes = {phase: run.totals(phase, "data_write_misses")[0] for phase in (CACHED, UNCACHED)}
    assert reads[CACHED] < words / 100
    assert writes[CACHED] < words / 100
    assert reads[UNCACHED] == pytest.approx(words / 8, rel=0.10)
    assert writes[UNCACHED] == pytest.approx(words, rel=0.10)


@pytest.mark.parametrize(("order", "processes"), [("ring", 2), ("ring", 10), ("chain", 9)])
def test_a_switch_is_a_change_of_address_space(counted, order, processes):
    """One for each passing. The kernel adds some: it may let the next process run at once, and then
    has to come back to the one before, which has not called read() yet."""
    run = counted(f"ctx order={order} processes={processes} switches=160")
    assert 160 <= run.totals(processes, SWITCHES)[0] <= 1.25 * 160
    calls = run.totals(processes, "soft_interrupts")[0]
    assert calls == pytest.approx(2 * 160, rel=0.05)  # a write and a read


def test_a_process_alone_does_not_switch(counted):
    run = counted("ctx processes=1 switches=100")
    assert run.totals(1, SWITCHES)[0] <= 2
    assert run.totals(1, "soft_interrupts") == [200]


def test_more_processes_need_more_of_the_board_cache(counted):
    few, many = (
        counted(f"ctx processes={number} switches=320").totals(number, "l2_read_misses")[0]
        for number in (2, 32)
    )
    assert many > 2 * few


def test_a_megabyte_through_a_pipe(counted):
    """Copied twice, by the kernel only, 4 bytes a write; and waited for chunk by chunk."""
    run = counted("pipe-bandwidth megabytes=1")
    words = (1 << 20) / 4
    assert 2 * words < run.totals(0, "data_writes")[0] < 2.6 * words
    assert run.totals(0, SWITCHES)[0] >= 16


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_transaction_switches_twice(counted, mechanism):
    run = counted(f"ipc mechanism={mechanism} bytes=256 transactions=50")
    assert 100 <= run.totals(256, SWITCHES)[0] <= 1.25 * 100


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_larger_messages_move_more_words(counted, mechanism):
    """Sent and received twice: once into the system and once out of it, whatever the mechanism."""
    small, large = (
        counted(f"ipc mechanism={mechanism} bytes={size} transactions=20").totals(
            size, "data_writes"
        )[0] / 20
        for size in (64, 8192)
    )  # fmt: skip
    assert large - small > 4 * (8192 - 64) / 4 * 0.95


def test_messages_that_are_too_large_are_refused(boot):
    booted = boot("ipc bytes=9000")
    assert booted.events.guest_status == 2
    assert "bytes must be at most 8192" in booted.output


@pytest.mark.parametrize(
    "job",
    ["select iterations=5", "ctx processes=4 switches=160", "pipe-bandwidth megabytes=1",
     "ipc mechanism=message bytes=1024 transactions=20",
     "ipc mechanism=shm bytes=1024 transactions=20"],
)  # fmt: skip
def test_the_same_twice(boot, job):
    first, second = ((boot(job).directory / "events.jsonl").read_bytes() for _ in range(2))
    assert first == second
