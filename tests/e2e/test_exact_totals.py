# SPDX-License-Identifier: MIT
"""Counts by dimension of real runs: for every two dimensions that do not exclude each other, the
sums are the counts at the markers."""

from itertools import combinations

import duckdb
import pandas as pd
import pytest
from boot_sector import new_runs

from p5stats import dimensions, tidy
from p5stats.dimensions import DIMENSIONS, OBSERVERS, OWN_EVENTS

ALL = ("--cpi", "--calls", "--modes", "--threads", "--attribute", "stacks", "--attribute", "misses")


@pytest.fixture(scope="module")
def runs(own_lab):
    """Runs with every observer, jointly with and without functions. Crossings need a run of their
    own."""
    words = ("smoke", "--workload", "exec-static", "--no-build")
    return [
        *new_runs(own_lab, *words, *ALL, "--joint", "attribute,calls,modes,threads"),
        *new_runs(own_lab, *words, "--cpi", "--by", "call,mode,interval", "--interval", "99991"),
        *new_runs(own_lab, *words, "--cpi", "--trace", "crossings"),
    ]


def test_the_sums_over_any_two_dimensions_are_the_counts_at_the_markers(runs):
    checked = set()
    for directory in runs:
        read = [
            (one, dimensions.read(directory, one))
            for one in OBSERVERS
            if (directory / one.file).exists()
        ]
        marked = read[0][1].frame.groupby(["phase", "event"])["count"].sum()
        for pair in combinations(DIMENSIONS, 2):
            for observer, counted in read:
                if observer.has(pair) and check(counted, pair, marked):
                    checked.add(pair)
    assert len(checked) >= 60
    checked |= {(other, one) for one, other in checked}
    assert {("call", "function"), ("call", "mode"), ("function", "mode")} <= checked
    assert {("thread", "function"), ("thread", "call"), ("thread", "space")} <= checked
    assert {("call", "interval"), ("interval", "mode"), ("component", "interval")} <= checked
    assert {("call", "ring"), ("call", "space"), ("call", "component")} <= checked


def test_one_file_has_the_counts_of_all_observers(runs):
    """Without a function of p5lab: pandas and DuckDB read counts.parquet."""
    found = set()
    for directory in runs:
        path = directory / tidy.COUNTS
        rows = pd.read_parquet(path)
        of = {name: own.groupby("event")["value"].sum() for name, own in rows.groupby("observer")}
        for name in of.keys() & {"attribution", "calls", "joint", "modes", "threads"}:
            for event, count in of["markers"].items():
                if name != "attribution" or not event.startswith(tidy.VECTOR):
                    assert of[name].get(event, 0) == count, (directory, name, event)
        sql = f"SELECT observer, sum(value) FROM '{path}' WHERE event = 'cycles.busy' GROUP BY ALL"
        for name, busy in duckdb.sql(sql).fetchall():
            assert busy == of[name]["cycles.busy"]
        found |= of.keys()
    assert found == {one.name for one in OBSERVERS}


def test_joint_counts_by_call_are_the_counts_by_call(runs):
    """For each event. The observers find the times of a call each by itself."""
    (by_call,) = (one for one in OBSERVERS if one.name == "calls")
    found = 0
    for directory in runs:
        for joint in (dimensions.JOINT, dimensions.JOINT_BY_FUNCTION):
            if not (directory / joint.file).exists() or not (directory / by_call.file).exists():
                continue
            counted = dimensions.read(directory, joint)
            calls = dimensions.read(directory, by_call)
            both = {*counted.events} & {*calls.events}  # misses by cause are by function only
            of_calls = sums_by_call(calls, both)
            assert of_calls == sums_by_call(counted, both)
            found += len(of_calls)
    assert found > 10


def check(counted, pair, marked):
    """Whether the observer counted by a pair. Its sums must be the counts at the markers."""
    try:
        found = dimensions.divided(counted, pair)
    except dimensions.NotCounted:
        return False
    sums = found.frame.groupby(["phase", "event"])["count"].sum()
    phase, event = (marked.index.get_level_values(name) for name in ("phase", "event"))
    own = event.isin(set(found.events) - set(OWN_EVENTS))
    # Crossings of empty brackets are not traced.
    wanted = marked[own & phase.isin(found.frame["phase"].unique())]
    there = sums.reindex(wanted.index, fill_value=0)
    assert (there == wanted).all(), (pair, wanted[there != wanted])
    return True


def sums_by_call(counted, events):
    """The counts of these events by event, kind and call that are not zero."""
    rows = counted.frame[counted.frame["event"].isin(events)]
    sums = rows.groupby(["event", "kind", "call"])["count"].sum()
    return {key: count for key, count in sums.items() if count}
