# SPDX-License-Identifier: MIT
"""Counts by call: boot sectors of our own in real and virtual-8086 mode, and system calls of Linux.

The number of calls is known from the programs. The cycles of a call are also measured by markers
around the same call, so two methods give the same number.
"""

import json
from collections import Counter
from itertools import zip_longest
from pathlib import Path

import pytest
from boot_sector import assembled, bootable, new_runs

from p5lab.cli import main as cli
from p5lab.describe import markers
from p5stats import events, observers
from p5stats.observers import OUTSIDE_CALLS

HERE = Path(__file__).parent
ROUNDS = 10
BOOT = markers.BOOT_PHASE
BY_IRET, BY_RETF, NESTED = 1, 2, 3


def boot_floppy(place, name):
    """Writes a floppy with an assembled boot sector."""
    floppy = place / f"{name}.img"
    floppy.write_bytes(bootable(assembled(HERE / f"{name}.S", place)))
    return floppy


def run(lab, *words):
    """Returns the directory of the only new run."""
    (made,) = new_runs(lab, *words)
    return made


@pytest.fixture(scope="module", params=["calls", "calls_v86"])
def sector(request, own_lab, tmp_path_factory):
    """The name of a boot sector and the directory of its run with --calls."""
    floppy = boot_floppy(tmp_path_factory.mktemp("boot"), request.param)
    words = ("--floppy", floppy, "--until", "the end", "--limit", "5")
    return request.param, run(own_lab, *words, "--calls"), words


def rows(directory, phase):
    """The counts of a phase by call and event, over all rings and address spaces."""
    frame = observers.read(directory / "calls.jsonl").frame
    sums = frame[frame["phase"] == phase].pivot_table("count", "call", "event", "sum", 0)
    return {call: Counter(dict(counts)) for call, counts in sums.iterrows()}


def inside(row, *names):
    """The counts of a call with the calls inside it."""
    return sum(row[f"total.{name}"] for name in names)


def brackets(directory):
    """The cycles and the crossings of each phase by markers."""
    parsed = events.parse(directory / "events.jsonl")
    names = list(parsed.units)
    found = {}
    for bracket in parsed.brackets:
        sums = found.setdefault(bracket.phase, dict.fromkeys(names, 0))
        for bank, counts in bracket.end.banks.items():
            before = bracket.begin.banks.get(bank, [])
            for name, now, then in zip_longest(names, counts, before, fillvalue=0):
                sums[name] += now - then
    return found


def total(counts, *names):
    return sum(counts[name] for name in names)


CYCLES = ("cycles.busy", "cycles.idle")
CROSSINGS = tuple(f"crossings.{how}" for how in ("int", "gate", "far", "iret", "async"))
MODES = tuple(f"mode_changes.{mode}" for mode in ("real", "v86", "16bit", "32bit"))


def test_all_counts_of_calls_and_the_rest_add_up(sector):
    _, directory, _ = sector
    frame = observers.read(directory / "calls.jsonl").frame
    sums = frame.groupby(["phase", "event"])["count"].sum()
    for phase, counted in brackets(directory).items():
        assert counted["cycles.busy"] > 0
        for event, count in counted.items():
            assert sums.get((phase, event), 0) == count, (phase, event)


def test_the_totals_are_the_counts_of_brackets_by_hand(sector):
    name, directory, _ = sector
    by_marker = brackets(directory)
    phases = {1: "60h"} if name == "calls_v86" else {BY_IRET: "60h", BY_RETF: "61h", NESTED: "62h"}
    for phase, vector in phases.items():
        found = rows(directory, phase)
        row = found[f"INT {vector}"]
        assert (row["calls"], row["returned"], row["waited"]) == (ROUNDS, ROUNDS, 0)
        assert by_marker[phase]["cycles.busy"] > 0
        for event, count in by_marker[phase].items():
            assert row.get(f"total.{event}", 0) == count, event
        assert total(found.get(OUTSIDE_CALLS, Counter()), *CYCLES) == 0


def test_every_call_is_counted(sector):
    name, directory, _ = sector
    found = rows(directory, BOOT)
    if name == "calls_v86":
        row = found["INT 60h"]
        # From virtual-8086 mode to 32-bit code in ring 0, and back.
        assert inside(row, *CROSSINGS) == inside(row, *MODES) == 2 * ROUNDS
        return
    # INT 62h calls both others.
    expected = {"60h": 2 * ROUNDS, "61h": 2 * ROUNDS, "62h": ROUNDS}
    for vector, number in expected.items():
        row = found[f"INT {vector}"]
        assert (row["calls"], row["returned"]) == (number, number)
    outer = found["INT 62h"]
    assert 0 < total(outer, *CYCLES) < inside(outer, *CYCLES)
    nested = rows(directory, NESTED)
    inner = [nested[f"INT {vector}"] for vector in expected]
    assert sum(total(one, *CYCLES) for one in inner) <= inside(outer, *CYCLES)

    start, end = found["INT 21h AH=4Bh exec"], found["INT 21h AH=4Ch exit"]
    assert (start["calls"], start["returned"]) == (ROUNDS, ROUNDS)
    assert (end["calls"], end["returned"]) == (ROUNDS, 0)
    assert inside(start, *CYCLES) == total(start, *CYCLES) + total(end, *CYCLES)
    assert found["exception 06h invalid opcode"]["returned"] == 1
    # The BIOS reads the boot sector inside INT 19h, which ends where the boot sector begins.
    boot = found["INT 19h boot"]
    assert (boot["calls"], boot["returned"]) == (1, 0)
    assert found["INT 10h AH=0Eh teletype"]["returned"] >= len("the end")


def test_the_events_are_the_same_without_the_observer(sector, own_lab):
    _, directory, words = sector
    plain = run(own_lab, *words)
    assert not (plain / "calls.jsonl").exists()
    assert (plain / "events.jsonl").read_bytes() == (directory / "events.jsonl").read_bytes()


def test_the_table_fits_a_terminal(sector, own_lab, capsys):
    name, directory, _ = sector
    assert cli.main(["show", directory.name, "--calls"], own_lab) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "INT 60h" in said
    if name == "calls":
        assert "INT 21h AH=4Bh exec" in said
    assert cli.main(["show", directory.name, "--calls", "--per", "all", "--json"], own_lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    by_marker = brackets(directory)[BOOT]
    busy = [row["value"] for row in rows if row["metric"] == "busy cycles" and not row["call"]]
    assert by_marker["cycles.busy"] in busy


def test_linux_system_calls(own_lab, capsys):
    made = run(own_lab, "smoke", "--workload", "getpid", "--calls")
    parsed = events.parse(made / "events.jsonl")
    measured = [one for one in parsed.brackets if one.phase == 0]
    getpid = rows(made, 0)["getpid"]
    assert getpid["calls"] == getpid["returned"] == len(measured) > 0
    assert total(getpid, *CROSSINGS) == 2 * getpid["calls"]
    capsys.readouterr()
    assert cli.main(["show", made.name, "--calls"], own_lab) == 0
    assert "getpid" in capsys.readouterr().out


def test_machine_modes(sector, own_lab, capsys):
    name, directory, words = sector
    made = run(own_lab, *words, "--modes")
    assert (made / "events.jsonl").read_bytes() == (directory / "events.jsonl").read_bytes()
    frame = observers.read(made / "modes.jsonl", ("mode",)).frame
    by_marker = brackets(made)
    for (phase, event), count in frame.groupby(["phase", "event"])["count"].sum().items():
        if not event.startswith("vector."):
            assert count == by_marker[phase][event], (phase, event)
    # All code of the brackets is in these modes.
    busy = frame[(frame["phase"] == 1) & (frame["event"] == "instructions")]
    found = busy.groupby(["mode", "ring"])["count"].sum().to_dict()
    handler = 5  # instructions
    if name == "calls_v86":
        assert found == {("v86", 3): ROUNDS, ("prot32", 0): handler * ROUNDS}
    else:
        assert set(found) == {("real", 0)}
    vectors = frame[frame["event"].str.startswith("vector.")]
    rings = {"calls": ("real", 0, 2 * ROUNDS), "calls_v86": ("v86", 3, ROUNDS)}
    soft = vectors[(vectors["phase"] == BOOT) & (vectors["event"] == f"vector.soft.{0x60}")]
    assert [(one.mode, one.ring, one.count) for one in soft.itertuples()] == [rings[name]]
    if name == "calls":
        refused = vectors[vectors["event"] == "vector.fault.6"]
        assert [(one.mode, one.ring, one.count) for one in refused.itertuples()] == [("real", 0, 1)]
    capsys.readouterr()
    assert cli.main(["show", made.name, "--modes"], own_lab) == 0
    said = capsys.readouterr().out
    assert "v86" in said if name == "calls_v86" else "exception 06h" in said
