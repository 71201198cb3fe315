# SPDX-License-Identifier: MIT
"""The clock chip (ports 70h and 71h), as programs of 1995 used it to measure time.

All expected values are those of the data sheet of the MC146818A (Motorola): registers A, B and C,
and table 6 (update cycle times) for a crystal of 32,768 Hz.
"""

import pytest
from port_cases import Case, bytes_read, passed_us

INDEX, DATA = 0x70, 0x71
SECONDS, A, B, C = 0, 10, 11, 12
UIP, HELD, RUNS = 0x80, 0x70, 0x20  # of register A
SET, HOURS_24 = 0x80, 0x02  # of register B
PF, UF, IRQF = 0x40, 0x10, 0x80  # of register C
SECOND, BEFORE, UPDATE = 1_000_000, 244, 1984  # us
PERIODS = 64
ACCURACY = 4  # us; a reading of a port takes one


class Clock(Case):
    def select(self, register):
        return self.out(INDEX, register)

    def get(self, register):
        return self.select(register).read(DATA)

    def put(self, register, value):
        return self.select(register).out(DATA, value)

    def wait_for(self, register, mask, value):
        return self.select(register).until(DATA, mask, value)

    def ticks(self, rate, times):
        """Waits for ends of periods, after one that ends the wait before."""
        self.put(A, RUNS | rate).get(C).wait_for(C, PF, PF).time()
        for _ in range(times):
            self.until(DATA, PF, PF)
        return self.time()


def cases():
    named = {}
    named["update"] = (
        Clock()
        .wait_for(A, UIP, 0)
        .wait_for(A, UIP, UIP)
        .time()
        .get(SECONDS)
        .wait_for(A, UIP, 0)
        .time()
        .get(SECONDS)
        .wait_for(A, UIP, UIP)
        .time()
    )
    named["set"] = (
        Clock()
        .wait_for(A, UIP, UIP)
        .get(SECONDS)
        .put(B, SET | HOURS_24)
        .get(A)
        .ticks(15, 4)
        .get(SECONDS)
        .put(B, HOURS_24)
    )
    named["flags"] = Clock().get(C).get(C).wait_for(A, UIP, UIP).wait_for(A, UIP, 0).get(C).get(C)
    named["periods"] = Clock().ticks(6, PERIODS)
    named["fast periods"] = Clock().ticks(3, PERIODS)
    named["divider"] = (
        Clock()
        .put(A, HELD | 6)
        .wait(65535)
        .put(A, RUNS | 6)
        .time()
        .wait_for(A, UIP, UIP)
        .time()
        .wait_for(A, UIP, 0)
        .wait_for(A, UIP, UIP)
        .time()
    )
    return named


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return bytes_read(cases(), tmp_path_factory.mktemp("clock"))


def test_update_in_progress(found):
    data = found["update"]
    before, after = data[4], data[9]
    assert passed_us(data, 0, 5) == pytest.approx(BEFORE + UPDATE, abs=ACCURACY)
    assert passed_us(data, 0, 10) == pytest.approx(SECOND, abs=ACCURACY)
    assert after == before + 1 or (before, after) == (0x59, 0)


def test_set_ends_an_update_and_stops_the_seconds(found):
    before, register, _, *_, after = found["set"]
    assert register & UIP == 0
    assert passed_us(found["set"], 3, 7) == pytest.approx(4 * SECOND / 2, abs=ACCURACY)
    assert after == before


def test_flags_do_not_need_their_interrupts(found):
    _, cleared, ended, again = found["flags"]
    assert cleared & (UF | IRQF) == 0
    assert ended & (UF | IRQF) == UF
    assert again & UF == 0


@pytest.mark.parametrize("name, hz", [("periods", 1024), ("fast periods", 8192)])
def test_periods_are_exact(found, name, hz):
    """With whole microseconds of a period, 1024 Hz would be 36 us short, and 8192 Hz 4 us."""
    elapsed = passed_us(found[name], 1, 5)
    assert elapsed == pytest.approx(PERIODS / hz * SECOND, abs=ACCURACY)


def test_the_first_update_comes_half_a_second_after_the_divider_was_held(found):
    data = found["divider"]
    assert passed_us(data, 0, 4) == pytest.approx(SECOND / 2 - BEFORE, abs=ACCURACY)
    assert passed_us(data, 4, 8) == pytest.approx(SECOND, abs=ACCURACY)
