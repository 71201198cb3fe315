# SPDX-License-Identifier: MIT
"""Traces of misses: who took a line away, the choice of a typical bracket, damaged files, and what
`show --misses` prints."""

import json

import pytest
from fakelab import written

from p5stats import StatsError, misses, profiles

SITES = [
    {"type": "site", "id": 0, "function": "main\tdup.c:7", "module": "/bin/dup", "instruction": 64},
    {"type": "site", "id": 1, "function": "sys_dup", "module": "linux", "instruction": 4096},
    {"type": "site", "id": 2, "function": "[unknown]", "module": "[unknown]", "instruction": 0},
]


def miss(tsc, event="code_misses", **other):
    """A conflict miss of main, whose line sys_dup has evicted 300 clocks before."""
    return {
        "type": "miss",
        "tsc": tsc,
        "clocks": 12,
        "site": 0,
        "event": event,
        "cause": "conflict",
        "address": 0x5000,
        "use": "code",
        "loaded": [0, tsc - 700, 0x5000],
        "lost": [1, tsc - 300, 0x7000],
        "by": "code",
    } | other


def bracket(begin, *inside, phase=0, beyond=0):
    return [
        {"type": "begin", "phase": phase, "tsc": begin, "beyond": 0},
        *inside,
        {"type": "leave", "phase": phase, "tsc": begin + 500, "beyond": beyond},
    ]


def lines(*brackets):
    inside = [line for one in brackets for line in one]
    return [{"type": "header", "schema_version": 1}, *SITES, *inside, {"type": "end"}]


@pytest.fixture
def read(tmp_path):
    def of(found):
        written(tmp_path / "misses.jsonl", found)
        return misses.read(tmp_path / "misses.jsonl")

    return of


def test_a_miss_knows_who_took_its_line(read):
    first = miss(1100, cause="compulsory", loaded=None, lost=None)
    del first["by"]
    boot = miss(1300, loaded=[2, 0, 0x5000], lost=[2, 0, 0x5000], use="data", by="device")
    found = read(lines(bracket(1000, first, miss(1200, "l2_read_misses"), boot)))
    never, evicted, early = misses.rows(found[0][0])
    assert (never["at"], never["function"], never["module"]) == (100, "main", "/bin/dup")
    assert {never[name] for name in ("loaded_by", "loaded_before", "lost_to", "lost_at")} == {None}
    assert (evicted["loaded_by"], evicted["loaded_before"]) == ("main", 700)
    assert (evicted["lost_to"], evicted["lost_at"], evicted["lost_before"]) == (
        "sys_dup",
        4096,
        300,
    )
    assert (early["lost_to"], early["lost_at"], early["lost_before"]) == ("[unknown]", None, None)
    assert [one.array for one in found[0][0].misses] == ["L1I", "L2 read", "L1I"]
    frame = misses.frame(found)
    assert list(frame["iteration"]) == [0, 0, 0]
    assert list(frame["by"]) == ["", "code", "device"]


def test_a_bracket_has_the_misses_of_those_inside(read):
    inner = bracket(1100, miss(1200), phase=1, beyond=2)
    found = read(lines(bracket(1000, miss(1050), *inner, miss(1700), beyond=1)))
    assert [one.tsc for one in found[0][0].misses] == [1050, 1200, 1700]
    assert [one.tsc for one in found[1][0].misses] == [1200]
    assert (found[0][0].beyond, found[1][0].beyond) == (3, 2)
    trace = profiles.trace({}, None, 1_000_000, {"outer": found[0], "inner": found[1]})
    slices = [one["name"] for one in trace["traceEvents"] if one["ph"] == "X"]
    assert sorted(slices) == ["inner", "main", "main", "main", "outer"]


def test_the_typical_bracket(read):
    cold = bracket(1000, miss(1100), miss(1200))
    warm = [bracket(begin, miss(begin + 50)) for begin in (2000, 3000, 4000)]
    found = read(lines(cold, *warm, bracket(5000, beyond=3)))[0]
    assert misses.typical(found).begin == 3000
    different = read(lines(cold, warm[0], bracket(5000)))[0]
    different[2].end += 90
    different[0].end += 50
    assert misses.typical(different).begin == 1000  # the median of 500, 550 and 590 clocks
    cut = read(lines(bracket(1000, miss(1100), beyond=7)))[0]
    assert misses.typical(cut).beyond == 7
    with pytest.raises(StatsError, match="no bracket"):
        misses.typical([])


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (lines([miss(1100)]), ":5: .*inside a bracket"),
        (lines(bracket(1000, miss(1100, "clocks"))), ":6: .*unknown event 'clocks'"),
        (lines(bracket(1000, miss(1100, site=9))), ":6: "),
        (lines(bracket(1000, miss(-1))), ":6: .*whole number"),
        (lines(bracket(1000)[:1]), "inside a bracket"),
        (lines(bracket(1000)[1:]), ":5: .*without its begin"),
        (lines()[:-1], "cut short"),
        (lines([{"type": "hit"}]), ":5: .*unknown type 'hit'"),
    ],
)
def test_damaged_files(read, damaged, said):
    with pytest.raises(StatsError, match=said):
        read(damaged)


@pytest.fixture
def show(lab, p5lab):
    """A function that shows the misses of a run that has these lines in misses.jsonl."""
    assert p5lab("run", "tests", "--no-build", "--workload", "call")[0] == 0
    (directory,) = lab.results.glob("tests/*")

    def shown(found, *words):
        if found:
            written(directory / "misses.jsonl", found)
        return p5lab("show", directory.name, "--misses", *words)

    return shown


def test_the_table(show):
    flushed = miss(1250, "itlb_misses", cause="removed", by="flush")
    status, said, _ = show(lines(bracket(1000, miss(1100), flushed)), "--format", "markdown")
    assert status == 0
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()]
    evicted = next(row for row in rows if row[:2] == ["100", "L1I"])
    assert evicted[2:6] == ["main", "conflict", "sys_dup, 300 before", "main, 700 before"]
    assert "call: bracket 1 of 1, 2 misses in 500 clocks" in said
    assert evicted[6:] == ["12", "40", "5000"]
    removed = next(row for row in rows if row[:2] == ["250", "ITLB"])
    assert removed[4] == "sys_dup (flush), 300 before"


def test_a_long_bracket_and_a_trace_that_was_cut(show):
    long = lines(bracket(1000, *(miss(1001 + number) for number in range(80)), beyond=5))
    _, said, _ = show(long, "--format", "markdown")
    assert said.count("sys_dup") == 60
    assert "--all-tables" in said
    assert "85 misses in 500 clocks, the first 80 of them" in said
    assert "5 further ones of call" in said
    _, said, _ = show(long, "--format", "markdown", "--all-tables")
    assert said.count("sys_dup") == 80
    _, said, _ = show(long, "--format", "json")
    assert len(json.loads(said)["phases"][0]["misses"]) == 80


def test_a_run_without_the_trace(show):
    status, out, err = show(None)
    assert (status, out) == (2, "")
    assert "--trace misses" in err
