# SPDX-License-Identifier: MIT
"""Counts by source line: reading them, tables, and the source with counts beside it."""

import argparse
import csv
import io
import json

import pytest
from rich.console import Console

from p5lab.cli import main as cli
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.errors import UserError
from p5lab.keep.store import Stored
from p5lab.present import by_source, exports
from p5stats import StatsError, attribution

EVENTS = ["cycles.busy", "instructions"]
NAMES = {
    1: ("main\t/home/u/prog.c:3", "prog"),
    2: ("main\t/home/u/prog.c:9", "prog"),
    3: ("sum\t/home/u/prog.c:9", "prog"),  # put into another function by the compiler
    4: ("sum\t/usr/include/gone.h:7", "prog"),
    5: ("sum", "prog"),
    6: ("ksys_dup", "linux"),
}
COUNTS = {1: [10, 5], 2: [300, 100], 3: [20, 10], 4: [4, 4], 5: [6, 1], 6: [60]}
TEXT = "".join(f"line {n};\n" for n in range(1, 21)).replace("line 9;", "x = \x1b[1m9;")


def records(phases=(WHOLE_PHASE,)):
    found = [{"type": "header", "schema_version": 1, "stacks": False, "events": EVENTS}]
    for number, (name, module) in NAMES.items():
        found.append({"type": "function", "id": number, "name": name, "module": module})
    for number in NAMES:
        ring = 0 if number == 6 else 3
        node = {"type": "node", "id": number, "parent": 0, "function": number, "cr3": 4096}
        found.append({**node, "ring": ring, "entrance": 0})
    for phase in phases:
        for node, counts in COUNTS.items():
            found.append({"type": "counts", "phase": phase, "node": node, "counts": counts})
    return [*found, {"type": "end"}]


@pytest.fixture
def stored(tmp_path, write_attribution):
    write_attribution(records((WHOLE_PHASE, 0)))
    sources = {"schema_version": 1, "files": {"/home/u/prog.c": TEXT}}
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    described = {"phases": {str(WHOLE_PHASE): "whole"}}
    return Stored(
        tmp_path,
        {
            "label": "prog",
            "experiment": "program",
            "status": "ok",
            "identity": {"described": described},
        },
    )


def options(**given):
    plain = {"form": "table", "event": "cycles.busy", "source": ""}
    return argparse.Namespace(**(plain | given))


def printed(show, stored, **given):
    console = Console(file=io.StringIO(), width=120)
    show(console, stored, options(**given))
    return console.file.getvalue()


def test_the_line_follows_the_name_of_its_function(write_attribution):
    found = attribution.read(write_attribution(records()))
    assert found.nodes[2].function == attribution.Function("main", "prog", "/home/u/prog.c", 9)
    frame = found.frame()
    assert list(frame.columns)[2:4] == ["module", "line"]
    cycles = frame[frame["event"] == "cycles.busy"]
    assert dict(cycles.groupby("line")["count"].sum()) == {
        "": 66,
        "gone.h:7": 4,
        "prog.c:3": 10,
        "prog.c:9": 320,
    }
    lines = found.line_frame()
    assert lines[lines["event"] == "cycles.busy"]["count"].sum() == cycles["count"].sum() == 400
    assert lines["count"].sum() == frame["count"].sum()


@pytest.mark.parametrize("name", ["f\tprog.c", "f\tprog.c:", "f\tprog.c:x", "f\t:1x"])
def test_a_malformed_line_is_refused(write_attribution, name):
    wrong = [{**line, "name": name} if line.get("id") == 1 else line for line in records()]
    with pytest.raises(StatsError, match=":2: not a line of an attribution"):
        attribution.read(write_attribution([line for line in wrong if line["type"] != "node"]))


def test_files_of_one_name_are_distinguished():
    assert attribution.short_names({"/a/x.c", "/b/x.c", "/a/y.c", "z.c"}) == {
        "/a/x.c": "a/x.c",
        "/b/x.c": "b/x.c",
        "/a/y.c": "y.c",
        "z.c": "z.c",
    }
    assert attribution.short_names({"x.c", "/b/x.c"}) == {"x.c": "x.c", "/b/x.c": "b/x.c"}


def test_the_source_with_counts_beside_it(stored):
    text = printed(by_source.show, stored)
    assert (
        text
        == """\
cycles.busy: 400 in the whole program

/home/u/prog.c: 82.5 %
cycles.busy   share   line
                         1  line 1;
                         2  line 2;
         10   2.5 %      3  line 3;
                         4  line 4;
                         5  line 5;
                         6  line 6;
                         7  line 7;
                         8  line 8;
        320  80.0 %      9  x = \\x1b[1m9;
                        10  line 10;
                        11  line 11;
                        12  line 12;

The rest:
         66  16.5 %  code without a source line: kernel, libraries, other processes
          4   1.0 %  gone.h
"""
    )


def test_a_file_of_ones_own_choice(stored):
    text = printed(by_source.show, stored, source="gone.h")
    assert "/usr/include/gone.h: 1.0 %\n" in text
    assert "          4   1.0 %      7\n" in text
    assert "        330  82.5 %  prog.c\n" in text
    assert printed(by_source.show, stored, source="/usr/include/gone.h") == text
    with pytest.raises(UserError, match="unknown source file with counts 'gone'; did you mean"):
        printed(by_source.show, stored, source="gone")


def test_a_program_with_files_of_libraries_only():
    counts = {("/usr/src/a.c", 3): 5, ("", 0): 5}
    assert by_source._chosen(counts, "") == {"/usr/src/a.c"}
    many = {(f"/usr/{n}.c", 1): 1 for n in range(12)} | {("/home/x.c", 1): 4}
    text = by_source.listing("e", many, {}, by_source._chosen(many, ""))
    assert "2 more files\n" in text
    assert text.count(".c") == 11


def test_lines_far_from_all_counts_are_left_out():
    text = by_source.listing("e", {("f.c", 2): 1, ("f.c", 19): 3}, {"f.c": TEXT}, {"f.c"})
    assert "line 5;\n" in text
    assert "line 6;" not in text
    assert "line 15;" not in text
    assert "line 16;" in text
    assert text.count("...\n") == 1


def test_other_forms_and_events(stored):
    rows = list(csv.reader(printed(by_source.show, stored, form="csv").splitlines()))
    assert rows[0] == ["file", "line", "count"]
    assert ["/home/u/prog.c", "9", "320"] in rows
    document = json.loads(printed(by_source.show, stored, form="json", event="instructions"))
    assert {"file": "/home/u/prog.c", "line": 9, "count": 110} in document["rows"]
    with pytest.raises(UserError, match=r"unknown event 'cycles\.bussy'; did you mean"):
        printed(by_source.show, stored, event="cycles.bussy")


def test_a_run_without_sources_is_refused(stored):
    (stored.directory / "sources.json").unlink()
    with pytest.raises(UserError, match=r"no counts by source line: expected .* --attribute lines"):
        printed(by_source.show, stored)


def test_a_profile_names_the_lines(stored, tmp_path, write_attribution):
    write_attribution([{**records()[0], "stacks": True}, *records()[1:]])
    exports.write(tmp_path / "out.json", exports.speedscope(stored, "cycles.busy"))
    frames = json.loads((tmp_path / "out.json").read_text())["shared"]["frames"]
    assert {"name": "main", "file": "/home/u/prog.c", "line": 9} in frames
    assert {"name": "ksys_dup", "file": "linux"} in frames


def test_the_option_belongs_to_show(lab, capsys):
    assert cli.main(["show", "0000", "--attribution", "--source"], lab) == 2
    assert "0000" in capsys.readouterr().err
