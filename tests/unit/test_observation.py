# SPDX-License-Identifier: MIT
"""Observations of a run. Each kind of observation parses its own options, and writes and reads its
own part of a record.
"""

import argparse

import pytest

from p5lab.cli import main as cli
from p5lab.describe import experiment, observation
from p5lab.describe.observation import (
    KINDS,
    AttributedCounts,
    BlockVectors,
    Capture,
    Cpi,
    Geometries,
    IntervalCounts,
    Joint,
    NominalClocks,
    Observation,
    PowerCut,
    Region,
    Sample,
    SampledInterval,
    Shadow,
    Trace,
    plugged,
)
from p5lab.describe.request import Filter
from p5lab.errors import UserError

SAMPLE = Sample(
    (SampledInterval(0, 0, 100, 250), SampledInterval(4, 400, 500, 250)), 7, "0 0\n", "1 0\n"
)
WISHES = [
    Geometries((Shadow("large", {"l2.size": "512K"}),)),
    Trace(("crossings", "accesses"), 5),
    BlockVectors(1000),
    AttributedCounts(("functions", "stacks")),
    *(kind() for kind in plugged.KINDS.values()),
    Joint(("attribute", "calls", "modes")),
    Cpi(),
    NominalClocks(),
    IntervalCounts(1000),
    Region("main"),
    SAMPLE,
    PowerCut(1_250_000),
    Capture(),
]
# The member `request` of a record of p5lab 0.1.0.
REQUEST = {
    "limit_seconds": 120,
    "given": [],
    "trace": [],
    "accesses": 10000000,
    "model": True,
    "feedback": True,
    "vectors": 0,
    "power_cut": 0,
    "pcap": False,
    "attribute": [],
    "sample": None,
}
# Members that later versions have added.
LATER = {"region": "", "calls": False, "cpi": False, "clocks": "", "interval": 0}
LATER |= dict.fromkeys(plugged.KINDS, False)
LATER |= {"vector_events": False, "joint": []}


def parsed(*words):
    parser = argparse.ArgumentParser()
    observation.add_options(parser)
    return Observation.parse(parser.parse_args(words))


def test_every_kind_is_tried_here():
    assert tuple(map(type, WISHES)) == KINDS


def test_options():
    assert parsed() == Observation()
    assert not parsed()
    assert parsed("--trace", "accesses", "--accesses", "5", "--trace", "crossings").wishes == (
        Trace(("accesses", "crossings"), 5),
    )
    assert parsed("--pcap", "--power-cut", "1.25", "--bbv", "1000").wishes == (
        BlockVectors(1000),
        PowerCut(1_250_000),
        Capture(),
    )
    wanted = parsed("--attribute", "stacks", "--attribute", "functions", "--attribute", "stacks")
    assert wanted.get(AttributedCounts) == AttributedCounts(("functions", "stacks"))
    assert wanted.get(Trace) is None
    with pytest.raises(UserError, match="--accesses: expected a whole number, at least 1"):
        parsed("--accesses", "0")


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: type(wish).__name__)
def test_a_record_gives_a_wish_back(wish):
    asked = Observation.of(wish)
    shadows = {one.name: one.settings for one in getattr(wish, "geometries", ())}
    record = {"machine": {"shadows": shadows}, "request": REQUEST | asked.recorded()}
    assert Observation.of_record(record) == asked
    assert asked.recorded().keys() == (REQUEST | LATER).keys() - {
        "limit_seconds",
        "given",
        "model",
        "feedback",
    }


def test_records_of_before_are_read():
    assert Observation.of_record({"machine": {}, "request": REQUEST}) == Observation()
    assert Observation().recorded().items() <= (REQUEST | LATER).items()
    older = {"trace": ["crossings"], "accesses": 3}  # from a version without the other kinds
    assert Observation.of_record({"machine": {}, "request": older}).wishes == (
        Trace(("crossings",), 3),
    )


def test_wishes_stand_in_one_order():
    assert Observation.of(*reversed(WISHES), None).wishes == tuple(WISHES)
    assert Observation.of(Capture()).with_(BlockVectors(5)).wishes == (BlockVectors(5), Capture())


def test_a_wish_that_sets_a_run_apart_does_so_by_its_lines(lab):
    (run,) = experiment.load(lab, "tests", Filter(workloads=("call",)))
    for wish in WISHES:
        lines = wish.boot() | wish.job()
        # These have a key only for what they record.
        assert lines.keys() >= set(wish.apart) or isinstance(wish, Trace | AttributedCounts | Joint)
        record = {"identity": {"settings": {"engine.conf": wish.boot(), "job": wish.job()}}}
        assert bool(observation.apart(record)) == bool(wish.apart)
    assert (
        observation.apart({"identity": {"settings": {"engine.conf": {"run.job": run.job}}}}) == {}
    )


@pytest.mark.parametrize(
    "wish", [plugged.KINDS["calls"](), Cpi(), IntervalCounts(1000)], ids=lambda one: one.option
)
def test_some_kinds_are_not_possible_in_a_sampled_run(lab, wish):
    """Such a run simulates only some intervals in detail (`./p5lab simpoint`)."""
    (run,) = experiment.load(lab, "tests", Filter(workloads=("call",)))
    Observation.of(SAMPLE).check(run)
    with pytest.raises(UserError, match=f"^{wish.option} and simpoint cannot share one run$"):
        Observation.of(SAMPLE, wish).check(run)


def test_one_kind_at_a_time_hears_of_every_access():
    error = "here: --trace accesses and --attribute misses.* cannot share one run"
    with pytest.raises(UserError, match=error):
        Observation.of(Trace(("accesses",)), AttributedCounts(("misses",))).check_together("here")
    Observation.of(Trace(("crossings",)), AttributedCounts(("misses",))).check_together("here")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pcap",), "--pcap: expected a machine with a network card"),
        (("--power-cut", "1", "--set", "disk.count=0"), "--power-cut: expected a machine with"),
        (("--trace", "accesses", "--guest", "wide"), "guest wide is for x86-64"),
        (
            ("--attribute", "misses", "--guest", "wide"),
            "--trace misses, --by cause): expected a guest",
        ),
    ],
)
def test_a_machine_or_guest_that_lacks_something(lab, capsys, words, said):
    toy = (lab.guests / "toy/guest.toml").read_text()
    wide = toy.replace('"pentium"', '"x86-64"').replace('name = "toy"', 'name = "wide"')
    lab._put("guest-images/wide/guest.toml", wide)
    assert cli.main(["run", "tests", "--no-build", *words], lab) == 2
    assert said in capsys.readouterr().err


def counted(*words):
    """Returns the observations of a command line of `run`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--by", default="")
    observation.add_options(parser)
    args = parser.parse_args(words)
    observation.count_by(args, filter(None, args.by.split(",")), "--by")
    return Observation.parse(args)


@pytest.mark.parametrize(
    ("by", "of"),
    [
        ("ring", ()),
        ("mode,ring", ()),
        ("function,component", ()),
        ("call", ()),
        ("call,mode", ("calls", "modes")),
        ("call,line,ring", ("attribute", "calls")),
    ],
)
def test_dimensions_of_several_observers_are_counted_jointly(by, of):
    found = counted("--by", by).get(Joint)
    assert (found.of if found else ()) == of
    if found:
        lines = found.job()
        others = " ".join(name for name in of if name != "attribute")
        own = {"run.joint": "joint.jsonl", "run.joint_of": others}
        assert lines == ({"run.attribution_joint": others} if "attribute" in of else own)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--joint", "cals"), "cals.*calls"),
        (("--by", "cal"), "^--by: .*cal.*call"),
        (("--joint", "calls,modes", "--calls"), "expected also --modes"),
        (("--joint", "attribute", "--attribute", "functions"), "a second option"),
    ],
)
def test_wrong_joint_counts(words, said):
    with pytest.raises(UserError, match=said):
        counted(*words)
