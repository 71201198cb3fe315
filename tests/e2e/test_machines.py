# SPDX-License-Identifier: MIT
"""The plateaus of memory reads on the machines agree with the measurements of the papers."""

import pytest

LINE = 32  # bytes; the program makes one load per line
L1_SIZE, L2_SIZE, MEMORY_SIZE = 4 << 10, 128 << 10, 1 << 20
# lai96 section 6.1: four words in L1 take 5 clocks, so the eight words of a line take 10.
LAI96_CLOCKS_A_LINE = 10


@pytest.fixture
def clocks(boot):
    """Returns the clocks of a load that depends on the previous load, by the size of the array.
    The function counts only the program's own clocks. The kernel may set its time of day during the
    run, and this takes 86,000 clocks.
    """

    def measure(board):
        loads = 100_000  # a clock tick then has no visible effect
        run = boot(
            f"mem-read stride={LINE} iterations={loads} min={L1_SIZE} max={MEMORY_SIZE}",
            board=board,
        )
        assert run.outcome.status == "ok", run.outcome.reason
        return {
            size: sum(run.totals(size, "cycles.busy", rings=[3])) / loads
            for size in (L1_SIZE, 12 << 10, L2_SIZE, 256 << 10, 512 << 10, MEMORY_SIZE)
        }

    return measure


def test_p100_reads_at_the_rates_of_lai96(clocks):
    load = clocks("p100-plato")
    rate = {  # MB/s; the Pentium stops while it waits, so the times add up
        size: LINE * 100 / (load[size] + LAI96_CLOCKS_A_LINE) for size in load if size > L1_SIZE
    }
    assert load[L1_SIZE] == pytest.approx(2, rel=0.01)
    for size in (12 << 10, L2_SIZE, 256 << 10):
        assert rate[size] == pytest.approx(110, rel=0.05)
    for size in (512 << 10, MEMORY_SIZE):
        assert rate[size] == pytest.approx(75, rel=0.05)
    # lmbench on Linux i586 with 10 ns per clock: a load takes 148 to 222 ns in the board cache and
    # 320 ns in memory. lmbench has subtracted one clock from these times.
    assert 148 < load[L2_SIZE] * 10 - 10 < 222
    assert load[MEMORY_SIZE] * 10 - 10 == pytest.approx(320, rel=0.05)


def test_p133_and_its_relative_in_lmbench(clocks):
    """On FreeBSD/i586 with 7 ns per clock, a load takes 111 ns in the board cache and 181 ns in
    memory. lmbench has subtracted one clock from these times.
    """
    load = clocks("p133-triton")
    assert load[L2_SIZE] * 7.5 - 7.5 == pytest.approx(111, rel=0.05)
    assert load[MEMORY_SIZE] * 7.5 - 7.5 == pytest.approx(181, rel=0.06)


def test_p90_is_slower_than_p100_by_its_bus(clocks):
    """The board is the same, but its bus runs at 60 MHz instead of 66.67 MHz. The number of clocks
    is the same, but each clock is longer.
    """
    p90, p100 = clocks("p90-premiere2"), clocks("p100-plato")
    assert p90 == pytest.approx(p100, rel=0.03)


@pytest.mark.parametrize(
    ("faster", "slower", "ratios"),
    [("p200-triton", "p133-triton", (3, 2)), ("p66-mercury", "p100-plato", (1, 1.5))],
)
def test_another_multiplier_changes_the_clocks_outside_the_processor(
    clocks, faster, slower, ratios
):
    """The board is the same, so a load takes the same bus clocks, and the wait for the next edge of
    the bus clock. 6 clocks belong to the processor: `l1_miss`, and 2 for the load itself."""
    one, other = clocks(faster), clocks(slower)
    assert one[L1_SIZE] == pytest.approx(other[L1_SIZE], rel=0.01)
    for size in (L2_SIZE, MEMORY_SIZE):
        bus = [(load[size] - 6) / ratio for load, ratio in zip((one, other), ratios, strict=True)]
        assert abs(bus[0] - bus[1]) < 1.1
