# SPDX-License-Identifier: MIT
"""The devices of the board with the times of 1995 (times.S), and what systems of the time ask a PC
(board.S)."""

from pathlib import Path

import pytest
from boot_sector import FLOPPY, assembled, bootable, new_runs, record

from p5lab.lab import Lab

HERE = Path(__file__).parent
CLOCK = 90e6  # of machine p90-premiere2, in Hz
TURN = 0.2  # seconds of a revolution of a floppy
DISK_TURN = 60 / 7200  # of the drive st32550n
CYLINDER = 16 * 63 * 512
REQUESTS = (
    "first",
    "again",
    "next",
    "track",
    "last",
    "far",
    "far again",
    "write",
    "write again",
    "third write",
)
VIDEO = ("bytes", "words", "longs", "reads")
TIMES = 256  # accesses to video memory (times.S)


def rows(directory):
    return [row for row in (directory / "screen.txt").read_text().splitlines() if row]


@pytest.fixture(scope="module")
def times_code(tmp_path_factory):
    return assembled(HERE / "times.S", tmp_path_factory.mktemp("times"))


@pytest.fixture
def measured(times_code, tmp_path):
    """Returns the clocks of each measurement on a floppy or a disk, with settings of the
    machine."""

    def measured(*settings, disk=False):
        own_lab = Lab(Lab.here().root, results_in=tmp_path / "-".join(("results", *settings)))
        image = tmp_path / "times.img"
        image.write_bytes(bootable(times_code, 60 * CYLINDER if disk else FLOPPY))
        words = ["--disk" if disk else "--floppy", image, "--until", "the end", "--limit", 60]
        for one in settings:
            words += ["--set", one]
        (made,) = new_runs(own_lab, *words)
        assert record(made)["status"] == "ok"
        found = [int(row, 16) for row in rows(made)[-len(REQUESTS + VIDEO) - 1 : -1]]
        return dict(zip(REQUESTS + VIDEO, found, strict=True))

    return measured


def seconds(clocks):
    return clocks / CLOCK


def test_without_a_key_the_floppy_has_the_emulators_times(measured):
    found = measured()
    for name in ("first", "again", "next", "last", "far again", "write", "third write"):
        assert seconds(found[name]) == pytest.approx(TURN / 18, rel=0.1), name


def test_a_floppy_drive_waits_for_its_sectors(measured):
    found = measured("floppy.timing=drive")
    # The same sector passes the head once in a revolution.
    for name in ("again", "far again", "write again", "third write"):
        assert seconds(found[name]) == pytest.approx(TURN, rel=0.01), name
    sector = 682 * 8 / 500e3  # with its gaps
    # The BIOS is quick enough for the next sector after one revolution at most.
    assert sector * 0.8 < seconds(found["next"]) < TURN + sector * 1.2
    assert 17 * sector < seconds(found["track"]) < TURN + 18 * sector
    # 40 steps of 3 ms, 15 ms until the head has settled, and then its sector.
    reached = 40 * 0.003 + 0.015
    assert reached < seconds(found["far"]) < reached + TURN + 2 * sector


def test_a_disk_takes_the_times_of_its_drive(measured):
    usual = measured(disk=True)
    assert seconds(usual["third write"]) < 0.001  # the emulator writes at once
    found = measured("ide.timing=drive", disk=True)
    assert found["again"] < usual["again"] + 0.001 * CLOCK  # from the drive's buffer
    # The BIOS does not wait for the end of a write, but the drive takes its next command only then.
    assert seconds(found["write"]) < 0.001
    # It is ready for the third write a revolution after it was ready for the second one.
    assert 0.9 * DISK_TURN < seconds(found["third write"]) < 1.01 * DISK_TURN
    assert 0.0005 < seconds(found["far"]) < 0.02  # a seek and at most a revolution
    assert seconds(found["far"]) > 5 * seconds(found["far again"])


def test_the_cycle_of_an_ide_port(measured):
    slow, fast = measured("io.ide_ns=600", disk=True), measured("io.ide_ns=120", disk=True)
    words = 18 * 512 // 2
    # Both read the same words, and the rest of the BIOS takes the same time.
    assert slow["track"] - fast["track"] == pytest.approx(words * 480e-9 * CLOCK, rel=0.05)


def test_video_memory_on_pci_and_isa(measured):
    port, pci, isa = (measured(*one) for one in ((), ["video.bus=pci"], ["video.bus=isa"]))

    def clocks(found, name):
        return found[name] / TIMES

    # Clocks of the bus for an access: io.pci_ns is 150 ns, and a PCI clock has three clocks of the
    # processor.
    expected = {
        "bytes": (14, 12, 56),
        "words": (14, 12, 56),
        "longs": (14, 12, 112),
        "reads": (14, 15, 112),
    }
    for name, (by_port, by_pci, by_isa) in expected.items():
        rest = clocks(port, name) - by_port  # the processor waits, and needs clocks of its own
        assert 0 <= rest < 6, name
        # A cycle begins with a bus clock, which takes 1.5 clocks of the processor.
        assert clocks(pci, name) == pytest.approx(by_pci + rest, abs=1.5), name
        assert clocks(isa, name) == pytest.approx(by_isa + rest, abs=1.5), name


@pytest.fixture(scope="module")
def board_code(tmp_path_factory):
    return assembled(HERE / "board.S", tmp_path_factory.mktemp("board"))


def asked(own_lab, code, place, disk, *settings):
    """The answers of the board to board.S, by name."""
    image = place / "board.img"
    image.write_bytes(bootable(code, 60 * CYLINDER if disk else FLOPPY))
    words = ["--disk" if disk else "--floppy", image, "--until", "the end", "--limit", 20]
    for one in settings:
        words += ["--set", one]
    (made,) = new_runs(own_lab, *words)
    return {row.split()[0]: row.split()[1:] for row in rows(made)}


def test_what_a_system_asks_a_pc(own_lab, board_code, tmp_path):
    found = asked(own_lab, board_code, tmp_path, disk=True)
    assert found["msr"] == ["0000", "0000"]  # Linux 2.2 reads both
    assert found["fpu"] == ["0001"]  # one interrupt for one error
    assert found["keyboard"] == ["0055", "0000"]
    base, extended = found["memory"][:2], found["memory"][2:]
    assert (base, extended) == (["0080", "0002"], ["0000", "007c"])  # 640 KB, 31 MB
    assert found["drives"] == ["0040", "00f0"]  # a floppy drive of 1.44 MB, a disk by its type
    assert found["disk"] == ["002f", "003c", "0000", "0010", "003f"]  # user defined, 60/16/63
    assert found["geometry"] == ["0000", "3b3f", "0f01"]
    assert found["apm"][:2] == ["0000", "504d"]
    assert found["pnp"][1:] == ["0010", "0000"]  # version 1.0, and function 0 succeeds
    assert found["video"][0] == "ffff"  # no display on PCI


def test_a_video_card_on_pci_is_found_by_its_class(own_lab, board_code, tmp_path):
    found = asked(own_lab, board_code, tmp_path, False, "devices.video=pci")
    assert found["video"] == ["0000", "1234"]


def test_a_floppy_as_a_pc_reports_it(own_lab, board_code, tmp_path):
    found = asked(own_lab, board_code, tmp_path, disk=False)
    assert found["drives"] == ["0040", "0000"]
    assert found["geometry"] == ["0000", "4f12", "0101"]
