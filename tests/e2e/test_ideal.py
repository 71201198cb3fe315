# SPDX-License-Identifier: MIT
"""Ideal parts in real runs: fewer cycles, the same instructions and the same misses."""

import json

import pytest

from p5lab.cli import main as cli
from p5lab.describe import ideal
from p5lab.keep import store
from p5stats import declared, tidy

PARTS = ("l1i", "dtlb")
# The components of a run on which all parts of the processor and memory are ideal. All others have
# a switch, or wait for a part that has one.
REMAIN = {
    *("cpi.pairs", "cpi.single.first", "cpi.single.second", "cpi.single.other"),
    *("cpi.long", "cpi.x87", "cpi.x87.waits", "cpi.strings", "cpi.segments", "cpi.transfers"),
    *("cpi.interrupts", "cpi.serializing", "cpi.ports", "cpi.prefixes", "cpi.agi", "cpi.banks"),
    *("cpi.misaligned", "cpi.uncached"),
}


@pytest.fixture(scope="module")
def made(own_lab):
    """The runs of --ideal, by their ideal parts."""
    words = ["run", "smoke", "--workload", "dup", "--guest", "linux", "--cpi", "--no-build"]
    assert cli.main([*words, "--ideal", ",".join(PARTS)], own_lab) == 0
    found = store.all_runs(own_lab, "smoke")
    return {ideal.of(one.record["machine"]["values"]): one for one in found}


def counts(stored):
    """The counts of the brackets without an interrupt, by iteration and event."""
    frame, _ = tidy.read_run(stored.directory)
    wide = frame[frame["phase"] != "empty"].pivot_table(
        index=["phase", "iteration"], columns="event", values="value", aggfunc="sum", fill_value=0
    )
    return wide[wide["hw_interrupts"] == 0]


def test_a_part_that_is_ideal_costs_nothing_and_misses_as_before(made):
    assert set(made) == {frozenset(), *(frozenset({part}) for part in PARTS), frozenset(PARTS)}
    plain = counts(made[ideal.PLAIN])
    same = [one.name for one in declared.events().values() if one.depends == "program"]
    for parts, components in (
        ({"l1i"}, ["cpi.code.l2", "cpi.code.dram", "cpi.code.fill"]),
        ({"dtlb"}, ["cpi.dtlb"]),
        (set(PARTS), ["cpi.code.l2", "cpi.code.dram", "cpi.code.fill", "cpi.dtlb"]),
    ):
        own = counts(made[frozenset(parts)])
        assert (own[components] == 0).all(axis=None)
        both = plain.index.intersection(own.index)
        assert len(both) > 1
        events = [name for name in same if name in plain and name in own]
        assert (own.loc[both, events] == plain.loc[both, events]).all(axis=None)
        # A part without time can move a later access to another clock of the bus.
        if "l1i" in parts:
            assert own["cycles.busy"].mean() < plain["cycles.busy"].mean()


def test_the_costs_are_shown(own_lab, made, capsys):
    assert cli.main(["show", "smoke", "--ideal"], own_lab) == 0
    said = capsys.readouterr().out
    assert "cycles that each part costs" in said
    assert "with all ideal" in said
    assert cli.main(["show", "smoke", "--ideal", "--json"], own_lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["part"] for row in rows] == list(PARTS)
    assert all(row["alone"] is not None and row["last"] is not None for row in rows)
    assert cli.main(["run", "smoke", "--ideal", "l1x"], own_lab) == 2
    assert "l1x" in capsys.readouterr().err


def test_with_all_parts_ideal_only_the_instructions_own_clocks_remain(own_lab):
    settings = [
        word
        for part in ideal.PARTS
        if part != "network"  # The machine has no card.
        for word in ("--set", f"ideal.{part}=true")
    ]
    words = ["run", "smoke", "--workload", "dup", "--guest", "linux", "--cpi", "--no-build"]
    assert cli.main([*words, *settings], own_lab) == 0
    (found,) = (
        one
        for one in store.all_runs(own_lab, "smoke")
        if len(ideal.of(one.record["machine"]["values"])) == len(ideal.PARTS) - 1
    )
    frame, _ = tidy.read_run(found.directory)
    total = frame.groupby("event")["value"].sum()
    components = total[total.index.str.startswith("cpi.")]
    assert set(components.index) > REMAIN
    assert set(components[components > 0].index) <= REMAIN
    assert components[sorted(REMAIN)].sum() == total["cycles.busy"]
