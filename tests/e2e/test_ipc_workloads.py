# SPDX-License-Identifier: MIT
"""The workloads of calls, processes, IPC, loopback and cached files (ousterhout90, lai96, wpi92).
These workloads do the described work, give the same results each time, and detect errors.
"""

import re

import pytest
from hostcc import ROOT, compiled, ran, spoiled

SELECT_ONE_EMPTY, SELECT_TEN_EMPTY, SELECT_TEN_FULL = 0, 1, 2
CACHED, UNCACHED = 0, 1
MECHANISMS = ("pipe", "message", "socket", "shm")
SWITCHES = "cr3_loads.changed"


# --- each program can fail: the same program with a faulty call of the C library ------------------

WRONG = {
    "select": """
        #include <sys/select.h>
        int __real_select(int, fd_set *, fd_set *, fd_set *, struct timeval *);
        int __wrap_select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t) {
          int found = __real_select(n, r, w, e, t);
          if (found > 1) for (int i = 0; i < n; i++) if (FD_ISSET(i, r)) { FD_CLR(i, r); break; }
          return found;
        }""",
    # The hundredth read() of the first process changes a byte. -DBYTE gives the number of this
    # byte.
    "read": """
        #include <unistd.h>
        ssize_t __real_read(int, void *, size_t);
        static pid_t first;
        __attribute__((constructor)) static void start(void) { first = getpid(); }
        ssize_t __wrap_read(int file, void *to, size_t size) {
          static int calls;
          ssize_t count = __real_read(file, to, size);
          if (count > 0 && getpid() == first && ++calls == 100) ((char *)to)[BYTE] ^= 4;
          return count;
        }""",
    # One read() of a stream returns any number of bytes, and the host decides how many. This fault
    # counts bytes, not calls. -DBYTE gives the byte of the stream that the first process changes.
    "read of a stream": """
        #include <unistd.h>
        ssize_t __real_read(int, void *, size_t);
        static pid_t first;
        __attribute__((constructor)) static void start(void) { first = getpid(); }
        ssize_t __wrap_read(int file, void *to, size_t size) {
          static long before;
          ssize_t count = __real_read(file, to, size);
          if (count <= 0 || getpid() != first) return count;
          if (before <= BYTE && BYTE < before + count) ((char *)to)[BYTE - before] ^= 4;
          before += count;
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
    "open": """
        #include <fcntl.h>
        #include <string.h>
        int __real_open(const char *, int, ...);
        int __wrap_open(const char *name, int flags, int mode) {
          return __real_open(strcmp(name, "a/b/c/foo") || flags ? name : "foo", flags, mode);
        }""",
    "unlink": """
        #include <unistd.h>
        int __wrap_unlink(const char *name) { return access(name, F_OK); }""",
    # The hundredth call reports success, but sends no data.
    "write": """
        #include <unistd.h>
        ssize_t __real_write(int, const void *, size_t);
        ssize_t __wrap_write(int file, const void *from, size_t size) {
          static int calls;
          return ++calls == 100 ? (ssize_t)size : __real_write(file, from, size);
        }""",
    # Here the first process is notified of the twentieth answer, and then changes the segment's
    # last byte.
    "shmat semop": """
        #include <sys/sem.h>
        #include <sys/shm.h>
        #include <unistd.h>
        void *__real_shmat(int, const void *, int);
        int __real_semop(int, struct sembuf *, size_t);
        static char *segment;
        static pid_t first;
        void *__wrap_shmat(int number, const void *at, int flags) {
          first = getpid();
          return segment = __real_shmat(number, at, flags);
        }
        int __wrap_semop(int set, struct sembuf *step, size_t count) {
          static int answers;
          int result = __real_semop(set, step, count);
          if (step->sem_op < 0 && getpid() == first && ++answers == 20) segment[63] ^= 4;
          return result;
        }""",
    # Here the first process does not wait for the twentieth answer. The other process sends this
    # answer after the end of the first process.
    "semop": """
        #include <sys/sem.h>
        #include <unistd.h>
        int __real_semop(int, struct sembuf *, size_t);
        static pid_t first;
        __attribute__((constructor)) static void start(void) { first = getpid(); }
        int __wrap_semop(int set, struct sembuf *step, size_t count) {
          static int waits;
          int twentieth = step->sem_op < 0 && ++waits == 20;
          if (twentieth && getpid() == first) return 0;
          int result = __real_semop(set, step, count);
          while (twentieth && getppid() == first) usleep(1000);
          return result;
        }""",
}


@pytest.mark.parametrize(
    ("job", "call", "said"),
    [
        ("select", "select", "10 of 10 pipes can be read; it says 10 and marks 9"),
        ("ctx processes=8", "read", "ctx: 8 processes: the byte is"),
        ("ctx order=chain processes=5", "read", "ctx: 5 processes: the byte is"),
        ("ipc mechanism=pipe bytes=64", "read", "ipc: transaction [0-9]+: not the answer"),
        ("ipc mechanism=socket bytes=64", "read", "ipc: transaction [0-9]+: not the answer"),
        ("ipc mechanism=message bytes=64", "msgrcv", "ipc: transaction [0-9]+: not the answer"),
        ("ipc mechanism=shm bytes=64", "shmat semop", "ipc: transaction 19: not the answer"),
        ("ipc mechanism=shm bytes=64", "semop", "ipc: transaction 19: not the answer"),
        ("udp-bandwidth size=64 kilobytes=8", "read", "udp: 99 of 136 datagrams of 64 bytes"),
        ("udp-bandwidth size=64 kilobytes=8", "write", "udp: 99 of 136 datagrams of 64 bytes"),
        ("file-read blocks=90", "read", "file: byte [0-9]+ is not what was written"),
        ("open-close", "open", "open-close: a/b/c/foo: another file"),
        ("create-delete iterations=80", "read", "file: byte 0 is not what was written"),
        ("create-delete", "unlink", "file: still there"),
        ("andrew iterations=3", "read", "andrew: the copy has 20 directories, 70 files, 204800 b"),
    ],
)
def test_what_goes_wrong_is_noticed(tmp_path, job, call, said):
    assert re.search(said, gone_wrong(tmp_path, job, call))


def test_the_last_byte_of_the_last_datagram_is_looked_at(tmp_path):
    job = "udp-bandwidth size=128 kilobytes=8 warmup=36"
    error = gone_wrong(tmp_path, job, "read", byte=127)
    assert error == "udp: chunk 99 is not what was sent\n"


@pytest.mark.parametrize(
    ("job", "name", "size", "last"),
    [("pipe-bandwidth megabytes=4", "pipe", 64 << 10, 65), ("tcp-bandwidth", "tcp", 48 << 10, 67)],
)
def test_a_stream_is_checked(tmp_path, job, name, size, last):
    """Each chunk's number is checked, and all bytes of the last chunk."""
    for chunk, byte in ((20, 0), (20, 3), (last, 4), (last, size - 1)):
        error = gone_wrong(tmp_path, job, "read of a stream", byte=chunk * size + byte)
        # The sender may notice that the receiver has ended, and adds its own message.
        assert f"{name}: chunk {chunk} is not what was sent\n" in error


def gone_wrong(directory, job, wrong, byte=0):
    """Returns the error message of a program that must fail."""
    name, *arguments = job.split()
    call = wrong.removesuffix(" of a stream")
    program = spoiled(directory, name, call, WRONG[wrong], f"-DBYTE={byte}")
    status, error = ran(program, arguments, directory)
    assert status == 1
    return error


@pytest.mark.parametrize(
    ("copies", "block", "said"),
    # The program makes one copy of 2 KB as warm-up and then sixteen copies of 2 KB. After that, it
    # makes one copy of 16 KB as warm-up and then two copies of 16 KB.
    [
        (17, "to", "blocks of 2048 bytes: wrong word at byte 2044"),
        (20, "to", "blocks of 16384 bytes: wrong word at byte 16380"),
        (20, "from", "blocks of 16384 bytes: wrong word at byte 16380"),
    ],
)
def test_a_copy_that_is_not_right_is_noticed(tmp_path, copies, block, said):
    """After the last copy of a phase, one bit is wrong in the destination or in the source."""
    source = tmp_path / "spoiled.c"
    source.write_text(f"""
        #include "string1995.h"
        static void spoiled(char *to, const char *from, size_t size) {{
          static int copies;
          memcpy_1995(to, from, size);
          if (++copies == {copies}) ((char *){block})[size - 1] ^= 0x80;
        }}
        #define memcpy_1995 spoiled
        #include "bcopy.c"
    """)
    program = compiled(tmp_path / "spoiled", f"-I{ROOT / 'workloads/micro/bcopy'}", source)
    found = ran(program, ["words=8192", "uncached=16384"], tmp_path)
    assert found == (1, f"bcopy: {said}\n")


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
    """Copies of 64 KB. A word takes a read and a write. A line of eight words is fetched once."""
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
    """Each token causes one change of address space. The kernel causes a few more changes. The
    kernel may run the next process before the previous process has called read(). Then the kernel
    must return to the previous process.
    """
    run = counted(f"ctx order={order} processes={processes} switches=160")
    assert 160 <= run.totals(processes, SWITCHES)[0] <= 1.25 * 160
    calls = run.totals(processes, "soft_interrupts")[0]
    assert calls == pytest.approx(2 * 160, rel=0.05)  # one write and one read


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
    """The processes copy no data. The kernel copies the data twice, and each write stores 4 bytes.
    The processes wait for each chunk.
    """
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
    """Each word moves twice, once into the system and once out of it, with every mechanism."""
    small, large = (
        counted(f"ipc mechanism={mechanism} bytes={size} transactions=20").totals(
            size, "data_writes"
        )[0]
        / 20
        for size in (64, 8192)
    )
    assert large - small > 4 * (8192 - 64) / 4 * 0.95


def test_tcp_and_udp_over_loopback(counted):
    run = counted("tcp-bandwidth buffers=8")
    # The writes copy words into the system and out of it. At the end, the connection's buffers can
    # contain data that the receiver has not read yet.
    assert run.totals(0, "data_writes")[0] > 1.5 * 8 * (48 << 10) / 4
    run = counted("udp-bandwidth kilobytes=32")
    calls = {size: run.totals(size, "soft_interrupts")[0] for size in (256, 1024, 8192)}
    for size, count in calls.items():
        assert count >= 2 * (32 << 10) / size * 0.8, size  # a datagram is sent and received
    cycles = [run.totals(size, "cycles.busy")[0] for size in (256, 1024, 8192)]
    assert cycles == sorted(cycles, reverse=True)


def test_a_file_that_is_read_again_is_not_on_its_way_from_the_disk(counted):
    run = counted("file-read blocks=32 iterations=2 filesystem=data")
    words = 32 * (16 << 10) / 4
    for phase, event in ((0, "data_reads"), (0, "data_writes")):
        assert all(words < count < 1.3 * words for count in run.totals(phase, event)), event
    # The program reads the data from memory, not from a cache. A line of eight words is fetched
    # once.
    assert min(run.totals(0, "data_read_misses")) > 0.9 * words / 8
    assert max(run.totals(0, "cycles.idle")) == 0


def test_a_longer_name_takes_longer_to_open(counted):
    run = counted("open-close iterations=10 filesystem=memory")
    short, long = (min(run.totals(phase, "instructions")) for phase in (0, 1))
    assert 1.1 * short < long < 4 * short


def test_larger_files_take_longer_to_create(counted):
    run = counted("create-delete sizes=steps iterations=2 filesystem=memory")
    sizes = [kilobytes << 10 for kilobytes in range(1, 11)]
    instructions = [min(run.totals(size, "instructions")) for size in sizes]
    assert instructions[0] < instructions[4] < instructions[-1]
    writes = [min(run.totals(size, "data_writes")) for size in sizes]
    assert writes[-1] - writes[0] > 2 * (9 << 10) / 4  # written and read


def test_andrew_with_a_command_for_each_file(counted):
    """ousterhout90: if a command copies each file, most work is the creation of processes."""
    own, command = (
        counted(f"andrew files=10 kilobytes=20 directories=3 copy={how} filesystem=memory")
        for how in ("in-process", "command")
    )
    assert [len(own.totals(phase, "instructions")) for phase in range(4)] == [1] * 4
    assert command.totals(1, "instructions")[0] > 5 * own.totals(1, "instructions")[0]
    assert command.totals(1, SWITCHES)[0] >= 2 * 10
    for phase in (0, 2, 3):
        ours, theirs = (run.totals(phase, "soft_interrupts")[0] for run in (own, command))
        assert ours == pytest.approx(theirs, abs=2), phase


def test_messages_that_are_too_large_are_refused(boot):
    booted = boot("ipc bytes=9000")
    assert booted.events.guest_status == 2
    assert "bytes must be at most 8192" in booted.output


@pytest.mark.parametrize(
    "job",
    [
        "select iterations=5",
        "ctx processes=4 switches=160",
        "pipe-bandwidth megabytes=1",
        "ipc mechanism=message bytes=1024 transactions=20",
        "ipc mechanism=shm bytes=1024 transactions=20",
        "tcp-bandwidth buffers=4",
        "udp-bandwidth size=1024 kilobytes=32",
        "create-delete iterations=2 filesystem=memory",
        "andrew files=5 kilobytes=10 directories=2 copy=command filesystem=memory",
    ],
)
def test_the_same_twice(boot, job):
    first, second = ((boot(job).directory / "events.jsonl").read_bytes() for _ in range(2))
    assert first == second
