# SPDX-License-Identifier: MIT
"""Source lines of two versions of a program: which are the same, and tables that compare them."""

import json

import pytest
from fakelab import written
from test_divided_figure import two as two  # two programs of the user with counts

from p5lab.describe.markers import WHOLE_PHASE
from p5lab.keep import selection, store
from p5lab.keep.store import Stored
from p5lab.present import same_lines

BEFORE = ["int main() {", "  one();", "  two();", "  end();", "}"]
AFTER = ["int main() {", "  three();", "  four();", "  five();", "  end();", "}"]


def test_lines_are_the_same_if_equal_or_changed_in_place():
    changed = [*BEFORE[:2], "  TWO();", *BEFORE[3:]]
    pairs = [
        (old, new)
        for one, other in same_lines.blocks(BEFORE, changed)
        for old, new in zip(one, other, strict=True)
    ]
    assert pairs == [(n, n) for n in range(5)]
    assert list(same_lines.blocks(BEFORE, AFTER))[1] == (range(1, 3), range(1, 4))


def version(directory, name, **files):
    directory.mkdir()
    texts = {f"/home/u/{file}.c": "\n".join(lines) for file, lines in files.items()}
    (directory / "sources.json").write_text(json.dumps({"schema_version": 1, "files": texts}))
    record = {"label": "x", "experiment": "program", selection.CALLED: name}
    return Stored(directory, record)


@pytest.mark.parametrize("file", ["a", "b"])
def test_lines_of_another_version_have_the_places_of_the_first(tmp_path, file):
    first = version(tmp_path / "1", "old", a=BEFORE)
    other = version(tmp_path / "2", "new", **{file: AFTER})
    theirs = [f"{file}.c:{number}" for number in range(1, 7)]
    found = same_lines.names(first, other, ["a.c:2", ""], theirs)
    assert {found[f"{file}.c:{n}"] for n in (1, 5, 6)} == {"a.c:1", "a.c:4", "a.c:5"}
    # The three new lines are not the two old ones, whose places they have.
    own = [found.get(f"{file}.c:{n}", f"{file}.c:{n}") for n in (2, 3, 4)]
    assert not {"a.c:2", "a.c:3", "a.c:4"} & set(own) and len(set(own)) == 3
    assert same_lines.names(first, version(tmp_path / "3", "none"), ["a.c:2"], theirs) == {}


@pytest.fixture
def lined(two):
    """The two programs with counts by line: `first.c` and `second.c` differ in line 2."""
    lab, _ = two
    runs = {one.record["program"]["name"]: one for one in store.all_runs(lab)}
    for name, one in runs.items():
        lines = [
            {
                "type": "header",
                "schema_version": 1,
                "stacks": False,
                "events": ["cycles.busy", "instructions", "cpi.pairs"],
            }
        ]
        total = 90 + (name == "second")
        for number, (place, cycles) in enumerate(
            ((f"\t/w/{name}.c:2", total - 30), (f"\t/w/{name}.c:3", 20), ("", 10)), 1
        ):
            lines.append({"type": "function", "id": number, "name": f"main{place}", "module": name})
            node = {"type": "node", "id": number, "parent": 0, "function": number, "cr3": 0}
            lines.append({**node, "ring": 3, "entrance": 0})
            counts = [cycles, 15, cycles]
            lines.append({"type": "counts", "phase": WHOLE_PHASE, "node": number, "counts": counts})
        written(one.directory / "attribution.jsonl", [*lines, {"type": "end"}])
        text = f"int main() {{\n  {name}();\n  end();\n}}\n"
        (one.directory / "sources.json").write_text(
            json.dumps({"schema_version": 1, "files": {f"/w/{name}.c": text}})
        )
    return [runs["first"].id, runs["second"].id]


def test_tables_compare_lines_of_versions(p5lab, lined):
    words = ("--by", "line", "--metric", "cycles")
    status, out, _ = p5lab("compare", *lined, *words, "--json")
    assert status == 0
    rows = json.loads(out)["rows"]
    values = {(row["line"], row["system"]): row["value"] for row in rows if row["line"]}
    places = "first.c:2", "first.c:3", "(no line)"
    numbers = (60, 20, 10), (61, 20, 10)
    assert values == {
        (place, name): value
        for name, own in zip(("first", "second"), numbers, strict=True)
        for place, value in zip(places, own, strict=True)
    }
    assert not any(row["state"] in ("new", "gone") for row in rows)
    text = " ".join(p5lab("compare", *lined, *words)[1].split())
    assert "annotate /w/first.c /w/second.c" in text and "no row in common" not in text
    assert "annotate" not in p5lab("compare", *lined, "--by", "ring")[1]


def test_lines_of_unknown_sources_are_said_to_be_apart(p5lab, lined, two):
    for one in store.all_runs(two[0]):
        (one.directory / "sources.json").unlink()
    text = " ".join(p5lab("compare", *lined, "--by", "line")[1].split())
    assert "no row in common" in text and "annotate A.c B.c" in text
