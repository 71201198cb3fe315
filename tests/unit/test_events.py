# SPDX-License-Identifier: MIT
"""The parser of events.jsonl: it reads valid files and refuses malformed files."""

import os
import random

import pytest
from fakelab import CLOCK_HZ, END, EVENTS, HEADER, call_events, shadow_events, snapshot, written

from p5stats import StatsError, events, tidy


def parse(tmp_path, lines):
    return events.parse(written(tmp_path / "events.jsonl", lines))


def test_brackets_and_counts(tmp_path):
    parsed = parse(tmp_path, call_events(iterations=2))
    assert parsed.clock_hz == CLOCK_HZ
    assert list(parsed.units) == EVENTS
    assert [(b.phase, b.iteration) for b in parsed.brackets] == [
        (0xFFFFFFFF, 0),
        (0xFFFFFFFF, 1),
        (0xFFFFFFFF, 2),
        (0, 0),
        (0, 1),
    ]
    first = parsed.brackets[3]
    assert first.end.banks[0x1000, 0][0] - first.begin.banks[0x1000, 0][0] == 60
    assert parsed.brackets[4].end.vectors == {(0x1000, 3, "irq", 48): 1}
    assert parsed.ready is not None
    assert parsed.ready.banks[0x1000, 0] == [500]


ORIGIN = tidy.Origin("media", "id", "bochs", "p90", "", "yes", "dos", 0, "boot", "")


def test_the_counts_of_two_phases_with_one_name_are_not_added(tmp_path):
    parsed = parse(tmp_path, call_events(iterations=2))
    names = {0: "dir", 0xFFFFFFFF: "empty"}
    assert set(tidy.table(parsed, ORIGIN, names)["phase"]) == {"dir", "empty"}
    with pytest.raises(StatsError, match="two phases with the name 'dir'"):
        tidy.table(parsed, ORIGIN, {0: "dir", 0xFFFFFFFF: "dir"})


def test_reads_and_notes(tmp_path):
    read = {
        "type": "read",
        "insn": "rdtsc",
        "index": 16,
        "value": 7,
        "tsc": 7,
        "banks": [],
        "vectors": [],
    }
    note = {"type": "note", "what": "unknown-class", "name": "0fff", "count": 3}
    parsed = parse(tmp_path, [HEADER, read, note, END])
    assert parsed.reads == [events.Read("rdtsc", 16, 7, 7, {})]
    assert parsed.notes == [{"what": "unknown-class", "name": "0fff", "count": 3}]


def test_shadows_are_summed_over_a_bracket(tmp_path):
    """A marker contains the counts since the previous marker. The sum over a bracket therefore does
    not include the counts of the begin marker.
    """
    parsed = parse(tmp_path, shadow_events())
    assert parsed.shadows == events.Shadows(
        ("a", "b"), ("data_read_misses", "dtlb_misses"), ("instructions", "data_reads")
    )
    assert [b.shadows for b in parsed.brackets] == [{(0x1000, 0): [[2, 0], [3, 1]]}] * 5
    lines = shadow_events()
    outer = [changed(lines[2], arg=7), *lines[2:-2], changed(lines[-3], op="end", arg=7)]
    bracket = parse(tmp_path, [lines[0], *outer, END]).brackets[-1]
    assert bracket.phase == 7
    assert bracket.shadows == {(0x1000, 0): [[5 * 9 + 6 * 2, 5 * 9], [5 * 9 + 6 * 3, 5 * 9 + 6]]}


def changed_shadows(counts, **header):
    lines = shadow_events()
    lines[0] |= header
    lines[2]["shadows"] = counts
    return lines


@pytest.mark.parametrize(
    "counts",
    [
        [[1, 0]],
        [[1, 9, [[1, 1], [1, 1]]]],
        [[1, 0, [[1, 1]]]],
        [[1, 0, [[1], [1, 1]]]],
        [[1, 0, [[1, -1], [1, 1]]]],
        [[1, 0, 5]],
        5,
    ],
)
def test_malformed_shadows_are_refused(tmp_path, counts):
    with pytest.raises(StatsError, match=":3: shadows: expected"):
        parse(tmp_path, changed_shadows(counts))


@pytest.mark.parametrize("header", [{"shadows": ["a", "a"]}, {"shadow_events": ["none"]}])
def test_malformed_header_of_shadows_is_refused(tmp_path, header):
    with pytest.raises(StatsError, match=":1: shadow"):
        parse(tmp_path, changed_shadows([], **header))


def test_different_phases_may_nest(tmp_path):
    lines = [
        HEADER,
        *(snapshot(*m, [], []) for m in (("begin", 1), ("begin", 2), ("end", 2), ("end", 1))),
        END,
    ]
    assert [b.phase for b in parse(tmp_path, lines).brackets] == [2, 1]


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([("begin", 1)], r":2: unbalanced markers: begin\(1\) without an end"),
        ([("end", 1)], r":2: unbalanced markers: end\(1\) without a begin"),
        ([("begin", 1), ("end", 2)], r":3: unbalanced markers: end\(2\)"),
        (
            [("begin", 1), ("begin", 1)],
            r":3: unbalanced markers: begin\(1\) while .* line 2 is open",
        ),
    ],
)
def test_unbalanced_markers_are_errors(tmp_path, marks, message):
    with pytest.raises(StatsError, match=message):
        parse(tmp_path, [HEADER, *(snapshot(*mark, [], []) for mark in marks), END])


def changed(line, **values):
    return {**line, **values}


BEGIN = snapshot("begin", 0, [1], [1])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "empty: expected a header"),
        ([END], "type: expected one of header"),
        ([changed(HEADER, schema_version=2), END], "schema_version: expected 1, found 2"),
        ([changed(HEADER, clock_hz=0), END], "clock_hz: expected more than zero"),
        ([changed(HEADER, units=[]), END], "expected lists of texts, with one unit for each event"),
        ([changed(HEADER, events=["a", "a"], units=["x", "x"]), END], "the same name twice"),
        ([HEADER], "no end line"),
        ([HEADER, END, END], ":3: expected nothing after the end line"),
        ([HEADER, {"type": "what"}, END], ":2: type: expected one of marker"),
        ([HEADER, [], END], ":2: expected an object"),
        ([HEADER, changed(BEGIN, op="go"), END], "op: expected one of ready"),
        ([HEADER, changed(BEGIN, arg=-1), END], "arg: expected a whole number from 0 to"),
        ([HEADER, changed(BEGIN, arg=True), END], "arg: expected a whole number"),
        ([HEADER, changed(BEGIN, tsc="1"), END], "tsc: expected a whole number"),
        ([HEADER, changed(BEGIN, banks=[[1, 4, []]]), END], "banks: expected"),
        ([HEADER, changed(BEGIN, banks=[[1, 0, [1.5]]]), END], "banks: expected"),
        ([HEADER, changed(BEGIN, banks=[[1, 0, [0] * 99]]), END], "banks: expected"),
        ([HEADER, changed(BEGIN, vectors=[[1, 0, "irq", 256, 1]]), END], "vectors: expected"),
        ([HEADER, changed(BEGIN, vectors=[[1, 0, "nmi", 2, 1]]), END], "vectors: expected"),
        ([HEADER, changed(END, status="good")], "status: expected one of ok"),
        ([HEADER, changed(END, reason=None)], "reason: expected a text"),
    ],
)
def test_malformed_lines_are_named(tmp_path, lines, message):
    with pytest.raises(StatsError, match=message):
        parse(tmp_path, lines)


def test_a_file_cut_short_is_an_error(tmp_path):
    path = written(tmp_path / "events.jsonl", call_events())
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(StatsError, match="incomplete line: the file was cut short"):
        events.parse(path)
    assert events.end_line(path) is None


def test_no_file(tmp_path):
    with pytest.raises(StatsError, match=r"cannot read .*: No such file"):
        events.parse(tmp_path / "events.jsonl")


def test_end_line_of_a_failed_run(tmp_path):
    end = changed(END, status="failed", reason="guest reset")
    path = written(tmp_path / "events.jsonl", [HEADER, snapshot("begin", 0, [], []), end])
    assert events.end_line(path) == ("failed", "guest reset")
    assert events.parse(path).brackets == []


def test_damaged_files_never_crash_the_parser(tmp_path):
    """After random damage, the parser returns the same brackets or raises StatsError."""
    original = written(tmp_path / "good.jsonl", call_events()).read_bytes()
    path = tmp_path / "bad.jsonl"
    luck = random.Random(1995)
    refused = 0
    cases = 100_000 if os.environ.get("P5LAB_FULL") else 2000
    for _ in range(cases):
        data = bytearray(original)
        for _ in range(luck.randint(1, 4)):
            place = luck.randrange(len(data))
            kind = luck.randrange(4)
            if kind == 0:
                data[place] = luck.randrange(256)
            elif kind == 1:
                del data[place : place + luck.randint(1, 40)]
            elif kind == 2:
                data[place:place] = original[place : place + luck.randint(1, 200)]
            else:
                data[place:place] = luck.choice([b"9", b"-", b"[", b"]]", b"null", b'"', b"\n"])
        path.write_bytes(data)
        try:
            parsed = events.parse(path)
        except StatsError:
            refused += 1
        else:
            assert all(b.end.line > b.begin.line for b in parsed.brackets)
    assert refused > cases // 2
