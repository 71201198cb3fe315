# SPDX-License-Identifier: MIT
"""Sweeps: the expansion of [[sweep]] and --sweep, and every kind of mistake."""

import pytest
from fakelab import EXPERIMENT
from test_experiment import with_experiment

from p5lab.describe import sweep
from p5lab.describe.request import Filter
from p5lab.errors import UserError

MISSES = EXPERIMENT.replace('title = "tests"', 'title = "tests"\nevents = "misses"')


def geometries(runs, workload="call"):
    return [run.machine.geometry for run in runs if run.workload.name == workload]


def test_a_grid_is_every_combination(lab):
    text = EXPERIMENT + '[[sweep]]\ngrid = { l2.size = ["128K", "512K"], l2.ways = [1, 2] }\n'
    runs = with_experiment(lab, text)
    assert geometries(runs) == [
        f"l2.size={size} l2.ways={ways}" for size in (131072, 524288) for ways in (1, 2)
    ]
    assert len(runs) == 8


def test_zipped_lists_go_together(lab):
    text = EXPERIMENT + '[[sweep]]\nzip = { l1i.size = ["4K", "16K"], "l1d.size" = ["4K", "16K"] }'
    assert geometries(with_experiment(lab, text)) == [
        "l1d.size=4096 l1i.size=4096",
        "l1d.size=16384 l1i.size=16384",
    ]


def test_a_list_is_taken_as_it_stands_and_sweeps_multiply(lab):
    text = EXPERIMENT + (
        '[[sweep]]\nlist = [{ l2.present = false }, { l2.size = "1M", l2.ways = 4 }]\n'
        "[[sweep]]\ngrid = { dtlb.entries = [64, 128] }\n"
    )
    assert geometries(with_experiment(lab, text)) == [
        "dtlb.entries=64 l2.present=false",
        "dtlb.entries=128 l2.present=false",
        "dtlb.entries=64 l2.size=1048576 l2.ways=4",
        "dtlb.entries=128 l2.size=1048576 l2.ways=4",
    ]


def test_overlays_and_sweeps_multiply(lab):
    text = EXPERIMENT + (
        "[[overlay]]\nset = { l2.ways = 1 }\n[[overlay]]\nset = { l2.ways = 2 }\n"
        '[[sweep]]\ngrid = { l2.size = ["128K", "512K"] }\n'
    )
    assert [one.split()[::-1] for one in geometries(with_experiment(lab, text))] == [
        [f"l2.ways={ways}", f"l2.size={size}"] for ways in (1, 2) for size in (131072, 524288)
    ]


def test_parameters_are_for_the_workloads_that_have_them(lab):
    text = EXPERIMENT + "[[sweep]]\ngrid = { parameters.loads = [5, 20] }\n"
    runs = with_experiment(lab, text)
    assert [run.job for run in runs] == [
        "call iterations=3",
        "chase loads=5 size=1024 placement=guest",
        "chase loads=20 size=1024 placement=guest",
    ]
    assert runs[2].label == "chase guest loads=20, toy, p90-premiere2"


def test_the_command_line_sweeps_too(lab):
    sweeps = sweep.parse(["l2.size=128K, 512K", "parameters.loads=5,20"])
    runs = with_experiment(lab, EXPERIMENT, Filter(sweeps=sweeps, workloads=("chase",)))
    assert [(run.machine.geometry, run.parameters["loads"]) for run in runs] == [
        (f"l2.size={size}", loads) for size in (131072, 524288) for loads in (5, 20)
    ]


def test_seeds_can_be_a_range(lab):
    text = EXPERIMENT.replace('guests = ["toy"]', 'guests = ["toy"]\nseeds = "0-2,7"')
    assert [run.seed for run in with_experiment(lab, text)[::2]] == [0, 1, 2, 7]
    with pytest.raises(
        UserError, match=r"tests.toml:6: seeds: expected at most 1000 whole numbers"
    ):
        with_experiment(lab, text.replace("0-2,7", "3-1"))


def test_points_of_misses_are_shadows_of_one_run(lab):
    text = MISSES + (
        '[[sweep]]\ngrid = { l2.size = ["128K", "512K"], l2.ways = [1, 2] }\n'
        "[[sweep]]\ngrid = { parameters.loads = [5, 20] }\n"
    )
    runs = with_experiment(lab, text)
    assert [run.job.split()[0] for run in runs] == ["call", "chase", "chase"]
    for run in runs:
        assert [shadow.name for shadow in run.shadows] == [
            f"l2.size={size},l2.ways={ways}" for size in ("128K", "512K") for ways in (1, 2)
        ]
        assert run.machine.geometry == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('grid = { l2.seze = ["1M"] }', "unknown machine key 'l2.seze'; did you mean 'l2.size'"),
        ('grid = { l2.size = "1M" }', r"sweep\[0\]: grid: l2.size: expected a list of values"),
        ("grid = { l2.size = [] }", r"sweep\[0\]: grid: l2.size: expected a list of values"),
        ("grid = {}", r"sweep\[0\]: expected at least one key"),
        ("list = []", r"sweep\[0\]: expected at least one key"),
        ("list = [1]", r"sweep\[0\]: list\[0\]: expected a table"),
        ("grad = { l2.ways = [1] }", "unknown key 'grad'; did you mean 'grid'"),
        ("grid = { l2.ways = [1] }\nlist = [{ l1d.ways = 2 }]", "expected one of grid, zip and"),
        ("zip = { l2.ways = [1, 2], l1d.ways = [2] }", "l2.ways has 2, l1d.ways has 1"),
        ("grid = { parameters.lods = [1] }", "unknown parameter 'lods'; did you mean 'loads'"),
        (
            "grid = { parameters.loads = [0] }",
            r":12: sweep\[0\]: grid.*: loads: expected a whole number of loads, at least",
        ),
        ("grid = { l2.size = [3000] }", "l2.size = 3000: expected 1 way x 32 bytes"),
        (
            "grid = { l2.ways = [1] }\n[[sweep]]\ngrid = { l2.ways = [2] }",
            r":14: sweep\[1\]: grid: l2.ways: .*:12: sweep\[0\]: grid already sweeps this key",
        ),
        ("grid = { l2.ways = [%s], l1d.ways = [%s] }" % (("1, " * 400,) * 2), "at most 100,000"),
    ],
)
def test_wrong_sweeps_say_what_and_where(lab, text, message):
    with pytest.raises(UserError, match=message):
        with_experiment(lab, EXPERIMENT + "[[sweep]]\n" + text)


@pytest.mark.parametrize("option", ["l2.size", "=1", "l2.size=", "l2.size=1,,2"])
def test_wrong_options_are_refused(option):
    with pytest.raises(UserError, match=r"--sweep .*: expected KEY=VALUE,VALUE"):
        sweep.parse([option])


def test_a_wrong_value_of_a_parameter_names_the_option(lab):
    with pytest.raises(UserError, match=r"^--sweep: loads: expected a whole number of loads"):
        with_experiment(lab, EXPERIMENT, Filter(sweeps=sweep.parse(["parameters.loads=5,0"])))


def test_a_key_is_swept_or_set():
    with pytest.raises(UserError, match=r"--set l2\.size: --sweep already sweeps this key"):
        Filter(settings=(("l2.size", "256K"),), sweeps=sweep.parse(["l2.size=128K,512K"]))


def test_misses_have_no_clocks_to_sweep(lab):
    text = MISSES + "[[sweep]]\ngrid = { cpu.bus_mhz = [60, 66] }\n"
    with pytest.raises(UserError, match=r"cpu.bus_mhz: expected a key of the geometry"):
        with_experiment(lab, text)


def test_no_sweep_on_the_host_itself(lab):
    with pytest.raises(UserError, match="--sweep: expected without --engine native"):
        with_experiment(lab, EXPERIMENT, Filter(engine="native", sweeps=sweep.parse(["l2.ways=1"])))
