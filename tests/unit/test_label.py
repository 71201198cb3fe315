# SPDX-License-Identifier: MIT
"""The label, note and tags of stored runs, and `compare`."""

import errno
import json
import os
import re

import pytest
from fakelab import END, HEADER, snapshot
from test_program import elf

import p5lab as functions
from p5lab.api import tables
from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.execute.runner import Runner
from p5lab.keep import index, named, selection, store
from p5lab.page import write_stored


@pytest.fixture
def run(lab, tmp_path, capsys):
    """Runs a program with this content and these words, and returns its id and what was printed."""

    def execute(content, *words, name="prog"):
        begin = snapshot("begin", WHOLE_PHASE, [500, 0, 100], [10, 0, 5])
        stop = snapshot("end", WHOLE_PHASE, [900 + len(content), 0, 180], [90, 0, 45])
        lab.behave(events={"@program": [HEADER, begin, stop, END]})
        path = tmp_path / name
        path.write_bytes(elf(segments=((1, content),)))
        words = ["run", "--program", str(path), "--guest", "toy", "--no-build", *words]
        before = {path.name for path in lab.results.glob("program/*")}
        assert cli.main(words, lab) == 0
        (new,) = {path.name for path in lab.results.glob("program/*")} - before or {""}
        return new, capsys.readouterr().out

    return execute


def record(lab, name):
    return json.loads((lab.results / "program" / name / "run.json").read_text())


def said(lab, capsys, *words, status=0):
    assert cli.main(list(words), lab) == status
    printed = capsys.readouterr()
    return printed.err if status else printed.out


def test_a_label_is_its_newest_run(lab, run, capsys):
    older, _ = run(b"code", "--label", "one")
    newer, _ = run(b"code", "--label", "one", "--calls")
    later = {**record(lab, newer), "started": "2100-01-01T00:00:00+00:00"}
    store.write(lab.results / "program" / newer, later)
    assert selection.find(lab, "one").id == newer
    assert cli.main(["show", older, newer], lab) == 0
    said = capsys.readouterr().err
    assert older[:8] in said and f"{newer[:8]}, is shown" in said
    run(b"other code", "--label", "one")
    with pytest.raises(UserError, match=rf"2 runs have this label: .*{newer[:8]}"):
        selection.find(lab, "one")


def test_a_label_names_a_run_everywhere(lab, run, capsys, tmp_path):
    first, printed = run(b"code", "--label", "before")
    assert "before" in printed
    _, printed = run(b"other code", "--label", "after one")
    assert "after one" in printed
    assert named.of(record(lab, first)) == named.Named("before")
    assert f"{first[:10]}" in (listed := said(lab, capsys, "list", "runs"))
    assert "before: prog, toy" in listed
    assert "after one: prog, toy" in listed
    (one, other) = json.loads(said(lab, capsys, "list", "runs", "--json"))["runs"]
    assert {one["named"], other["named"]} == {"before", "after one"}
    for command in ("show", "compare"):
        table = said(lab, capsys, command, "before", "after one")
        assert "before" in table
        assert "after one" in table.replace("\n", " ") or "after" in table
        assert "ratio" in table
    assert "label         before" in said(lab, capsys, "show", "before")
    _, rows = index.query(lab, "SELECT named, note, tags FROM runs ORDER BY named")
    assert rows == [("after one", "", ""), ("before", "", "")]
    page = tmp_path / "page.html"
    groups = selection.groups(lab, ["before", "after one"])
    write_stored(lab, "two", groups, page)
    assert "before: prog, toy" in page.read_text()


def test_labels_notes_and_tags_are_changed(lab, run, capsys):
    name, _ = run(b"code")
    identity = record(lab, name)["identity"]
    said(lab, capsys, "label", name[:6], "first", "--note", "of Monday", "--tag", "a", "--tag", "b")
    assert named.of(record(lab, name)) == named.Named("first", "of Monday", ("a", "b"))
    said(lab, capsys, "label", "first", "second", "--untag", "a", "--tag", "c")
    assert named.of(record(lab, name)) == named.Named("second", "of Monday", ("b", "c"))
    assert store.read(lab.results / "program" / name)  # the seal of the record is right
    assert record(lab, name)["identity"] == identity
    said(lab, capsys, "label", "second", "", "--note", "", "--untag", "b", "--untag", "c")
    assert named.KEY not in record(lab, name)
    assert "first" in said(lab, capsys, "show", "first", status=2)


def test_a_repeated_run_keeps_its_label(lab, run, capsys):
    name, _ = run(b"code", "--label", "kept")
    run(b"code", "--force")
    assert named.of(record(lab, name)).label == "kept"
    run(b"code")  # nothing to do
    assert named.of(record(lab, name)).label == "kept"
    run(b"code", "--label", "new")
    assert named.of(record(lab, name)).label == "new"


def test_a_label_of_several_runs(lab, run, capsys):
    run(b"code", "--label", "base", "--seed", "0")
    run(b"code", "--label", "base", "--seed", "1")
    assert len(selection.groups(lab, ["base"])) == 2
    assert "2 runs have this label" in said(lab, capsys, "rerun", "base", status=2)
    said(lab, capsys, "label", "base", "moved")
    assert len(selection.groups(lab, ["moved"])) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["label", "{}", "dead"], "'dead': expected a text that does not look like the id"),
        (["label", "{}", "tests"], "'tests': expected a text that is not the name of an exp"),
        (["label", "{}", "program"], "'program': expected a text that is not the name"),
        (["label", "{}", " x"], "without spaces around"),
        (["label", "{}", "a\nb"], "expected printable characters"),
        (["label", "{}", "x" * 41], "at most 40 characters"),
        (["label", "{}", "--tag", "two words"], "--tag 'two words': expected one word"),
        (["label", "{}", "--note", "x" * 401], "--note: expected at most 400"),
        (["label", "{}"], "expected a TEXT, --note, --tag or --untag"),
        (["label", "nothing", "x"], "nothing"),
        (["run", "tests", "--label", "cafe"], "--label 'cafe': expected a text that does not"),
        (["compare", "{}"], "expected runs of two or more systems or versions; found one"),
    ],
)
def test_bad_input_changes_nothing(lab, run, capsys, words, message):
    name, _ = run(b"code")
    before = record(lab, name)
    words = [word.format(name) if word == "{}" else word for word in words]
    text = said(lab, capsys, *words, status=2)
    assert message in text
    assert len(text.splitlines()) == 1
    assert record(lab, name) == before


def test_compare_refuses_runs_without_a_common_operation(lab, run, capsys):
    run(b"code", "--label", "mine")
    lab.behave()
    words = ["run", "tests", "--workload", "call", "--guest", "toy", "--no-build", "--label", "w"]
    assert cli.main(words, lab) == 0
    capsys.readouterr()
    text = said(lab, capsys, "compare", "mine", "w", status=2)
    assert "no operation in common" in text
    assert "program" in text
    assert "call" in text


def test_wrong_entries_of_a_record_are_no_label(lab, run):
    name, _ = run(b"code")
    place = lab.results / "program" / name
    for entry in (5, [], {"label": 5, "tags": "x"}, {"tags": [1]}):
        store.write(place, record(lab, name) | {named.KEY: entry})
        assert named.of(record(lab, name)).label == ""


def test_a_page_of_a_label_compares_its_versions(lab, run, tmp_path):
    for name in ("one", "other"):
        run(name.encode(), "--label", "join", name=name)
    page = tmp_path / "page.html"
    assert cli.main(["report", "join", "--output", str(page)], lab) == 0
    text = page.read_text()
    assert "Time of one operation, with ratios to one" in text
    assert re.search(r"other takes 1\.00 times the time of one\.", text)


def test_a_stored_run_that_gets_another_label_is_named(lab, run, capsys, tmp_path):
    def renamed(*words):
        assert cli.main(["run", "--program", str(tmp_path / "prog"), *words], lab) == 0
        return [line for line in capsys.readouterr().err.splitlines() if name[:8] in line]

    name, _ = run(b"code")
    again = ("--guest", "toy", "--no-build", "--quiet", "--label")
    for label, before in (("one", "no label"), ("two", "'one'"), ("two", ""), ("", "'two'")):
        said = [line for line in renamed(*again, label) if line.startswith("Stored run ")]
        assert len(said) == bool(before)
        assert all(before in line and label in line for line in said)


def test_a_new_run_with_a_label_replaces_none(lab, capsys):
    lab.behave()
    words = ["run", "tests", "--workload", "call", "--guest", "toy", "--no-build", "--label", "w"]
    assert cli.main(words, lab) == 0
    assert "Stored run" not in capsys.readouterr().err


def test_the_next_command_has_the_dimensions_and_stands_once(lab):
    from types import SimpleNamespace

    from p5lab.cli import parser
    from p5lab.cli.commands.run import _remarks
    from p5lab.describe import observation

    def said(*words, runs):
        args = parser.of_command("run").parse_args(["tests", *words])
        if args.by:
            observation.count_by(args, args.by.split(","), "--by")
        results = [
            SimpleNamespace(id=f"{at}" * 16, directory=lab.results / "tests" / f"{at}")
            for at in range(runs)
        ]
        return [line.partition("`")[2].rstrip("`") for line in _remarks(args, results)]

    by = "caller,component"
    assert said("--by", by, runs=1) == [f"./p5lab show 00000000 --by {by}"]
    assert said("--by", by, runs=2) == [f"./p5lab show tests --by {by}"]
    assert said("--by", by, "--label", "a b", runs=2) == [f"./p5lab show 'a b' --by {by}"]
    assert said("--cpi", runs=2) == ["./p5lab show tests --cpi"]
    assert said("--cpi", runs=1) == ["./p5lab show 00000000 --cpi"]


def test_an_empty_word_is_no_run(lab, run, capsys):
    run(b"one")
    assert cli.main(["label", "", "new"], lab) == 2
    assert "no run or experiment ''" in capsys.readouterr().err


def test_a_label_that_cannot_be_written_is_one_line(lab, run, capsys, monkeypatch):
    name, _ = run(b"one")

    def refuse(directory):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(store, "locked", refuse)
    assert cli.main(["label", name, "new"], lab) == 1
    assert capsys.readouterr().err.endswith(": Read-only file system\n")


@pytest.mark.parametrize("command", ["show", "report"])
def test_programs_with_one_label_are_versions_of_their_own(lab, run, capsys, tmp_path, command):
    for name in ("naive", "blocked"):
        run(name.encode(), "--label", "join", name=name)
    run(b"other", "--label", "alone", name="other")
    page = tmp_path / "page.html"
    more = ["--output", str(page), "--explore"] if command == "report" else []
    assert cli.main([command, "program", *more], lab) == 0
    printed = capsys.readouterr()
    assert "one system and seed" not in printed.err
    text = page.read_text() if more else " ".join(printed.out.split())
    assert "join: naive" in text and "join: blocked" in text
    assert command == "report" or "alone: other" not in text  # its label alone names it


def test_versions_of_a_label_and_others_are_all_called_by_their_programs(lab, run, capsys):
    for name in ("naive", "blocked"):
        run(name.encode(), "--label", "join", name=name)
    run(b"other", name="other")
    runs = [same[0] for same in selection.groups(lab, ["program"])]
    called = {selection.called(one.record) for one in selection.as_versions(runs)}
    assert called == {"join: naive", "join: blocked", "other"}


def test_versions_are_in_the_order_in_which_they_were_asked_for(lab, run, capsys, here):
    order = ["slow", "naive", "blocked", "a"]
    for name in order:
        run(name.encode(), "--label", "join", name=name)

    def names(groups):
        return [selection.head(same[0].record) for same in groups]

    assert names(selection.groups(lab, ["join"])) == order
    assert names(selection.groups(lab, ["program"])) == order
    for word in ("join", "program"):
        loaded = tables.load(word)["parameters"].unique()
        assert [one.removeprefix("file=") for one in loaded] == order
    run(b"slow", "--label", "join", "--force", name="slow")  # a repetition keeps its place
    assert names(selection.groups(lab, ["join"])) == order


def test_records_without_an_order_have_that_of_the_numbers_in_their_names(lab, run):
    for size in (1024, 64, 8192):
        name, _ = run(b"%d" % size, "--label", "sizes", name=f"n={size}")
        old = record(lab, name) | {"started": "2026-01-01T00:00:00+00:00"}
        store.write(lab.results / "program" / name, {k: old[k] for k in old if k != store.ASKED})
    for word in ("sizes", "program"):
        heads = [selection.head(same[0].record) for same in selection.groups(lab, [word])]
        assert heads == ["n=64", "n=1024", "n=8192"]
    texts = [
        "l2.size=1M",
        "l2.size=64K",
        "l2.size=256K",
        f"l2.size={10**400}",
        "l2.size=",
        "1x",
        "x",
    ]
    assert sorted(texts, key=selection.numbered) == [
        "1x",
        "l2.size=",
        "l2.size=64K",
        "l2.size=256K",
        "l2.size=1M",
        f"l2.size={10**400}",
        "x",
    ]


def test_the_runs_of_a_command_are_recorded_in_its_order(lab):
    lab.behave()
    results = Runner(lab).run_all(experiment.load(lab, "tests", Filter(seeds=(2, 1, 0))))
    asked = [store.stored(one.directory).asked for one in results]
    assert asked == sorted(set(asked)) and len(asked) > 1


def test_a_check_passes_if_nothing_has_changed(lab, run, capsys):
    name, _ = run(b"code", "--label", "base")
    run(b"code", "--label", "new")
    assert named.of(record(lab, name)) == named.Named("new", earlier=("base",))
    assert "equal" in said(lab, capsys, "check", "base", "new")
    assert "base:" not in said(lab, capsys, "list", "runs")  # the newest is shown
    (same,) = selection.groups(lab, ["base"])
    assert named.of(same[0].record).label == "base"
    run(b"code", "--label", "base")
    assert named.of(record(lab, name)).labels == ("base", "new")


def test_a_baseline_is_complete_if_a_part_of_it_has_changed(lab, run, here):
    first, _ = run(b"one", "--label", "base", name="one")
    second, _ = run(b"two", "--label", "base", name="two")
    run(b"one", "--label", "new", name="one")
    run(b"changed", "--label", "new", name="two")
    ids = [same[0].id for same in selection.groups(lab, ["base"])]
    assert ids == [first, second]
    assert set(tables.load("base")["label"]) == {"base"}
    assert set(tables.load("new")["label"]) == {"new"}


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["{id}", ""], ()),
        (["{id}", "other"], ("other", "base")),
        (["base", "other"], ("other", "new")),
        (["base", ""], ("new",)),
        (["new", ""], ("base",)),
        (["new", "base"], ("base",)),
    ],
)
def test_a_label_replaces_the_one_that_is_named(lab, run, capsys, words, left):
    name, _ = run(b"code", "--label", "base")
    run(b"code", "--label", "new")
    said(lab, capsys, "label", *(word.format(id=name) for word in words))
    assert named.of(record(lab, name)).labels == left


def test_an_experiment_does_not_hide_a_label(lab, run, capsys, here):
    name, _ = run(b"code", "--label", "late")
    file = lab.root / "configs/experiments/late.toml"
    file.write_text(file.with_name("tests.toml").read_text())
    lab.behave()
    assert cli.main(["run", "late", "--no-build", "--quiet"], lab) == 0
    capsys.readouterr()
    for command in (["show"], ["label", "--tag", "x"], ["compare"], ["report"]):
        text = said(lab, capsys, *command, "late", status=2)
        assert "an experiment and the label of" in text and name[:8] in text
        assert len(text.splitlines()) == 1
    with pytest.raises(UserError, match="an experiment and the label of"):
        tables.load("late")
    said(lab, capsys, "label", name, "early")
    said(lab, capsys, "show", "late")
    assert set(tables.load("late")["experiment"]) == {"late"}


def test_python_labels_its_runs_as_the_command_does(here, lab, run, capsys, tmp_path):
    name, _ = run(b"code", "--label", "base")
    given = {"guest": "toy", "build": False}
    table = functions.run(program=tmp_path / "prog", label="new", **given)
    assert set(table["run"]) == {name} and set(table["label"]) == {"new"}
    assert named.of(record(lab, name)) == named.Named("new", earlier=("base",))
    assert f"Stored run {name[:8]}: the label was 'base'" in capsys.readouterr().err
    lab.behave()
    functions.run("tests", workload="call", seed=range(2), label="two", **given)
    assert functions.load("two")["seed"].nunique() == 2
    lab.behave(exit=3)
    with pytest.raises(UserError, match="the run failed"):
        functions.run("tests", workload="chase", label="bad", **given)
    assert selection.find(lab, "bad").status == "failed"


def test_a_label_names_the_kept_result_of_a_failed_repeat(lab, run, capsys, tmp_path):
    name, _ = run(b"code", "--label", "base")
    lab.behave(exit=3)
    words = ["run", "--program", str(tmp_path / "prog"), "--guest", "toy", "--no-build", "--force"]
    assert cli.main([*words, "--label", "again"], lab) == 1
    printed = capsys.readouterr().err
    assert "the earlier result is kept" in printed and "failed-repeat" in printed
    assert "label         again" in (shown := said(lab, capsys, "show", "again"))
    assert name in shown
    assert selection.find(lab, "base").id == name


@pytest.mark.parametrize(("label", "message"), [("cafe", "id of a run"), (5, "found 5")])
def test_python_refuses_a_wrong_label_before_it_runs(here, label, message):
    with pytest.raises(UserError, match=f"label.*{message}"):
        functions.run("tests", label=label, build=False)
    assert not here.starts()
