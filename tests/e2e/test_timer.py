# SPDX-License-Identifier: MIT
"""Counter 2 of the timer (ports 42h, 43h and 61h), as the data sheet of the 8254 describes it
(Intel 231164-005: mode definitions, read-back command, counter latch command, GATE).

The second table is about port 61h as programs of 1995 used it to measure time: bit 5 is OUT of
counter 2, bit 4 changes with each refresh, and bits 0 and 1 are read back (IBM, Personal Computer
AT technical reference). The cases of a table are in one run (port_cases.py).
"""

import port_cases
import pytest
from port_cases import bytes_read, passed_us

COUNTER, CONTROL, GATE = 0x42, 0x43, 0x61
LATCH, STATUS, BOTH = 0x80, 0xE8, 0xC8  # of counter 2
OUT, NULL, TWO_BYTES = 0x80, 0x40, 0x30  # bits of the status
# A loop takes about 6 clocks of 90 MHz, and the timer has a clock of 1.19 MHz.
DELAY = 20000  # about 1500 clocks of the timer
MODES = range(6)
NEVER_STOPPED = (1, 5)  # by GATE


class Case(port_cases.Case):
    """Port accesses that begin with GATE low."""

    def __init__(self):
        super().__init__()
        self.gate(0)

    def read(self, times=1, port=COUNTER):
        return super().read(port, times)

    def wait(self, loops=DELAY):
        return super().wait(loops)

    def gate(self, level):
        return self.out(GATE, level)

    def control(self, mode, bcd=0):
        return self.out(CONTROL, 0xB0 | mode << 1 | bcd)

    def count(self, value):
        return self.out(COUNTER, value & 0xFF, value >> 8)

    def status(self):
        return self.out(CONTROL, STATUS).read()

    def latched(self):
        return self.out(CONTROL, LATCH).read(2)


def status(mode, *, out, null):
    return OUT * out | NULL * null | TWO_BYTES | mode << 1


def cases():
    named = {}
    for mode in MODES:
        named[f"goes on {mode}"] = Case().gate(1).control(mode).read(2).wait().read(2)
        named[f"gated {mode}"] = Case().control(mode).read(2).wait().read(2)
        named[f"programmed {mode}"] = Case().gate(1).control(mode).status()
        # A second control word after a count; the way of TMi0SDGL and of Intel's CPUINFO.
        named[f"again {mode}"] = (
            Case()
            .control(mode)
            .gate(1)
            .count(0xF000)
            .wait()
            .control(mode)
            .read(2)
            .wait()
            .control(mode)
            .read(2)
        )
    named["mode 0 ends"] = Case().gate(1).control(0).count(0x0010).wait().status()
    named["mode 0 first byte"] = (
        Case()
        .gate(1)
        .control(0)
        .count(0x8000)
        .wait()
        .out(COUNTER, 0x77)
        .status()
        .latched()
        .wait()
        .latched()
    )
    named["mode 0 gate"] = Case().control(0).count(0x8000).wait().latched().gate(1).wait().latched()
    for mode in NEVER_STOPPED:
        named[f"waits for a trigger {mode}"] = (
            Case()
            .control(mode)
            .count(0x4000)
            .wait()
            .status()
            .gate(1)
            .wait()
            .status()
            .latched()
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .wait(65535)
            .status()
        )
    for mode in (2, 3):
        named[f"the period ends first {mode}"] = (
            Case().gate(1).control(mode).count(0xFFF0).wait(200).count(0x0100).status().latched()
        )
        named[f"gate low sets OUT {mode}"] = (
            Case()
            .gate(1)
            .control(mode)
            .count(0x8000)
            .wait()
            .gate(0)
            .status()
            .latched()
            .wait()
            .latched()
            .gate(1)
            .wait(50)
            .latched()
        )
    named["half of a count"] = (
        Case().gate(1).control(2).count(0xF000).wait().out(COUNTER, 0).latched().wait().latched()
    )
    named["a latch holds"] = (
        Case()
        .gate(1)
        .control(4)
        .count(0xFF00)
        .wait(100)
        .out(CONTROL, LATCH)
        .wait()
        .out(CONTROL, LATCH)
        .read(2)
        .latched()
    )
    named["status and count"] = (
        Case()
        .gate(1)
        .control(4)
        .count(0xFF00)
        .wait(100)
        .out(CONTROL, BOTH)
        .wait()
        .read(3)
        .latched()
    )
    named["status between two bytes"] = (
        Case().gate(1).control(4).count(0xFF00).wait(100).out(CONTROL, LATCH).read().status().read()
    )
    named["decimal"] = Case().gate(1).control(4, bcd=1).count(0x9999).wait(5000).latched()
    return named


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return bytes_read(cases(), tmp_path_factory.mktemp("timer"))


def word(data, at=0):
    return data[at] | data[at + 1] << 8


def passed(data, at, other):
    """The clocks between two counts."""
    return (word(data, at) - word(data, other)) & 0xFFFF


@pytest.mark.parametrize("mode", MODES)
def test_the_counter_goes_on_after_a_control_word(found, mode):
    rate = 2 if mode == 3 else 1
    assert 500 * rate < passed(found[f"goes on {mode}"], 0, 2) < 4000 * rate
    assert 500 * rate < passed(found[f"again {mode}"], 0, 2) < 4000 * rate


@pytest.mark.parametrize("mode", MODES)
def test_only_a_gate_stops_it(found, mode):
    moved = passed(found[f"gated {mode}"], 0, 2)
    assert (moved > 500) if mode in NEVER_STOPPED else (moved == 0)


@pytest.mark.parametrize("mode", MODES)
def test_a_control_word_sets_out_and_null_count(found, mode):
    assert found[f"programmed {mode}"] == [status(mode, out=mode != 0, null=1)]


def test_mode_0(found):
    assert found["mode 0 ends"] == [status(0, out=1, null=0)]
    data = found["mode 0 first byte"]
    assert data[0] == status(0, out=0, null=0)
    assert 0x7000 < word(data, 1) == word(data, 3)  # the first byte stops the counter
    data = found["mode 0 gate"]
    assert word(data) == 0x8000  # loaded, but not counting
    assert 500 < 0x8000 - word(data, 2) < 4000


@pytest.mark.parametrize("mode", NEVER_STOPPED)
def test_a_trigger_loads_the_count(found, mode):
    data = found[f"waits for a trigger {mode}"]
    assert data[0] == status(mode, out=1, null=1)
    assert data[1] == status(mode, out=mode == 5, null=0)
    assert 500 < 0x4000 - word(data, 2) < 4000
    assert data[4] == status(mode, out=1, null=0)


@pytest.mark.parametrize("mode", (2, 3))
def test_a_new_count_waits_for_the_end_of_the_period(found, mode):
    data = found[f"the period ends first {mode}"]
    assert data[0] == status(mode, out=1, null=1)
    assert word(data, 1) > 0xFE00
    data = found[f"gate low sets OUT {mode}"]
    assert data[0] == status(mode, out=1, null=0)
    assert word(data, 1) == word(data, 3)
    assert 0x7F00 < word(data, 5) <= 0x8000  # a trigger loads the count


def test_half_of_a_count_changes_nothing(found):
    assert 500 < passed(found["half of a count"], 0, 2) < 4000


def test_latches(found):
    data = found["a latch holds"]
    assert word(data) > 0xFE00  # the first command counts, not the second one
    assert 500 < passed(data, 0, 2) < 4000
    data = found["status and count"]
    assert data[0] == status(4, out=1, null=0)  # the status is always first
    assert word(data, 1) > 0xFE00
    assert 500 < passed(data, 1, 3) < 4000
    low, said, high = found["status between two bytes"]
    assert said == status(4, out=1, null=0)
    assert word([low, high]) > 0xFE00


def test_a_decimal_count(found):
    digits = f"{word(found['decimal']):04x}"
    assert digits.isdecimal()
    assert 9000 < int(digits) < 9999


CLOCK_HZ = 1_193_182
REFRESH = 18  # clocks of the timer; the BIOS loads counter 1 with it
CHANGES = 100


def port_cases_of_61h():
    named = {f"bits {value}": Case().gate(value).read(port=GATE) for value in range(4)}
    named["end of a count"] = (
        Case().gate(1).control(0).count(11932).time().until(GATE, 0x20, 0x20).time()
    )
    square = Case().gate(1).control(3).count(2386)
    for value in (0, 0x20, 0, 0x20):
        square.until(GATE, 0x20, value).time()
    named["square wave"] = square
    refresh = Case().until(GATE, 0x10, 0).until(GATE, 0x10, 0x10).time()
    for _ in range(CHANGES // 2):
        refresh.until(GATE, 0x10, 0).until(GATE, 0x10, 0x10)
    named["refresh"] = refresh.time()
    return named


@pytest.fixture(scope="module")
def port_61h(tmp_path_factory):
    return bytes_read(port_cases_of_61h(), tmp_path_factory.mktemp("port61h"))


@pytest.mark.parametrize("value", range(4))
def test_gate_and_speaker_data_are_read_back(port_61h, value):
    (byte,) = port_61h[f"bits {value}"]
    assert byte & 3 == value


def test_out_of_counter_2_is_bit_5(port_61h):
    """Linux and others measure the processor's clock in this way. A reading of the port takes a
    microsecond, and the timer has steps of one."""
    assert passed_us(port_61h["end of a count"], 0, 4) == pytest.approx(
        11932 / CLOCK_HZ * 1e6, abs=4
    )
    data = port_61h["square wave"]
    half = 2386 / 2 / CLOCK_HZ * 1e6
    for first in (4, 8):
        assert passed_us(data, first, first + 4) == pytest.approx(half, abs=4)


def test_bit_4_changes_with_each_refresh(port_61h):
    """With a period of 15 us, a hundred changes would take 9 us less."""
    assert passed_us(port_61h["refresh"], 0, 4) == pytest.approx(
        CHANGES * REFRESH / CLOCK_HZ * 1e6, abs=4
    )
