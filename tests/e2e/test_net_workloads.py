# SPDX-License-Identifier: MIT
"""The network workloads (chen95, lai96, wpi92) over loopback: their work and error detection."""

import re

import pytest
from hostcc import ROOT, compiled, ran, spoiled

# The third read() in each process changes one bit in all bytes that it has read. The first process
# changes one bit, and the other processes change a different bit. A read() at the end of a stream
# is not one of these three calls.
SPOILED = """
    #include <unistd.h>
    ssize_t __real_read(int, void *, size_t);
    static pid_t first;
    __attribute__((constructor)) static void start(void) { first = getpid(); }
    ssize_t __wrap_read(int file, void *to, size_t size) {
      static int calls;
      ssize_t count = __real_read(file, to, size);
      if (count > 0 && ++calls == 3)
        for (ssize_t i = 0; i < count; i++) ((char *)to)[i] ^= first == getpid() ? 4 : 8;
      return count;
    }"""
# The server opens a wrong document.
OTHER_FILE = """
    #include <fcntl.h>
    #include <string.h>
    int __real_open(const char *, int, ...);
    int __wrap_open(const char *name, int flags, int mode) {
      int other = strncmp(name, "dir", 3) == 0 && flags == 0;
      return __real_open(other ? "dir00/class1_4.html" : name, flags, mode);
    }"""
# The server skips every third write of a record.
LOST_RECORD = """
    #include <unistd.h>
    ssize_t __real_pwrite(int, const void *, size_t, off_t);
    ssize_t __wrap_pwrite(int file, const void *from, size_t size, off_t at) {
      static int calls;
      if (at > 64 * 136 && ++calls % 3 == 0) return (ssize_t)size;
      return __real_pwrite(file, from, size, at);
    }"""
WRONG = {
    "read": SPOILED,
    "open": OTHER_FILE,
    "pwrite": LOST_RECORD,
}


@pytest.mark.parametrize(
    ("job", "call", "said"),
    [
        ("netbw kilobytes=1024", "read", "received: byte [0-9]+ is not what was written"),
        ("tcp-transfer", "read", "received: byte [0-9]+ is not what was written"),
        ("tcp-transfer direction=send", "read", "received: byte [0-9]+ is not what was written"),
        ("udp-send kilobytes=8", "read", "udp: byte"),
        ("ipc-net bytes=64", "read", "ipc: transaction [0-9]+: not the answer to it"),
        ("sftp buffer=8192", "read", "file: byte [0-9]+ is not what was written"),
        ("sftp buffer=8192 direction=get", "read", "sftp: received: byte [0-9]+ is not what"),
        ("sdbase clients=5", "read", "sdbase: client( [0-9]+: transaction 2: not the answer)?"),
        ("sdbase clients=5 records=64", "pwrite", "sdbase: records: [0-9]+, not [0-9]+"),
        ("sxipc clients=4 type=terminal", "read", "sxipc: (byte of an answer|batch|client)"),
        ("web requests=64 server=event", "open", "web: document: byte [0-9]+ is not what"),
    ],
)
def test_what_goes_wrong_is_noticed(tmp_path, job, call, said):
    name, *arguments = job.split()
    program = spoiled(tmp_path, name, call, WRONG[call])
    status, error = ran(program, arguments, tmp_path)
    assert status == 1
    assert re.search(said, error), error


def test_a_real_network_is_left_alone(tmp_path):
    program = compiled(tmp_path / "netbw", ROOT / "workloads/net/netbw/netbw.c")
    assert ran(program, ["peer=remote"], tmp_path) == (
        77,
        "eth0: the remote host is part of the simulation, and this is none\n",
    )


# --- on the guest ---------------------------------------------------------------------------------


def test_transfers_move_each_word_twice(counted):
    """One processor copies each word into the system and out of it."""
    for job, size in (("netbw iterations=1 kilobytes=96", 96), ("tcp-transfer kilobytes=96", 96)):
        words = size << 8
        assert 1.5 * words < counted(job).totals(0, "data_writes")[0] < 10 * words


def test_larger_datagrams_and_buffers_cost_less(counted):
    run = counted("udp-send kilobytes=16")
    cycles = [run.totals(size, "cycles.busy")[0] for size in (64, 512, 4096)]
    assert cycles == sorted(cycles, reverse=True)
    cycles = [
        counted(f"sftp buffer={size} kilobytes=64 filesystem=memory").totals(size, "cycles.busy")[0]
        for size in (64, 4096)
    ]
    assert cycles[0] > 4 * cycles[1]


@pytest.mark.parametrize("mechanism", ["tcp", "udp"])
def test_a_transaction_switches_twice(counted, mechanism):
    run = counted(f"ipc-net mechanism={mechanism} bytes=256 transactions=50")
    assert 100 <= run.totals(256, "cr3_loads.changed")[0] <= 1.25 * 100


def test_clients_of_a_server(counted):
    """Each answer for which a client waits causes a switch to the server and back."""
    few, many = (
        counted(f"sxipc clients={clients} steps=16 type=manager warmup=0") for clients in (1, 8)
    )
    assert few.totals(1, "cr3_loads.changed")[0] > 2 * 13
    assert many.totals(8, "instructions")[0] > 5 * few.totals(1, "instructions")[0]
    counted("sdbase clients=5 transactions=5 records=64 filesystem=memory warmup=0")


@pytest.mark.parametrize("server", ["fork", "prefork", "event", "mini-httpd"])
def test_web_servers(counted, server):
    run = counted(f"web server={server} requests=24 concurrency=4 processes=3 filesystem=memory")
    assert run.totals(0, "instructions")[0] > 24 * 10_000


# --- the remote host ------------------------------------------------------------------------------

CARD = {"net.card": "ne2000"}


@pytest.mark.parametrize(
    "job",
    [
        "netbw peer=remote iterations=1 kilobytes=64",
        "tcp-transfer peer=remote kilobytes=96",
        "udp-send peer=remote kilobytes=16",
        "ipc-net peer=remote mechanism=udp bytes=4096 transactions=5",
        "ipc-net peer=remote mechanism=tcp bytes=1024 transactions=5",
        "sftp peer=remote kilobytes=32 buffer=4096 filesystem=memory",
        "sftp peer=remote kilobytes=32 buffer=4096 filesystem=memory direction=get",
        "sdbase peer=remote clients=3 transactions=5 records=64 filesystem=memory warmup=0",
        "sxipc place=both clients=2 steps=8 warmup=0",
        "web peer=remote requests=12 concurrency=4 filesystem=memory",
        "andrew filesystem=nfs-async files=10 kilobytes=20 directories=4 warmup=0",
    ],
)
def test_the_remote_host_does_its_part(counted, job):
    run = counted(job, settings=CARD)
    phase = next(p for p in (0, 64, 4096, 1024, 3, 2) if run.totals(p, "net.frames_sent"))
    assert sum(run.totals(phase, "net.frames_sent")) > 0


@pytest.mark.parametrize(
    ("job", "phase"),
    [
        ("ipc-net mechanism=tcp bytes=2048 transactions=4", 2048),
        ("sdbase clients=1 transactions=5 records=64 filesystem=memory warmup=0", 1),
    ],
)
def test_nobody_waits_for_an_acknowledgement_that_is_late(counted, job, phase):
    """If one side delays data that do not fill a segment, the acknowledgement comes late: after 40
    ms or more.
    """
    run = counted(f"{job} peer=remote", settings=CARD)
    assert run.totals(phase, "cycles.idle")[0] < 0.03 * 90e6


FAULTS = ("net.loss", "net.duplicate", "net.reorder")


@pytest.mark.parametrize(
    "faults", [FAULTS, *(pytest.param((one,), marks=pytest.mark.full) for one in FAULTS)]
)
@pytest.mark.parametrize(
    "job",
    [
        "netbw peer=remote iterations=1 kilobytes=64 warmup=0",
        "sftp peer=remote kilobytes=64 buffer=4096 filesystem=memory",
        "andrew filesystem=nfs-async files=10 kilobytes=20 directories=4",
    ],
)
def test_a_bad_wire_spoils_nothing(counted, job, faults):
    """The programs fail if the received data differ from the sent data."""
    counted(job, settings={**CARD, **dict.fromkeys(faults, 0.05)})


def test_a_synchronous_server_is_waited_for(counted):
    job = "andrew filesystem=nfs-{} files=10 kilobytes=20 directories=4 warmup=0"
    later, first = (counted(job.format(policy), settings=CARD) for policy in ("async", "sync"))
    make, copy, status = 0, 1, 2
    for phase in (make, copy):
        assert first.totals(phase, "cycles.idle")[0] > 5 * later.totals(phase, "cycles.idle")[0]
    assert first.totals(status, "net.frames_sent") == later.totals(status, "net.frames_sent")


def test_without_a_card(boot):
    run = boot("netbw peer=remote")
    assert run.events.guest_status == 77
    assert "this system has no network card" in run.output
