# SPDX-License-Identifier: MIT
"""Port accesses of a machine without operating system (ports.S), and the bytes that they read."""

from pathlib import Path

from boot_sector import FLOPPY, assembled, bootable, new_runs

from p5lab.lab import Lab

HERE = Path(__file__).parent
SECTORS = 4  # of the floppy, for the list of accesses
CLOCKS_OF_1_US = 90  # of p90-premiere2


class Case:
    """One case: a list of port accesses. `reads` is the number of bytes that they read."""

    def __init__(self):
        self.program, self.reads = b"", 0

    def out(self, port, *data):
        for byte in data:
            self.program += bytes([1, port, byte])
        return self

    def read(self, port, times=1):
        self.program += bytes([2, port]) * times
        self.reads += times
        return self

    def wait(self, loops):
        """A delay; a loop takes about 6 clocks."""
        self.program += b"\3" + loops.to_bytes(2, "little")
        return self

    def until(self, port, mask, value):
        """Reads a port until the bits of `mask` have this value."""
        self.program += bytes([4, port, mask, value])
        return self

    def time(self):
        """Reads the low four bytes of the time-stamp counter."""
        self.program += b"\5"
        self.reads += 4
        return self


def bytes_read(table, place):
    """Executes the cases of a table in one run, in a new directory. Returns the bytes that each
    case has read, by the name of the case."""
    program = b"".join(case.program for case in table.values()) + b"\0"
    assert len(program) <= SECTORS * 512
    image = place / "ports.img"
    code = bootable(assembled(HERE / "ports.S", place), 512)
    image.write_bytes((code + program).ljust(FLOPPY, b"\0"))
    lab = Lab(Lab.here().root, results_in=place / "results")
    (made,) = new_runs(lab, "--floppy", image, "--until", "the end", "--limit", 20)
    words = (made / "screen.txt").read_text().split()
    end = words.index("end") - 1
    count = sum(case.reads for case in table.values())
    found = [int(word, 16) for word in words[end - count : end]]
    read = {}
    for name, case in table.items():
        read[name], found = found[: case.reads], found[case.reads :]
    return read


def passed_us(data, first, second):
    """The microseconds between two readings of the time-stamp counter."""
    one, other = (int.from_bytes(bytes(data[at : at + 4]), "little") for at in (first, second))
    return ((other - one) & 0xFFFFFFFF) / CLOCKS_OF_1_US
