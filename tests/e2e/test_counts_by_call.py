# SPDX-License-Identifier: MIT
"""Counts by call: boot sectors of our own in real and virtual-8086 mode, and system calls of Linux.

The number of calls is known from the programs. The cycles of a call are also measured by markers
around the same call, so two methods give the same number.
"""

import json
from itertools import zip_longest
from pathlib import Path

import pytest
from boot_sector import assembled, bootable, new_runs

from p5lab.cli import main as cli
from p5lab.describe import markers
from p5stats import calls, events, observers

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
    """The counts of a phase by kind, vector and function."""
    found = calls.read(directory / "calls.jsonl")[phase]
    return {(one.kind, one.vector, one.function): one for one in found.calls}


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


def test_exclusive_cycles_and_the_rest_add_up(sector):
    _, directory, _ = sector
    by_marker = brackets(directory)
    for number, phase in calls.read(directory / "calls.jsonl").items():
        own = [one.exclusive for one in phase.calls] + [phase.outside]
        counted = by_marker[number]
        assert sum(one.cycles for one in own) == phase.cycles == total(counted, *CYCLES)
        assert sum(one.idle for one in own) == counted["cycles.idle"]
        assert sum(one.crossings for one in own) == total(counted, *CROSSINGS)
        assert sum(one.mode_changes for one in own) == total(counted, *MODES)


def test_inclusive_cycles_are_those_of_brackets_by_hand(sector):
    name, directory, _ = sector
    by_marker = brackets(directory)
    phases = {1: 0x60} if name == "calls_v86" else {BY_IRET: 0x60, BY_RETF: 0x61, NESTED: 0x62}
    for phase, vector in phases.items():
        row = rows(directory, phase)["int", vector, None]
        assert (row.calls, row.returned, row.waited) == (ROUNDS, ROUNDS, 0)
        assert row.inclusive.cycles == total(by_marker[phase], *CYCLES) > 0
        assert calls.read(directory / "calls.jsonl")[phase].outside.cycles == 0


def test_every_call_is_counted(sector):
    name, directory, _ = sector
    found = rows(directory, BOOT)
    if name == "calls_v86":
        row = found["int", 0x60, None]
        # From virtual-8086 mode to 32-bit code in ring 0, and back.
        assert (row.inclusive.crossings, row.inclusive.mode_changes) == (2 * ROUNDS, 2 * ROUNDS)
        return
    # INT 62h calls both others.
    expected = {0x60: 2 * ROUNDS, 0x61: 2 * ROUNDS, 0x62: ROUNDS}
    for vector, number in expected.items():
        row = found["int", vector, None]
        assert (row.calls, row.returned) == (number, number)
    outer = found["int", 0x62, None]
    assert 0 < outer.exclusive.cycles < outer.inclusive.cycles
    inner = [rows(directory, NESTED)["int", vector, None] for vector in (0x60, 0x61, 0x62)]
    assert sum(one.exclusive.cycles for one in inner) <= outer.inclusive.cycles

    start, end = found["int", 0x21, 0x4B], found["int", 0x21, 0x4C]
    assert (start.calls, start.returned) == (ROUNDS, ROUNDS)
    assert (end.calls, end.returned) == (ROUNDS, 0)
    assert start.inclusive.cycles == start.exclusive.cycles + end.exclusive.cycles
    assert found["exception", 6, None].returned == 1
    # The BIOS reads the boot sector inside INT 19h, which ends where the boot sector begins.
    boot = found["int", 0x19, None]
    assert (boot.calls, boot.returned) == (1, 0)
    assert found["int", 0x10, 0x0E].returned >= len("the end")


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
    getpid = rows(made, 0)["int", 0x80, 20]
    assert getpid.calls == getpid.returned == len(measured) > 0
    assert getpid.exclusive.crossings == 2 * getpid.calls
    by_marker = brackets(made)
    for number, phase in calls.read(made / "calls.jsonl").items():
        if number in by_marker:
            assert phase.cycles == total(by_marker[number], *CYCLES)
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
