# SPDX-License-Identifier: MIT
"""`p5lab.run` with variants and several programs, figures of added columns and of CPI stacks, and
errors of one line in a notebook."""

import pandas as pd
import pytest
from fakelab import END, HEADER, snapshot
from test_program import elf

import p5lab
from p5lab.describe.markers import WHOLE_PHASE
from p5stats import StatsError

VARIANTS = {"as it is": {}, "write allocate": {"l1d.write_allocate": True}}


def texts(chart):
    """All texts of a figure's data."""
    data = chart.to_dict(format="vega-lite")["datasets"]
    return {str(value) for rows in data.values() for row in rows for value in row.values()}


def test_variants_are_a_column_with_their_names(here):
    table = p5lab.run("tests", workload="call", variants=VARIANTS, build=False)
    assert list(table["variant"].unique()) == list(VARIANTS)
    assert table.groupby("variant")["l1d.write_allocate"].first().tolist() == [False, True]
    numbers = p5lab.measure(table, "busy cycles")
    assert list(numbers["variant"]) == list(VARIANTS)
    found = p5lab.compare(numbers, variant="as it is")
    assert list(found["against"].unique()) == ["variant=as it is"]
    shown = texts(p5lab.plot(table, series="variant"))
    assert set(VARIANTS) <= shown
    assert not any("nan" in text for text in shown)


def test_variants_and_set_and_sweep_are_combined(here):
    table = p5lab.run(
        "tests",
        workload="call",
        set={"dram.size": "16M"},
        sweep={"l2.size": ["128K", "256K"]},
        variants=VARIANTS,
        build=False,
    )
    assert set(table.groupby(["variant", "l2.size"]).groups) == {
        (name, size) for name in VARIANTS for size in (131072, 262144)
    }
    assert set(table["dram.size"]) == {16 << 20}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variants": {}}, "variants: expected a dictionary"),
        ({"variants": ["a"]}, "variants: expected a dictionary"),
        ({"variants": {"a": 5}}, "variants: expected a dictionary"),
        ({"variants": {"a": {"l2.sise": 1}}}, "did you mean 'l2.size'"),
        ({"variants": {"a": {}, "b": {}}}, "has the same runs as another name; expected"),
        ({"stdin": "x"}, "stdin: expected with a program"),
        ({"program": "./a.c"}, "without a name: p5lab.run(program=[a, b])"),
        ({"what": None}, "without a name: p5lab.run(program=[a, b])"),
        ({"what": None, "program": [5]}, "found 5"),
    ],
)
def test_bad_input(here, arguments, message):
    with pytest.raises(p5lab.UserError) as caught:
        p5lab.run(**{"what": "tests", "workload": "call", "build": False} | arguments)
    assert message in str(caught.value)


def test_several_programs_are_compared(here, tmp_path):
    begin = snapshot("begin", WHOLE_PHASE, [500, 0, 100], [10, 0, 5])
    stop = snapshot("end", WHOLE_PHASE, [900, 0, 180], [90, 0, 45])
    here.behave(events={"@program": [HEADER, begin, stop, END]})
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(elf(segments=((1, name.encode()),)))
    programs = [tmp_path / "a", str(tmp_path / "b")]
    table = p5lab.run(program=programs, guest="toy", build=False)
    assert list(table["program"].unique()) == ["a", "b"]
    assert list(p5lab.measure(table, "busy cycles")["program"]) == ["a", "b"]
    assert {"a", "b"} <= texts(p5lab.plot(table))
    one = p5lab.run(program=tmp_path / "a", guest="toy", build=False)
    assert "program" not in one


def test_a_column_of_the_user_names_rows(here):
    table = p5lab.run("tests", workload="call", sweep={"l2.size": ["128K", "256K"]}, build=False)
    numbers = p5lab.measure(table, "busy cycles")
    numbers["mine"] = ["small", "large"]
    assert {"small", "large"} <= texts(p5lab.plot(numbers, series="mine"))
    numbers["mine"] = ["small", None]
    assert not any(text.lower() in ("nan", "none") for text in texts(p5lab.plot(numbers)))


def test_a_stack_is_a_figure_with_a_colour_for_each_large_component():
    parts = {f"cpi.part{number}": 10.0 * number for number in range(1, 15)}
    rows = [
        {"run": guest, "guest": guest, "workload": "w", "phase": "p", "ring": ring}
        | {"component": name, "cycles": value * factor}
        for guest, factor in (("linux", 1), ("mach", 2))
        for ring in (0, 3)
        for name, value in parts.items()
    ]
    chart = p5lab.plot(pd.DataFrame(rows))
    (data,) = chart.to_dict()["datasets"].values()
    drawn = pd.DataFrame(data)
    assert set(drawn["row"]) == {"linux", "mach"}
    assert set(drawn["series"]) == {*(f"part{number}" for number in range(6, 15)), "others"}
    assert drawn.groupby("row")["value"].sum().to_dict() == {"linux": 2100, "mach": 4200}
    with pytest.raises(p5lab.UserError, match="unknown column"):
        p5lab.plot(pd.DataFrame(rows), series="nothing")


def test_an_error_in_a_notebook_is_one_line():
    for error in (p5lab.UserError("what is wrong"), StatsError("what is wrong")):
        assert error._render_traceback_() == [f"{type(error).__name__}: what is wrong"]
