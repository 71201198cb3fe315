# SPDX-License-Identifier: MIT
"""The numbers of documents that come from runs: every such number is the recorded number, and every
other number has a stated origin (docs/evidence/numbers.md).
"""

import json
import re
from functools import partial

import pytest
from fakelab import REPO
from test_docs import HISTORY

from p5lab.cli import main as cli
from p5lab.errors import UserError
from p5lab.evidence import generated, numbers, places, recorded
from p5lab.host import worktree
from p5lab.keep import store

# Parts of a document whose numbers are not compared here: generated blocks (test_documents.py),
# fences except quotations of output, code in a line, and the targets of links.
UNREAD = re.compile(
    r"<!-- (?!end)[^\n]*-->\n.*?<!-- end -->|^ *```(?!text\n)[^\n]*\n.*?^ *```$|`[^`\n]+`"
    r"|\]\([^)\n]*\)",
    re.DOTALL | re.MULTILINE,
)
UNITS = (
    "µs|us|ms|ns|s|minutes?|seconds?|cycles?|clocks?|%|per cent|times|[KMk]B/s|Mbit/s|MIPS"
    "|(?:host |guest )?instructions|misses|(?:page )?faults|(?:ring )?crossings"
    "|(?:address space )?switches|reads|writes|accesses|requests|loads|relocations|frames"
    "|collisions|acknowledgements"
)
# A number that looks measured: with a decimal point, with separated thousands, or with a unit.
MEASURED = re.compile(
    r"(?<![\w.,/^-])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+(?![\w.])"
    rf"|\d+(?= (?:{UNITS})(?![\w/])))"
)
# The end of the text before a version of a program, a section of a paper, or a standard.
VERSION = re.compile(
    r"\b(?:Linux|NT|Python|Debian|Ubuntu|glibc|gem5|SimPoint|Mach|lwIP|Bochs|httpd|IEEE|section|release"
    r"|ext|INTEL-\w+|(?:chen|lai|wpi|talagala|ousterhout)\d\d) $|papers\.md#\w+\) $|\($"
)


def test_the_documents_print_the_recorded_numbers():
    assert numbers.problems(REPO) == [], places.COMMAND


# --- numbers of another origin --------------------------------------------------------------------


def without_origin(known, document, text):
    """Returns the numbers of a document that look measured and have no place and no other origin,
    with their lines."""
    read = UNREAD.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    spans = [(spot.start, spot.end) for spot in known.spots(document, text)]
    others = [one.says for one in known.words if one.file == document]
    for foreign in known.foreign:
        if foreign.file == document:
            if foreign.texts == (places.ALL,):
                return []
            others += foreign.texts
    for other in others:
        spans += [found.span() for found in re.finditer(re.escape(other), text)]
    return [
        f"{document}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]}"
        for found in MEASURED.finditer(read)
        if not any(start <= found.start() and found.end() <= end for start, end in spans)
        and not VERSION.search(text[: found.start()][-40:])
    ]


def printed(document):
    """Returns the text of a document. The text of a notebook is that of its Markdown cells."""
    text = (REPO / document).read_text(encoding="utf-8")
    if not document.endswith(".ipynb"):
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")


@pytest.mark.parametrize(
    "document",
    [name for name in worktree.files(REPO, "*.md", "notebooks/*.ipynb") if name != HISTORY],
)
def test_every_number_has_an_origin(document):
    """docs/evidence/numbers.md explains how to add a place or an origin to docs/numbers.toml."""
    assert without_origin(places.load(REPO), document, printed(document)) == []


def test_every_stated_origin_is_needed():
    for foreign in places.load(REPO).foreign:
        text = printed(foreign.file)
        assert foreign.why
        for one in foreign.texts:
            assert one == places.ALL or one in text, (foreign.file, one)


def test_what_looks_measured():
    text = "9.5 µs, 12,000, 14 ring crossings and 3 µs, but Linux 6, 8 KB and 82430NX\n"
    found = without_origin(places.load(REPO), "x.md", f"{text} (lai96 6.1, Linux 6.1, `9.5`) 6.2")
    assert [line.split()[1] for line in found] == ["9.5", "12,000", "14", "3", "6.2"]
    assert [found[0] for found in MEASURED.finditer(text)] == ["9.5", "12,000", "14", "3"]


# --- a small checkout -----------------------------------------------------------------------------

PLACES = """
schema_version = 1
[source.tests]
experiment = "tests"
workloads = ["call"]
[[text]]
file = "docs/a.md"
says = [
  "takes {tests | toy | call | busy cycles} cycles, which is",
  "{[tests | toy | call | busy cycles] / 100: .1f} times",
]
[[table]]
file = "docs/a.md"
below = "The table:"
columns = [
  "tests | toy | call | *",
  "[tests | toy | call | *] / [tests | toy | call | busy cycles]: times",
]
skip = ["other"]
[[table]]
file = "docs/a.md"
below = "In Markdown:"
columns = ["tests | toy | * | instructions: 1 digits", ""]
[[words]]
file = "docs/a.md"
says = "more than a hundred"
holds = "[tests | toy | call | busy cycles] > 100"
"""
TEXT = """
A call takes {} cycles, which is {} times as much, more than a hundred.
The table:

```text
                   one     two
  busy cycles   {:>6}    1.00
  instructions  {:>6}   {:>5}
  other              5       5
```

In Markdown:

| | a | b |
|---|---|---|
| call | **{}** (9) | 8 |
"""
DOCUMENT = TEXT.format("99", "9.9", "9,999", "1", "20.00", "7")
WRITTEN = TEXT.format("110", "1.1", "110", "40", "0.36", "40")


@pytest.fixture
def small(lab, p5lab):
    """Returns a miniature checkout with a document, and a function that calls `docs numbers`."""
    lab._put(places.FILE, PLACES)
    lab._put("docs/a.md", DOCUMENT)
    return lab, partial(p5lab, "docs", "numbers", "--no-build")


def test_the_command_records_and_rewrites(small):
    lab, docs = small
    status, out, _ = docs("--check")
    assert (status, out) == (1, "docs/recorded.toml: out of date\ndocs/a.md: out of date\n")
    assert not (lab.root / recorded.FILE).exists()
    status, out, err = docs()
    assert (status, out) == (0, "docs/recorded.toml: written\ndocs/a.md: written\n"), err
    assert (lab.root / "docs/a.md").read_text() == WRITTEN
    assert recorded.load(lab.root).sources["tests"].numbers == {
        "toy | call | busy cycles": 110,
        "toy | call | instructions": 40,
    }
    assert numbers.problems(lab.root) == []
    assert docs("--check")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("takes 110", "takes 111", "docs/a.md:2: 111, expected 110 (tests | toy | call | busy"),
        ("is 1.1 times", "is 1.2 times", "docs/a.md:2: 1.2, expected 1.1 ("),
        ("0.36", "0.37", "docs/a.md:8: 0.37, expected 0.36 ("),
        ("**40**", "**41**", "docs/a.md:16: 41, expected 40 ("),
        ("more than a hundred", "over a hundred", "docs/a.md: expected the text 'more than"),
    ],
)
def test_a_wrong_number_is_found(small, old, new, line):
    lab, docs = small
    docs()
    lab._put("docs/a.md", WRITTEN.replace(old, new))
    (found,) = numbers.problems(lab.root)
    assert found.startswith(line)


def test_words_that_are_no_longer_true(small):
    lab, docs = small
    docs()
    lab._put(places.FILE, PLACES.replace("> 100", "> 200"))
    (found,) = numbers.problems(lab.root)
    assert found.startswith("docs/a.md: 'more than a hundred' is no longer true: [tests")
    status, _, err = docs()
    assert status == 1
    assert "'more than a hundred' is no longer true" in err


def test_a_recorded_number_that_nobody_needs(small):
    lab, docs = small
    docs()
    path = lab.root / recorded.FILE
    path.write_text(path.read_text() + '"toy | call | data reads" = 6\n')
    assert numbers.problems(lab.root) == [
        "docs/recorded.toml: no document contains tests | toy | call | data reads"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("takes {", "needs {", "docs/a.md: expected the text 'needs … cycles, which is' once"),
        ("The table:", "This table:", "docs/a.md: expected the text 'This table:' once"),
        (
            "call | busy cycles} c",
            "call | busy} c",
            "source tests has no number 'toy | call | busy'; d",
        ),
        ("{tests | toy | call | busy", "{test | toy | call | busy", "unknown source 'test' in"),
        ("] / 100", "] ** 100", "'n0 ** 100' is not allowed"),
        ("says", "say", "docs/numbers.toml:8: text[0]: unknown key 'say'; did you mean 'says'?"),
        ('["call"]', '["cal"]', "unknown workload 'cal'"),
    ],
)
def test_a_wrong_place_is_one_line(small, old, new, message):
    lab, docs = small
    lab._put(places.FILE, PLACES.replace(old, new, 1))
    status, out, err = docs()
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert (lab.root / "docs/a.md").read_text() == DOCUMENT


def test_a_run_that_fails_changes_nothing(small):
    lab, docs = small
    lab.behave(exit=3)
    status, out, _ = docs()
    assert (status, out) == (1, "")
    assert (lab.root / "docs/a.md").read_text() == DOCUMENT
    assert not (lab.root / recorded.FILE).exists()


def test_names_tell_runs_apart(lab):
    assert cli.main(["run", "tests", "--no-build", "--set", "l2.size=512K"], lab) == 0
    found = recorded.numbers_of(store.all_runs(lab))
    assert found["toy, l2.size=512K | call | busy cycles"] == 110
    assert found["toy, l2.size=512K | chase, 1 KB | busy cycles"] == 8


# --- comparison with new runs ---------------------------------------------------------------------


def test_a_build_with_the_same_tools_gives_the_same_numbers(small):
    lab, docs = small
    docs()
    runs, record = store.all_runs(lab), recorded.load(lab.root)
    assert recorded.differences(record, "tests", runs) == []
    known = record.sources["tests"]
    known.numbers["toy | call | busy cycles"] = 111
    assert recorded.differences(record, "tests", runs) == [
        "tests: toy | call | busy cycles: recorded 111, now 110"
    ]
    known.tools = "another compiler"
    assert recorded.differences(record, "tests", runs) == []
    known.numbers["toy | call | busy cycles"] = 180
    known.numbers["toy | call | data reads"] = 5  # now 6: small whole numbers are equal
    known.numbers["toy | call | nothing"] = 1
    assert [
        line.partition(": recorded")[0] for line in recorded.differences(record, "tests", runs)
    ] == [
        "tests: toy | call | busy cycles",
        "tests: toy | call | data reads",
        "tests: toy | call | nothing",
    ]
    assert recorded.differences(record, "tests", []) == []


# --- generated tables -----------------------------------------------------------------------------


def test_a_number_of_a_generated_table(tmp_path):
    rows = "| one | 1,234 | x |\n| **all** | **5.5** | 7 calls, 8 loads |\n"
    table = f"| | a b | c |\n| --- | ---: | ---: |\n{rows}"
    (tmp_path / "a.md").write_text(f"<!-- steps of x -->\n{table}<!-- end -->\n")
    assert generated.number(tmp_path, "a.md | steps of x | one | a b") == 1234
    assert generated.number(tmp_path, "a.md | steps of x | all | a b") == 5.5
    assert generated.number(tmp_path, "a.md | steps of x | all | c | 2") == 8
    for name, message in (
        ("a.md | steps of y | one | a b", "a.md has no block <!-- steps of y -->"),
        ("a.md | steps of x | one | d", "expected one of the columns a b, c"),
        ("a.md | steps of x | two | c", "0 rows begin with 'two', expected one"),
        ("a.md | steps of x | one | c", "the cell contains 0 numbers"),
        ("a.md | steps of x | all | c | 3", "the cell contains 2 numbers"),
        ("a.md | one | c", "expected FILE"),
        ("b.md | steps of x | one | c", "cannot read b.md: No such file"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            generated.number(tmp_path, name)


@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        ("", 642.94, "642.9"),
        (": times", 59.484, "59.5"),
        (": .2f", 7.1438, "7.14"),
        (": ,.2f", 1899.86, "1,899.86"),
        (": 2 digits", 2139.2, "2,100"),
        (": 3 digits", 0.98823, "0.988"),
        (": thousands", 154449.0, "154,000"),
    ],
)
def test_forms_of_a_number(form, value, shown):
    assert places.Value.parse(f"a | b | c{form}", "here").shown(lambda name: value) == shown
