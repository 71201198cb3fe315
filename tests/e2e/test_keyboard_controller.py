# SPDX-License-Identifier: MIT
"""The keyboard controller (ports 60h and 64h): how long a program waits for it.

A byte on the serial line has 11 bits of 60 to 100 us (IBM, PS/2 technical reference, keyboard). The
answer of the keyboard comes after two bytes, and its next byte after one. The time that the
controller needs for a command is an estimate, so its bound is wide.
"""

import pytest
from port_cases import Case, bytes_read, passed_us

DATA, STATUS = 0x60, 0x64
FULL, COMMAND = 1, 8  # bits of the status: the output buffer, and what the input buffer had
BYTE_US = (11 * 60, 11 * 100)
CONTROLLER_US = (10, 500)
ECHO, IDENTIFY, ACKNOWLEDGED, KEYBOARD = 0xEE, 0xF2, 0xFA, (0xAB, 0x41)
READ_MODE, SELF_TEST, PASSED = 0x20, 0xAA, 0x55


class Keyboard(Case):
    def answer(self):
        """Waits for a byte, and reads it."""
        return self.until(STATUS, FULL, FULL).time().read(DATA)


def cases():
    named = {}
    for name, command in (("mode", READ_MODE), ("self test", SELF_TEST)):
        named[name] = Keyboard().time().out(STATUS, command).read(STATUS).answer().read(STATUS)
    named["echo"] = Keyboard().out(DATA, ECHO).time().read(STATUS).answer().read(STATUS).read(DATA)
    named["identity"] = Keyboard().out(DATA, IDENTIFY).time().answer().answer().answer()
    return named


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return bytes_read(cases(), tmp_path_factory.mktemp("keyboard"))


def between(limits, value):
    return limits[0] <= value <= limits[1]


@pytest.mark.parametrize("name", ["mode", "self test"])
def test_a_command_of_the_controller_takes_time(found, name):
    data = found[name]
    status, answer, after = data[4], data[9], data[10]
    assert status & (FULL | COMMAND) == COMMAND
    assert between(CONTROLLER_US, passed_us(data, 0, 5))
    assert (answer == PASSED) == (name == "self test")
    assert after & FULL == 0


def test_the_keyboard_answers_after_two_bytes_on_the_line(found):
    data = found["echo"]
    status, answer, after, again = data[4], data[9], data[10], data[11]
    assert status & (FULL | COMMAND) == 0
    assert between([2 * limit for limit in BYTE_US], passed_us(data, 0, 5))
    assert answer == ECHO
    assert after & FULL == 0
    assert again == ECHO  # the byte stays until the next one


def test_bytes_come_one_after_the_other(found):
    data = found["identity"]
    assert [data[8], data[13], data[18]] == [ACKNOWLEDGED, *KEYBOARD]
    assert between([2 * limit for limit in BYTE_US], passed_us(data, 0, 4))
    for first in (4, 9):
        assert between(BYTE_US, passed_us(data, first, first + 5))
