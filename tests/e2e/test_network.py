# SPDX-License-Identifier: MIT
"""The network in guest linux: Linux's driver, the modelled network card and the remote host.

wire.c checks every byte. Other tests here check the capture and the faults that a seed injects.
"""

import os
import re
import struct
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import debian
import pytest

CARD = {"net.card": "ne2000"}
FAULTS = {"net.loss": "0.01", "net.duplicate": "0.01", "net.reorder": "0.01"}
BYTES = 100_000
GAP, OVERHEAD, BIT = 96, (8 + 4) * 8, 100  # bits, bits, ns: IEEE 802.3
EPOCH = 788_918_400  # 1 January 1995


@dataclass
class Frame:
    time: int  # ns since power-up
    data: bytes

    @property
    def long(self):
        """Time on the wire in nanoseconds."""
        return (OVERHEAD + 8 * len(self.data)) * BIT

    @property
    def segment(self):
        """Returns the parts of a TCP segment: source, destination (address and port), sequence
        number, flags and data. Returns None for other frames.
        """
        ip = self.data[14:]
        if self.data[12:14] != b"\x08\x00" or ip[9] != 6:
            return None
        total, header = struct.unpack_from(">H", ip, 2)[0], (ip[0] & 15) * 4
        tcp = ip[header:total]
        ports = struct.unpack_from(">HH", tcp)
        start = (tcp[12] >> 4) * 4
        return (
            (ip[12:16], ports[0]),
            (ip[16:20], ports[1]),
            struct.unpack_from(">I", tcp, 4)[0],
            tcp[13],
            tcp[start:],
        )


def read_capture(path):
    """Reads the classic format of libpcap (manual page pcap-savefile)."""
    content = path.read_bytes()
    magic, major, minor, zone, sigfigs, longest, link = struct.unpack_from("<IHHiIII", content)
    assert (magic, major, minor, zone, sigfigs, link) == (0xA1B23C4D, 2, 4, 0, 0, 1)
    frames, at = [], 24
    while at < len(content):
        seconds, ns, kept, length = struct.unpack_from("<IIII", content, at)
        assert kept == length <= longest
        assert ns < 10**9
        data = content[at + 16 : at + 16 + kept]
        assert len(data) == kept
        frames.append(Frame((seconds - EPOCH) * 10**9 + ns, data))
        at += 16 + kept
    return frames


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data[: len(data) & ~1]))
    total += data[-1] << 8 if len(data) & 1 else 0
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.fixture(scope="module")
def program(guest_program):
    return guest_program("wire.c")


@pytest.fixture
def network(boot, program):
    def run(arguments, *, settings=None, **more):
        return boot(
            f"@program {arguments}", program=program, settings=CARD | (settings or {}), **more
        )

    return run


def microseconds(booted, phase):
    (bracket,) = [b for b in booted.events.brackets if b.phase == phase]
    return (bracket.end.tsc - bracket.begin.tsc) / 90


def test_bytes_arrive_both_ways_and_datagrams_come_back(network):
    ran = network(f"bytes={BYTES} datagrams=20")
    assert ran.outcome.status == "ok", ran.output
    sent, received = ran.totals(0, "net.bytes_sent"), ran.totals(1, "net.bytes_received")
    assert sent[0] > BYTES
    assert received[0] > BYTES
    assert ran.totals(0, "net.missed") == [0]


def test_the_capture_is_of_a_correct_tcp_on_a_correct_wire(network):
    ran = network(f"bytes={BYTES}", conf=("run.pcap = wire.pcap",))
    assert ran.outcome.status == "ok", ran.output
    frames = read_capture(ran.directory / "wire.pcap")
    # Half duplex: a frame and the gap after it end before the next frame begins. Times are cut to
    # nanoseconds.
    for before, frame in pairwise(frames):
        assert frame.time - before.time >= before.long + GAP * BIT - 1
    # If a frame has to wait for another frame, it begins directly after the gap.
    gaps = Counter(b.time - a.time - a.long for a, b in pairwise(frames))
    assert any(GAP * BIT - 1 <= gap <= GAP * BIT + 1 for gap in gaps)
    streams = {}
    for frame in frames:
        assert 60 <= len(frame.data) <= 1514
        if not frame.segment:
            continue
        ip = frame.data[14:]
        header, total = (ip[0] & 15) * 4, struct.unpack_from(">H", ip, 2)[0]
        assert ones_sum(ip[:header]) == 0xFFFF
        tcp = ip[header:total]
        assert ones_sum(ip[12:20] + struct.pack(">HH", 6, len(tcp)) + tcp) == 0xFFFF
        source, destination, sequence, flags, data = frame.segment
        streams.setdefault((source, destination), []).append((sequence, flags, data))
    # Each direction of each connection has SYN first, then all bytes once, then FIN.
    expected = bytes((i ^ i >> 8 ^ i >> 16) & 0xFF for i in range(BYTES))
    whole = 0
    for (source, destination), segments in streams.items():
        assert segments[0][1] & 0x02
        first = segments[0][0] + 1
        content = {}
        for sequence, _, data in segments:
            content |= {sequence - first + i: byte for i, byte in enumerate(data)}
        if destination[1] == 9 or source[1] == 19:
            assert bytes(content[i] for i in range(len(content))) == expected
            assert any(flags & 0x01 for _, flags, _ in segments)
            whole += 1
    assert whole == 2


SHOWN = re.compile(
    r"^    (?P<source>\S+) > (?P<destination>\S+): Flags \[(?P<flags>\S+)\], cksum 0x\w+ "
    r"\((?P<sum>[^)]*)\), seq (?P<first>\d+)(:(?P<last>\d+))?,",
    re.MULTILINE,
)


def test_a_standard_tool_sees_a_correct_tcp(network):
    """tcpdump checks every checksum, and prints the expected sequence numbers."""
    tcpdump = debian.program("tcpdump", packages=("tcpdump",))
    ran = network(
        f"bytes={BYTES} datagrams=5", settings=FAULTS, seed=3, conf=("run.pcap = wire.pcap",)
    )
    assert ran.outcome.status == "ok", ran.output
    with (ran.directory / "wire.pcap").open("rb") as capture:
        shown = subprocess.run(
            [tcpdump, "-r", "-", "-vv", "-nn", "-S"],
            stdin=capture,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    assert not re.findall(r".*(?:\bbad\b|incorrect|truncated|malformed|\[\|).*", shown)
    conversations = {}
    for said in SHOWN.finditer(shown):
        assert said["sum"] == "correct"
        conversations.setdefault((said["source"], said["destination"]), []).append(said)
    whole = 0
    for (source, destination), segments in conversations.items():
        assert segments[0]["flags"] in ("S", "S.")
        if not (destination.endswith(".9") or source.endswith(".19")):
            continue
        # SYN, each byte and FIN take one sequence number. There is no gap, even if bytes were sent
        # twice.
        first = reached = int(segments[0]["first"])
        for said in sorted(segments, key=lambda one: int(one["first"])):
            assert int(said["first"]) <= reached
            end = int(said["last"] or said["first"]) + any(c in said["flags"] for c in "SF")
            reached = max(reached, end)
        assert reached == first + 1 + BYTES + 1
        whole += 1
    assert whole == 2


def test_a_run_is_the_same_to_the_byte_captured_or_not(network):
    runs = [
        network(f"bytes={BYTES}", settings=FAULTS, seed=3, conf=conf)
        for conf in ((), ("run.pcap = wire.pcap",), ("run.pcap = wire.pcap",))
    ]
    assert [ran.outcome.status for ran in runs] == ["ok"] * 3
    events = {(ran.directory / "events.jsonl").read_bytes() for ran in runs}
    assert len(events) == 1
    captures = {(ran.directory / "wire.pcap").read_bytes() for ran in runs[1:]}
    assert len(captures) == 1


@contextmanager
def busy_processes():
    """Runs busy processes, two for each core."""
    command = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.full  # it occupies every processor; test_smoke.py loads one in the fast set
def test_a_busy_host_changes_nothing(boot, tmp_path):
    """One run is forked from a shared boot, and the host is quiet. The other run begins at reset,
    and the host is busy. The two runs give the same results.
    """
    job = "sftp peer=remote kilobytes=64 buffer=4096 filesystem=memory"
    how = {"settings": CARD | FAULTS, "seed": 3, "conf": ("run.pcap = wire.pcap",)}
    quiet = boot(job, **how)
    with busy_processes():
        loaded = boot(job, directory=tmp_path / "run", **how)
    for ran in (quiet, loaded):
        assert ran.outcome.status == "ok", ran.output
    for name in ("events.jsonl", "wire.pcap"):
        content = (quiet.directory / name).read_bytes()
        assert content
        assert content == (loaded.directory / name).read_bytes(), name


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 10))]
)
@pytest.mark.parametrize(
    "faults",
    [
        *(
            pytest.param({key: share}, marks=pytest.mark.full)
            for key, share in (
                ("net.loss", "0.03"),
                ("net.duplicate", "0.1"),
                ("net.reorder", "0.1"),
            )
        ),
        {
            "net.loss": "0.02",
            "net.duplicate": "0.05",
            "net.reorder": "0.05",
            "net.latency_us": "5000",
        },
    ],
    ids=["loss", "twice", "out of order", "all"],
)
def test_every_transfer_ends_with_the_right_bytes(network, faults, seed):
    ran = network(f"bytes={BYTES}", settings=faults, seed=seed, limit_seconds=600)
    assert ran.outcome.status == "ok", ran.output
    names = {
        "net.loss": "net.lost",
        "net.duplicate": "net.duplicated",
        "net.reorder": "net.reordered",
    }
    for key, event in names.items():
        number = sum(ran.totals(0, event) + ran.totals(1, event))
        assert (number > 0) == (key in faults)


def test_an_ideal_network_takes_no_time_and_loses_no_frame(network):
    """The remote host sends a whole window at once, and the driver's ring holds nine frames."""
    ran = network(f"bytes={3 * BYTES}", settings={"ideal.network": "true"})
    assert ran.outcome.status == "ok", ran.output
    for event in ("net.busy", "net.remote_busy", "net.collisions", "net.missed", "net.lost"):
        assert sum(ran.totals(0, event) + ran.totals(1, event)) == 0, event
    assert sum(ran.totals(0, "net.bytes_sent")) > 3 * BYTES
    assert 3 * BYTES < sum(ran.totals(1, "net.bytes_received")) < 3.3 * BYTES


def test_a_large_transfer_fills_the_wire(network):
    """The rate is more than 80 % of 10 Mbit/s. The measured time includes the program's own work,
    because the program fills its buffer again before each call.
    """
    ran = network("bytes=1000000")
    assert ran.outcome.status == "ok", ran.output
    assert 1_000_000 * 8 / microseconds(ran, 0) > 0.8 * 10


def test_without_a_card_there_is_none(boot, program):
    ran = boot("@program bytes=1", program=program)
    assert ran.events.guest_status == 77
    assert not any(name.startswith("net.") for name in ran.events.units)


def test_a_file_server_that_is_full_says_so(boot, guest_program):
    """The programs get an error, and the server continues."""
    ran = boot("@program", program=guest_program("nfs_full.c"), settings=CARD)
    assert ran.outcome.status == "ok", ran.output
    assert Counter(re.findall(r": (.*)", ran.output)) == {"No space left on device": 3, "done": 5}
