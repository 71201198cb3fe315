# SPDX-License-Identifier: MIT
"""Claims on tables with known counts: every tag, role, statistic and verdict."""

import dataclasses
import math

import pandas as pd
import pytest

from p5stats import StatsError, claims, tidy
from p5stats.claims import Claim, Measure, Selection

CLOCK_HZ = 100_000_000
CLOCKS = {"r": CLOCK_HZ, "w": CLOCK_HZ}
MACHINES = {"p100": {"l1d.size": 8192, "l1d.ways": 2, "l1d.write_allocate": False, "l2.read": "3"}}
# Clocks per word by size: L1 up to 8 KB, a plateau up to 256 KB, then memory.
CURVE = {"4 KB": 1, "8 KB": 1.05, "12 KB": 4, "256 KB": 4.2, "384 KB": 6, "512 KB": 8, "1 MB": 8}
WORDS = 1000


def rows(run, phase, events, *, parameters="routine=read words=1000", iterations=2, **other):
    """Returns tidy rows. An event has the same count in each iteration. The count is divided
    between two rings.
    """
    common = {
        "experiment": "memory",
        "run": run,
        "engine": "bochs",
        "machine": "p100",
        "geometry": "",
        "feedback": "yes",
        "guest": "linux",
        "seed": 0,
        "workload": "bandwidth",
        "parameters": parameters,
        "phase": phase,
        "address_space": "0x0",
        "symbol": "",
        "unit": "",
        **other,
    }
    return [
        {**common, "iteration": iteration, "ring": ring, "event": event, "value": value / 2}
        for iteration in range(iterations)
        for ring in (0, 3)
        for event, value in events.items()
    ]


def table(*parts):
    return pd.DataFrame([row for part in parts for row in part], columns=list(tidy.COLUMNS))


def counted(clocks, instructions=4 * WORDS):
    return {"cycles.busy": clocks, "cycles.idle": 0, "instructions": instructions}


@pytest.fixture
def memory():
    """Returns a read of 1000 words at each size, and a write of these words with 20 clocks per word
    at all sizes.
    """
    read = [rows("r", phase, counted(WORDS * clocks)) for phase, clocks in CURVE.items()]
    write = [
        rows("w", phase, counted(20 * WORDS), parameters="routine=write words=1000")
        for phase in CURVE
    ]
    return table(*read, *write)


def measure(count=("words",), per=("microseconds",), times=4.0, phases=("4 KB",), **more):
    selection = Selection({"routine": "read"}, tuple(phases))
    return Measure("memory", "linux", "bandwidth", selection, count, per, times, **more)


def claim(value=400.0, tag="exact", role="predicted", unit="MB/s", **more):
    more.setdefault("measure", measure())
    return Claim("id", "lai96 section 6", "a quantity", value, tag, unit, role, "p100", **more)


def judge(one, frame=None, clocks=CLOCKS):
    frame = table() if frame is None else frame
    (row,) = claims.evaluate([one], frame, clocks, MACHINES).to_dict("records")
    return row


def modelled(frame, **how):
    return judge(claim(measure=measure(**how)), frame)["modelled"]


@pytest.mark.parametrize(
    ("tag", "value", "verdict"),
    [
        ("exact", 400, "holds"),
        ("exact", 382, "holds"),
        ("exact", 420, "holds"),
        ("exact", 379, "does not hold"),
        ("exact", 422, "does not hold"),
        ("about", 365, "holds"),
        ("about", 440, "holds"),
        ("about", 363, "does not hold"),
        ("about", 445, "does not hold"),
        ("up to", 365, "holds"),
        ("up to", 363, "does not hold"),
        ("up to", 445, "does not hold"),
        ("at least", 400, "holds"),
        ("at least", 10, "holds"),
        ("at least", 401, "does not hold"),
        ("at most", 400, "holds"),
        ("at most", 9999, "holds"),
        ("at most", 399, "does not hold"),
    ],
)
def test_tags(memory, tag, value, verdict):
    row = judge(claim(value, tag), memory)
    assert row["modelled"] == pytest.approx(400)  # 4 bytes in a clock of 10 ns
    assert row["error"] == pytest.approx((400 - value) / value * 100)
    assert (row["verdict"], row["runs"]) == (verdict, "r")


def test_the_reason_is_given_where_it_is_needed(memory):
    assert judge(claim(400, reason="why"), memory)["reason"] == ""
    assert judge(claim(500, reason="why"), memory)["reason"] == "why"
    row = judge(claim(400, role="untestable", measure=None, reason="another machine"), memory)
    assert (row["verdict"], row["reason"], row["runs"]) == ("untestable", "another machine", "")
    assert math.isnan(row["modelled"])
    assert math.isnan(row["error"])


@pytest.mark.parametrize(
    ("key", "unit", "value", "verdict"),
    [
        ("l1d.size", "KB", 8, "holds"),
        ("l1d.size", "B", 8192, "holds"),
        ("l1d.ways", "ways", 4, "does not hold"),
        ("l1d.write_allocate", "", 0, "holds"),
        ("l1d.write_allocate", "", 1, "does not hold"),
    ],
)
def test_an_input_is_read_from_the_machine(key, unit, value, verdict):
    row = judge(claim(value, role="input", unit=unit, keys=(key,), measure=None))
    assert (row["verdict"], row["runs"]) == (verdict, "")
    assert math.isnan(row["error"]) == (value == 0)


def test_an_input_that_is_no_number_is_an_error():
    with pytest.raises(StatsError, match=r"claim id: l2\.read: expected a number, found '3'"):
        judge(claim(role="input", keys=("l2.read",), measure=None))


def test_a_measured_input_is_not_what_the_machine_says(memory):
    clocks = measure(("cycles.busy",), ("words",), 1)
    row = judge(claim(1, role="input", keys=("l1d.size",), measure=clocks), memory)
    assert (row["modelled"], row["verdict"]) == (1, "holds")


def test_terms_and_statistics(memory):
    busy = {"count": ("cycles.busy",), "per": ("words",), "times": 1}
    assert modelled(memory, **busy, phases=("4 KB", "12 KB")) == pytest.approx(2.5)
    assert modelled(memory, **busy, phases=CURVE, statistic="lowest") == pytest.approx(1)
    assert modelled(memory, **busy, phases=CURVE, statistic="highest") == pytest.approx(8)
    assert modelled(memory, count=("cycles.busy",), per=("instructions",), times=1) == 0.25
    assert modelled(memory, count=("instructions",), per=(), times=0.5) == 2000
    both = ("instructions", "cycles.busy")
    assert modelled(memory, count=both, per=both, times=1) == 1
    # If the claim names no phases, it uses all phases.
    assert modelled(memory, **busy, phases=(), statistic="highest") == pytest.approx(8)


def test_a_baseline_is_subtracted_and_a_reference_divided_by(memory):
    busy = {"count": ("cycles.busy",), "per": ("words",), "times": 1, "phases": ("12 KB",)}
    one = Selection({"routine": "read"}, ("4 KB",))
    other = Selection({"routine": "write"}, ("12 KB",))
    assert modelled(memory, **busy, less=one) == pytest.approx(3)
    assert modelled(memory, **busy, over=other) == pytest.approx(0.2)
    assert modelled(memory, **busy, less=one, over=other) == pytest.approx(0.15)
    row = judge(claim(0.2, measure=measure(**busy, over=other)), memory)
    assert row["runs"] == "r w"


def test_the_points_of_a_curve_may_be_runs():
    """A read takes 3 us per KB for files up to 20 MB, and 10 us per KB for larger files."""
    sizes = {1536: 3, 8192: 3.1, 20480: 3.2, 24576: 10, 102400: 10}
    frame = table(
        *[
            rows(f"r{kb}", phase, counted(100 * clocks), parameters=f"routine=read kb={kb}")
            for kb, each in sizes.items()
            for phase, clocks in (("read", each), ("seek", 1))
        ]
    )
    clocks = {f"r{kb}": CLOCK_HZ for kb in sizes}
    how = {"count": ("microseconds",), "per": (), "times": 1, "phases": ("read",), "by": "kb"}

    def found(**more):
        return judge(claim(20, unit="MB", measure=measure(**how, **more)), frame, clocks)

    assert found(statistic="plateau end", at="1.5 MB")["modelled"] == 20
    assert found(statistic="plateau start", at="100 MB")["modelled"] == 24
    assert found(statistic="plateau end", at="2 MB")["verdict"] == "not run"
    assert found(statistic="highest")["modelled"] == pytest.approx(10)
    assert claims.point_of(96) == "96 KB"
    row = judge(claim(math.nan, "rises", measure=measure(**how)), frame, clocks)
    assert row["verdict"] == "holds"


def test_another_machine_is_measured_only_where_it_is_asked_for(memory):
    """A run with other settings does not belong to the machine. But a claim may subtract the value
    of such a run, or divide by this value.
    """
    other = rows("o", "4 KB", counted(WORDS * 2), geometry="l2.size=0")
    frame = pd.concat([memory, table(*[other])], ignore_index=True)
    busy = {"count": ("cycles.busy",), "per": ("words",), "times": 1}
    slow = Selection({"routine": "read"}, ("4 KB",), "l2.size=0")
    assert modelled(frame, **busy) == pytest.approx(1)
    assert modelled(frame, **busy, over=slow) == pytest.approx(0.5)
    gone = Selection({"routine": "read"}, ("4 KB",), "l2.size=1")
    row = judge(claim(measure=measure(**busy, over=gone)), frame)
    assert row["verdict"] == "not run"


@pytest.mark.parametrize(
    ("statistic", "at", "kilobytes"),
    [
        ("plateau end", "4 KB", 8),
        ("plateau start", "12 KB", 12),
        ("plateau end", "12 KB", 256),
        ("plateau start", "256 KB", 12),
        ("plateau end", "384 KB", 384),
        ("plateau start", "1 MB", 512),
    ],
)
def test_where_a_plateau_ends(memory, statistic, at, kilobytes):
    how = measure(("cycles.busy",), ("words",), 1, (), statistic=statistic, at=at)
    assert judge(claim(1, unit="KB", measure=how), memory)["modelled"] == kilobytes
    assert judge(claim(1, unit="B", measure=how), memory)["modelled"] == kilobytes * 1024


def test_where_a_curve_falls_below_another(memory):
    """A write takes 5 clocks per word at all sizes. A read takes 4.2 and then 6 clocks."""
    write = [
        rows("w", phase, counted(5 * WORDS), parameters="routine=write words=1000")
        for phase in CURVE
    ]
    reads, writes = (Selection({"routine": name}) for name in ("read", "write"))
    how = Measure(
        "memory",
        "linux",
        "bandwidth",
        writes,
        ("cycles.busy",),
        ("words",),
        1,
        "crossing",
        less=reads,
    )
    frame = pd.concat([memory[memory["run"] == "r"], table(*write)])
    row = judge(claim(320, unit="KB", measure=how), frame)
    assert row["modelled"] == pytest.approx(256 + 128 * 0.8 / 1.8)
    assert row["runs"] == "w r"


def test_a_plateau_that_was_not_measured_has_no_end(memory):
    how = measure(("cycles.busy",), ("words",), 1, (), statistic="plateau end", at="2 KB")
    row = judge(claim(1, measure=how), memory)
    assert row["verdict"] == "not run"


def test_sizes():
    assert [claims.size_of(name) for name in ("512 B", "1.5 KB", "4 MB")] == [512, 1536, 4 << 20]
    with pytest.raises(StatsError, match="phase 'pair': expected a size"):
        claims.size_of("pair")


@pytest.mark.parametrize(
    "column",
    ["experiment", "engine", "machine", "geometry", "feedback", "guest", "workload"],
)
def test_only_runs_that_were_asked_for_count(memory, column):
    row = judge(claim(), memory.assign(**{column: "another"}))
    assert (row["verdict"], row["runs"]) == ("not run", "")
    assert row["reason"] == "no such run of bandwidth in memory on p100"
    both = pd.concat([memory, memory.assign(**{column: "another", "run": "x", "value": 1.0})])
    assert judge(claim(), both, {**CLOCKS, "x": 1})["modelled"] == pytest.approx(400)


def test_other_parameters_and_phases_do_not_count(memory):
    only_write = memory[memory["run"] == "w"]
    assert judge(claim(), only_write)["verdict"] == "not run"
    assert judge(claim(measure=measure(phases=("9 KB",))), memory)["verdict"] == "not run"


def test_nothing_was_run():
    row = judge(claim())
    assert (row["verdict"], row["runs"]) == ("not run", "")
    assert math.isnan(row["modelled"])


def test_what_is_not_counted_is_not_zero(memory):
    other = table(rows("x", "4 KB", {"dtlb_misses": 5}, workload="another"))
    one = claim(measure=measure(("dtlb_misses",), (), 1))
    row = judge(one, pd.concat([memory, other]), {**CLOCKS, "x": CLOCK_HZ})
    assert (row["verdict"], row["reason"]) == ("not run", "not counted: dtlb_misses")


def test_an_unknown_term_is_an_error(memory):
    with pytest.raises(StatsError, match="claim id: no event and no parameter 'bites' in"):
        judge(claim(measure=measure(("bites",))), memory)


def test_the_empty_bracket_is_taken_out(memory):
    empty = table(rows("r", "empty", counted(100)))
    row = judge(claim(measure=measure(("cycles.busy",), ("words",), 1)), pd.concat([memory, empty]))
    assert row["modelled"] == pytest.approx(0.9)


def test_seeds_are_averaged(memory):
    slow = memory[memory["run"] == "r"].assign(run="s", seed=1)
    slow["value"] *= 3
    row = judge(
        claim(measure=measure(("cycles.busy",), ("words",), 1)),
        pd.concat([memory, slow]),
        {**CLOCKS, "s": CLOCK_HZ},
    )
    assert row["modelled"] == pytest.approx(2)
    assert row["runs"] == "r s"


def test_the_headline_is_of_predicted_claims_only(memory):
    asked = [
        claim(400),
        claim(320, "about"),
        claim(300, "at least"),
        claim(500, "at least"),
        claim(800, role="fitted", keys=("l2.read",)),
        claim(800, role="input", keys=("l1d.size",)),
        claim(100, role="untestable", measure=None, reason="no"),
        claim(100, measure=measure(phases=("9 KB",))),
    ]
    asked = [dataclasses.replace(one, id=str(number)) for number, one in enumerate(asked)]
    found = claims.evaluate(asked, memory, CLOCKS, MACHINES)
    assert tuple(found.columns) == claims.COLUMNS
    assert found["claim"].tolist() == [one.id for one in asked]
    assert claims.headline(found) == {
        "claims": 4,
        "hold": 2,
        "values": 2,
        "mean_error": pytest.approx(12.5),
        "largest_error": pytest.approx(25),
        "bounds": 2,
        "kept": 1,
    }
    fitted = claims.headline(found, "fitted")
    assert (fitted["claims"], fitted["hold"], fitted["mean_error"]) == (1, 0, pytest.approx(50))


# --- shapes, other sides, relative speeds ---------------------------------------------------------


def curve(values, run="c", **other):
    """Returns a curve over numbers of processes, with the clocks of a switch."""
    return table(
        *(
            rows(
                run,
                f"{count} process{'es' if count > 1 else ''}",
                counted(clocks),
                parameters="order=ring switches=1",
                workload="ctx",
                **other,
            )
            for count, clocks in values.items()
        )
    )


def shape(tag, values, phases=()):
    asked = Measure("memory", "linux", "ctx", Selection({}, tuple(phases)), ("cycles.busy",))
    one = claim(math.nan, tag, unit="", measure=asked)
    return judge(one, curve(values), {"c": CLOCK_HZ})


@pytest.mark.parametrize(
    ("values", "modelled", "holding"),
    [
        ({2: 100, 10: 109, 100: 105}, {"flat": 1.09}, {"flat"}),
        ({2: 100, 10: 111, 100: 105}, {"flat": 1.11, "rises": 1, "falls": 1}, set()),
        ({2: 100, 10: 140, 100: 500}, {"flat": 5, "rises": 5}, {"rises", "linear"}),
        ({2: 100, 10: 400, 100: 500}, {"rises": 5, "falls": 1}, {"rises"}),
        ({2: 100, 10: 80, 100: 50}, {"falls": 0.5, "rises": 1}, {"falls"}),
        ({2: 100, 10: 102, 100: 105}, {"rises": 1.05}, {"flat"}),  # too small for a rise
        # The order is by number, not by text: 100 does not come between 10 and 2.
        ({100: 300, 2: 100, 10: 200}, {"rises": 3}, {"rises"}),
    ],
)
def test_shapes(values, modelled, holding):
    for tag in ("flat", "rises", "falls"):
        row = shape(tag, values)
        assert row["verdict"] == ("holds" if tag in holding else "does not hold"), tag
        assert math.isnan(row["published"]) and math.isnan(row["error"])
        if tag in modelled:
            assert row["modelled"] == pytest.approx(modelled[tag])


def test_linear_is_how_much_a_straight_line_explains():
    assert shape("linear", {1: 10, 2: 20, 3: 30, 4: 40})["modelled"] == pytest.approx(1)
    row = shape("linear", {1: 100, 2: 10, 3: 10, 4: 10})
    assert (row["modelled"], row["verdict"]) == (pytest.approx(0.6), "does not hold")


def test_a_shape_is_of_the_phases_that_are_named():
    values = {1: 10, 2: 100, 10: 105, 100: 102}
    assert shape("flat", values)["verdict"] == "does not hold"
    named = ("2 processes", "10 processes", "100 processes")
    assert shape("flat", values, named)["verdict"] == "holds"
    with pytest.raises(StatsError, match="claim id: expected a curve, found 1 points"):
        shape("flat", values, named[:1])


def test_shapes_count_as_claims_without_a_value():
    asked = Measure("memory", "linux", "ctx", Selection(), ("cycles.busy",))
    both = [claim(math.nan, tag, unit="", measure=asked) for tag in ("flat", "rises")]
    found = claims.evaluate(both, curve({2: 100, 10: 300}), {"c": CLOCK_HZ}, MACHINES)
    said = claims.headline(found)
    assert (said["claims"], said["hold"], said["values"], said["bounds"]) == (2, 1, 0, 0)


def test_points_of_a_curve():
    assert claims.size_of("1.5 KB") == 1536
    assert (claims.size_of("1 process"), claims.size_of("20 processes")) == (1, 20)
    assert claims.is_bytes("1 MB") and not claims.is_bytes("20 processes")
    for word in ("10 full", "no data", "20 processors"):
        assert not claims.is_size(word) and not claims.is_bytes(word)


def test_the_other_side_may_be_another_benchmark_guest_or_machine(memory):
    """A rate of 400 MB/s is divided by a rate of 100 MB/s. Each rate comes from a different kind of
    measurement.
    """
    other = table(
        rows("o", "chunks", counted(4000), parameters="megabytes=1", workload="pipe"),
        rows("g", "4 KB", counted(4000), guest="uml"),
        rows("m", "4 KB", counted(2000), machine="p200"),
    )
    frame = pd.concat([memory, other], ignore_index=True)
    clocks = CLOCKS | {"o": CLOCK_HZ, "g": CLOCK_HZ, "m": 2 * CLOCK_HZ}

    def over(**side):
        asked = claim(measure=measure(over=Selection(**side)))
        row = judge(asked, frame, clocks)
        return row["modelled"], row["runs"]

    pipe = {"workload": "pipe", "count": ("megabytes",), "times": 4000.0}
    assert over(phases=("chunks",), **pipe) == (pytest.approx(4), "r o")
    assert over(phases=("4 KB",), guest="uml") == (pytest.approx(4), "r g")
    assert over(phases=("4 KB",), machine="p200") == (pytest.approx(1), "r m")
    read = {"routine": "read"}
    assert over(parameters=read, phases=("4 KB",), per=(), times=1.0) == (pytest.approx(0.4), "r")
    missing = claim(measure=measure(over=Selection(experiment="none")))
    assert judge(missing, frame, clocks)["verdict"] == "not run"


def test_mips_relative_speed():
    """On ousterhout90's scale, a Pentium with 100 MHz has a speed of 112 * 100 / 66, and a Microvax
    II has a speed of 0.9.
    """
    rating = 112 * 100 / 66 / 0.9
    frame = table(rows("r", "call", counted(1000), workload="bandwidth"))
    time = measure(("microseconds",), (), 1.0, ("call",), base=207.0)
    assert judge(claim(measure=time), frame)["modelled"] == pytest.approx(20.7 / rating)
    rate = measure(("words",), ("microseconds",), 4.0, ("call",), base=3.3, bandwidth=True)
    assert judge(claim(measure=rate), frame)["modelled"] == pytest.approx(400 / 3.3 / rating)
